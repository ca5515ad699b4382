// The portable kernels of the general path, and which ones go with a kernel set.
#include "codecs/planes/general_kernels.hpp"

#include "codecs/planes/block.hpp"
#include "codecs/planes/general_loops.hpp"
#include "codecs/planes/large.hpp"

namespace taut::planes {
namespace {

template <class Marked>
void mark(std::size_t n, Marks& marks, Marked marked) noexcept {
  for (std::size_t first = 0; first < chunk_values; first += 64) {
    std::uint64_t bits = 0;
    for (std::size_t i = first; i < std::min(n, first + 64); ++i)
      bits |= std::uint64_t{marked(i)} << (i - first);
    marks.of[first / 64] = bits;
  }
}

template <class Int>
void mark_escaped(const Int* q, std::size_t n, Marks& marks) noexcept {
  mark(n, marks, [=](std::size_t i) { return q[i] == escaped<Int>; });
}

template <class T>
void mark_repeats(const T* values, std::size_t n, Marks& marks) noexcept {
  mark(n, marks, [=](std::size_t i) { return i > 0 && same_bits(values[i], values[i - 1]); });
}

template <class T>
Quantised quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                   Marks& marks) noexcept {
  const bool complete = quantise_large(values, groups, z, q);
  mark_escaped(q, groups * group_values, marks);
  std::int32_t seen = 0;
  for (std::size_t i = 0; i < groups * group_values; ++i)
    seen |= q[i] == escaped<std::int32_t> ? 0 : q[i] ^ (q[i] >> 31);
  return {complete, seen >> small_bits == 0};
}

template <class T, class Int>
std::size_t take_runs(const T* values, std::size_t n, const Marks& marks, std::size_t most, Int* q,
                      std::byte* out) noexcept {
  Marks repeats;
  mark_repeats(values, n, repeats);
  return take_runs(values, marks, repeats, most, q, out,
                   [](Int* to, std::size_t length, Int hold) { std::fill_n(to, length, hold); });
}

template <class T>
bool all_below(const T* values, std::size_t n, T limit) noexcept {
  bool all = true;
  for (std::size_t i = 0; i < n; ++i) all &= std::abs(values[i]) <= limit;
  return all;
}

template <class T>
void put(T* values, std::size_t n, const Marks& marks, T value) noexcept {
  for (std::size_t first = 0; first < n; first += 64) {
    for (std::uint64_t left = marks.of[first / 64]; left != 0; left &= left - 1)
      values[first + static_cast<std::size_t>(std::countr_zero(left))] = value;
  }
}

std::size_t pack(const std::int64_t* q, std::size_t blocks, Predictor predictor, std::byte* out,
                 Widths& widths) noexcept {
  std::byte* at = out;
  auto previous = static_cast<std::uint64_t>(q[0]);
  for (std::size_t b = 0; b < blocks; ++b) {
    std::int64_t d[block_values];
    for (std::size_t i = 0; i < block_values; ++i) {
      const auto v = static_cast<std::uint64_t>(q[b * block_values + i]);
      d[i] = static_cast<std::int64_t>(predictor == Predictor::delta ? v - std::exchange(previous, v) : v);
    }
    const unsigned width = block_width(d);
    at = write_block(at, d, width);
    widths.of[b] = static_cast<std::uint8_t>(width);
  }
  return static_cast<std::size_t>(at - out);
}

void unpack_add(ConstBytes planes, const Widths& widths, std::int64_t base, std::size_t blocks,
                Predictor predictor, std::int64_t* q) noexcept {
  auto previous = static_cast<std::uint64_t>(base);
  for (std::size_t b = 0; b < blocks; ++b) {
    const unsigned width = widths.of[b];
    std::int64_t d[block_values];
    if (planes.size() >= width + 8) {
      read_block(planes.data(), width, d);
    } else {  // the last ones, so that nothing is read beyond
      std::byte padded[sizeof d + 8] = {};
      if (width > 0) std::memcpy(padded, planes.data(), width);
      read_block(padded, width, d);
    }
    planes = planes.subspan(width);
    for (std::size_t i = 0; i < block_values; ++i) {
      auto v = static_cast<std::uint64_t>(d[i]);
      if (predictor == Predictor::delta) v = previous += v;
      q[b * block_values + i] =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(q[b * block_values + i]) + v);
    }
  }
}

template <class T>
constexpr GeneralValueKernels<T> value_kernels{quantise<T>,
                                               quantise_wide<T>,
                                               dequantise_wide<T>,
                                               all_below<T>,
                                               take_runs<T, std::int32_t>,
                                               take_runs<T, std::int64_t>,
                                               put<T>,
                                               add_strip<T>,
                                               round_strip<T>};

}  // namespace

const GeneralKernels& scalar_general_kernels() noexcept {
  static constexpr GeneralKernels set{value_kernels<float>,
                                      value_kernels<double>,
                                      mark_repeats<std::int32_t>,
                                      mark_repeats<std::int64_t>,
                                      mark_escaped<std::int64_t>,
                                      multiply,
                                      pack,
                                      unpack_add};
  return set;
}

const GeneralKernels& general_kernels([[maybe_unused]] const KernelSet& set) noexcept {
#if TAUT_X86
  if (&set == &avx512_kernels()) return avx512_general_kernels();
#endif
  return scalar_general_kernels();
}

}  // namespace taut::planes
