// The data of a random collective call: the number of values that each rank sends to each other rank, and
// their kind.
#pragma once

#include <ostream>
#include <vector>

#include "communication/team/algorithm.hpp"
#include "communication/team/nodes.hpp"
#include "support/draw.hpp"

namespace taut::test {

// Kinds of values. specials: NaN, infinities, -0, denormals and 1e30 among smooth ones; fill: 1e20 in places.
enum class Content : std::uint8_t {
  smooth,
  noise,
  constant,
  zeros,
  integers,
  wild,
  specials,
  fill,
  tiny,
  any_bits
};
inline constexpr int contents = static_cast<int>(Content::any_bits) + 1;

struct Call {
  Collective collective = Collective::allreduce;
  int P = 1, root = 0;
  std::vector<int> node_of;  // node of each rank; empty: unknown
  Reduction op = Reduction::sum;
  DType type = DType::f32;
  std::size_t count = 0;                        // values of the whole message, in nearly equal blocks; or:
  std::vector<std::vector<std::size_t>> sizes;  // [i][j]: values sent from rank i to rank j
  std::vector<Neighbours> neighbours;           // of each rank, in a neighbourhood collective
  bool in_place = false;
  bool same_bits = false;         // true if a call in place replaces what a rank owns, as under same_bits=on
  bool mean = false;              // true if the sum is divided by P
  bool apart = false;             // true if values have gaps between them in the memory of some ranks
  bool null_if_empty = false;     // true if an empty buffer has no address
  double scale = 1;               // magnitude of most values
  std::vector<Content> contents;  // kind of values of each rank
  std::uint64_t seed = 1;         // seed of values and gaps

  bool any_blocks() const noexcept { return !sizes.empty(); }
  std::size_t size_between(int from, int to) const noexcept;
  const Neighbours* neighbours_of(int rank) const noexcept;  // null: no neighbourhood collective
  // Returns the number of values in each block that a rank sends, or receives: one number for all blocks, its
  // own block, or one for each rank. Empty: no buffer.
  std::vector<std::size_t> blocks_in(int rank) const;
  std::vector<std::size_t> blocks_out(int rank) const;
  // Returns true if block `block` in the output of `rank` is its input, in place, and stays as it is.
  bool stays(int rank, std::size_t block) const noexcept;
  // Returns the number of ranks, from rank 0 on, whose values a reduction combines in the output of `rank`.
  int addends(int rank) const noexcept;
  // Source of block `block` in the output of `rank`, if the call does not reduce.
  struct Source {
    int rank;
    std::size_t block;
  };
  Source source(int rank, std::size_t block) const noexcept;
  std::size_t message_bytes() const noexcept { return count * size_of(type); }  // for nearly equal blocks
};

std::ostream& operator<<(std::ostream& out, const Call& call);

// Returns the node of each rank: ranks in turn, node after node, or random, on nodes of equal and unequal
// size; or none.
std::vector<int> draw_nodes(Draw& draw, int P);

// Returns true if the blocks that are sent must have one size, unless blocks of any size are allowed.
bool equal_blocks(Collective collective) noexcept;

int draw_ranks(Draw& draw, int most);
// Draws sizes, values and the remaining properties of a call, whose collective, ranks, type and operator are
// set. Some calls have frames long enough for several threads.
void draw_data(Draw& draw, Call& call, bool any_blocks);

// Leaves at most `most` values of a message, or between two ranks, as random as before.
void limit_values(Call& call, std::size_t most);

// Writes the values of one rank for one block, as bytes.
void fill_values(Content content, double scale, DType type, std::uint64_t seed, Bytes out);

}  // namespace taut::test
