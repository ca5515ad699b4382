// Kernels for AVX-512 with VBMI, VBMI2, VNNI and GFNI (Ice Lake, Zen 4 and later).
#include "codecs/planes/general/general_kernels.hpp"
#include "codecs/planes/kernels/avx512/integers.hpp"
#include "codecs/planes/kernels/avx512/planes.hpp"
#include "codecs/planes/kernels/avx512/values.hpp"
#include "codecs/planes/kernels/avx512/widths.hpp"
#include "codecs/planes/packed_loops.hpp"

namespace taut::planes {
namespace {

// ---- Sources of integers

class IntegerReader {
 public:
  explicit IntegerReader(const std::int32_t* q) : q_(q) {}
  Integers group(std::size_t g) {
    Integers q;
    for (unsigned r = 0; r < 4; ++r) q.part[r] = _mm512_loadu_si512(q_ + g * group_values + 16 * r);
    return q;
  }
  bool small() const { return true; }

 private:
  const std::int32_t* q_;
};

// Reader of the residuals of integers with lags.
class LaggedReader {
 public:
  LaggedReader(const std::int32_t* q, const Lags& lags) : q_(q), lags_(lags) {}
  Integers group(std::size_t g) {
    Integers r;
    for (unsigned k = 0; k < 4; ++k) {
      const std::int32_t* const at = q_ + g * group_values + 16 * k;
      r.part[k] = _mm512_sub_epi32(_mm512_loadu_si512(at), predicted_part(at, lags_));
    }
    return r;
  }
  bool small() const { return true; }

 private:
  const std::int32_t* q_;
  Lags lags_;
};

void write_integers(const Integers& q, std::int32_t* to) {
  for (unsigned r = 0; r < 4; ++r) _mm512_storeu_si512(to + 16 * r, q.part[r]);
}

// ---- Writing

// Differences of the integers of `Reader`, in class C; the first integer becomes the base.
template <class Reader, Predictor P, unsigned C, unsigned Bits = C>
class Differences {
 public:
  Differences(Reader reader, std::size_t, PlanesOut& out) : reader_(reader), base_(out.base) {}

  Group<C> group(std::size_t g) {
    const Integers q = reader_.group(g);
    if constexpr (P == Predictor::none) {
      return narrow({{q.part[0], q.part[1], q.part[2], q.part[3]}}, fit_);
    } else {
      if (g == 0) {
        const __m128i first = _mm512_castsi512_si128(q.part[0]);
        base_ = sum_of_bases(base_, _mm_cvtsi128_si32(first));
        previous_.integer = _mm512_broadcastd_epi32(first);
      }
      return narrow(differences<P>(q, previous_), fit_);
    }
  }
  bool holds() const { return fit_.holds(); }
  bool small() const { return reader_.small(); }

