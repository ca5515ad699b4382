// What a random collective call is about: who has how many values for whom, and of what kind they are.
#pragma once

#include <ostream>
#include <vector>

#include "core/algorithm.hpp"
#include "core/nodes.hpp"
#include "robustness/random/draw.hpp"

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
  int nodes = 0;  // with equally many ranks, several of both; 0: nothing is known of them
  Reduction op = Reduction::sum;
  DType type = DType::f32;
  std::size_t count = 0;                        // of the whole message, in nearly equal blocks; or:
  std::vector<std::vector<std::size_t>> sizes;  // [i][j]: of what goes from rank i to rank j
  bool in_place = false;
  bool mean = false;              // the sum is divided by P
  bool apart = false;             // values lie apart in the memory of some ranks
  bool null_if_empty = false;     // a buffer without values has no address
  double scale = 1;               // of most values
  std::vector<Content> contents;  // of each rank
  std::uint64_t seed = 1;         // of values and gaps

  bool any_blocks() const noexcept { return !sizes.empty(); }
  std::size_t size_between(int from, int to) const noexcept;
  // Values in each block that a rank has, or gets: one for all, its own, or one for each rank. None: no
  // buffer.
  std::vector<std::size_t> blocks_in(int rank) const;
  std::vector<std::size_t> blocks_out(int rank) const;
  // Where block `block` of what `rank` gets comes from, if the call does not reduce.
  struct Source {
    int rank;
    std::size_t block;
  };
  Source source(int rank, std::size_t block) const noexcept;
  std::size_t message_bytes() const noexcept { return count * size_of(type); }  // of nearly equal blocks
};

std::ostream& operator<<(std::ostream& out, const Call& call);

int draw_nodes(Draw& draw, int P);  // for Call::nodes
Nodes nodes_of(const Call& call);   // ranks in turn

// True where blocks of what is sent have to be of one size, if they are not of any.
bool equal_blocks(Collective collective) noexcept;

int draw_ranks(Draw& draw, int most);
// Sizes, values and the rest of a call, whose collective, ranks, type and operator are set. Now and then
// frames are long enough for several threads.
void draw_data(Draw& draw, Call& call, bool any_blocks);

// Those of one rank for one block, as bytes.
void fill_values(Content content, double scale, DType type, std::uint64_t seed, Bytes out);

}  // namespace taut::test
