#include "stack.hpp"

#include <taut/taut.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>

namespace stacking {
namespace {

MPI_Datatype type_of(float) { return MPI_FLOAT; }
MPI_Datatype type_of(double) { return MPI_DOUBLE; }

// A variant with its own communicator, which has the policy and the statistics.
struct Variant {
  Row row;
  MPI_Comm comm = MPI_COMM_NULL;

  Variant(Row what, MPI_Comm parent) : row(std::move(what)) {
    MPI_Comm_dup(parent, &comm);
    if (!row.policy.empty()) TAUT_Comm_set_policy(comm, row.policy.c_str());
  }
  Variant(Variant&& other) noexcept
      : row(std::move(other.row)), comm(std::exchange(other.comm, MPI_COMM_NULL)) {}
  Variant& operator=(Variant&&) = delete;
  ~Variant() {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
};

TAUT_Stats stats_of(MPI_Comm comm) {
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  TAUT_Comm_get_stats(comm, &stats);
  return stats;
}

template <class T>
void stack(const Variant& variant, std::span<const T> share, std::span<T> image) {
  if (variant.row.policy.empty()) {
    MPI_Allreduce(share.data(), image.data(), static_cast<int>(share.size()), type_of(T{}), MPI_SUM,
                  variant.comm);
  } else {
    TAUT_Allreduce(share.data(), image.data(), static_cast<MPI_Count>(share.size()), type_of(T{}), MPI_SUM,
                   variant.comm);
  }
}

// Returns the seconds of one call, from all ranks ready to the slowest rank done. The same value on every
// rank.
template <class T>
double timed_stack(const Variant& variant, std::span<const T> share, std::span<T> image) {
  MPI_Barrier(variant.comm);
  const double start = MPI_Wtime();
  stack(variant, share, image);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, variant.comm);
  return seconds;
}

// Returns the bytes that one rank sends in a ring allreduce of `bytes`.
double ideal_ring(double bytes, int ranks) { return 2 * bytes * (ranks - 1) / ranks; }

// Fills in the traffic of the timed calls: the busiest rank's wire bytes, the mean ratio.
void account(Row& row, const TAUT_Stats& before, MPI_Comm comm, double plain_bytes) {
  row.wire_bytes = plain_bytes;
  if (row.policy.empty()) return;
  const TAUT_Stats after = stats_of(comm);
  const double calls = static_cast<double>(row.seconds.size());
  double sums[2] = {static_cast<double>(after.value_bytes - before.value_bytes),
                    static_cast<double>(after.frame_bytes - before.frame_bytes)};
  double sent = static_cast<double>(after.sent_bytes - before.sent_bytes) / calls;
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_DOUBLE, MPI_MAX, comm);
  row.compressed = after.compressed_calls > before.compressed_calls;
  if (!row.compressed) return;
  row.wire_bytes = sent;
  row.codec_ratio = sums[1] > 0 ? sums[0] / sums[1] : 1;
}

void keep_worst(Quality& worst, const Quality& quality) {
  const bool within = worst.within && quality.within;
  if (worst.range == 0 || quality.max_error > worst.max_error) worst = quality;
  worst.within = within;
}

std::vector<Variant> variants(const Compared& compared, double range, MPI_Comm comm) {
  constexpr double none = std::numeric_limits<double>::infinity();
  std::vector<Variant> all;
  all.emplace_back(Row{.name = "plain", .bound = none}, comm);
  for (const double relative : compared.relative_bounds) {
    for (const char* reduction : {"values", "frames"}) {
      char policy[80];
      std::snprintf(policy, sizeof policy, "abs:%.17g,reduction=%s", relative * range, reduction);
      all.emplace_back(
          Row{.name = reduction, .policy = policy, .relative_bound = relative, .bound = relative * range},
          comm);
    }
  }
  for (const std::string& policy : compared.policies)
    all.emplace_back(Row{.name = "policy-" + std::to_string(&policy - compared.policies.data() + 1),
                         .policy = policy,
                         .bound = none},
                     comm);
  return all;
}

}  // namespace

double Row::median_seconds() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

template <class T>
std::vector<Row> stack_by_all(std::span<const T> share, const Compared& compared, int repeats, MPI_Comm comm,
                              const Keep<T>& keep) {
  int me = 0, ranks = 1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  const std::vector<double> exact = exact_sum(share, comm);
  std::vector<T> image(share.size());
  const std::span<T> out(image);

  MPI_Allreduce(share.data(), image.data(), static_cast<int>(share.size()), type_of(T{}), MPI_SUM, comm);
  double range = me == 0 ? compare<T>(image, exact, 0).range : 0;
  MPI_Bcast(&range, 1, MPI_DOUBLE, 0, comm);
  if (!(range > 0)) throw std::runtime_error("the stacked image is constant: there is nothing to compare");

  std::vector<Variant> all = variants(compared, range, comm);
  for (const Variant& variant : all) timed_stack(variant, share, out);  // warms up
  std::vector<TAUT_Stats> before;
  for (const Variant& variant : all) before.push_back(stats_of(variant.comm));

  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (Variant& variant : all) {
      Row& row = variant.row;
      row.seconds.push_back(timed_stack(variant, share, out));
      row.identical = row.identical && same_everywhere(std::as_bytes(out), comm);
      if (me != 0) continue;
      keep_worst(row.quality, compare<T>(image, exact, row.bound));
      if (repeat + 1 == repeats) keep(row, image);
    }
  }

  const double plain_bytes = ideal_ring(static_cast<double>(share.size_bytes()), ranks);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    account(all[i].row, before[i], all[i].comm, plain_bytes);
    int within = all[i].row.quality.within;
    MPI_Bcast(&within, 1, MPI_INT, 0, comm);
    all[i].row.quality.within = within != 0;
    rows.push_back(all[i].row);
  }
  return rows;
}

template std::vector<Row> stack_by_all(std::span<const float>, const Compared&, int, MPI_Comm,
                                       const Keep<float>&);
template std::vector<Row> stack_by_all(std::span<const double>, const Compared&, int, MPI_Comm,
                                       const Keep<double>&);

}  // namespace stacking
