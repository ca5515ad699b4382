// Kernels for AVX2 (Haswell, Zen and later) on differences of up to 16 bits; wider differences use the scalar
// kernels. A chunk is processed in batches of 32 blocks, padded with differences of zero.
#include <cpuid.h>

#include "codecs/planes/general/general_kernels.hpp"
#include "codecs/planes/kernels/avx2/integers.hpp"
#include "codecs/planes/kernels/avx2/rows.hpp"
#include "codecs/planes/kernels/avx2/widths.hpp"
#include "codecs/planes/lags/lag_loops.hpp"
#include "codecs/planes/packed_loops.hpp"

namespace taut::planes {
namespace {

// ---- Writing

// An empty addend: returns the slices unchanged.
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

// Writes differences of at most `Bits` bits, plus the addend `other`, as planes. Returns false if a
// difference has more bits.
template <unsigned C, unsigned Bits, class Other>
bool write_batches(const Integers& q, const Other& other, std::size_t batches, PlanesOut& out) {
  Rows<C> rows;
  Fit<Bits> fit;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const Batch16 d = batch_of(q, batch);
    fit.see(d);
    const Slices<C> s = other.on(slices_of<C>(d), batch);
    write_widths_of(s, out.widths.of + batch * batch_blocks);
    write(s, batch, rows);
  }
  if (!fit.holds()) return false;
  write_rows(rows, batches, out);
  return true;
}

// Writes integers, trying first the width class that fitted last.
void write_integers(const Integers& q, std::size_t groups, PlanesOut& out) {
  const std::size_t batches = batches_of(groups);
  if (out.width_class <= 8 && write_batches<8, 8>(q, Nothing{}, batches, out)) return;
  write_batches<16, 16>(q, Nothing{}, batches, out);
}

// Returns false for second differences, which may exceed 16 bits.
constexpr bool served(Predictor predictor) { return predictor != Predictor::second; }

template <class T>
bool encode(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept {
  if (!served(z.predictor)) return scalar_kernels().of<T>().encode(values, groups, z, out);
  Integers q(lag(z.predictor));
  if (!quantise(values, groups, z, q)) return false;
  out.base = q.base();
  write_integers(q, groups, out);
  return true;
}

// Adds integers to planes of less than C bits: the spare bit holds the carry of the addition.
template <unsigned C>
bool add_in_class(const PlanesIn& in, const Integers& q, std::size_t groups, PlanesOut& out) {
  if (in.greatest >= C) return false;
  const std::size_t batches = batches_of(groups);
  Addend<C> addend;
  read_rows(in, batches, addend.rows);
  return write_batches<C, C - 1>(q, addend, batches, out);
}

template <class T>
bool accumulate(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                PlanesOut& out) noexcept {
  if (!served(z.predictor)) return scalar_kernels().of<T>().accumulate(in, values, groups, z, out);
  Integers q(lag(z.predictor));
  if (!quantise(values, groups, z, q)) return false;
  out.base = sum_of_bases(in.base, q.base());
  if (out.width_class <= 8 && add_in_class<8>(in, q, groups, out)) return true;
  if (add_in_class<16>(in, q, groups, out)) return true;
  return scalar_kernels().of<T>().accumulate(in, values, groups, z, out);
}

void pack(const std::int32_t* q, std::size_t groups, Predictor predictor, PlanesOut& out) noexcept {
  Integers d(0);
  if (!served(predictor) || !differences(q, groups, lag(predictor), d))
    return scalar_kernels().ints.pack(q, groups, predictor, out);
  out.base = predictor == Predictor::none ? 0 : q[0];
  write_integers(d, groups, out);
}

// ---- Reading

template <unsigned C, Predictor P, class Sink>
void read_batches(const PlanesIn& in, std::size_t groups, Sink sink) {
  Rows<C> rows;
  read_rows(in, batches_of(groups), rows);
  Carry carry{{in.base, in.base}};
  for (std::size_t first = 0; first < groups * group_blocks; first += batch_blocks) {
    const std::size_t rest = groups * group_blocks - first,
                      blocks = rest < batch_blocks ? rest : batch_blocks;
    const auto behind = [&](std::size_t block, __m256i q) { sink(first + block, q); };
    read_batch<P>(slices(rows, first / batch_blocks), blocks, carry, behind);
  }
}

// Returns false for differences that need the scalar kernels.
template <class Sink>
bool read(const PlanesIn& in, std::size_t groups, Predictor predictor, Sink sink) {
  if (in.greatest > 16 || !served(predictor)) return false;
  with_predictor(predictor, [&]<Predictor P>() {
    in.greatest <= 8 ? read_batches<8, P>(in, groups, sink) : read_batches<16, P>(in, groups, sink);
  });
  return true;
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

// ---- With lags

template <class T>
bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
  Integers small(0);
  const bool fits = quantise(values, groups, z, small);
  for (std::size_t i = 0; i < groups * group_values; i += 8)
    store256(q + i, _mm256_cvtepi16_epi32(load128(small.of + i)));
  return fits;
}

void pack_lagged(const std::int32_t* q, std::size_t groups, const Prediction& p, PlanesOut& out) noexcept {
  alignas(32) std::int32_t r[chunk_values];
  subtract_lagged(q, groups, p.lags, r);
  pack(r, groups, p.inner, out);
}

void unpack_lagged(const PlanesIn& in, std::size_t groups, const Prediction& p, std::int32_t* q) noexcept {
  alignas(32) std::int32_t r[chunk_values];
  unpack(in, groups, p.inner, r);
  add_lagged(r, groups, p.lags, q);
}

template <class T>
void decode_lagged(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, const Lags& lags,
                   std::int32_t* q, T* values) noexcept {
  unpack_lagged(in, groups, {z.predictor, lags}, q);
  for (std::size_t i = 0; i < groups * group_values; i += block_values)
    write_values<false>(load256(q + i), z.step, values + i);
}

void add_lagged(const PlanesIn& in, const std::int32_t* q, std::size_t groups, const Prediction& p,
                PlanesOut& out) noexcept {
  alignas(32) std::int32_t r[chunk_values];
  subtract_lagged(q, groups, p.lags, r);
  Integers d(0);
  if (served(p.inner) && differences(r, groups, lag(p.inner), d)) {
    out.base = sum_of_bases(in.base, p.inner == Predictor::none ? 0 : r[0]);
    if (out.width_class <= 8 && add_in_class<8>(in, d, groups, out)) return;
    if (add_in_class<16>(in, d, groups, out)) return;
  }
  scalar_kernels().ints.add_lagged(in, q, groups, p, out);
}

// ---- Sums

template <unsigned C>
void sum_in_class(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) {
  const std::size_t batches = batches_of(groups);
  Slices<C> total[chunk_blocks / batch_blocks];
  Rows<C> rows;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    read_rows(in[i], batches, rows);
    for (std::size_t batch = 0; batch < batches; ++batch)
      total[batch] = i == 0 ? slices(rows, batch) : plus(total[batch], slices(rows, batch));
  }
  read_rows(in[n - 1], batches, rows);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const Slices<C> s = plus(total[batch], slices(rows, batch));
    write_widths_of(s, out.widths.of + batch * batch_blocks);
    write(s, batch, rows);
  }
  write_rows(rows, batches, out);
}

