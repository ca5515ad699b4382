// Conversion between words and codes of a grid (grid.hpp), written once for all instruction sets.
#pragma once

#include <algorithm>
#include <bit>

#include "compressor/codecs/mpc/format.hpp"
#include "compressor/codecs/mpc/kernels.hpp"

namespace taut::mpc {

namespace {  // one copy for each kernel set, compiled with its instructions

// Returns the residuals of a vector of words, whose offset in the sources is `at`.
template <class Set, class Word, class Vector>
Vector less_lags(const Vector& words, const Sources& sources, std::size_t at) noexcept {
  const auto less = [](const Vector& a, const Vector& b) {
    return Set::template map_words<Word>([](auto x, auto y) { return x - y; }, a, b);
  };
  const Vector residual = less(words, Set::load(sources.near + at));
  if (sources.far == nullptr) return residual;
  return less(residual, less(Set::load(sources.far + at), Set::load(sources.both + at)));
}

// Returns the bits of a number, or of a register of numbers, as numbers of another type.
template <class To, class From>
auto as(From from) noexcept {
  if constexpr (std::is_arithmetic_v<From>) {
    return std::bit_cast<To>(from);
  } else {
    typedef To Register __attribute__((vector_size(sizeof(From))));
    return (Register)from;
  }
}

// Operation that makes values of integers: a product, a quotient, or a product with the inverse. `inverse`
// gives the same values as `quotient` if inverse_serves(), and `float_inverse`, in floats, if
// float_inverse_serves().
enum class Scale : std::uint8_t { product, quotient, inverse, float_inverse };

// Returns true if a product with the inverse of `step`, corrected once, is the rounded quotient by `step` of
// every integer below 2^51. The product is off by less than 1.5 last places, so that its fused remainder is
// exact; the inverse, off by 2^-53 of itself, leaves 1.5 * 2^-53 of a last place after the correction. The
// quotient by a number of n bits is at least 2^-(n + 1) of a last place away from where rounding changes: n
// may be 50.
inline bool inverse_serves(double step) noexcept {
  return step >= 0x1p-500 && step <= 0x1p500 && std::bit_cast<std::uint64_t>(step) % 8 == 0;
}

// Returns the same for integers below 2^22 and floats, with n up to 21. The format rounds to double first,
// which changes nothing then.
inline bool float_inverse_serves(double step, double offset) noexcept {
  const auto number = static_cast<float>(step);
  return number == step && step >= 0x1p-60 && step <= 0x1p60 && offset == 0 &&
         std::bit_cast<std::uint32_t>(number) % 8 == 0;
}

// Grid of one message, for words of one size. A word is coded in these steps: its value is scaled and rounded
// to an integer; the value of the integer is computed as decoders do; if the word differs from that of the
// integer by no more than a code holds, the code takes its place. `integers_alone`: as in Grid.
template <class Set, class Word, Scale scale, bool has_unit, bool integers_alone>
class GridCode {
  using G = GridWords<Word>;
  using Value = typename G::Value;
  using Vector = typename Set::Bytes;

 public:
  explicit GridCode(const Grid& grid) noexcept
      : step_(grid.step),
        offset_(grid.offset),
        origin_(static_cast<Value>(grid.offset)),
        steps_in_one_(static_cast<Value>(scale == Scale::product ? 1 / grid.step : grid.step)),
        inverse_(1 / grid.step),
        shift_(static_cast<Value>(G::shift(grid.unit))),
        limit_(static_cast<Value>(G::limit(grid.unit))),
        base_(static_cast<Word>(grid.base)) {}

  // Replaces words on the grid by their codes, and subtracts the base from codes and other words. A code
  // holds an integer, and in its lowest two bits the difference, -2 to 1, between the word and the word of
  // the integer; or the integer alone if the difference is 0. Each step is done for all n vectors before the
  // next step, so that their operations overlap.
  template <std::size_t n>
  void to_codes(Vector (&v)[n]) const noexcept {
    const auto nearest = [this](auto x) {
      auto distance = as<Value>(x);
      if constexpr (scale != Scale::float_inverse) distance = distance - origin_;  // the origin is 0 there
      return as<Word>(distance * steps_in_one_ + G::rounding_constant);
    };
    const auto coded = [this](auto x, auto rounded, auto z) {
      const auto place = moved(x), off = place - moved(z);
      auto on_grid = (rounded - (constant_bits - G::max_integer) <= 2 * G::max_integer) &
                     (off + below < (Word{1} << low_bits));
      if constexpr (has_unit) on_grid = on_grid & (as<Word>(as<Value>(place) - shift_of(x)) == x);
      const Word center = G::center - (constant_bits << low_bits) - base_;
      if constexpr (integers_alone) return on_grid ? rounded + center : x - base_;
      return on_grid ? (rounded << low_bits) + off + center : x - base_;
    };
    Vector rounded[n], near[n];
    for (std::size_t i = 0; i < n; ++i) rounded[i] = Set::template map_words<Word>(nearest, v[i]);
    for (std::size_t i = 0; i < n; ++i) near[i] = values(rounded[i]);
    for (std::size_t i = 0; i < n; ++i)
      v[i] = Set::template map_words<Word>(coded, v[i], rounded[i], near[i]);
  }

