// The memory of all ranks for one call: what they contribute, room for what they get, and bytes around and
// between that nobody may touch.
#pragma once

#include <memory>
#include <string>

#include "comm/staging.hpp"
#include "robustness/random/call.hpp"

namespace taut::test {

class Memory {
 public:
  explicit Memory(const Call& call);

  const Call& call() const noexcept { return *call_; }

  // What `rank` hands to the call. What it refers to stays here. Values that lie apart are reached by the
  // staging alone, which is null where there are none.
  Operands operands(int rank);
  std::shared_ptr<const Staging> staging(int rank);

  // Block `block` of what a rank contributes, as it was before the call; of what it has got.
  ConstBytes contributed(int rank, std::size_t block) const;
  ConstBytes received(int rank, std::size_t block) const;

  // The first byte that has changed and should not have; "" when there is none. `served`: the call wrote its
  // result.
  std::string touched(bool served) const;
  // Forgets results, for the same call again.
  void restore();

 private:
  // Blocks in one piece of memory that ends with its last value, or with some bytes more.
  struct Region {
    std::vector<std::byte> bytes, before;
    BlockLayout layout;  // offsets count from byte `first`
    std::size_t first = 0;
    // Where values lie apart: the memory of the program, with so many bytes from one value to the next one.
    // Then `bytes` are the values that it holds.
    std::size_t step = 0;
    std::vector<std::byte> apart, apart_before;
  };
  class Apart;
  // Of what a rank has, or gets: where it lies, and which block of it is its first one there.
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
  Operands addresses(int rank);  // in `bytes`, wherever the values lie
  template <class Copy>
  void each_value(const Region& region, std::size_t block, Copy copy) const;
  std::string touched_between(const Region& region) const;
  Range bytes_of(const Region& region, std::size_t block) const noexcept;
  template <class S>
  Blocks<S> slice(Rank& rank, Spot spot, std::size_t blocks) const;

  const Call* call_;
  std::size_t size_;  // of a value
  std::vector<Rank> ranks_;
};

}  // namespace taut::test
