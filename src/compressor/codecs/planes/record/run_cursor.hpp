// Cursor over a chunk from left to right, in ranges split at the starts and ends of its runs.
#pragma once

#include <array>
#include <vector>

#include "compressor/codecs/planes/format/quantiser.hpp"
#include "compressor/codecs/planes/record/runs.hpp"

namespace taut::planes {

// The current range of positions [from, to), all covered by the same runs. Values on the grid count as
// integers: their contribution is part of the holds.
template <class T>
class RunCursor {
 public:
  RunCursor(const Runs<T>& runs, std::size_t count, double step) : runs_(runs), count_(count), step_(step) {}

  // Advances to the next range; returns false at the end of the chunk's `count` values.
  bool next() {
    from_ = to_;
    if (from_ == count_) return false;
    drop_ended();
    while (next_ < runs_.size() && runs_[next_].start() == from_) absorb();
    to_ = next_ < runs_.size() ? runs_[next_].start() : count_;
    for (std::size_t i = 0; i < groups_; ++i) to_ = std::min(to_, group(i).end);
    return true;
  }

  std::size_t from() const noexcept { return from_; }
  std::size_t to() const noexcept { return to_; }
  bool covered() const noexcept { return groups_ > 0; }
  std::size_t exact() const noexcept { return exact_; }  // exact values
  std::int64_t holds() const noexcept { return static_cast<std::int64_t>(holds_); }

  template <class Visit>
  void each_value(Visit visit) const {
    for (std::size_t i = 0; i < groups_; ++i) {
      const Group& g = group(i);
      for (std::size_t k = 0; k < g.count; ++k) {
        const T value = runs_[g.first + k].value;
        std::int64_t q;
        if (g.exact == g.count || !on_grid(value, step_, q)) visit(value);
      }
    }
  }

 private:
  // Neighbouring runs in the record with the same start and end. Chunks with the same mask share one group.
  struct Group {
    std::size_t end, first, count, exact;
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
      exact_ -= group(i).exact;
      holds_ -= group(i).holds;
      group(i) = group(--groups_);
    }
  }

  void absorb() {
    const Run<T> first = runs_[next_];
    Group g{first.end(), next_, 0, 0, 0};
    for (; next_ < runs_.size() && runs_[next_].place == first.place; ++next_, ++g.count) {
      std::int64_t q = 0;
      const bool is_integer = on_grid(runs_[next_].value, step_, q);
      g.holds +=
          static_cast<std::uint64_t>(runs_[next_].hold) - (is_integer ? static_cast<std::uint64_t>(q) : 0);
      g.exact += !is_integer;
    }
    if (groups_ == usual_groups + more_.size()) more_.emplace_back();
    group(groups_++) = g;
    exact_ += g.exact;
    holds_ += g.holds;
  }

  Runs<T> runs_;
  std::size_t count_, next_ = 0, from_ = 0, to_ = 0;
  double step_;
  std::size_t groups_ = 0, exact_ = 0;
  std::uint64_t holds_ = 0;  // modulo 2^64: frames may contain any holds
  std::array<Group, usual_groups> usual_;
  std::vector<Group> more_;  // for frames of very many addends with many different overlaps
};

}  // namespace taut::planes
