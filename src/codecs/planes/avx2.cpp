// Kernels for AVX2 (Haswell, Zen and later): differences of up to 16 bits; wider ones are left to the scalar
// kernels. A chunk goes through in batches of 32 blocks, padded by differences of zero.
#include "codecs/planes/avx2_slices.hpp"
#include "codecs/planes/avx2_widths.hpp"
#include "codecs/planes/large.hpp"

namespace taut::planes {
namespace {

// ---- Values -> integers -> differences

// 16-bit integers of a chunk behind the one before the first, completed to whole batches.
struct Integers {
  alignas(32) std::int16_t with_previous[16 + chunk_values];
  std::int16_t* of = with_previous + 16;

  void complete(std::size_t groups, std::int16_t first, std::int16_t padding) {
    of[-1] = first;
    const std::size_t n = groups * group_values, whole = batches_of(groups) * batch_blocks * block_values;
    for (std::size_t i = n; i < whole; ++i) of[i] = padding;
  }
};

// What is no number or out of range becomes INT_MIN.
inline __m256i rounded(const float* x, float inverse) {
  return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), _mm256_set1_ps(inverse)));
}
inline __m256i rounded(const double* x, double inverse) {
  const __m256d by = _mm256_set1_pd(inverse);
  const __m128i low = _mm256_cvtpd_epi32(_mm256_mul_pd(_mm256_loadu_pd(x), by));
  const __m128i high = _mm256_cvtpd_epi32(_mm256_mul_pd(_mm256_loadu_pd(x + 4), by));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// False when some |q| leaves the small range: 2^14 added, the top bit shows it.
template <class T>
bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, Integers& q) {
  __m256i seen = _mm256_setzero_si256();
  for (std::size_t i = 0; i < groups * group_values; i += 16) {
    const __m256i pair = _mm256_packs_epi32(rounded(values + i, z.inverse), rounded(values + i + 8, z.inverse));
    seen = _mm256_or_si256(seen, _mm256_add_epi16(pair, _mm256_set1_epi16(1 << small_bits)));
    store256(q.of + i, _mm256_permute4x64_epi64(pair, lanes_apart));
  }
  const bool delta = z.predictor == Predictor::delta;
  q.complete(groups, q.of[0], delta ? q.of[groups * group_values - 1] : std::int16_t{0});
  return (static_cast<unsigned>(_mm256_movemask_epi8(seen)) & 0xAAAAAAAA) == 0;
}

// Differences of 32-bit integers; false when some do not fit 16 bits.
bool differences(const std::int32_t* q, std::size_t groups, Predictor predictor, Integers& d) {
  const std::size_t back = predictor == Predictor::delta ? 1 : 0, n = groups * group_values;
  alignas(32) std::int32_t head[1 + block_values];
  head[0] = q[0];
  std::memcpy(head + 1, q, sizeof head - sizeof *head);
  __m256i beyond = _mm256_setzero_si256();
  const auto difference = [&](std::size_t i) {
    const std::int32_t* const at = i == 0 ? head + 1 : q + i;
    const __m256i v = back == 0 ? load256(at) : _mm256_sub_epi32(load256(at), load256(at - 1));
    beyond = _mm256_or_si256(beyond, _mm256_add_epi32(v, _mm256_set1_epi32(1 << 15)));
    return v;
  };
  for (std::size_t i = 0; i < n; i += 16) {
    const __m256i first = difference(i);
    store256(d.of + i, _mm256_permute4x64_epi64(_mm256_packs_epi32(first, difference(i + 8)), lanes_apart));
  }
  d.complete(groups, 0, 0);
  return _mm256_testz_si256(beyond, _mm256_set1_epi32(static_cast<int>(0xFFFF0000u))) != 0;
}

// The differences of a batch of integers, or the integers themselves.
template <Predictor P>
Batch16 batch_of(const Integers& q, std::size_t batch) {
  Batch16 d;
  const std::int16_t* at = q.of + batch * batch_blocks * block_values;
  for (__m256i& part : d.part) {
    part = load256(at);
    if constexpr (P == Predictor::delta) part = _mm256_sub_epi16(part, load256(at - 1));
    at += 16;
  }
  return d;
}

