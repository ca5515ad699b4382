// Two ways to find the exact values at each position of a chunk from its runs, which overlap in sums of
// frames: range by range (RunCursor), and by adding and subtracting runs at their edges (put_by_edges).
#pragma once

#include <array>
#include <vector>

#include "compressor/codecs/planes/format/quantiser.hpp"
#include "compressor/codecs/planes/format/runs.hpp"
#include "compressor/codecs/planes/record/exact_sum.hpp"
#include "compressor/codecs/planes/record/record.hpp"

namespace taut::planes {

// Cursor over the ranges of positions of a chunk. The current range is [from, to); all its positions have the
// same runs. Values on the grid count as integers, which are subtracted from the holds.
template <class T>
class RunCursor {
 public:
  RunCursor(const Runs<T>& runs, std::size_t count, double step) : runs_(runs), count_(count), step_(step) {}

  // Advances to the next range; returns false at the end of the chunk's `count` values.
  bool next() {
    from_ = to_;
    if (from_ == count_) return false;
    drop_ended();
    while (next_ < runs_.size() && runs_[next_].start() == from_) add_starting_group();
    to_ = next_ < runs_.size() ? runs_[next_].start() : count_;
    for (std::size_t i = 0; i < groups_; ++i) to_ = std::min(to_, group(i).end);
    return true;
  }

  std::size_t from() const noexcept { return from_; }
  std::size_t to() const noexcept { return to_; }
  bool has_runs() const noexcept { return groups_ > 0; }
  std::size_t exact_count() const noexcept { return exact_count_; }  // number of exact values
  std::int64_t holds() const noexcept { return static_cast<std::int64_t>(holds_); }

  // Calls visit(value) for each exact value of the range.
  template <class Visit>
  void each_value(Visit visit) const {
    for (std::size_t i = 0; i < groups_; ++i) {
      const Group& g = group(i);
      for (std::size_t k = 0; k < g.run_count; ++k) {
        const T value = runs_[g.first_run + k].value;
        std::int64_t q;
        if (g.exact_count == g.run_count || !on_grid(value, step_, q)) visit(value);
      }
    }
  }

 private:
  // Runs with the same start and end, neighbours in the record: those of addends whose exact values
  // are at the same positions. `holds`: sum of the holds, less that of the values on the grid.
  struct Group {
    std::size_t end, first_run, run_count, exact_count;
    std::uint64_t holds;
  };
  static constexpr std::size_t usual_groups = 32;

  Group& group(std::size_t i) noexcept { return i < usual_groups ? usual_[i] : more_[i - usual_groups]; }
  const Group& group(std::size_t i) const noexcept {
    return i < usual_groups ? usual_[i] : more_[i - usual_groups];
  }

  void drop_ended() noexcept {
    for (std::size_t i = 0; i < groups_;) {
      if (group(i).end > from_) {
        ++i;
        continue;
      }
      exact_count_ -= group(i).exact_count;
      holds_ -= group(i).holds;
      group(i) = group(--groups_);
    }
  }

  void add_starting_group() {
    const Run<T> first = runs_[next_];
    Group g{first.end(), next_, 0, 0, 0};
    for (; next_ < runs_.size() && runs_[next_].start_and_length == first.start_and_length;
         ++next_, ++g.run_count) {
      std::int64_t q = 0;
      const bool is_integer = on_grid(runs_[next_].value, step_, q);
      g.holds +=
          static_cast<std::uint64_t>(runs_[next_].hold) - (is_integer ? static_cast<std::uint64_t>(q) : 0);
      g.exact_count += !is_integer;
    }
    if (groups_ == usual_groups + more_.size()) more_.emplace_back();
    group(groups_++) = g;
    exact_count_ += g.exact_count;
    holds_ += g.holds;
  }

  Runs<T> runs_;
  std::size_t count_, next_ = 0, from_ = 0, to_ = 0;
  double step_;
  std::size_t groups_ = 0, exact_count_ = 0;
  std::uint64_t holds_ = 0;  // modulo 2^64: frames may contain any holds
  std::array<Group, usual_groups> usual_;
  std::vector<Group> more_;  // for frames of very many addends with many different overlaps
};

// ---- Values at the edges of runs
//
// Each run is added where it starts and subtracted where it ends. The time is linear in runs and positions,
// however much the runs overlap.

// Returns true if summing the runs range by range takes more than about 256 additions a value, and more than
// about 64 a run. put_by_edges() is then faster.
template <class T>
bool runs_overlap_much(const Record<T>& record) noexcept {
  const Runs<T> runs = record.run_list();
  constexpr std::size_t max_runs_per_value = 256, max_values_per_run = 64;
  if (runs.size() <= max_runs_per_value) return false;
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) covered += runs[i].end() - runs[i].start();
  return covered > max_runs_per_value * record.count && covered > max_values_per_run * runs.size();
}

