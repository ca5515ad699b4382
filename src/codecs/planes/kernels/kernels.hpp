// Kernel sets: the same bytes from every instruction set. A kernel works on one chunk, in whole groups of 64
// values; the caller pads a shorter chunk. Scalar is the reference; tests compare the others with it byte for
// byte.
#pragma once

#include <tuple>

#include "codecs/planes/format/quantiser.hpp"
#include "codecs/planes/format/widths.hpp"
#include "codecs/planes/lags/lags.hpp"
#include "core/codec.hpp"

namespace taut::planes {

// The coded differences of a chunk, as a kernel reads them: checked, so that payload holds the sum of the
// widths and may be read `overrun` bytes beyond.
struct PlanesIn {
  const std::byte* payload;
  const Widths* widths;
  unsigned greatest;  // width in the chunk, at most 32
  std::int32_t base;  // q of the first value (predictor delta; else 0)
};

// Modulo 2^32, whatever a frame says.
constexpr std::int32_t sum_of_bases(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

// And as a kernel writes them. `payload` has room for max_plane_record.
struct PlanesOut {
  std::byte* payload;
  unsigned
      width_class;  // in how many bits a kernel tries to hold a difference first; never changes the bytes
  std::size_t bytes = 0;
  std::int32_t base = 0;
  Widths widths;

  explicit PlanesOut(std::byte* to, unsigned guess = 8) noexcept : payload(to), width_class(guess) {}
};

// One kernel table for each type that integers are made of.
template <template <class> class Table>
using ForEachType = std::tuple<Table<float>, Table<double>, Table<f16>, Table<bf16>>;

template <class T>
struct Kernels {
  // Quantises in the arithmetic of T, of halves in float. False when some |q| leaves the small range (or is
  // no number): nothing usable was written.
  bool (*encode)(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept;

  // q <- quantise(values), under the same condition.
  bool (*quantise)(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept;

  // out <- in + quantise(values), under the same condition.
  bool (*accumulate)(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                     PlanesOut& out) noexcept;

  // values <- step * q, the product in double, for any q.
  void (*dequantise_large)(const std::int32_t* q, std::size_t groups, const Quantiser<T>& z,
                           T* values) noexcept;

  // values <- step * q, and values <- values + step * q, in the same arithmetic: for |q| <= 2^24.
  void (*decode)(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept;
  void (*decode_add)(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept;

  // The first of them with lags; `q` stands in a LagWindow.
  void (*decode_lagged)(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, const Lags& lags,
                        std::int32_t* q, T* values) noexcept;

  // As core/packed_bits.hpp has it.
  bool (*any_tiny)(const T* values, std::size_t n) noexcept;
};

inline constexpr std::size_t max_operands = FrameArithmetic::max_operands;

struct WidthKernels {
  WidthFacts (*inspect)(const Widths& widths) noexcept;

  // The table of the first `blocks` widths. `to` has room for max_table_bytes.
  void (*write)(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept;

  // Whatever stands at `table`, it may be read up to max_table_bytes. Sets all widths.
  WidthsRead (*read)(const std::byte* table, std::size_t blocks, std::uint8_t flags, Widths& widths) noexcept;
};

struct IntKernels {
  // Plane form of integers, and back.
  void (*pack)(const std::int32_t* q, std::size_t groups, Predictor predictor, PlanesOut& out) noexcept;
  void (*unpack)(const PlanesIn& in, std::size_t groups, Predictor predictor, std::int32_t* q) noexcept;

  // The same of integers with lags: `q` stands in a LagWindow.
  void (*pack_lagged)(const std::int32_t* q, std::size_t groups, const Prediction& p,
                      PlanesOut& out) noexcept;
  void (*unpack_lagged)(const PlanesIn& in, std::size_t groups, const Prediction& p,
                        std::int32_t* q) noexcept;

  // out <- in + the plane form of integers with lags.
  void (*add_lagged)(const PlanesIn& in, const std::int32_t* q, std::size_t groups, const Prediction& p,
                     PlanesOut& out) noexcept;

  // Sum of 2 <= n <= max_operands chunks; the caller knows that the sums of q stay in range.
  void (*sum)(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept;
};

// Calls action.operator()<P>() for the predictor at hand.
template <class Action>
auto with_predictor(Predictor predictor, Action action) {
  switch (predictor) {
    case Predictor::none: return action.template operator()<Predictor::none>();
    case Predictor::pairs: return action.template operator()<Predictor::pairs>();
    case Predictor::second: return action.template operator()<Predictor::second>();
    default: return action.template operator()<Predictor::delta>();
  }
}

struct GeneralKernels;  // general_kernels.hpp

struct KernelSet {
  const char* name;
  bool (*supported)() noexcept;
  ForEachType<Kernels> values;
  IntKernels ints;
  WidthKernels widths;
  const GeneralKernels& (*general)() noexcept;

  template <class T>
  const Kernels<T>& of() const noexcept {
    return std::get<Kernels<T>>(values);
  }
};

const KernelSet& scalar_kernels() noexcept;
const KernelSet& avx2_kernels() noexcept;
const KernelSet& avx512_kernels() noexcept;

// All sets built in, best first; scalar is last and always supported.
std::span<const KernelSet* const> kernel_sets() noexcept;

// The set of that name if this processor supports it; the best one for ""; null: unknown or not supported.
const KernelSet* find_kernels(const char* name) noexcept;

}  // namespace taut::planes