// Whether all differences seen fit `Bits` bits: bits beyond show once half the range is added.
template <unsigned Bits>
class Fit {
 public:
  void see(const Batch16& d) {
    if constexpr (Bits < 16)
      for (const __m256i& part : d.part)
        seen_ = _mm256_or_si256(seen_, _mm256_add_epi16(part, _mm256_set1_epi16(1 << (Bits - 1))));
  }
  bool holds() const {
    return Bits == 16 || _mm256_testz_si256(seen_, _mm256_set1_epi16(static_cast<short>(~0u << Bits))) != 0;
  }

 private:
  __m256i seen_ = _mm256_setzero_si256();
};

// ---- Writing

// Passes on what is added to nothing.
struct Nothing {
  template <unsigned C>
  Slices<C> on(const Slices<C>& s, std::size_t) const {
    return s;
  }
};

template <unsigned C>
struct Addend {
  Rows<C> rows;
  Slices<C> on(const Slices<C>& s, std::size_t batch) const { return plus(s, slices(rows, batch)); }
};

// Differences of at most `Bits` bits, with others on top, as planes; false when one has more.
template <unsigned C, unsigned Bits, Predictor P, class Other>
bool write_batches(const Integers& q, const Other& other, std::size_t batches, PlanesOut& out) {
  Rows<C> rows;
  Fit<Bits> fit;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const Batch16 d = batch_of<P>(q, batch);
    fit.see(d);
    const Slices<C> s = other.on(slices_of<C>(d), batch);
    write_widths_of(s, out.widths.of + batch * batch_blocks);
    write(s, batch, rows);
  }
  if (!fit.holds()) return false;
  write_rows(rows, batches, out);
  return true;
}

// Starts in the class that served last.
template <Predictor P>
void write_integers(const Integers& q, std::size_t groups, PlanesOut& out) {
  const std::size_t batches = batches_of(groups);
  if (out.width_class <= 8 && write_batches<8, 8, P>(q, Nothing{}, batches, out)) return;
  write_batches<16, 16, P>(q, Nothing{}, batches, out);
}

template <class T>
bool encode(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept {
  Integers q;
  if (!quantise(values, groups, z, q)) return false;
  const bool delta = z.predictor == Predictor::delta;
  out.base = delta ? q.of[0] : 0;
  delta ? write_integers<Predictor::delta>(q, groups, out) : write_integers<Predictor::none>(q, groups, out);
  return true;
}

// One bit less than C leaves room for the addition.
template <unsigned C, Predictor P>
bool add_in_class(const PlanesIn& in, const Integers& q, std::size_t groups, PlanesOut& out) {
  if (in.greatest >= C) return false;
  const std::size_t batches = batches_of(groups);
  Addend<C> addend;
  read_rows(in, batches, addend.rows);
  return write_batches<C, C - 1, P>(q, addend, batches, out);
}

template <Predictor P>
bool add(const PlanesIn& in, const Integers& q, std::size_t groups, PlanesOut& out) {
  return (out.width_class <= 8 && add_in_class<8, P>(in, q, groups, out)) ||
         add_in_class<16, P>(in, q, groups, out);
}

template <class T>
bool accumulate(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                PlanesOut& out) noexcept {
  Integers q;
  if (!quantise(values, groups, z, q)) return false;
  const bool delta = z.predictor == Predictor::delta;
  out.base = in.base + (delta ? q.of[0] : 0);
  if (delta ? add<Predictor::delta>(in, q, groups, out) : add<Predictor::none>(in, q, groups, out)) return true;
  return scalar_kernels().of<T>().accumulate(in, values, groups, z, out);
}

void pack(const std::int32_t* q, std::size_t groups, Predictor predictor, PlanesOut& out) noexcept {
  Integers d;
  if (!differences(q, groups, predictor, d)) return scalar_kernels().ints.pack(q, groups, predictor, out);
  out.base = predictor == Predictor::delta ? q[0] : 0;
  write_integers<Predictor::none>(d, groups, out);
}

// ---- Reading

// Hands the eight integers of each of the first `blocks` of a batch to the sink. `carry`: the last integer before.
template <class Sink>
void read_delta(const Slices<8>& s, std::size_t blocks, std::int32_t& carry, Sink sink) {
  const PrefixSums sums = prefix_sums_of(s);
  alignas(32) std::int32_t starts[batch_blocks];
  carry = write_starts(sums.totals[0], carry, starts);
  carry = write_starts(sums.totals[1], carry, starts + 16);
  for (std::size_t b = 0; b < blocks; b += 2) {
    const __m256i pair = sums.within.part[b / 2];
    const __m256i even = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(pair));
    const __m256i odd = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(pair, 1));
    sink(b, _mm256_add_epi32(even, _mm256_set1_epi32(starts[b])));
    sink(b + 1, _mm256_add_epi32(odd, _mm256_set1_epi32(starts[b + 1])));
  }
}