// Sum of the runs at a position: the sums of their holds and of their exact values. Runs are added and
// subtracted.
template <class T>
class RunSum {
 public:
  void add(const Run<T>& run, double step) noexcept { apply(run, step, 1); }
  void subtract(const Run<T>& run, double step) noexcept { apply(run, step, -1); }
  void add(const RunSum& other) noexcept {
    holds_ += other.holds_;
    exact_count_ += other.exact_count_;
    xor_of_values_ ^= other.xor_of_values_;
    positive_infinities_ += other.positive_infinities_;
    negative_infinities_ += other.negative_infinities_;
    nans_ += other.nans_;
    finite_sum_.add(other.finite_sum_);
  }

  // Returns the value at a position whose integer is q: the only exact value bit for bit, or the correctly
  // rounded sum.
  T value(std::int64_t q, double step) const noexcept {
    const auto rest = static_cast<std::int64_t>(static_cast<std::uint64_t>(q) - holds_);
    if (exact_count_ == 0) return dequantise<T>(rest, step);
    if (exact_count_ == 1 && rest == 0) return std::bit_cast<T>(xor_of_values_);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ExactSum sum = finite_sum_;
    sum.add_product(static_cast<double>(rest), step);
    if (nans_ > 0) sum.add(std::numeric_limits<double>::quiet_NaN());
    if (positive_infinities_ > 0) sum.add(infinity);
    if (negative_infinities_ > 0) sum.add(-infinity);
    return sum.rounded<T>();
  }

 private:
  void apply(const Run<T>& run, double step, int sign) noexcept {
    std::int64_t q = 0;
    const bool is_integer = on_grid(run.value, step, q);
    const std::uint64_t hold =
        static_cast<std::uint64_t>(run.hold) - (is_integer ? static_cast<std::uint64_t>(q) : 0);
    holds_ += sign > 0 ? hold : ~hold + 1;
    if (is_integer) return;
    const double x = static_cast<double>(run.value);
    exact_count_ += sign;
    xor_of_values_ ^= std::bit_cast<BitsOf<T>>(run.value);
    if (std::isfinite(x))
      finite_sum_.add(sign * x);
    else
      (std::isnan(x) ? nans_ : x > 0 ? positive_infinities_ : negative_infinities_) += sign;
  }

  std::uint64_t holds_ = 0;  // modulo 2^64: frames may contain any holds
  std::int64_t exact_count_ = 0, positive_infinities_ = 0, negative_infinities_ = 0, nans_ = 0;
  BitsOf<T> xor_of_values_ = 0;  // exclusive or of the exact values: the value itself if there is one
  ExactSum finite_sum_;
};

// Returns the value at position i. `run_sum`: sum of the runs there.
template <class T>
T value_at(const Record<T>& record, std::size_t i, const RunSum<T>& run_sum, std::int64_t q,
           double step) noexcept {
  if (record.layer_count == 0) return run_sum.value(q, step);
  RunSum<T> all = run_sum;
  for (std::size_t k = 0; k < record.layer_count; ++k)
    all.add(Run<T>{0, 0, load<T>(record.layers + (k * record.count + i) * sizeof(T))}, step);
  return all.value(q, step);
}

// Replaces the values of a record at all positions by sums of the integer, the runs and the layers there.
// Throws std::bad_alloc.
template <class T, class Int>
void put_by_edges(const Record<T>& record, const Int* q, double step, T* values) {
  constexpr std::size_t at_a_time = 256;  // positions; few, to save memory
  const Runs<T> runs = record.run_list();
  std::vector<RunSum<T>> edges;  // change of the sum at each position
  RunSum<T> run_sum;
  for (std::size_t first = 0; first < record.count; first += at_a_time) {
    edges.assign(at_a_time, {});
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Run<T> run = runs[i];
      if (run.start() >= first + at_a_time) break;  // the runs are in the order of their starts
      if (run.start() >= first) edges[run.start() - first].add(run, step);
      if (run.end() >= first && run.end() < first + at_a_time) edges[run.end() - first].subtract(run, step);
    }
    for (std::size_t i = first; i < std::min(first + at_a_time, record.count); ++i) {
      run_sum.add(edges[i - first]);
      values[i] = value_at(record, i, run_sum, q[i], step);
    }
  }
}

}  // namespace taut::planes