 private:
  Reader reader_;
  std::int32_t& base_;
  Carry previous_;
  Fit<C, Bits> fit_;
};

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
        fits_(addend.planes.greatest < C) {
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

enum class Outcome { done, wider, not_small };

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

// Writes in the smallest class that fits, trying first the class that fitted last. `least` is the smallest
// class that can fit.
template <Predictor P, class Source>
bool write_in_class(const Source& source, unsigned least, std::size_t groups, PlanesOut& out) {
  const unsigned start = out.width_class > least ? out.width_class : least;
  Outcome outcome = Outcome::wider;
  if (start <= 8) outcome = write_groups<8, P>(source, groups, out);
  if (start <= 16 && outcome == Outcome::wider) outcome = write_groups<16, P>(source, groups, out);
  if (outcome == Outcome::wider) outcome = write_groups<32, P>(source, groups, out);
  return outcome == Outcome::done;
}

template <class Source>
bool write(const Source& source, Predictor predictor, unsigned least, std::size_t groups, PlanesOut& out) {
  return with_predictor(predictor,
                        [&]<Predictor P>() { return write_in_class<P>(source, least, groups, out); });
}

template <class T>
bool encode(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept {
  return write(ValueReader<T>(values, z), z.predictor, 8, groups, out);
}

unsigned least_class(const PlanesIn& in) { return in.greatest < 8 ? 8 : in.greatest < 16 ? 16 : 32; }

template <class T>
bool accumulate(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                PlanesOut& out) noexcept {
  return write(Addend<ValueReader<T>>{{values, z}, in}, z.predictor, least_class(in), groups, out);
}

void pack(const std::int32_t* q, std::size_t groups, Predictor predictor, PlanesOut& out) noexcept {
  write(IntegerReader(q), predictor, 8, groups, out);
}

template <class T>
bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
  ValueReader<T> reader(values, z);
  for (std::size_t g = 0; g < groups; ++g) write_integers(reader.group(g), q + g * group_values);
  return reader.small();
}

void pack_lagged(const std::int32_t* q, std::size_t groups, const Prediction& p, PlanesOut& out) noexcept {
  write(LaggedReader(q, p.lags), p.inner, 8, groups, out);
}

void add_lagged(const PlanesIn& in, const std::int32_t* q, std::size_t groups, const Prediction& p,
                PlanesOut& out) noexcept {
  write(Addend<LaggedReader>{{q, p.lags}, in}, p.inner, least_class(in), groups, out);
}

// ---- Reading

template <unsigned C, Predictor P, class Sink>
void read_groups(const PlanesIn& in, std::size_t groups, Sink sink) {
  PlaneReader<C> reader(in, groups);
  Carry carry{_mm512_set1_epi32(in.base)};
  if constexpr (P == Predictor::second && C < 32) {
    Seconds<C> next(reader.group(0), carry);
    for (std::size_t g = 0; g < groups; ++g) {
      const Seconds<C> d = next;
      if (g + 1 < groups) next = Seconds<C>(reader.group(g + 1), carry);
      sink(g, d.integers(carry));
    }
  } else {
    for (std::size_t g = 0; g < groups; ++g) sink(g, integers<P>(reader.group(g), carry));
  }
}

template <class Sink>
void read(const PlanesIn& in, std::size_t groups, Predictor predictor, Sink sink) {
  with_predictor(predictor, [&]<Predictor P>() {
    if (in.greatest <= 8) return read_groups<8, P>(in, groups, sink);
    if (in.greatest <= 16) return read_groups<16, P>(in, groups, sink);
    read_groups<32, P>(in, groups, sink);
  });
}

template <class T>
void decode(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  read(in, groups, z.predictor, [=, step = z.step](std::size_t g, const Integers& q) {
    write_values<false>(q, step, values + g * group_values);
  });
}

template <class T>
void decode_add(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  read(in, groups, z.predictor, [=, step = z.step](std::size_t g, const Integers& q) {
    write_values<true>(q, step, values + g * group_values);
  });
}

void unpack(const PlanesIn& in, std::size_t groups, Predictor predictor, std::int32_t* to) noexcept {
  read(in, groups, predictor,
       [=](std::size_t g, const Integers& q) { write_integers(q, to + g * group_values); });
}

void unpack_lagged(const PlanesIn& in, std::size_t groups, const Prediction& p, std::int32_t* q) noexcept {
  read(in, groups, p.inner, [=, lags = p.lags](std::size_t g, const Integers& r) {
    write_integers(with_lagged(r, q + g * group_values, lags), q + g * group_values);
  });
}

template <class T>
void decode_lagged(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, const Lags& lags,
                   std::int32_t* q, T* values) noexcept {
  read(in, groups, z.predictor, [=, step = z.step](std::size_t g, const Integers& r) {
    const Integers sum = with_lagged(r, q + g * group_values, lags);
    write_integers(sum, q + g * group_values);
    write_values<false>(sum, step, values + g * group_values);
  });
}

// ---- Sums

// Returns a class that is certain to hold the sum of n chunks.
unsigned sum_class(const PlanesIn* in, std::size_t n) {
  unsigned greatest = 0;
  for (std::size_t i = 0; i < n; ++i) greatest = in[i].greatest > greatest ? in[i].greatest : greatest;
  const unsigned width = greatest + static_cast<unsigned>(64 - _lzcnt_u64(n - 1));  // + ceil(log2 n)
  return width <= 8 ? 8 : width <= 16 ? 16 : 32;
}

// Sum of the differences of N chunks.
template <unsigned C, std::size_t N>
class Total {
 public:
  Total(const PlanesIn* in, std::size_t groups) : first_(*in, groups), rest_(in + 1, groups) {}
  Group<C> group(std::size_t g) { return plus(first_.group(g), rest_.group(g)); }

 private:
  PlaneReader<C> first_;
  Total<C, N - 1> rest_;
};
template <unsigned C>
class Total<C, 1> {
 public:
  Total(const PlanesIn* in, std::size_t groups) : only_(*in, groups) {}
  Group<C> group(std::size_t g) { return only_.group(g); }

 private:
  PlaneReader<C> only_;
};

template <unsigned C, std::size_t N>
void write_total(const PlanesIn* in, std::size_t groups, PlanesOut& out) {
  Total<C, N> total(in, groups);
  PlaneWriter<C> writer(out);
  for (std::size_t g = 0; g < groups; ++g) writer.group(g, total.group(g));
  writer.finish(groups);
}

template <std::size_t N>
void sum_of(const PlanesIn* in, std::size_t groups, PlanesOut& out) {
  out.base = 0;
  for (std::size_t i = 0; i < N; ++i) out.base = sum_of_bases(out.base, in[i].base);
  const unsigned c = sum_class(in, N);
  if (c == 8) return write_total<8, N>(in, groups, out);
  if (c == 16) return write_total<16, N>(in, groups, out);
  write_total<32, N>(in, groups, out);
}

void sum(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept {
  using Sum = void (*)(const PlanesIn*, std::size_t, PlanesOut&);
  static constexpr Sum sums[] = {sum_of<2>, sum_of<3>, sum_of<4>, sum_of<5>, sum_of<6>, sum_of<7>, sum_of<8>};
  sums[n - 2](in, groups, out);
}

template <class T>
constexpr Kernels<T> value_kernels{encode<T>, quantise<T>,   accumulate<T>,    dequantise<T>,
                                   decode<T>, decode_add<T>, decode_lagged<T>, find_tiny<T>};

}  // namespace

const KernelSet& avx512_kernels() noexcept {
  static constexpr KernelSet set{
      "avx512",
      []() noexcept {
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni") &&
               __builtin_cpu_supports("gfni") && __builtin_cpu_supports("bmi2");
      },
      {value_kernels<float>, value_kernels<double>, value_kernels<f16>, value_kernels<bf16>},
      {pack, unpack, pack_lagged, unpack_lagged, add_lagged, sum},
      {Avx512Widths::inspect, write_widths<Avx512Widths>, read_widths<Avx512Widths>},
      avx512_general_kernels,
  };
  return set;
}

}  // namespace taut::planes
