// Kernels for AVX-512 with VBMI, VBMI2, VNNI and GFNI (Ice Lake, Zen 4 and later).
#include "compressor/codecs/planes/kernels/avx512/integers.hpp"
#include "compressor/codecs/planes/kernels/avx512/planes.hpp"
#include "compressor/codecs/planes/kernels/avx512/values.hpp"
#include "compressor/codecs/planes/kernels/avx512/widths.hpp"
#include "compressor/codecs/planes/kernels/loops.hpp"

namespace taut::planes {
namespace {

// ---- Sources of integers

// Reader of integers, less their prediction if there is one.
class IntegerReader {
 public:
  IntegerReader(const std::int32_t* q, const EarlierIntegers& earlier) : q_(q), earlier_(earlier) {}
  Integers group(std::size_t g) {
    const std::size_t first = g * group_values;
    Integers r;
    for (unsigned k = 0; k < 4; ++k) r.part[k] = _mm512_loadu_si512(q_ + first + 16 * k);
    if (earlier_.any())
      for (unsigned k = 0; k < 4; ++k)
        r.part[k] = _mm512_sub_epi32(r.part[k], predicted_part(earlier_, first + 16 * k));
    return r;
  }
  bool small() const { return true; }

 private:
  const std::int32_t* q_;
  EarlierIntegers earlier_;
};

// Prediction of integers from the values of references.
template <class T>
class ReferenceReader {
 public:
  ReferenceReader(const ReferenceValues<T>& before, const Quantiser<T>& z)
      : newest_(before.newest, z), older_(before.older, z), two_(before.older != nullptr) {}

  [[gnu::always_inline]] Integers group(std::size_t g) {
    Integers p = newest_.group(g);
    if (two_) {
      const Integers older = older_.group(g);
      for (unsigned k = 0; k < 4; ++k)
        p.part[k] = _mm512_sub_epi32(_mm512_slli_epi32(p.part[k], 1), older.part[k]);
    }
    return p;
  }
  bool small() const { return newest_.small() && older_.small(); }

 private:
  ValueReader<T> newest_, older_;
  bool two_;
};

// Reader of quantised values, less their prediction from references.
template <class T>
class ResidualReader {
 public:
  ResidualReader(const T* values, const ReferenceValues<T>& before, const Quantiser<T>& z)
      : values_(values, z), before_(before, z) {}

  [[gnu::always_inline]] Integers group(std::size_t g) {
    Integers q = values_.group(g);
    const Integers p = before_.group(g);
    for (unsigned k = 0; k < 4; ++k) q.part[k] = _mm512_sub_epi32(q.part[k], p.part[k]);
    return q;
  }
  bool small() const { return values_.small() && before_.small(); }

 private:
  ValueReader<T> values_;
  ReferenceReader<T> before_;
};

// Adds the prediction from references to residuals.
template <class T>
class ReferenceAdder {
 public:
  ReferenceAdder(const ReferenceValues<T>& before, const Quantiser<T>& z) : before_(before, z) {}

  template <class Q>
  [[gnu::always_inline]] Integers add_to(const Q& residuals, std::size_t first) {
    Integers q = in_order(residuals);
    const Integers p = before_.group(first / group_values);
    for (unsigned k = 0; k < 4; ++k) q.part[k] = _mm512_add_epi32(q.part[k], p.part[k]);
    return q;
  }
  bool small() const { return before_.small(); }

 private:
  ReferenceReader<T> before_;
};

// ---- Writing

// Differences of the integers of `Reader` by the predictor P, in C bits each. holds() tells whether they fit
// `Bits` bits. The first integer is added to the base.
template <class Reader, Predictor P, unsigned C, unsigned Bits = C>
class Differences {
 public:
  Differences(Reader reader, std::size_t, PlanesOut& out) : reader_(reader), base_(out.base) {}

  Group<C> group(std::size_t g) {
    if constexpr (in_words) {
      return from_words(reader_.words(g), g);
    } else {
      return from_integers(reader_.group(g), g);
    }
  }
  bool holds() const { return fit_.holds(); }
  bool small() const { return reader_.small(); }

 private:
  // Second differences may have more than 16 bits.
  static constexpr bool in_words = C < 32 && P != Predictor::second && requires(Reader r) {
    r.words(std::size_t{0});
  };

  Group<C> from_words(const Words& q, std::size_t g) {
    if constexpr (P == Predictor::none) return narrow<C>(q, fit_);
    if (g == 0) {
      const __m128i first = _mm512_castsi512_si128(q.part[0]);
      base_ = add_wrapping(base_, static_cast<std::int16_t>(_mm_cvtsi128_si32(first)));
      previous_.integer = _mm512_broadcastw_epi16(first);
    }
    return narrow<C>(differences<P>(q, previous_.integer), fit_);
  }

