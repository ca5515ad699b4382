// The kernels of a set, built from the operations of an instruction set, `Isa`:
//
//   Values<T>(values, z)                      source of integers: quantised values
//   ReferenceResiduals<T>(values, before, z)  optional: the same, less their prediction from references
//   ReferenceSums<T>(before, z)               with ReferenceResiduals: adds that prediction to integers
//   Residuals(q, earlier)                     source of integers, less their prediction from `earlier`, the
//                                             integers a lag before or of references, if there are any
//   LargeValues<T>(values, z)                 optional: Values of integers of up to unchecked_bits<T>
//   write(source, predictor, groups, out)     writes the planes of a source; false if a value is not small
//   add(in, source, predictor, groups, out)   the same, plus the planes `in`
//   read(in, groups, predictor, sink)         reads planes; calls sink(first, q) for the integers q, as many
//                                             as the set processes at a time, of the positions from `first`
//   integers_per_load                         number of integers in such a q
//   load(from, groups), store(q, to)          conversions of such a q; the scalar set loads all `groups`
//   predicted(q, first, earlier, to)          q, plus the prediction of the integers from `first` on; the
//                                             scalar set writes the sums to `to`, their position in memory
//   put<add>(q, step, to)                     converts q to values, and adds these to others
//   put_large(q, step, to)                    converts q of the large range to halves; the step is a power of
//                                             two
//   quantise, quantise_large, sum             kernels that a set writes itself; the second with LargeValues
//   Widths                                    operations on tables of widths
// `predictor` acts inside the chunk, on what a source gives; ChunkPrediction calls it `inner`. The scalar set
// (Portable in kernel_set.hpp) shows these.
#pragma once

#include "compressor/codecs/planes/kernels/general_kernels.hpp"
#include "compressor/codecs/planes/kernels/width_loops.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

