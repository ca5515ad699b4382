// The operations of a kernel set (loops.hpp) on bit slices, over registers R (slices.hpp). The kernels serve
// differences of up to 16 bits; wider differences use the scalar kernels. A chunk is processed in batches of
// 16 blocks a lane, padded with differences of zero.
#pragma once

#include "compressor/codecs/planes/kernels/loops.hpp"
#include "compressor/codecs/planes/kernels/slices/integers.hpp"
#include "compressor/codecs/planes/kernels/slices/rows.hpp"
#include "compressor/codecs/planes/kernels/sources.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

// ---- Batches

// Addend of 0: sum_with() returns the slices unchanged.
struct NoAddend {
  template <class Slices>
  Slices sum_with(const Slices& s, std::size_t) const {
    return s;
  }
};

// Planes that are added to bit slices of C bits a difference.
template <class R, unsigned C>
struct Addend {
  Rows<R, C> rows;
  BitSlices<R, C> sum_with(const BitSlices<R, C>& s, std::size_t batch) const {
    return plus(s, slices_of_rows(rows, batch));
  }
};

// Writes differences of at most `Bits` bits, plus the addend `other`, as planes. Returns false if a
// difference has more bits.
template <unsigned C, unsigned Bits, class R, class Other>
bool write_batches(const ChunkWords<R>& q, const Other& other, std::size_t batches, PlanesOut& out) {
  Rows<R, C> rows;
  Fit<R, Bits> fit;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const Batch<R> d = batch_of(q, batch);
    fit.see(d);
    const BitSlices<R, C> s = other.sum_with(slices_of<C>(d), batch);
    write_widths_of(s, out.widths.width + batch * batch_blocks<R>);
    write_to_rows(s, batch, rows);
  }
  if (!fit.holds()) return false;
  write_rows(rows, batches, out);
  return true;
}

// Writes integers, trying first the width class that fitted last.
template <class R>
void write_integers(const ChunkWords<R>& q, std::size_t groups, PlanesOut& out) {
  const std::size_t batches = batches_of<R>(groups);
  if (out.width_class <= 8 && write_batches<8, 8>(q, NoAddend{}, batches, out)) return;
  write_batches<16, 16>(q, NoAddend{}, batches, out);
}

// Returns false for second differences, which may exceed 16 bits. The scalar kernels serve them.
constexpr bool differences_fit_words(Predictor predictor) { return predictor != Predictor::second; }

// Adds integers to planes of less than C bits: the spare bit holds the carry of the addition.
template <unsigned C, class R>
bool add_in_class(const PlanesIn& in, const ChunkWords<R>& q, std::size_t groups, PlanesOut& out) {
  if (in.max_width >= C) return false;
  const std::size_t batches = batches_of<R>(groups);
  Addend<R, C> addend;
  read_rows(in, batches, addend.rows);
  return write_batches<C, C - 1>(q, addend, batches, out);
}

// Passes the integers of all batches to a sink. The function is not inline, because the compiler stops
// inlining the steps where several of these functions become one.
template <class R, unsigned C, Predictor P, class Sink>
[[gnu::noinline]] void read_batches(const PlanesIn& in, std::size_t groups, Sink sink) {
  constexpr std::size_t batch_size = batch_blocks<R>;
  Rows<R, C> rows;
  read_rows(in, batches_of<R>(groups), rows);
  Carry carry{{in.base, in.base}};
  for (std::size_t first = 0; first < groups * group_blocks; first += batch_size) {
    const std::size_t left = groups * group_blocks - first, blocks = left < batch_size ? left : batch_size;
    const auto sink_of_batch = [&](std::size_t block, const auto& q) {
      sink((first + block) * block_values, q);
    };
    read_batch<P>(slices_of_rows(rows, first / batch_size), blocks, carry, sink_of_batch);
  }
}

// Writes the sum of n planes; the differences of the sum fit C bits.
template <class R, unsigned C>
void sum_in_class(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) {
  const std::size_t batches = batches_of<R>(groups);
  BitSlices<R, C> total[chunk_blocks / batch_blocks<R>];
  Rows<R, C> rows;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    read_rows(in[i], batches, rows);
    for (std::size_t batch = 0; batch < batches; ++batch)
      total[batch] = i == 0 ? slices_of_rows(rows, batch) : plus(total[batch], slices_of_rows(rows, batch));
  }
  read_rows(in[n - 1], batches, rows);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const BitSlices<R, C> s = plus(total[batch], slices_of_rows(rows, batch));
    write_widths_of(s, out.widths.width + batch * batch_blocks<R>);
    write_to_rows(s, batch, rows);
  }
  write_rows(rows, batches, out);
}

