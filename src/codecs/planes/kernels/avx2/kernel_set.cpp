// Kernels for AVX2 (Haswell, Zen and later) on differences of up to 16 bits; wider differences use the scalar
// kernels. A chunk is processed in batches of 32 blocks, padded with differences of zero.
#include "codecs/planes/kernels/avx2/integers.hpp"
#include "codecs/planes/kernels/avx2/rows.hpp"
#include "codecs/planes/kernels/avx2/widths.hpp"
#include "codecs/planes/kernels/loops.hpp"
#include "codecs/planes/kernels/sources.hpp"

namespace taut::planes {
namespace {

// ---- Batches

// An empty addend: returns the slices unchanged.
struct Nothing {
  template <unsigned C>
  BitSlices<C> on(const BitSlices<C>& s, std::size_t) const {
    return s;
  }
};

template <unsigned C>
struct Addend {
  Rows<C> rows;
  BitSlices<C> on(const BitSlices<C>& s, std::size_t batch) const { return plus(s, slices(rows, batch)); }
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
    const BitSlices<C> s = other.on(slices_of<C>(d), batch);
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

// Adds integers to planes of less than C bits: the spare bit holds the carry of the addition.
template <unsigned C>
bool add_in_class(const PlanesIn& in, const Integers& q, std::size_t groups, PlanesOut& out) {
  if (in.greatest >= C) return false;
  const std::size_t batches = batches_of(groups);
  Addend<C> addend;
  read_rows(in, batches, addend.rows);
  return write_batches<C, C - 1>(q, addend, batches, out);
}

// Not inline: in one function with others, the compiler would stop inlining the steps.
template <unsigned C, Predictor P, class Sink>
[[gnu::noinline]] void read_batches(const PlanesIn& in, std::size_t groups, Sink sink) {
  Rows<C> rows;
  read_rows(in, batches_of(groups), rows);
  Carry carry{{in.base, in.base}};
  for (std::size_t first = 0; first < groups * group_blocks; first += batch_blocks) {
    const std::size_t rest = groups * group_blocks - first,
                      blocks = rest < batch_blocks ? rest : batch_blocks;
    const auto behind = [&](std::size_t block, __m256i q) { sink((first + block) * block_values, q); };
    read_batch<P>(slices(rows, first / batch_blocks), blocks, carry, behind);
  }
}

template <unsigned C>
void sum_in_class(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) {
  const std::size_t batches = batches_of(groups);
  BitSlices<C> total[chunk_blocks / batch_blocks];
  Rows<C> rows;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    read_rows(in[i], batches, rows);
    for (std::size_t batch = 0; batch < batches; ++batch)
      total[batch] = i == 0 ? slices(rows, batch) : plus(total[batch], slices(rows, batch));
  }
  read_rows(in[n - 1], batches, rows);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const BitSlices<C> s = plus(total[batch], slices(rows, batch));
    write_widths_of(s, out.widths.of + batch * batch_blocks);
    write(s, batch, rows);
  }
  write_rows(rows, batches, out);
}

// ---- Operations for the loops

struct Avx2 {
  static constexpr std::size_t lanes = block_values;
  template <class T>
  using Values = ChunkValues<Avx2, T>;
  using Residuals = ChunkResiduals;
  using Widths = Avx2Widths;

  template <class T>
  static bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
    Integers small(0);
    const bool fits = planes::quantise(values, groups, z, small);
    for (std::size_t i = 0; i < groups * group_values; i += 8)
      store256(q + i, _mm256_cvtepi16_epi32(load128(small.of + i)));
    return fits;
  }

  template <class Source>
  static bool write(const Source& source, Predictor predictor, std::size_t groups, PlanesOut& out) {
    if (Integers d(lag(predictor)); served(predictor) && take(source, groups, d, out.base)) {
      write_integers(d, groups, out);
      return true;
    }
    alignas(32) std::int32_t room[chunk_values];
    const std::int32_t* const q = source.read(groups, room);
    if (q != nullptr) scalar().pack(q, groups, {predictor, {}}, out);
    return q != nullptr;
  }

  template <class Source>
  static bool add(const PlanesIn& in, const Source& source, Predictor predictor, std::size_t groups,
                  PlanesOut& out) {
    if (Integers d(lag(predictor)); served(predictor) && take(source, groups, d, out.base)) {
      out.base = add_wrapping(in.base, out.base);
      if (out.width_class <= 8 && add_in_class<8>(in, d, groups, out)) return true;
      if (add_in_class<16>(in, d, groups, out)) return true;
    }
    alignas(32) std::int32_t room[chunk_values];
    const std::int32_t* const q = source.read(groups, room);
    if (q != nullptr) scalar().add(in, q, groups, {predictor, {}}, out);
    return q != nullptr;
  }

  template <class Sink>
  static void read(const PlanesIn& in, std::size_t groups, Predictor predictor, Sink sink) {
    if (in.greatest <= 16 && served(predictor))
      return with_predictor(predictor, [&]<Predictor P>() {
        if constexpr (served(P))
          in.greatest <= 8 ? read_batches<8, P>(in, groups, sink) : read_batches<16, P>(in, groups, sink);
      });
    alignas(32) std::int32_t q[chunk_values];
    scalar().unpack(in, groups, {predictor, {}}, q);
    for (std::size_t i = 0; i < groups * group_values; i += lanes) sink(i, load256(q + i));
  }

  static void sum(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept {
    const unsigned width = sum_width(in, n);
    if (width > 16) return scalar().sum(in, n, groups, out);
    out.base = base_of_sum(in, n);
    width <= 8 ? sum_in_class<8>(in, n, groups, out) : sum_in_class<16>(in, n, groups, out);
  }

  static __m256i load(const std::int32_t* from, std::size_t) { return load256(from); }
  static void store(__m256i q, std::int32_t* to) { store256(to, q); }

  static __m256i predicted(__m256i q, const std::int32_t* at, const Lags& lags) {
    q = _mm256_add_epi32(q, load256(at - lags.of[0]));
    if (lags.n == 1) return q;
    return _mm256_add_epi32(q, _mm256_sub_epi32(load256(at - lags.of[1]), load256(at - lags.span())));
  }

  template <bool add, class T, class Step>
  static void put(__m256i q, Step step, T* to) {
    write_values<add>(q, step, to);
  }
  template <class Half>
  static void put_large(__m256i q, float step, Half* to) {
    write_large(q, step, to);
  }

 private:
  static const IntKernels& scalar() { return KernelSet::scalar().ints; }

  // Takes the integers, or the differences, of a source. Returns false if they do not fit 16 bits.
  template <class T>
  static bool take(const Values<T>& source, std::size_t groups, Integers& q, std::int32_t& base) {
    const bool small = planes::quantise(source.values, groups, source.z, q);
    base = q.base();
    return small;
  }
  static bool take(const Residuals& source, std::size_t groups, Integers& d, std::int32_t& base) {
    alignas(32) std::int32_t room[chunk_values];
    const std::int32_t* const q = source.read(groups, room);
    base = d.back == 0 ? 0 : q[0];
    return differences(q, groups, std::exchange(d.back, 0), d);
  }
};

}  // namespace

const KernelSet& KernelSet::avx2() noexcept {
  static constexpr auto set = kernel_set<Avx2>("avx2", has_avx2, avx2_general_kernels);
  return set;
}

}  // namespace taut::planes