// Eight differences of 16 bits in turn; `carry` holds the last integer in every place.
inline __m256i integers(__m128i differences, __m256i& carry) {
  __m256i q = _mm256_cvtepi16_epi32(differences);
  q = _mm256_add_epi32(q, _mm256_slli_si256(q, 4));
  q = _mm256_add_epi32(q, _mm256_slli_si256(q, 8));
  const __m256i lower = _mm256_permutevar8x32_epi32(q, _mm256_set1_epi32(3));
  q = _mm256_add_epi32(q, _mm256_blend_epi32(_mm256_setzero_si256(), lower, 0xF0));
  const __m256i total = _mm256_permutevar8x32_epi32(q, _mm256_set1_epi32(7));
  q = _mm256_add_epi32(q, carry);
  carry = _mm256_add_epi32(carry, total);
  return q;
}

template <class Sink>
void read_delta(const Slices<16>& s, std::size_t blocks, std::int32_t& last, Sink sink) {
  const Batch16 d = differences_of(s);
  __m256i carry = _mm256_set1_epi32(last);
  for (std::size_t b = 0; b < blocks; b += 2) {
    sink(b, integers(_mm256_castsi256_si128(d.part[b / 2]), carry));
    sink(b + 1, integers(_mm256_extracti128_si256(d.part[b / 2], 1), carry));
  }
  last = _mm256_cvtsi256_si32(carry);
}

template <unsigned C, class Sink>
void read_none(const Slices<C>& s, std::size_t blocks, Sink sink) {
  const Batch16 d = differences_of(s);
  for (std::size_t b = 0; b < blocks; b += 2) {
    sink(b, _mm256_cvtepi16_epi32(_mm256_castsi256_si128(d.part[b / 2])));
    sink(b + 1, _mm256_cvtepi16_epi32(_mm256_extracti128_si256(d.part[b / 2], 1)));
  }
}

template <unsigned C, Predictor P, class Sink>
void read_batches(const PlanesIn& in, std::size_t groups, Sink sink) {
  Rows<C> rows;
  read_rows(in, batches_of(groups), rows);
  std::int32_t carry = in.base;
  for (std::size_t first = 0; first < groups * group_blocks; first += batch_blocks) {
    const std::size_t rest = groups * group_blocks - first, blocks = rest < batch_blocks ? rest : batch_blocks;
    const auto behind = [&](std::size_t block, __m256i q) { sink(first + block, q); };
    const Slices<C> s = slices(rows, first / batch_blocks);
    if constexpr (P == Predictor::delta) {
      read_delta(s, blocks, carry, behind);
    } else {
      read_none(s, blocks, behind);
    }
  }
}

