// The ranks of a team that share a node with this one: among them values travel as they are.
//
// Collective rule, as for frames: once the call has failed on a rank, the values that it sends come one byte
// short, which is how the others learn of it.
#pragma once

#include "core/team.hpp"

namespace taut {

class PassingValues;
class TakingValues;
class ExchangingValues;

class Neighbours {
 public:
  // `ranks` of the team, in the order in which they are counted here; this one is among them.
  Neighbours(const Team& team, std::span<const int> ranks) noexcept : team_(team.among(ranks)) {}

  int rank() const noexcept { return team_.rank(); }
  int size() const noexcept { return team_.size(); }

  // Memory for values; without any, noted as a failure, if there is none.
  struct Memory {
    Buffer buffer;
    Slice values;
  };
  Memory memory(std::size_t count, DType type) noexcept;

  // to <- from, which may be the same memory; values <- values op others. Nothing, once the call has failed.
  void copy(ConstSlice from, Slice to) noexcept;
  void combine(Slice values, ConstSlice others, Reduction op) noexcept;

  // To be awaited.
  PassingValues send(ConstSlice values, int to);
  TakingValues recv(Slice values, int from);
  ExchangingValues exchange(ConstSlice mine, int to, Slice theirs, int from);

 private:
  friend class PassingValues;
  friend class TakingValues;

  Team team_;
};

class PassingValues final : public Waitable {
 public:
  PassingValues(Neighbours& node, ConstSlice values, int to);
  PassingValues(const PassingValues&) = delete;
  bool ready() override { return pending_.ready(); }
  void result() const noexcept { waiting_.over(pending_.result().bytes); }

 private:
  Waiting waiting_;
  Pending pending_;
};

class TakingValues final : public Waitable {
 public:
  TakingValues(Neighbours& node, Slice values, int from);
  TakingValues(const TakingValues&) = delete;
  bool ready() override { return pending_.ready(); }
  void result() noexcept;

 private:
  Team& team_;
  Waiting waiting_;
  std::size_t expected_;  // bytes
  Pending pending_;
};

class ExchangingValues final : public Waitable {
 public:
  ExchangingValues(Neighbours& node, ConstSlice mine, int to, Slice theirs, int from)
      : taking_(node, theirs, from), passing_(node, mine, to) {}
  bool ready() override {
    const bool passed = passing_.ready();
    return taking_.ready() && passed;
  }
  void result() noexcept { taking_.result(); }

 private:
  TakingValues taking_;
  PassingValues passing_;
};

inline PassingValues Neighbours::send(ConstSlice values, int to) { return PassingValues(*this, values, to); }
inline TakingValues Neighbours::recv(Slice values, int from) { return TakingValues(*this, values, from); }
inline ExchangingValues Neighbours::exchange(ConstSlice mine, int to, Slice theirs, int from) {
  return ExchangingValues(*this, mine, to, theirs, from);
}

}  // namespace taut
