// The memory of all ranks for one call: their inputs, space for the outputs, and guard bytes around and
// between them.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "communication/comm/collective_call.hpp"
#include "robustness/random/call.hpp"

namespace taut::test {

class Memory {
 public:
  explicit Memory(const Call& call);

  const Call& call() const noexcept { return *call_; }

  // Returns the arguments that `rank` passes to the call. They refer to memory of this object. Values with
  // gaps are reached by the staging only; it is null if there are none.
  Operands operands(int rank);
  std::shared_ptr<const Staging> staging(int rank);

  // The input of a rank in block `block`, as it was before the call, and the output of a rank.
  ConstBytes contributed(int rank, std::size_t block) const;
  ConstBytes received(int rank, std::size_t block) const;

  // Returns all memory of a rank: the part that inputs are in, unless the call has none or works in place,
  // and the part that outputs are in. Values with gaps are elsewhere.
  std::array<Bytes, 2> parts(int rank);

  // Returns the first byte that has changed and must not, in inputs and around all memory; "" when there is
  // none. `served`: the call wrote its result.
  std::string touched(bool served) const;
  // Resets the outputs, to repeat the call.
  void restore();

 private:
  // Blocks in one allocation that ends with its last value, or with some bytes more.
  struct Region {
    std::vector<std::byte> bytes, before;
    BlockLayout layout;  // offsets count from byte `first`
    std::size_t first = 0;
    // Distance between values in the program's memory, if they have gaps; `bytes` then are the values that
    // this memory holds. 0: no gaps.
    std::size_t step = 0;
    std::vector<std::byte> apart, apart_before;
  };
  class Apart;
  // Location of a rank's input or output: the region, and the first block in it.
  struct Spot {
    int region = 0;
    std::size_t first = 0;
  };
  struct Rank {
    Region regions[2];
    Spot in{0, 0}, out{1, 0};  // in place: in the same region
  };

  Region make_region(std::vector<std::size_t> counts, bool gaps, Draw& draw) const;
  void make_rank(int rank, Draw& draw);
  void move_apart(Region& region, Draw& draw) const;
  Operands addresses(int rank);  // addresses in `bytes`, also for values with gaps
  template <class Copy>
  void each_value(const Region& region, std::size_t block, Copy copy) const;
  std::string touched_between(const Region& region) const;
  Range bytes_of(const Region& region, std::size_t block) const noexcept;
  template <class S>
  Blocks<S> slice(Rank& rank, Spot spot, std::size_t blocks) const;

  const Call* call_;
  std::size_t size_;  // bytes of a value
  std::vector<Rank> ranks_;
};

}  // namespace taut::test
