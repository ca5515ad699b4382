// Planes of 64-bit integers in portable code, for the kernel sets that have no registers of eight such
// integers.
#pragma once

#include <functional>

#include "compressor/codecs/planes/format/block.hpp"
#include "compressor/codecs/planes/kernels/general_kernels.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

// Eight 64-bit integers; arithmetic is modulo 2^64.
struct WideBlock {
  std::uint64_t data[block_values];
};

template <class Op>
WideBlock each(const WideBlock& a, const WideBlock& b, Op op) noexcept {
  WideBlock result;
  for (std::size_t i = 0; i < block_values; ++i) result.data[i] = op(a.data[i], b.data[i]);
  return result;
}

// Operations of general_loops.hpp on 64-bit integers.
struct PortableWide {
  using Wide = WideBlock;
  static Wide load(const std::int64_t* from) noexcept {
    return taut::load<Wide>(reinterpret_cast<const std::byte*>(from));
  }
  static void store(std::int64_t* to, const Wide& v) noexcept { std::memcpy(to, v.data, sizeof v); }
  static Wide add(const Wide& a, const Wide& b) noexcept { return each(a, b, std::plus<>()); }
  static Wide subtract(const Wide& a, const Wide& b) noexcept { return each(a, b, std::minus<>()); }
  static Wide splat(std::int64_t value) noexcept {
    Wide v;
    std::fill_n(v.data, block_values, static_cast<std::uint64_t>(value));
    return v;
  }

  // Returns, for each integer, the integer `back` positions before it; `before` is the block before.
  template <std::size_t back>
  static Wide lagged(const Wide& v, const Wide& before) noexcept {
    Wide result;
    for (std::size_t i = 0; i < block_values; ++i)
      result.data[i] = i < back ? before.data[block_values + i - back] : v.data[i - back];
    return result;
  }

  // Returns the running sums over the predictor's distance.
  template <Predictor P>
  static Wide prefix_sum(Wide v) noexcept {
    for (std::size_t i = predictor_distance(P); i < block_values; ++i)
      v.data[i] += v.data[i - predictor_distance(P)];
    return v;
  }

  // Returns, for each position, the last integer at a multiple of the predictor's distance from it.
  template <Predictor P>
  static Wide broadcast_last(const Wide& v) noexcept {
    Wide result;
    for (std::size_t i = 0; i < block_values; ++i)
      result.data[i] = v.data[block_values - predictor_distance(P) + i % predictor_distance(P)];
    return result;
  }

  class WideWriter {
   public:
    WideWriter(std::byte* out, Widths& widths) noexcept : out_(out), at_(out), width_(widths.width) {}
    void next(const Wide& v) noexcept {
      const auto d = std::bit_cast<std::array<std::int64_t, block_values>>(v);
      *width_ = static_cast<std::uint8_t>(block_width(d.data()));
      at_ = write_block(at_, d.data(), *width_++);
    }
    std::size_t bytes() const noexcept { return static_cast<std::size_t>(at_ - out_); }

   private:
    std::byte *out_, *at_;
    std::uint8_t* width_;
  };

  // Reads no byte beyond the last block.
  class WideReader {
   public:
    WideReader() = default;
    explicit WideReader(const WidePlanes& in) noexcept : left_(in.bytes), width_(in.widths->width) {}
    Wide next() noexcept {
      const unsigned width = *width_++;
      std::array<std::int64_t, block_values> d;
      if (left_.size() >= width + 8) {
        read_block(left_.data(), width, d.data());
      } else {
        std::byte padded[sizeof d + 8] = {};
        if (width > 0) std::memcpy(padded, left_.data(), width);
        read_block(padded, width, d.data());
      }
      left_ = left_.subspan(width);
      return std::bit_cast<Wide>(d);
    }

   private:
    ConstBytes left_;
    const std::uint8_t* width_ = nullptr;
  };
};

}  // namespace
}  // namespace taut::planes
