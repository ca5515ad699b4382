// Description of a collective algorithm, and the registry of algorithms. An algorithm uses ranks, codec and
// memory through a Team only.
#pragma once

#include <optional>

#include "communication/team/coding.hpp"
#include "communication/team/collective.hpp"

namespace taut {

class Nodes;

// Final frames of an allreduce, of all blocks. Frame i is that of block i ^ `first`.
struct FinalFrames {
  Frames frames;
  int first = 0;
};

// Memory of a collective call on one rank.
//
//                   in                  out
//   allreduce       all values          all values (may be `in`)
//   reduce_scatter  P blocks            own block (may be block `rank` of `in`)
//   allgather       own block           P blocks (own one may be `in`)
//   bcast           all values, root    all values (null at the root: they stay in `in`)
//   scatter         P blocks, root      own block (null at the root: its block stays in `in`)
//   prefixes        all values          all values (may be `in`); none on a rank without a result
//   reduce          all values          all values, root (may be `in`)
//   gather          own block           P blocks, root (own one may be `in`)
//   alltoall        P blocks            P blocks (may be `in`)
//   neighbor_allgather   own block, and one block for each of neighbours->from
//   neighbor_alltoall    one block for each of neighbours->to, and for each of neighbours->from
//
// An operand marked `root` exists at the root only. The blocks of a scatter, gather, alltoall or
// neighbor_alltoall have one size, or the sizes in `layout`; a rank knows only the sizes of the blocks that
// it sends or receives.
struct Operands {
  Blocks<ConstSlice> in;
  Blocks<Slice> out;
  Reduction op = Reduction::sum;
  int root = 0;
  const Neighbours* neighbours = nullptr;  // of a neighbourhood collective
  bool mean = false;  // reductions `in_rank_order`: divided by P before the result is rounded
  // Nodes between which an alltoall moves blocks; those within a node stay uncoded. Null: all blocks are
  // coded.
  const Nodes* between = nullptr;
  // Memory for this segment's part of the decoded own block in an allgather. None: the own block of `out`.
  // Null: the own block is not decoded.
  std::optional<void*> own = {};
  FinalFrames* totals = nullptr;  // null: an allreduce decodes its final frames, and does not hand them over
  bool frames_on_node = false;    // an allreduce by nodes shares its final frames on a node, not its values

  // Returns true if an alltoall encodes the block that one rank sends to the other.
  bool encodes(int from, int to) const noexcept;
};

// Returns true if a rank's input is in the memory of a result that other ranks get too: the root's values of
// a broadcast, and the own block of an allgather in place.
bool has_input_in_result(Collective collective, const Operands& data, int rank, int ranks) noexcept;

// Keeps such an input bit for bit: removes the memory of its decoded copy from `data`. By default the decoded
// values overwrite the input.
void leave_input(Collective collective, Operands& data, int rank, int ranks) noexcept;

// Returns this segment's part of the memory that an allgather decodes the own block to.
inline Slice own_block(const Team& team, const Operands& data) noexcept {
  Slice own = team.chunk(data.out, team.rank());
  if (data.own) own.data = *data.own;
  return own;
}

// Cost of an algorithm for P ranks and one segment.
struct Cost {
  int steps = 0;            // messages on the longest chain of dependent messages
  int messages = 0;         // sent by all ranks together
  int messages_a_rank = 0;  // most by any rank
  int frames = 0;           // frames in these messages, all ranks together
  int encodes = 0;          // most by any rank; likewise combines and decodes
  int combines = 0;
  int decodes = 0;
};

// Scratch memory of one rank for one segment: the greatest number of buffers in use at a time, and the
// greatest number of frames in a buffer. A reduction by values needs one more buffer, for the values.
struct Scratch {
  int frames = 1;
  int buffers = 3;
  int blocks = 0;  // blocks of values, in one more buffer
};

struct AlgorithmInfo {
  const char* name;  // name in policies
  Collective collective;
  const char* paper;
  enum class Unit : std::uint8_t {
    whole,
    block,
    blocks
  } unit;  // content of a message: one frame of all data, one frame of a block, or frames of several blocks
  Cost (*cost)(int P);
  // Error growth, in bounds of one encoding: the result of a SUM, or of a data movement, is within growth *
  // bound of the exact result, if each encoding is within `bound`.
  int (*growth)(int P, Arithmetic how);
  Task<> (*run)(Team team, Operands data);
  bool any_blocks = false;  // also serves blocks of different sizes (BlockLayout)
  // Returns the scratch memory of rank `me`, counted from the root. In a neighbourhood collective P is the
  // number of this rank's neighbours.
  Scratch (*scratch)(int P, int me) = [](int, int) { return Scratch{}; };
  int (*blocks)(int P) = [](int P) { return P; };  // number of blocks that a message is cut into
  // True if the algorithm decodes and encodes again at each hop. Its reductions are by values only, and all
  // ranks get the same bits only with an idempotent codec.
  bool recodes = false;
  // True if the algorithm reduces the decoded operands of all ranks in the order of the ranks, in a wider
  // type, and rounds once: the bits depend on the operands alone. Policies choose it by sum=wide.
  bool in_rank_order = false;

  bool hands_over_frames = false;  // Operands::totals

  bool may_add_frames() const noexcept { return !recodes && !in_rank_order; }
  int parts(int P) const { return unit == Unit::whole ? 1 : blocks(P); }  // frames of a whole message
};

// Error growths that several algorithms have: of moved data, which are encoded once and forwarded unchanged;
// of sums that contain each rank's values encoded once; and of sums in a tree of P leaves and P-1 inner
// nodes, which are all encoded by values.
constexpr int coded_once(int, Arithmetic) noexcept { return 1; }
constexpr int coded_by_each_rank(int P, Arithmetic) noexcept { return P; }
constexpr int coded_in_a_tree(int P, Arithmetic how) noexcept {
  return how == Arithmetic::frames ? P : 2 * P - 1;
}

std::span<const AlgorithmInfo* const> registered_algorithms() noexcept;
const AlgorithmInfo* find_algorithm(Collective collective, const char* name) noexcept;  // null: unknown

// Returns the smallest k with 2^k >= P.
constexpr int log2_ceil(int P) noexcept {
  int k = 0;
  while ((1 << k) < P) ++k;
  return k;
}

// Returns the largest power of two up to P.
constexpr int power_of_two_within(int P) noexcept { return 1 << (log2_ceil(P + 1) - 1); }

inline constexpr int max_segments = 64;

// Runs the algorithm once for each segment of the message, concurrently, each segment on its own lane. Runs
// the algorithm by nodes (hierarchical.hpp) unless `nodes` is null.
Task<> pipelined(const AlgorithmInfo& algorithm, Team team, Operands data, int segments,
                 const Nodes* nodes = nullptr);

}  // namespace taut
