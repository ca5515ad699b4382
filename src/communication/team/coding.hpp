// Awaitable operations of a team: they encode, decode and reduce frames. Operands must stay valid until the
// operation is complete. On the host it is complete when the function returns.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "communication/team/team.hpp"

namespace taut {

// Encodes blocks, as many at a time as the codec encodes together. If no target frames are given, result()
// returns the frames. `known`: a failure of this rank before; error frames then take the place of the frames.
class Encoding final : public Waitable {
 public:
  Encoding(Team& team, ConstSlice values, Status known);
  Encoding(Team& team, ConstSlice values, Frames& to, Status known);
  Encoding(Team& team, const Blocks<ConstSlice>& values, int first, int n);
  Encoding(Team& team, const Blocks<ConstSlice>& values, int first, std::span<Frames> to);
  Encoding(const Encoding&) = delete;

  bool ready() override;
  Frames result() noexcept { return std::move(own_); }

 private:
  ConstSlice block(int i) const noexcept {
    return single_ ? ConstSlice(values_) : ConstSlice(team_.chunk(values_, first_ + i));
  }
  Frames& target(int i) const noexcept { return to_.size() == 1 ? to_[0] : to_[static_cast<std::size_t>(i)]; }
  void start() noexcept;
  void finish() noexcept;

  Team& team_;
  Blocks<ConstSlice> values_;
  bool single_;  // `values_` is the only block
  int first_ = 0, n_ = 1;
  Frames own_;
  std::span<Frames> to_;                              // one for all blocks, or one for each block
  Status known_ = Status::ok, refused_ = Status::ok;  // not ok: error frames take the place of all frames
  int done_ = 0, started_ = 0;
  std::uint64_t begin_ = 0;
  std::array<EncodeItem, CodecOperations::max_batch> items_;
  Operation operation_;
};

// Decodes up to CodecOperations::max_batch frames together, or reduces one frame into values. Returns the
// first failure.
class Decoding final : public Waitable {
 public:
  struct Item {
    const Frames* frames;
    int index;
    Slice values;
  };
  Decoding(Team& team, std::span<const Item> items);
  Decoding(Team& team, const Item& item, Reduction op);
  Decoding(const Decoding&) = delete;

  bool ready() override;
  Status result() const noexcept { return status_; }

 private:
  void add(const Item& item) noexcept;

  Team& team_;
  Phase phase_ = Phase::decode;
  std::uint64_t begin_;
  std::size_t bytes_ = 0, n_ = 0;
  Status status_ = Status::ok;
  bool complete_ = false;
  std::array<DecodeItem, CodecOperations::max_batch> items_;
  Operation operation_;
};

// Computes n reductions of frames, one after the other. The operands of reduction i are frame first + i of
// `a`, frame i of each of `others` and, if has_own, block `block` + i of `blocks`, or `own` without `blocks`.
class Combining final : public Waitable {
 public:
  struct Terms {
    const Frames* a;
    int first = 0, n = 1;
    std::span<const Frames> others = {};
    const Blocks<ConstSlice>* blocks = nullptr;  // with `block`: the first one
    int block = 0;
    ConstSlice own = {};  // with n = 1
    bool has_own = false;
  };
  Combining(Team& team, const Terms& terms, Reduction op);
  Combining(const Combining&) = delete;

  bool ready() override;
  Frames result() noexcept { return std::move(sums_); }

 private:
  void start() noexcept;
  void start_frames() noexcept;
  void start_own(ConstSlice own) noexcept;
  void finish() noexcept;

  Team& team_;
  Terms terms_;
  Reduction op_;
  Frames sums_;
  int done_ = 0;
  std::uint64_t begin_ = 0;
  std::array<ConstBytes, FrameArithmetic::max_operands> partials_;
  std::size_t count_ = 0;  // values of the sum in progress
  Operation operation_;
};

// Frames that are decoded together, once there are as many as the codec decodes together.
class DecodeBatch {
 public:
  explicit DecodeBatch(Team& team) noexcept : team_(team) {}
  DecodeBatch(const DecodeBatch&) = delete;

  // Add a frame; a full batch is decoded at once. The caller must await the returned Decoding.
  Decoding add(const Frames& frames, int i, Slice values);
  Decoding add(Frames&& frame, Slice values);
  // Decodes the frames that are left.
  Decoding rest();

 private:
  Team& team_;
  std::size_t n_ = 0;
  std::array<Decoding::Item, CodecOperations::max_batch> items_;
  std::array<Frames, CodecOperations::max_batch> owned_;
};

inline Encoding Team::encode(ConstSlice values, Status known) { return Encoding(*this, values, known); }
inline Encoding Team::encode(ConstSlice values, Frames& to, Status known) {
  return Encoding(*this, values, to, known);
}
inline Encoding Team::encode(const Blocks<ConstSlice>& values, int first, int n) {
  return Encoding(*this, values, first, n);
}
inline Encoding Team::encode(const Blocks<ConstSlice>& values, int first, std::span<Frames> to) {
  return Encoding(*this, values, first, to);
}
inline Decoding Team::decode(const Frames& frames, int i, Slice values) {
  const Decoding::Item item{&frames, i, values};
  return Decoding(*this, std::span(&item, 1));
}
inline Decoding Team::decode(const Frames& frames, Slice values) { return decode(frames, 0, values); }
inline Decoding Team::reduce(const Frames& frame, Slice values, Reduction op) {
  return Decoding(*this, {&frame, 0, values}, op);
}

inline Combining Team::combine(const Frames& partial, ConstSlice own, Reduction op) {
  return Combining(*this, {.a = &partial, .own = own, .has_own = true}, op);
}
inline Combining Team::combine(const Frames& partial, const Blocks<ConstSlice>& values, int first, int n,
                               Reduction op) {
  return Combining(*this, {.a = &partial, .n = n, .blocks = &values, .block = first, .has_own = true}, op);
}
inline Combining Team::combine(const Frames& a, int first, int n, const Frames& b, Reduction op) {
  return Combining(*this, {.a = &a, .first = first, .n = n, .others = {&b, 1}}, op);
}
inline Combining Team::combine(const Frames& a, const Frames& b, Reduction op) {
  return combine(a, 0, 1, b, op);
}
inline Combining Team::combine(const Frames& first, std::span<const Frames> others, Reduction op) {
  return Combining(*this, {.a = &first, .others = others}, op);
}

}  // namespace taut