  // Returns the words that to_codes() has replaced by these codes.
  Vector words(const Vector& codes) const noexcept {
    const Word center = G::center - base_;
    const auto rounded_of = [center](auto code) {
      const Word least = (2 * G::code_reach >> low_bits) - constant_bits;
      return ((code - center + (below + 2 * G::code_reach)) >> low_bits) - least;
    };
    const Vector rounded = Set::template map_words<Word>(rounded_of, codes);
    const auto word = [this, center](auto code, auto rounded_word, auto z) {
      const auto number = code - center,
                 moved_word = moved(z) + (number - ((rounded_word - constant_bits) << low_bits));
      const auto is_code = number + (G::code_reach - 1) < 2 * G::code_reach - 1;
      if constexpr (has_unit) {
        // Values from the limit on have no shift; the subtraction of 0 would change the bits of a NaN.
        const auto back = as<Word>(as<Value>(moved_word) - shift_of(z));
        const auto near = as<Word>(shift_of(z)) != Word{0} ? back : moved_word;
        return is_code ? near : code + base_;
      }
      return is_code ? moved_word : code + base_;
    };
    return Set::template map_words<Word>(word, codes, rounded, values(rounded));
  }

 private:
  static constexpr unsigned low_bits = difference_bits(integers_alone);
  static constexpr Word below = negative_differences(integers_alone);
  static constexpr Word constant_bits = std::bit_cast<Word>(G::rounding_constant);
  static constexpr Word magnitude = static_cast<Word>(~Word{0}) >> 1;

  // Returns the values of integers. `rounded`: for each integer the bits of rounding_constant plus the
  // integer.
  Vector values(const Vector& rounded) const noexcept {
    if constexpr (scale == Scale::float_inverse) {
      const auto value = [this](auto x) { return as<Word>(quotient(as<float>(x) - G::rounding_constant)); };
      return Set::template map_words<Word>(value, rounded);
    } else if constexpr (G::is_float) {
      const auto value = [this](auto x) { return scaled(x) + offset_; };
      if constexpr (requires { Set::map_doubles(value, rounded, constant_bits); }) {
        return Set::map_doubles(value, rounded, constant_bits);
      } else {
        const auto less = [](auto x) { return x - constant_bits; };
        const auto word = [&](auto x) { return as<std::uint64_t>(value(as<double>(x))); };
        Vector a, b;
        Set::doubles(Set::template map_words<Word>(less, rounded), a, b);
        return Set::narrow(Set::template map_words<std::uint64_t>(word, a),
                           Set::template map_words<std::uint64_t>(word, b));
      }
    } else {
      const auto value = [this](auto x) {
        return as<std::uint64_t>(scaled(as<double>(x) - G::rounding_constant) + offset_);
      };
      return Set::template map_words<Word>(value, rounded);
    }
  }

  template <class Doubles>
  Doubles scaled(Doubles integers) const noexcept {
    if constexpr (scale == Scale::product) {
      return integers * step_;
    } else if constexpr (scale == Scale::quotient) {
      return integers / step_;
    } else {
      return quotient(integers);
    }
  }

  // Returns integers, as floats or doubles, divided by the step.
  template <class Values>
  Values quotient(Values integers) const noexcept {
    using Number = std::conditional_t<scale == Scale::float_inverse, float, double>;
    const Values divisor = Values{} + static_cast<Number>(step_),
                 inverse = Values{} + static_cast<Number>(inverse_), near = integers * inverse;
    return Set::fused(Set::fused(-near, divisor, integers), inverse, near);
  }

  // Returns the shift that is added to a value so that its ulp is a unit: 0 for values from the limit on.
  template <class Words>
  auto shift_of(Words word) const noexcept {
    const Words shift = Words{} + std::bit_cast<Word>(shift_);
    return as<Value>(as<Value>(word & magnitude) < limit_ ? shift : Words{});
  }