void sum(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept {
  unsigned greatest = 0;
  out.base = 0;
  for (std::size_t i = 0; i < n; ++i) {
    greatest = in[i].greatest > greatest ? in[i].greatest : greatest;
    out.base = sum_of_bases(out.base, in[i].base);
  }
  const unsigned width = greatest + static_cast<unsigned>(64 - _lzcnt_u64(n - 1));  // + ceil(log2 n)
  if (width <= 8) return sum_in_class<8>(in, n, groups, out);
  if (width <= 16) return sum_in_class<16>(in, n, groups, out);
  scalar_kernels().ints.sum(in, n, groups, out);
}

// Returns true if the processor has F16C. Not every compiler supports a query of this feature by name.
bool converts_halves() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

template <class T>
constexpr Kernels<T> value_kernels{encode<T>, quantise<T>,   accumulate<T>,    dequantise<T>,
                                   decode<T>, decode_add<T>, decode_lagged<T>, find_tiny<T>};

}  // namespace

const KernelSet& avx2_kernels() noexcept {
  static constexpr KernelSet set{
      "avx2",
      []() noexcept {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && converts_halves();
      },
      {value_kernels<float>, value_kernels<double>, value_kernels<f16>, value_kernels<bf16>},
      {pack, unpack, pack_lagged, unpack_lagged, add_lagged, sum},
      {Avx2Widths::inspect, write_widths<Avx2Widths>, read_widths<Avx2Widths>},
      scalar_general_kernels,
  };
  return set;
}

}  // namespace taut::planes
