// Algorithms of collectives and what they declare. The text of an algorithm sees a Team and nothing else.
#pragma once

#include "core/collective.hpp"
#include "core/team.hpp"

namespace taut {

class Nodes;

// The user's memory.
//
//                   in                  out
//   allreduce       all values          all values (may be `in`)
//   reduce_scatter  P blocks            own block (may be block `rank` of `in`)
//   allgather       own block           P blocks (own one may be `in`)
//   bcast           -                   all values (read at the root)
//   scatter         P blocks, root      own block (null at the root: leave it where it is)
//   reduce          all values          all values, root (may be `in`)
//   gather          own block           P blocks, root (own one may be `in`)
//   alltoall        P blocks            P blocks (may be `in`)
//
// Of what `root` marks the other ranks have none. Blocks to scatter, gather or exchange are of one size, or
// as `layout` says; a rank knows the sizes of those alone that it sends or receives.
struct Operands {
  Blocks<ConstSlice> in;
  Blocks<Slice> out;
  Reduction op = Reduction::sum;
  int root = 0;
};

// For P ranks and one segment. `most by any rank` where ranks differ.
struct Cost {
  int steps = 0;            // messages on the longest chain that wait for each other
  int messages = 0;         // sent by all ranks together
  int messages_a_rank = 0;  // most by any rank
  int frames = 0;           // in these messages, all ranks together
  int encodes = 0;          // most by any rank; also the next two
  int combines = 0;
  int decodes = 0;
};

// Scratch memory of one rank, for one segment: at most so many buffers at a time, each for up to so many
// frames. Whoever reduces by values has one more, for the values.
struct Scratch {
  int frames = 1;
  int buffers = 3;
};

struct AlgorithmInfo {
  const char* name;  // as in policies
  Collective collective;
  const char* paper;
  enum class Unit : std::uint8_t {
    whole,
    block,
    batch
  } unit;  // what a message carries: a frame of the whole message,
           // a frame of one of its blocks, or several such frames
  Cost (*cost)(int P);
  // The result of a SUM, or what is moved, is within growth * bound of the exact one, if each encoding is
  // within `bound`.
  int (*growth)(int P, Arithmetic how);
  Task<> (*run)(Team team, Operands data);
  bool any_blocks = false;  // also those of a layout
  // Of rank `me`, counted from the root.
  Scratch (*scratch)(int P, int me) = [](int, int) { return Scratch{}; };
  int (*blocks)(int P) = [](int P) { return P; };  // that a message is cut into
  // What was decoded is encoded again at each hop: reductions are by values only, and all ranks get the same
  // bits only from codecs that are idempotent.
  bool recodes = false;

  int parts(int P) const { return unit == Unit::whole ? 1 : blocks(P); }  // frames of a whole message
};

std::span<const AlgorithmInfo* const> registered_algorithms() noexcept;
const AlgorithmInfo* find_algorithm(Collective collective, const char* name) noexcept;  // null: unknown

// Smallest k with 2^k >= P.
constexpr int log2_ceil(int P) noexcept {
  int k = 0;
  while ((1 << k) < P) ++k;
  return k;
}

// Largest power of two up to P.
constexpr int power_of_two_within(int P) noexcept { return 1 << (log2_ceil(P + 1) - 1); }

inline constexpr int max_segments = 64;

// The algorithm once for each segment of the message, side by side, each on its own lane; `nodes`: by nodes
// (hierarchical.hpp), unless null.
Task<> pipelined(const AlgorithmInfo& algorithm, Team team, Operands data, int segments,
                 const Nodes* nodes = nullptr);

}  // namespace taut
