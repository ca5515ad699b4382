#include "communication/dropin/nonblocking_counts.hpp"

#include <unordered_map>

#include "communication/api/state/comm_registry.hpp"
#include "communication/comm/call_site.hpp"
#include "communication/mpi/describe.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::dropin {
namespace {

// Description of a call that MPI serves, made while its datatypes are valid: the program may free them soon.
struct LeftCall {
  ArrayCopies copies;  // of the arrays of the call
  api::RankAndSize group;
  std::shared_ptr<const api::Topology> topology;  // of a call on neighbours
  std::optional<CollectiveCall> request;          // nothing: rules never serve such calls
};

// Persistent requests of MPI whose starts are counted. Never destroyed, as the program's requests may outlive
// static objects.
struct CountedRequests {
  std::mutex mutex;
  std::unordered_map<MPI_Request, LeftCall> calls;
};
CountedRequests& counted_requests() {
  static auto* const one = new CountedRequests;
  return *one;
}

std::atomic<bool> has_requests{false};  // without requests no lock is needed

bool counts_nonblocking() noexcept {
  static const bool asked = options().observe() && api::nonblocking_report() != nullptr;
  return asked;
}

// Throws std::bad_alloc, and Error for arguments that MPI refuses.
LeftCall described(const CallMaker& make) {
  LeftCall left;
  api::MpiCall call = make(left.copies);
  if (!options().report.empty()) call.site = program_site(call.site);
  left.group = api::rank_and_size_of(call.comm);
  if (of_neighbours(call.info().collective))
    left.topology = api::topology_of(call.comm, api::pairs_by_direction(call, false));
  left.request = api::describe(call, left.group, left.topology.get());
  if (left.request && !left.request->coded()) left.request.reset();
  return left;
}

// Samples the values of a call. Called before the call is counted in its row.
void sample(CallRow& row, const CollectiveCall& request, const api::RankAndSize& group) noexcept {
  static Sampler sampler(options().kernels);
  const Blocks<ConstSlice> values = own_values(request, group.rank);
  const bool readable = values.data != nullptr && !taut::on_device(values.data);
  if (!options().report.empty() && row.key == request.key() && readable)
    sampler.look(row, values.most(),
                 has_input_in_result(request.collective, request.data, group.rank, group.size));
}

void count(const LeftCall& call) {
  if (!call.request) return;
  const auto& [copies, group, topology, request] = call;
  api::NonblockingReport& seen = *api::nonblocking_report();
  const std::lock_guard lock(seen.mutex);
  CommReport& report = seen.observed[group.size];
  if (report.needs == nullptr)
    report = {
        .policy = "rules", .name = {"nonblocking calls"}, .ranks = group.size, .needs = "TAUT_NONBLOCKING=1"};
  CallRow& row = report.calls.row(request->key());
  sample(row, *request, group);
  row.add_call(request->bytes);
  row.note_plain(Fallback::off);
}

}  // namespace

void count_left(MPI_Comm comm, CallMaker make) {
  if (!counts_nonblocking() || !intercepts(comm)) return;
  const BypassScope bypass;
  try {
    count(described(make));
  } catch (const Error&) {  // the call is MPI's in any case
  } catch (const std::bad_alloc&) {
  }
}

void count_starts_of(MPI_Comm comm, MPI_Request request, CallMaker make) {
  if (!counts_nonblocking() || !intercepts(comm)) return;
  const BypassScope bypass;
  try {
    LeftCall left = described(make);
    const std::lock_guard lock(counted_requests().mutex);
    counted_requests().calls.insert_or_assign(request, std::move(left));
    has_requests = true;
  } catch (const Error&) {  // its starts are not counted
  } catch (const std::bad_alloc&) {
  }
}

void count_start(MPI_Request request) noexcept {
  if (!has_requests) return;
  const BypassScope bypass;
  try {
    const std::lock_guard lock(counted_requests().mutex);
    const auto found = counted_requests().calls.find(request);
    if (found != counted_requests().calls.end()) count(found->second);
  } catch (...) {  // the start is MPI's in any case
  }
}

void forget_starts_of(MPI_Request request) noexcept {
  if (!has_requests) return;
  const std::lock_guard lock(counted_requests().mutex);
  counted_requests().calls.erase(request);
}

}  // namespace taut::dropin
