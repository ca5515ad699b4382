// Decodes a value that runs or raw layers cover, as exact_values.cpp does: the correctly rounded sum of all
// exact values and of a rest, the multiple of the integer less the holds of the runs. The sum is a
// fixed-point number that takes no memory: it is computed word by word from the lowest word up, and all its
// terms are read again for each word. This is slow, but needed only where an exact value meets another exact
// value or a nonzero rest.
#pragma once

#include "compressor/gpu/planes/record_reader.hpp"
#include "compressor/gpu/planes/values.hpp"

namespace taut::planes::cuda {

// The number mantissa * 2^exponent, or its negative, with the mantissa below 2^60.
struct Term {
  std::uint64_t mantissa;
  int exponent;
  bool negative;
};

TAUT_DEVICE Term term_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  return {exponent == 0 ? fraction : fraction | std::uint64_t{1} << 52, (exponent == 0 ? 1 : exponent) - 1075,
          bits >> 63 != 0};
}

// Fixed-point format that holds sums of T and of multiples of a step.
template <class T>
struct FixedPoint {
  static constexpr int lowest = sizeof(T) == 8 ? -1088 : -192;  // exponent of the lowest bit
  static constexpr int words = sizeof(T) == 8 ? 70 : 13;
};

// Returns bits [32 word, 32 word + 32) of a term; bit 0 has the exponent `lowest`.
TAUT_DEVICE std::uint32_t word_of(const Term& term, int lowest, int word) {
  const int shift = term.exponent - lowest - 32 * word;  // left shift of the mantissa
  if (shift >= 32 || shift <= -64) return 0;
  return static_cast<std::uint32_t>(shift >= 0 ? term.mantissa << shift : term.mantissa >> -shift);
}

// The leading words of a fixed-point number: push() receives its words from the lowest one up.
struct LeadingWords {
  std::uint32_t words[3] = {};   // the highest nonzero word, and the two below it
  std::uint32_t recent[3] = {};  // the last three words that arrived
  bool nonzero_below = false;    // some word below `words` is not 0
  bool nonzero_before = false;   // some word that arrived before `recent` is not 0
  int index = -1;                // index of the highest nonzero word; -1: the number is 0

  TAUT_DEVICE void push(std::uint32_t word, int at) {
    nonzero_before |= recent[2] != 0;
    recent[2] = recent[1];
    recent[1] = recent[0];
    recent[0] = word;
    if (word == 0) return;
    for (int i = 0; i < 3; ++i) words[i] = recent[i];
    nonzero_below = nonzero_before;
    index = at;
  }

  // Returns the number rounded to T, ties to even.
  template <class T, class Simt>
  TAUT_DEVICE T rounded(const Simt& simt, bool negative) const {
    if (index < 0) return static_cast<T>(0.0);
    const unsigned zeros = simt.leading_zeros(words[0]);
    std::uint64_t m = (std::uint64_t{words[0]} << 32 | words[1]) << zeros |
                      static_cast<std::uint64_t>(zeros == 0 ? 0 : words[2] >> (32 - zeros));
    const bool rest = nonzero_below || (words[2] << zeros) != 0;
    int exponent =
        32 * (index - 1) + FixedPoint<T>::lowest - static_cast<int>(zeros);  // m's bit 0; m's bit 63 is set
    std::uint64_t kept = m >> 11;
    const std::uint64_t dropped = m & 0x7FF;
    if (sizeof(T) == 8) {
      const bool up = dropped > 0x400 || (dropped == 0x400 && (rest || (kept & 1) != 0));
      kept += up;
    } else {
      kept |= static_cast<std::uint64_t>(dropped != 0 || rest);  // to odd: the rounding to T stays correct
    }
    exponent += 11;
    // `kept` has 53 bits, or equals 2^53. A number below the least normal double is an exact multiple of the
    // least double.
    const int biased = exponent + 1075;
    double x = 0;
    if (biased >= 0x7FF) {
      x = std::bit_cast<double>(std::uint64_t{0x7FF} << 52);
    } else if (biased >= 1) {
      x = std::bit_cast<double>((static_cast<std::uint64_t>(biased - 1) << 52) + kept);
    } else {
      x = std::bit_cast<double>(kept >> (1 - biased));
    }
    return static_cast<T>(negative ? -x : x);
  }
};

