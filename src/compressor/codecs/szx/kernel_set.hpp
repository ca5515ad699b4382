// Kernels of the szx codec (kernels.hpp) for an instruction set: operations on blocks by its vectors, and
// plain loops over the codes and lows (format.hpp) of a chunk, which compilers vectorise. `Set` is
// ScalarBlocks or VectorBlocks of the instruction set; it is a template parameter of all loops, so that each
// set has its own copy of them. `Count` is the type of a number of blocks: see with_count().
#pragma once

#include "compressor/codecs/szx/block.hpp"

namespace taut::szx {

// Calls action(blocks). The number of a whole chunk, as most chunks are, is passed as a compile-time
// constant: loops over it need no remainder.
template <class Action>
void with_count(std::size_t blocks, Action action) noexcept {
  if (blocks == chunk_blocks) return action(std::integral_constant<std::size_t, chunk_blocks>{});
  action(blocks);
}

// Returns true if a block has the code `raw`, which is the greatest code.
template <class Set, class Count>
bool any_raw(const std::uint8_t* codes, Count blocks) noexcept {
  std::uint8_t greatest = 0;
  for (std::size_t b = 0; b < blocks; ++b) greatest = codes[b] > greatest ? codes[b] : greatest;
  return greatest == raw;
}

// Computes the intervals and codes of all blocks; the code is `raw` if the grid does not serve a value.
template <class Set, class T, class Count>
void find_intervals(const T* least, const T* greatest, Count blocks, const Grid<T>& grid,
                    ChunkPlan<T>& plan) noexcept {
  const double step = static_cast<double>(grid.step), inverse = 1 / step, bound = grid.bound;
  alignas(64) std::int64_t low[chunk_blocks], span[chunk_blocks], code[chunk_blocks];
  for (std::size_t b = 0; b < blocks; ++b) {
    const bool is_served = int{served(least[b], inverse)} & int{served(greatest[b], inverse)};
    const double from = is_served ? static_cast<double>(least[b]) : 0,
                 to = is_served ? static_cast<double>(greatest[b]) : 0;
    const Interval found = interval(from, to, step, inverse, bound);
    low[b] = nearest(found.low);
    span[b] = nearest(found.span);
    code[b] = is_served ? bit_width(found.span) : std::int64_t{raw};
  }
  for (std::size_t b = 0; b < blocks; ++b) plan.low[b] = static_cast<IntOf<T>>(low[b]);
  for (std::size_t b = 0; b < blocks; ++b) plan.span[b] = static_cast<BitsOf<T>>(span[b]);
  for (std::size_t b = 0; b < blocks; ++b) plan.code[b] = static_cast<std::uint8_t>(code[b]);
}

// Returns the bytes of the blocks with these codes. Sets `valid` to true if all codes are valid.
template <class Set, class T, class Count>
std::size_t bytes_of_blocks(const std::uint8_t* codes, Count blocks, bool& valid) noexcept {
  std::uint8_t greatest = 0;
  unsigned widths = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    widths += codes[b];
    greatest = codes[b] > greatest ? codes[b] : greatest;
  }
  valid = greatest <= max_width<T>;
  if (greatest < holed) return widths * (block_values / 8);
  std::size_t bytes = 0;
  valid = true;
  for (std::size_t b = 0; b < blocks; ++b) {
    bytes += block_bytes<T>(codes[b]);
    valid &= !on_grid(codes[b]) || width_of(codes[b]) <= max_width<T>;
  }
  return bytes;
}

// Computes base and sizes, and sets the lows of blocks without a width to the base.
template <class Set, class T, class Count>
void finish_plan(Count blocks, ChunkPlan<T>& plan) noexcept {
  constexpr IntOf<T> none = std::numeric_limits<IntOf<T>>::max();
  IntOf<T> base = none;
  for (std::size_t b = 0; b < blocks; ++b) {
    const IntOf<T> low = on_grid(plan.code[b]) ? plan.low[b] : none;
    base = low < base ? low : base;
  }
  plan.base = base == none ? 0 : base;
  BitsOf<T> distance = 0;
  unsigned codes = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    plan.low[b] = on_grid(plan.code[b]) ? plan.low[b] : plan.base;
    distance |= static_cast<BitsOf<T>>(plan.low[b] - plan.base);
    codes |= plan.code[b];
  }
  plan.base_bytes = (static_cast<unsigned>(std::bit_width(distance)) + 7) / 8;
  plan.constant = distance == 0 && codes == 0;
  bool valid = false;
  plan.body_bytes = bytes_of_blocks<Set, T>(plan.code, blocks, valid);
}

// Gives blocks with packed integers the code `raw`, so that plan_exact() handles them.
template <class Set, class T>
void mark_packed(const T* values, std::size_t blocks, const Grid<T>& grid, ChunkPlan<T>& plan) noexcept {
  const bool may_serve_packed = grid.step >= safe_step_limit<T>;
  if (!may_serve_packed && !any_below_numbers(values, blocks * block_values)) return;
  for (std::size_t b = 0; b < blocks; ++b) {
    const T* const x = values + b * block_values;
    if (std::none_of(x, x + block_values, is_packed<T>)) continue;
    plan.code[b] = raw;
    plan.span[b] = 0;
  }
}

