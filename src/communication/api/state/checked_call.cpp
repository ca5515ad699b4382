#include "communication/api/state/checked_call.hpp"

#include "communication/mpi/errors.hpp"
#include "communication/p2p/bypass.hpp"

namespace taut::api {

CheckedCall::CheckedCall(const MpiCall& call, const CollectiveCall& described, const RankAndSize& group,
                         const Topology* topology)
    : group_(group),
      is_sum_(call.reduces() && described.op == Reduction::sum),
      type_(described.type),
      copy_(call, group, topology),
      plain_(copy_.call()) {
  if (is_sum_) magnitude_ = greatest_magnitude(described.data.in);
  elapsed_ns_ = clock_now() - construction_began_;
}

int CheckedCall::run() {
  const p2p::BypassScope bypass;
  const std::uint64_t began = clock_now();
  int code = MPI_SUCCESS;
  if (is_sum_)
    code = PMPI_Allreduce(&magnitude_, &sum_of_magnitudes_, 1, MPI_DOUBLE, MPI_SUM, copy_.call().comm);
  if (code == MPI_SUCCESS) code = run_plain(copy_.call());
  elapsed_ns_ += clock_now() - began;
  return code;
}

int CheckedCall::start(MPI_Comm comm, const Topology* topology) {
  const p2p::BypassScope bypass;
  started_ = true;
  if (is_sum_) {
    const int code =
        PMPI_Iallreduce(&magnitude_, &sum_of_magnitudes_, 1, MPI_DOUBLE, MPI_SUM, comm, &magnitude_request_);
    if (code != MPI_SUCCESS) return code;
  }
  plain_.set_private(comm, topology);
  plain_.issue();
  return plain_.code();
}

bool CheckedCall::ready() {
  const p2p::BypassScope bypass;
  int reduced = 1;
  if (magnitude_request_ != MPI_REQUEST_NULL) PMPI_Test(&magnitude_request_, &reduced, MPI_STATUS_IGNORE);
  return plain_.ready() && reduced != 0;
}

void CheckedCall::compare(const Promise& promise, ResultChecks& checks) {
  const std::uint64_t began = clock_now();
  if (started_) finish_plain(copy_.call(), group_);
  const double rounding = is_sum_ ? rounding_of_sums(type_, group_.size, sum_of_magnitudes_) : 0;
  ResultComparison comparison(promise, rounding);
  copy_.each_block([&](ConstSlice plain, ConstSlice served) { comparison.add(plain, served); });
  comparison.count(checks, elapsed_ns_ + clock_now() - began);
}

}  // namespace taut::api