// The contents of a record at one place: the rest of its integer, and the exact values.
template <class T>
class ExactPlace {
 public:
  TAUT_DEVICE ExactPlace(const ParsedRecord<T>& record, double step, std::uint32_t place, std::int64_t q)
      : record_(record), step_(step), place_(place), rest_(q) {
    find_runs();
    for (std::uint32_t i = first_; i < last_; ++i) {
      const DecodedRun<T> run = record_.runs[i];
      if (!run.covers(place_)) continue;
      covered_ = true;
      rest_ = minus(rest_, run.hold);
      take(run.value);
    }
    for (std::uint32_t k = 0; k < record_.layers; ++k) take(record_.layer_value(k, place_));
    covered_ |= record_.layers > 0;
  }

  TAUT_DEVICE bool covered() const { return covered_; }

  template <class Simt>
  TAUT_DEVICE T value(const Simt& simt) const {
    if (exact_ == 0) return multiple<T>(rest_, step_);
    if (exact_ == 1 && rest_ == 0) return last_value_;
    if (special_ != 0) {  // an infinity or NaN
      const bool nan = special_ != special_;
      return nan ? static_cast<T>(std::bit_cast<double>(std::uint64_t{0x7FF8} << 48))
                 : static_cast<T>(special_);
    }
    return sum(simt);
  }

 private:
  // Returns a - b modulo 2^64.
  TAUT_DEVICE static std::int64_t minus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  }
  // Finds the range of the runs that may cover the place.
  TAUT_DEVICE void find_runs() {
    const std::uint32_t place = place_;
    if (record_.runs_sorted_by_end)
      first_ = record_.runs.first(0, [place](const DecodedRun<T>& run) { return run.end() > place; });
    last_ = record_.runs.first(first_, [place](const DecodedRun<T>& run) { return run.start() > place; });
  }

  // Takes an exact value into account. A multiple of the step becomes a part of the rest.
  TAUT_DEVICE void take(T value) {
    std::int64_t q = 0;
    if (is_multiple(value, step_, q)) {
      rest_ = minus(rest_, minus(0, q));
      return;
    }
    ++exact_;
    last_value_ = value;
    const double x = static_cast<double>(value);
    if (!(x - x == 0)) special_ += x;
  }

  // Calls visit(term) for each term of the sum.
  template <class Visit>
  TAUT_DEVICE void each_term(const Visit& visit) const {
    const Term step = term_of(step_);
    const bool negative = rest_ < 0;
    const std::uint64_t rest =
        negative ? 0 - static_cast<std::uint64_t>(rest_) : static_cast<std::uint64_t>(rest_);
    for (int k = 0; k < 4; ++k) {  // products of 27 and 32 bits
      const std::uint64_t step_part = k % 2 == 0 ? step.mantissa & 0x7FFFFFF : step.mantissa >> 27;
      const std::uint64_t rest_part = k / 2 == 0 ? rest & 0xFFFFFFFF : rest >> 32;
      visit(Term{step_part * rest_part, step.exponent + 27 * (k % 2) + 32 * (k / 2), negative});
    }
    std::int64_t unused = 0;
    for (std::uint32_t i = first_; i < last_; ++i) {
      const DecodedRun<T> run = record_.runs[i];
      if (run.covers(place_) && !is_multiple(run.value, step_, unused))
        visit(term_of(static_cast<double>(run.value)));
    }
    for (std::uint32_t k = 0; k < record_.layers; ++k) {
      const T value = record_.layer_value(k, place_);
      if (!is_multiple(value, step_, unused)) visit(term_of(static_cast<double>(value)));
    }
  }

  // Returns the sum of all terms. Its words and those of its negative are computed side by side, because the
  // sign is known at the end.
  template <class Simt>
  TAUT_DEVICE T sum(const Simt& simt) const {
    LeadingWords positive, negated;
    std::int64_t carry = 0;
    std::uint64_t negated_carry = 1;
    for (int word = 0; word < FixedPoint<T>::words; ++word) {
      each_term([&](const Term& term) {
        const std::int64_t bits = word_of(term, FixedPoint<T>::lowest, word);
        carry += term.negative ? -bits : bits;
      });
      const auto sum_word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
      negated_carry += static_cast<std::uint32_t>(~sum_word);
      positive.push(sum_word, word);
      negated.push(static_cast<std::uint32_t>(negated_carry), word);
      negated_carry >>= 32;
    }
    return carry < 0 ? negated.template rounded<T>(simt, true) : positive.template rounded<T>(simt, false);
  }

  const ParsedRecord<T>& record_;
  double step_;
  std::uint32_t place_, first_ = 0, last_ = 0;  // runs from first_ on, before last_, may cover the place
  std::uint32_t exact_ = 0;                     // number of exact values that are no multiples of the step
  std::int64_t rest_;
  T last_value_{};      // the last of these values
  double special_ = 0;  // sum of the infinities and NaN
  bool covered_ = false;
};

}  // namespace taut::planes::cuda