// ---- Operations for the loops (loops.hpp)

template <class R>
struct SliceKernels {
  using Ints = typename R::Ints;
  static constexpr std::size_t integers_per_load = block_values;
  template <class T>
  using Values = ChunkValues<SliceKernels, T>;
  template <class T>
  requires(!is_half<T> &&
           requires { typename R::template LargeRounder<T>; }) using LargeValues = ChunkLargeValues<R, T>;
  using Residuals = ChunkResiduals;
  using Widths = typename R::Widths;

  template <class T>
  static bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
    ChunkWords<R> small(0);
    const bool fits = planes::quantise(values, groups, z, small);
    for (std::size_t i = 0; i < groups * group_values; i += 8)
      R::store_ints(q + i, R::widen(R::load_words(small.data + i)));
    return fits;
  }
  template <class T>
  static bool quantise_large(const T* values, std::size_t groups, const Quantiser<T>& z,
                             std::int32_t* q) noexcept {
    return LargeValues<T>(values, z).read(groups, q) != nullptr;
  }

  template <class Source>
  static bool write(const Source& source, Predictor predictor, std::size_t groups, PlanesOut& out) {
    if (ChunkWords<R> d(predictor_distance(predictor));
        differences_fit_words(predictor) && read_words(source, groups, d, out.base)) {
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
    if (ChunkWords<R> d(predictor_distance(predictor));
        differences_fit_words(predictor) && read_words(source, groups, d, out.base)) {
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
    if (in.max_width <= 16 && differences_fit_words(predictor))
      return with_predictor(predictor, [&]<Predictor P>() {
        if constexpr (differences_fit_words(P))
          in.max_width <= 8 ? read_batches<R, 8, P>(in, groups, sink)
                            : read_batches<R, 16, P>(in, groups, sink);
      });
    alignas(32) std::int32_t q[chunk_values];
    scalar().unpack(in, groups, {predictor, {}}, q);
    for (std::size_t i = 0; i < groups * group_values; i += integers_per_load) sink(i, R::load_ints(q + i));
  }

  static void sum(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept {
    const unsigned width = sum_width(in, n);
    if (width > 16) return scalar().sum(in, n, groups, out);
    out.base = base_of_sum(in, n);
    width <= 8 ? sum_in_class<R, 8>(in, n, groups, out) : sum_in_class<R, 16>(in, n, groups, out);
  }

  static Ints load(const std::int32_t* from, std::size_t) { return R::load_ints(from); }
  static void store(const Ints& q, std::int32_t* to) { R::store_ints(to, q); }

  static Ints predicted(Ints q, std::size_t first, const EarlierIntegers& earlier, std::int32_t*) {
    q = R::add(q, R::load_ints(earlier.near + first));
    if (earlier.far == nullptr) return q;
    return R::add(q, R::subtract(R::load_ints(earlier.far + first), R::load_ints(earlier.both + first)));
  }

  template <bool add, class T, class Step>
  static void put(const Ints& q, Step step, T* to) {
    R::template put<add>(q, step, to);
  }
  template <class Half>
  static void put_large(const Ints& q, float step, Half* to) {
    R::put_large(q, step, to);
  }

 private:
  static const IntKernels& scalar() { return KernelSet::with<simd::Scalar>().ints; }

  // Reads the integers of a source as words, or their differences. Returns false if they do not fit 16 bits.
  template <class T>
  static bool read_words(const Values<T>& source, std::size_t groups, ChunkWords<R>& q, std::int32_t& base) {
    const bool small = planes::quantise(source.values, groups, source.z, q);
    base = q.base();
    return small;
  }
  template <class Source>
  static bool read_words(const Source& source, std::size_t groups, ChunkWords<R>& d, std::int32_t& base) {
    alignas(32) std::int32_t room[chunk_values];
    const std::int32_t* const q = source.read(groups, room);
    if (q == nullptr) return false;
    base = d.back == 0 ? 0 : q[0];
    return differences(q, groups, std::exchange(d.back, 0), d);
  }
};

}  // namespace
}  // namespace taut::planes