  Group<C> from_integers(const Integers& q, std::size_t g) {
    if constexpr (P == Predictor::none) {
      return narrow({{q.part[0], q.part[1], q.part[2], q.part[3]}}, fit_);
    } else {
      if (g == 0) {
        const __m128i first = _mm512_castsi512_si128(q.part[0]);
        base_ = add_wrapping(base_, _mm_cvtsi128_si32(first));
        previous_.integer = _mm512_broadcastd_epi32(first);
      }
      return narrow(differences<P>(q, previous_), fit_);
    }
  }

  Reader reader_;
  std::int32_t& base_;
  Carry previous_;  // integers as words, if in_words
  std::conditional_t<in_words, WordFit<Bits>, Fit<C, Bits>> fit_;
};

// Integers of a reader, to whose differences other planes are added.
template <class Reader>
struct Addend {
  Reader reader;
  const PlanesIn& planes;
};

// Differences of a reader's integers plus the differences of other planes: summands of C - 1 bits give C
// bits.
template <class Reader, Predictor P, unsigned C>
class Differences<Addend<Reader>, P, C, C> {
 public:
  Differences(const Addend<Reader>& addend, std::size_t groups, PlanesOut& out)
      : values_(addend.reader, groups, out),
        planes_(addend.planes, groups),
        fits_(addend.planes.max_width < C) {
    out.base = addend.planes.base;
  }
  Group<C> group(std::size_t g) { return plus(planes_.group(g), values_.group(g)); }
  bool holds() const { return C == 32 || (fits_ && values_.holds()); }
  bool small() const { return values_.small(); }

 private:
  Differences<Reader, P, C, C == 32 ? 32 : C - 1> values_;
  PlaneReader<C> planes_;
  bool fits_;
};

// Outcome of writing in a class: done; a difference needs a wider class; a value is not small.
enum class Outcome { done, wider, not_small };

// Writes the planes of a source in class C.
template <unsigned C, Predictor P, class Source>
Outcome write_groups(const Source& source, std::size_t groups, PlanesOut& out) {
  out.base = 0;
  Differences<Source, P, C> differences(source, groups, out);
  PlaneWriter<C> writer(out);
  for (std::size_t g = 0; g < groups; ++g) writer.group(g, differences.group(g));
  if (!differences.small()) return Outcome::not_small;
  if (!differences.holds()) return Outcome::wider;
  writer.finish(groups);
  return Outcome::done;
}

// Writes in the smallest class that fits, trying first the class that fitted last. `min_class`: the smallest
// class that can fit.
template <Predictor P, class Source>
bool write_in_class(const Source& source, unsigned min_class, std::size_t groups, PlanesOut& out) {
  const unsigned start = out.width_class > min_class ? out.width_class : min_class;
  Outcome outcome = Outcome::wider;
  if (start <= 8) outcome = write_groups<8, P>(source, groups, out);
  if (start <= 16 && outcome == Outcome::wider) outcome = write_groups<16, P>(source, groups, out);
  if (outcome == Outcome::wider) outcome = write_groups<32, P>(source, groups, out);
  return outcome == Outcome::done;
}

// ---- Reading

// Reads planes of class C; calls sink(first, integers) for each group.
template <unsigned C, Predictor P, class Sink>
void read_groups(const PlanesIn& in, std::size_t groups, Sink sink) {
  PlaneReader<C> reader(in, groups);
  Carry carry{_mm512_set1_epi32(in.base)};
  if constexpr (P == Predictor::second && C < 32) {
    SecondDifferences<C> next(reader.group(0), carry);
    for (std::size_t g = 0; g < groups; ++g) {
      const SecondDifferences<C> d = next;
      if (g + 1 < groups) next = SecondDifferences<C>(reader.group(g + 1), carry);
      sink(g * group_values, d.integers(carry));
    }
  } else {
    for (std::size_t g = 0; g < groups; ++g) sink(g * group_values, integers<P>(reader.group(g), carry));
  }
}

// ---- Sums

// Sum of the differences of N chunks.
template <unsigned C, std::size_t N>
class ChunkSum {
 public:
  ChunkSum(const PlanesIn* in, std::size_t groups) : first_(*in, groups), rest_(in + 1, groups) {}
  Group<C> group(std::size_t g) { return plus(first_.group(g), rest_.group(g)); }

 private:
  PlaneReader<C> first_;
  ChunkSum<C, N - 1> rest_;
};
template <unsigned C>
class ChunkSum<C, 1> {
 public:
  ChunkSum(const PlanesIn* in, std::size_t groups) : only_(*in, groups) {}
  Group<C> group(std::size_t g) { return only_.group(g); }