// Implements Kernels::plan: chooses code, low and span of each block.
template <class Set, class T>
void plan_blocks(const T* values, std::size_t blocks, const Grid<T>& grid, ChunkPlan<T>& plan) noexcept {
  alignas(64) T least[chunk_blocks], greatest[chunk_blocks];
  Set::extremes(values, blocks, least, greatest);
  with_count(blocks, [&](auto n) {
    find_intervals<Set>(least, greatest, n, grid, plan);
    if (grid.exact_bits) mark_packed<Set>(values, blocks, grid, plan);
    if (any_raw<Set>(plan.code, n))
      for (std::size_t b = 0; b < blocks; ++b)
        if (plan.code[b] == raw) plan_exact(values + b * block_values, b, grid, plan);
    finish_plan<Set>(n, plan);
  });
}

// Writes the codes, then the distances of the lows from the base, each in plan.base_bytes bytes: first the
// lowest byte of all distances, then the next one.
template <class Set, class T>
std::byte* write_table(const ChunkPlan<T>& plan, std::size_t blocks, std::byte* to) noexcept {
  std::memcpy(to, plan.code, blocks);
  with_count(blocks, [&](auto n) {
    for (unsigned k = 0; k < plan.base_bytes; ++k)
      for (std::size_t b = 0; b < n; ++b)
        to[(k + 1) * n + b] =
            static_cast<std::byte>(static_cast<BitsOf<T>>(plan.low[b] - plan.base) >> 8 * k);
  });
  return to + (1 + plan.base_bytes) * blocks;
}

// Reads codes and lows. The range check replaces a negative low by its complement, which takes as many bits.
template <class Set, class T>
bool read_table(const std::byte* from, std::size_t blocks, IntOf<T> base, unsigned base_bytes,
                BlockTable<T>& table) noexcept {
  std::memcpy(table.code, from, blocks);
  bool valid = false;
  with_count(blocks, [&](auto n) {
    for (std::size_t b = 0; b < n; ++b) table.low[b] = base;
    for (unsigned k = 0; k < base_bytes; ++k)
      for (std::size_t b = 0; b < n; ++b)
        table.low[b] = sum_of<T>(table.low[b], std::to_integer<BitsOf<T>>(from[(k + 1) * n + b]) << 8 * k);
    BitsOf<T> beyond = 0;
    for (std::size_t b = 0; b < n; ++b)
      beyond |= static_cast<BitsOf<T>>(table.low[b] ^ (table.low[b] >> (8 * sizeof(T) - 1)));
    table.body_bytes = bytes_of_blocks<Set, T>(table.code, n, valid);
    valid &= beyond <= BitsOf<T>{max_integer<T>};
  });
  return valid;
}

// Implements Kernels::pack: writes the table, then the blocks.
template <class Set, class T>
std::byte* pack_blocks(const T* values, std::size_t blocks, const Grid<T>& grid, const ChunkPlan<T>& plan,
                       std::byte* to) noexcept {
  to = write_table<Set>(plan, blocks, to);
  for (std::size_t b = 0; b < blocks; ++b) {
    const T* const x = values + b * block_values;
    const std::uint8_t code = plan.code[b];
    if (code >= holed) {
      pack_exact<Set>(x, b, grid, plan, to);
    } else if (code != 0) {
      Set::pack(x, plan.low[b], plan.span[b], code, grid, to);
    }
    to += block_bytes<T>(code);
  }
  return to;
}

// Implements Kernels::unpack and Kernels::unpack_add: decodes the blocks, whose table was read.
template <class Set, bool add, class T>
void unpack_blocks(const std::byte* from, std::size_t blocks, const BlockTable<T>& table, const Grid<T>& grid,
                   T* values) noexcept {
  for (std::size_t b = 0; b < blocks; ++b) {
    T* const y = values + b * block_values;
    const std::uint8_t code = table.code[b];
    if (code >= holed) {
      unpack_exact<Set, add>(from, table.low[b], code, grid, y);
    } else {
      Set::template unpack<add>(from, table.low[b], code, grid, y);
    }
    from += block_bytes<T>(code);
  }
}

template <class Set, class T>
inline constexpr Kernels<T> kernels_of{plan_blocks<Set, T>, pack_blocks<Set, T>, read_table<Set, T>,
                                       unpack_blocks<Set, false, T>, unpack_blocks<Set, true, T>};

template <class Set>
const KernelSet& KernelSet::with() noexcept {
  using Block = std::conditional_t<std::is_same_v<Set, simd::Scalar>, ScalarBlocks, VectorBlocks<Set>>;
  static constexpr KernelSet set{
      simd::name_of<Set>, simd::supported<Set>, {kernels_of<Block, float>, kernels_of<Block, double>}};
  return set;
}

}  // namespace taut::szx