// False for differences of more than 16 bits.
template <class Sink>
bool read(const PlanesIn& in, std::size_t groups, Predictor predictor, Sink sink) {
  const bool delta = predictor == Predictor::delta;
  if (in.greatest > 16) return false;
  if (in.greatest <= 8) {
    delta ? read_batches<8, Predictor::delta>(in, groups, sink)
          : read_batches<8, Predictor::none>(in, groups, sink);
  } else {
    delta ? read_batches<16, Predictor::delta>(in, groups, sink)
          : read_batches<16, Predictor::none>(in, groups, sink);
  }
  return true;
}

template <bool Add>
void write_values(__m256i q, float step, float* to) {
  __m256 x = _mm256_mul_ps(_mm256_cvtepi32_ps(q), _mm256_set1_ps(step));
  if constexpr (Add) x = _mm256_add_ps(_mm256_loadu_ps(to), x);
  _mm256_storeu_ps(to, x);
}

template <bool Add>
void write_values(__m256i q, double step, double* to) {
  const __m128i half[] = {_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1)};
  for (unsigned h = 0; h < 2; ++h) {
    __m256d x = _mm256_mul_pd(_mm256_cvtepi32_pd(half[h]), _mm256_set1_pd(step));
    if constexpr (Add) x = _mm256_add_pd(_mm256_loadu_pd(to + 4 * h), x);
    _mm256_storeu_pd(to + 4 * h, x);
  }
}

template <class T>
void decode(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  const auto sink = [=, step = z.step](std::size_t block, __m256i q) {
    write_values<false>(q, step, values + block * block_values);
  };
  if (!read(in, groups, z.predictor, sink)) scalar_kernels().of<T>().decode(in, groups, z, values);
}

template <class T>
void decode_add(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  const auto sink = [=, step = z.step](std::size_t block, __m256i q) {
    write_values<true>(q, step, values + block * block_values);
  };
  if (!read(in, groups, z.predictor, sink)) scalar_kernels().of<T>().decode_add(in, groups, z, values);
}

void unpack(const PlanesIn& in, std::size_t groups, Predictor predictor, std::int32_t* to) noexcept {
  const auto sink = [=](std::size_t block, __m256i q) { store256(to + block * block_values, q); };
  if (!read(in, groups, predictor, sink)) scalar_kernels().ints.unpack(in, groups, predictor, to);
}

// ---- Sums

// total <- total + other; the widths of the result are as good as free and needed of the last addition.
template <unsigned C>
void add_rows(const Rows<C>& other, std::size_t batches, Rows<C>& total, PlanesOut& out) {
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const Slices<C> s = plus(slices(total, batch), slices(other, batch));
    write_widths_of(s, out.widths.of + batch * batch_blocks);
    write(s, batch, total);
  }
}

template <unsigned C>
void sum_in_class(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) {
  const std::size_t batches = batches_of(groups);
  Rows<C> total, other;
  read_rows(in[0], batches, total);
  for (std::size_t i = 1; i < n; ++i) {
    read_rows(in[i], batches, other);
    add_rows(other, batches, total, out);
  }
  write_rows(total, batches, out);
}

void sum(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept {
  unsigned greatest = 0;
  out.base = 0;
  for (std::size_t i = 0; i < n; ++i) {
    greatest = in[i].greatest > greatest ? in[i].greatest : greatest;
    out.base += in[i].base;
  }
  const unsigned width = greatest + static_cast<unsigned>(64 - _lzcnt_u64(n - 1));  // + ceil(log2 n)
  if (width <= 8) return sum_in_class<8>(in, n, groups, out);
  if (width <= 16) return sum_in_class<16>(in, n, groups, out);
  scalar_kernels().ints.sum(in, n, groups, out);
}

}  // namespace

const KernelSet& avx2_kernels() noexcept {
  static constexpr KernelSet set{
      "avx2",
      []() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); },
      {encode<float>, accumulate<float>, quantise_large<float>, dequantise_large<float>, decode<float>,
       decode_add<float>},
      {encode<double>, accumulate<double>, quantise_large<double>, dequantise_large<double>, decode<double>,
       decode_add<double>},
      {pack, unpack, sum},
      {inspect, write_widths, read_widths},
  };
  return set;
}

}  // namespace taut::planes