 private:
  PlaneReader<C> only_;
};

template <unsigned C, std::size_t N>
void write_sum(const PlanesIn* in, std::size_t groups, PlanesOut& out) {
  ChunkSum<C, N> total(in, groups);
  PlaneWriter<C> writer(out);
  for (std::size_t g = 0; g < groups; ++g) writer.group(g, total.group(g));
  writer.finish(groups);
}

template <std::size_t N>
void sum_of(const PlanesIn* in, std::size_t groups, PlanesOut& out) {
  const unsigned width = sum_width(in, N);
  out.base = base_of_sum(in, N);
  if (width <= 8) return write_sum<8, N>(in, groups, out);
  if (width <= 16) return write_sum<16, N>(in, groups, out);
  write_sum<32, N>(in, groups, out);
}

// ---- Operations for the loops

struct Avx512Operations {
  static constexpr std::size_t integers_per_load = group_values;
  template <class T>
  using Values = ValueReader<T>;
  template <class T>
  requires(!is_half<T>) using LargeValues = ValueReader<T, unchecked_bits<T>>;
  template <class T>
  using ReferenceResiduals = ResidualReader<T>;
  template <class T>
  using ReferenceSums = ReferenceAdder<T>;
  using Residuals = IntegerReader;
  using Widths = Avx512Widths;

  template <class T>
  static bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
    return quantise_by(ValueReader<T>(values, z), groups, q);
  }
  template <class T>
  static bool quantise_large(const T* values, std::size_t groups, const Quantiser<T>& z,
                             std::int32_t* q) noexcept {
    return quantise_by(LargeValues<T>(values, z), groups, q);
  }

  template <class Source>
  static bool write(const Source& source, Predictor predictor, std::size_t groups, PlanesOut& out,
                    unsigned min_class = 8) {
    return with_predictor(predictor,
                          [&]<Predictor P>() { return write_in_class<P>(source, min_class, groups, out); });
  }

  template <class Source>
  static bool add(const PlanesIn& in, const Source& source, Predictor predictor, std::size_t groups,
                  PlanesOut& out) {
    const unsigned min_class = in.max_width < 8 ? 8 : in.max_width < 16 ? 16 : 32;
    return write(Addend<Source>{source, in}, predictor, groups, out, min_class);
  }

  template <class Sink>
  static void read(const PlanesIn& in, std::size_t groups, Predictor predictor, Sink sink) {
    with_predictor(predictor, [&]<Predictor P>() {
      if (in.max_width <= 8) return read_groups<8, P>(in, groups, sink);
      if (in.max_width <= 16) return read_groups<16, P>(in, groups, sink);
      read_groups<32, P>(in, groups, sink);
    });
  }

  static void sum(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept {
    static constexpr void (*sums[])(const PlanesIn*, std::size_t, PlanesOut&) = {
        sum_of<2>, sum_of<3>, sum_of<4>, sum_of<5>, sum_of<6>, sum_of<7>, sum_of<8>};
    sums[n - 2](in, groups, out);
  }

  static Integers load(const std::int32_t* from, std::size_t) { return IntegerReader(from, {}).group(0); }
  // Stores integers in order. `of`: Integers or Lanes.
  template <class Q>
  static void store(const Q& of, std::int32_t* to) {
    const Integers q = in_order(of);
    for (unsigned r = 0; r < 4; ++r) _mm512_storeu_si512(to + 16 * r, q.part[r]);
  }

  template <class Q>
  static Integers predicted(const Q& q, std::size_t first, const EarlierIntegers& earlier, std::int32_t*) {
    return with_predicted(in_order(q), earlier, first);
  }

  template <bool add, class T, class Step, class Q>
  static void put(const Q& q, Step step, T* to) {
    if constexpr (std::is_same_v<T, bf16>) {
      write_values<add>(q, step, to);
    } else {
      write_values<add>(in_order(q), step, to);
    }
  }
  template <class Half>
  static void put_large(const Integers& q, float step, Half* to) {
    write_large(q, step, to);
  }

 private:
  template <class Reader>
  static bool quantise_by(Reader reader, std::size_t groups, std::int32_t* q) noexcept {
    for (std::size_t g = 0; g < groups; ++g) store(reader.group(g), q + g * group_values);
    return reader.small();
  }
};

}  // namespace

template <>
const KernelSet& KernelSet::with<simd::Avx512>() noexcept {
  static constexpr auto set = kernel_set<simd::Avx512, Avx512Operations>(general_kernels_with<simd::Avx512>);
  return set;
}

}  // namespace taut::planes