  // Returns the words of values plus their shift. A difference of 1 between two of them is a unit, or an ulp
  // for values from the limit on.
  template <class Words>
  auto moved(Words word) const noexcept {
    if constexpr (has_unit)
      return as<Word>(as<Value>(word) + shift_of(word));
    else
      return word;
  }

  double step_, offset_;
  Value origin_, steps_in_one_;
  double inverse_;
  Value shift_, limit_;
  Word base_;
};

template <class Set, class Word>
struct GridLoops {
  using Vector = typename Set::Bytes;

  // See Kernels::to_codes. `least` is, for each lane, the least distance of a word from the first code; a
  // word that would be read as a code has a distance below the number of codes.
  static bool to_codes(const std::byte* words, std::size_t vectors, const Grid& grid, std::byte* codes,
                       const ResidualOutput& residuals) noexcept {
    alignas(64) std::byte distances[vector_bytes];
    with_code(grid, [&, words, codes, vectors](const auto code) {
      const ResidualOutput r = residuals;  // the stores cannot change a copy
      Vector least = Set::splat(0xFF);
      std::size_t i = 0;
      for (; i + at_once <= vectors; i += at_once)
        to_codes<at_once>(words, code, codes, r, i * vector_bytes, least);
      for (; i < vectors; ++i) to_codes<1>(words, code, codes, r, i * vector_bytes, least);
      Set::store(distances, least);
    });
    for (std::size_t i = 0; i < vector_bytes; i += sizeof(Word))
      if (load<Word>(distances + i) < 2 * GridWords<Word>::code_reach - 1) return false;
    return true;
  }

  static void from_codes(const std::byte* codes, std::size_t vectors, const Grid& grid,
                         std::byte* words) noexcept {
    with_code(grid, [&](const auto& code) {
      for (std::size_t i = 0; i < vectors * vector_bytes; i += vector_bytes)
        Set::store(words + i, code.words(Set::load(codes + i)));
    });
  }

 private:
  static constexpr Word first_code = GridWords<Word>::center - GridWords<Word>::code_reach + 1;
  // Vectors that are coded at once: as many as there are registers for.
  static constexpr bool is_fused = requires(Vector v) { Set::fused(v, v, v); };  // Avx512
  static constexpr std::size_t at_once = is_fused ? 2 : 1;

  // Codes n vectors from offset `at` on. `least`: distances of words from the first code. The words of the
  // next chunk are brought to the cache meanwhile; the address may lie beyond the values.
  template <std::size_t n, class Code>
  static void to_codes(const std::byte* words, const Code& code, std::byte* codes, const ResidualOutput& r,
                       std::size_t at, Vector& least) noexcept {
    const auto nearer = [](auto before, auto x) {
      const auto distance = x - first_code;
      return distance < before ? distance : before;
    };
    Vector v[n];
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = Set::load(words + at + i * vector_bytes);
      __builtin_prefetch(words + at + i * vector_bytes + chunk_bytes);
      least = Set::template map_words<Word>(nearer, least, v[i]);
    }
    code.to_codes(v);
    for (std::size_t i = 0; i < n; ++i) Set::store(codes + at + i * vector_bytes, v[i]);
    if (r.to == nullptr) return;
    for (std::size_t i = 0; i < n; ++i, at += vector_bytes)
      Set::store(r.to + at, less_lags<Set, Word>(v[i], r.sources, at));
  }

  template <class Action>
  static void with_code(const Grid& grid, const Action& action) noexcept {
    if (grid.form == Grid::Form::product) return with_scale<Scale::product>(grid, action);
    if constexpr (is_fused) {
      if constexpr (GridWords<Word>::is_float)
        if (float_inverse_serves(grid.step, grid.offset))
          return with_scale<Scale::float_inverse>(grid, action);
      if (inverse_serves(grid.step)) return with_scale<Scale::inverse>(grid, action);
    }
    with_scale<Scale::quotient>(grid, action);
  }
  template <Scale scale, class Action>
  static void with_scale(const Grid& grid, const Action& action) noexcept {
    grid.has_unit() ? with_unit<scale, true>(grid, action) : with_unit<scale, false>(grid, action);
  }
  template <Scale scale, bool has_unit, class Action>
  static void with_unit(const Grid& grid, const Action& action) noexcept {
    grid.integers_alone ? action(GridCode<Set, Word, scale, has_unit, true>(grid))
                        : action(GridCode<Set, Word, scale, has_unit, false>(grid));
  }
};

}  // namespace

}  // namespace taut::mpc
