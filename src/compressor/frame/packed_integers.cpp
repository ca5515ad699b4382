#include "compressor/frame/packed_integers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compressor/frame/sample.hpp"
#include "compressor/values/number_range.hpp"

namespace taut {
namespace {

// Counts over the pieces of a message: values, subnormal values, pairs of adjacent values by kind and by the
// difference of their exponents, and words by their bits.
struct PairCounts {
  std::size_t values = 0, subnormals = 0;
  std::size_t far_normals = 0;  // pairs of normal numbers that are far apart
  // Pairs of a normal and a subnormal number: near each other, as in values that fade to 0; and far apart, as
  // an integer beside a number.
  std::size_t declines = 0, jumps = 0;
  // Values -0.0, which has the bits of the least integer, in pieces after a subnormal number was found.
  std::size_t negative_zeros = 0;
  std::size_t words = 0;             // values other than 0
  std::size_t changes = 0;           // words that differ from the word before
  std::size_t texts = 0, twins = 0;  // words that read as text; as two int32 that differ by less than 2^24

  // Returns true if `matches` of the words are nearly all, and words change. A message filled with one value
  // may match by chance; a field of different values does not.
  bool nearly_all(std::size_t matches) const noexcept { return changes >= 16 && matches * 16 >= words * 15; }

  PackedIntegers result() const noexcept {
    constexpr std::size_t share = 64;  // `large`: one in 64 values, see find_packed_integers()
    const bool small = subnormals > 0 && declines <= jumps;
    if (nearly_all(texts) || nearly_all(twins) || (small && negative_zeros > 0)) return PackedIntegers::large;
    // Beside small integers a single pair of far numbers suffices: one of them is a large integer.
    if (far_normals > 0 && (small || far_normals * share >= values)) return PackedIntegers::large;
    return small ? PackedIntegers::small : PackedIntegers::none;
  }
};

template <class T>
inline constexpr std::int32_t far_apart = sizeof(T) == 8 ? 128 : 48;

// Returns true if all bytes of the word are printable ASCII.
template <class Word>
bool is_text(Word word) noexcept {
  constexpr Word each = std::numeric_limits<Word>::max() / 0xFF, top = 0x80 * each;
  return ((word | (word + each)) & top) == 0 && ((word + 0x60 * each) & top) == top;
}

// Returns true if the halves of the word are integers near each other. Words of 32 bits have no such halves,
// and neither have doubles made from floats, whose last 29 bits are 0.
template <class Word>
bool is_twin(Word word) noexcept {
  constexpr std::uint32_t near = 1U << 24, low_double_bits = (1U << 29) - 1;
  const auto low = static_cast<std::uint32_t>(word),
             high = static_cast<std::uint32_t>(std::uint64_t{word} >> 32);
  return sizeof(Word) == 8 && (low & low_double_bits) != 0 && high - low + near < 2 * near;
}

// Counts words, changes, texts and twins among the first values of a piece.
template <class T>
void count_words(const T* x, std::size_t n, PairCounts& counts) noexcept {
  using Word = typename NumberRange<T>::Word;
  constexpr std::size_t max_words = 64;
  const auto word_at = [x](std::size_t i) { return std::bit_cast<Word>(x[i]); };
  for (std::size_t i = 0; i < std::min(n, max_words); ++i) {
    const Word word = word_at(i);
    const bool is_word = magnitude_bits(x[i]) != 0;
    counts.words += is_word;
    counts.changes += is_word && i > 0 && word != word_at(i - 1);
    counts.texts += is_text(word);
    counts.twins += is_word && is_twin(word);
  }
}

template <class T>
std::size_t negative_zeros(const T* x, std::size_t n) noexcept {
  const auto count = std::count_if(x, x + n, [](T value) { return value == 0 && std::signbit(value); });
  return static_cast<std::size_t>(count);
}

// Marker in place of the exponent field of a value that is left out.
constexpr std::int32_t no_exponent = -1;

template <class T>
void count_pairs(const T* x, std::size_t n, PairCounts& pairs) noexcept {
  using Numbers = NumberRange<T>;
  using Word = typename Numbers::Word;
  constexpr Word infinity = magnitude_bits(std::numeric_limits<T>::infinity());
  Word top = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Word m = magnitude_bits(x[i]);
    top = m < infinity && m > top ? m : top;
  }
  std::int32_t exponent[Pieces::max_values];
  for (std::size_t i = 0; i < n; ++i) {
    const Word m = magnitude_bits(x[i]);
    const bool counts = (m != 0) & (m < infinity) & ((m != top) | (m < Numbers::least));
    exponent[i] = counts ? static_cast<std::int32_t>(m >> Numbers::fraction_bits) : no_exponent;
  }
  constexpr auto least = static_cast<std::int32_t>(Numbers::least >> Numbers::fraction_bits);
  pairs.values += n;
  for (std::size_t i = 0; i < n; ++i) pairs.subnormals += (exponent[i] >= 0) & (exponent[i] < least);
  for (std::size_t i = 1; i < n; ++i) {
    const std::int32_t a = exponent[i - 1], b = exponent[i], distance = a < b ? b - a : a - b;
    const bool both = (a >= 0) & (b >= 0), far = distance >= far_apart<T>;
    const bool first = a < least, second = b < least;
    pairs.far_normals += both & far & !first & !second;
    pairs.jumps += both & far & (first != second);
    pairs.declines += both & !far & (first != second);
  }
}

template <class T>
PackedIntegers find_in_pieces(const T* x, std::size_t count) noexcept {
  PairCounts counts;
  const Pieces pieces(count);
  for (std::size_t i = 0; i < pieces.count; ++i) {
    count_pairs(x + pieces.first(i), pieces.values, counts);
    count_words(x + pieces.first(i), pieces.values, counts);
    if (counts.subnormals > 0) counts.negative_zeros += negative_zeros(x + pieces.first(i), pieces.values);
  }
  return counts.result();
}

}  // namespace

PackedIntegers find_packed_integers(ConstSlice values) noexcept {
  const ConstSlice parts{values.components()};
  switch (parts.type) {
    case DType::f32: return find_in_pieces(static_cast<const float*>(parts.data), parts.count);
    case DType::f64: return find_in_pieces(static_cast<const double*>(parts.data), parts.count);
    default: return PackedIntegers::none;
  }
}

}  // namespace taut