template <class Isa, class T>
bool encode(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept {
  return Isa::write(typename Isa::template Values<T>(values, z), z.predictor, groups, out);
}

template <class Isa, class T>
bool accumulate(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                PlanesOut& out) noexcept {
  return Isa::add(in, typename Isa::template Values<T>(values, z), z.predictor, groups, out);
}

// Encoders of the large range, for sets with LargeValues<T>.
template <class Isa, class T>
struct LargeEncoders {
  static constexpr decltype(Kernels<T>::encode_large) encode = nullptr;
  static constexpr decltype(Kernels<T>::quantise_large) quantise = nullptr;
  static constexpr decltype(Kernels<T>::accumulate_large) accumulate = nullptr;
};
template <class Isa, class T>
requires requires { typename Isa::template LargeValues<T>; }
struct LargeEncoders<Isa, T> {
  using Values = typename Isa::template LargeValues<T>;

  static bool encode(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept {
    return Isa::write(Values(values, z), z.predictor, groups, out);
  }
  static bool quantise(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
    return Isa::quantise_large(values, groups, z, q);
  }
  static bool accumulate(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                         PlanesOut& out) noexcept {
    return Isa::add(in, Values(values, z), z.predictor, groups, out);
  }
};

template <class Isa, bool add, class T>
void decode(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  Isa::read(in, groups, z.predictor, [=, step = z.step](std::size_t first, const auto& q) {
    Isa::template put<add>(q, step, values + first);
  });
}

template <class Isa, class T>
void dequantise_large(const std::int32_t* q, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  const double step = static_cast<double>(z.step);
  if constexpr (std::is_same_v<T, float>) {
    for (std::size_t g = 0; g < groups; ++g, q += group_values, values += group_values) {
      std::int32_t seen = 0;
      for (std::size_t i = 0; i < group_values; ++i) seen |= q[i] ^ (q[i] >> 31);
      if (seen >> 24 == 0) {  // a float holds the integers, so that one product in float is correctly rounded
        for (std::size_t i = 0; i < group_values; ++i) values[i] = static_cast<float>(q[i]) * z.step;
      } else {
        for (std::size_t i = 0; i < group_values; ++i)
          values[i] = static_cast<float>(static_cast<double>(q[i]) * step);
      }
    }
  } else if constexpr (is_half<T>) {
    for (std::size_t i = 0; i < groups * group_values; i += Isa::integers_per_load)
      Isa::put_large(Isa::load(q + i, groups), z.step, values + i);
  } else {
    for (std::size_t i = 0; i < groups * group_values; ++i)
      values[i] = static_cast<T>(static_cast<double>(q[i]) * step);
  }
}

template <class Isa>
void pack(const std::int32_t* q, std::size_t groups, const ChunkPrediction& p, PlanesOut& out) noexcept {
  Isa::write(typename Isa::Residuals(q, p.earlier), p.inner, groups, out);
}

template <class Isa>
void add(const PlanesIn& in, const std::int32_t* q, std::size_t groups, const ChunkPrediction& p,
         PlanesOut& out) noexcept {
  Isa::add(in, typename Isa::Residuals(q, p.earlier), p.inner, groups, out);
}

template <class Isa>
void unpack(const PlanesIn& in, std::size_t groups, const ChunkPrediction& p, std::int32_t* to) noexcept {
  if (!p.earlier.any())
    return Isa::read(in, groups, p.inner,
                     [=](std::size_t first, const auto& q) { Isa::store(q, to + first); });
  Isa::read(in, groups, p.inner, [=, earlier = p.earlier](std::size_t first, const auto& q) {
    Isa::store(Isa::predicted(q, first, earlier, to + first), to + first);
  });
}

template <class Isa, class T>
void decode_residuals(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z,
                      const EarlierIntegers& earlier, std::int32_t* q, T* values) noexcept {
  Isa::read(in, groups, z.predictor, [=, step = z.step](std::size_t first, const auto& r) {
    const auto sum = Isa::predicted(r, first, earlier, q + first);
    Isa::store(sum, q + first);
    Isa::template put<false>(sum, step, values + first);
  });
}

// Coders of residuals from references, for sets with ReferenceResiduals<T>. Return false if some |q| leaves
// the small range; the output is then unusable.
template <class Isa, class T>
struct ReferenceCoders {
  static constexpr decltype(Kernels<T>::encode_from_references) encode = nullptr;
  static constexpr decltype(Kernels<T>::decode_from_references) decode = nullptr;
};
template <class Isa, class T>
requires requires { typename Isa::template ReferenceResiduals<T>; }
struct ReferenceCoders<Isa, T> {
  static bool encode(const T* values, const ReferenceValues<T>& before, std::size_t groups,
                     const Quantiser<T>& z, PlanesOut& out) noexcept {
    return Isa::write(typename Isa::template ReferenceResiduals<T>(values, before, z), z.predictor, groups,
                      out);
  }
  static bool decode(const PlanesIn& in, const ReferenceValues<T>& before, std::size_t groups,
                     const Quantiser<T>& z, T* values) noexcept {
    typename Isa::template ReferenceSums<T> sums(before, z);
    Isa::read(in, groups, z.predictor, [&, step = z.step](std::size_t first, const auto& r) {
      Isa::template put<false>(sums.add_to(r, first), step, values + first);
    });
    return sums.small();
  }
};

// Returns the width in bits that the differences of a sum of n chunks may need.
inline unsigned sum_width(const PlanesIn* in, std::size_t n) noexcept {
  unsigned max_width = 0;
  for (std::size_t i = 0; i < n; ++i) max_width = in[i].max_width > max_width ? in[i].max_width : max_width;
  return max_width + static_cast<unsigned>(std::bit_width(n - 1));  // + ceil(log2 n)
}

inline std::int32_t base_of_sum(const PlanesIn* in, std::size_t n) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum = add_wrapping(sum, in[i].base);
  return sum;
}

// any_below_numbers(), compiled with the set's instructions.
template <class T>
bool any_too_small_for_number(const T* values, std::size_t n) noexcept {
  return any_below_numbers(values, n);
}

// Returns the kernels of an instruction set, made of the operations `Isa`.
template <class Set, class Isa>
constexpr KernelSet kernel_set(const GeneralKernels& (*general)() noexcept) {
  return {simd::name_of<Set>,
          simd::supported<Set>,
          ValueTypes::each([]<class T>() {
            return Kernels<T>{encode<Isa, T>,
                              Isa::template quantise<T>,
                              accumulate<Isa, T>,
                              LargeEncoders<Isa, T>::encode,
                              LargeEncoders<Isa, T>::quantise,
                              LargeEncoders<Isa, T>::accumulate,
                              dequantise_large<Isa, T>,
                              decode<Isa, false, T>,
                              decode<Isa, true, T>,
                              decode_residuals<Isa, T>,
                              ReferenceCoders<Isa, T>::encode,
                              ReferenceCoders<Isa, T>::decode,
                              any_too_small_for_number<T>};
          }),
          {pack<Isa>, unpack<Isa>, add<Isa>, Isa::sum},
          {Isa::Widths::summarize, Isa::Widths::count, marked_bytes<typename Isa::Widths>,
           write_widths<typename Isa::Widths>, read_widths<typename Isa::Widths>},
          general};
}

}  // namespace
}  // namespace taut::planes
