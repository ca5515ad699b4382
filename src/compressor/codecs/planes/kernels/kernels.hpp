// Kernel sets of the planes codec, one for each instruction set; all sets produce the same bytes. A kernel
// processes one chunk in whole groups of 64 values; the caller pads a shorter chunk. The scalar set is the
// reference that tests compare the other sets with byte for byte.
#pragma once

#include <tuple>

#include "compressor/codecs/planes/format/format.hpp"
#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/codecs/planes/format/quantiser.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/simd/kernel_choice.hpp"

// Expands DO(type) for each type, for explicit instantiations.
#define TAUT_PLANES_TYPES(DO) DO(float) DO(double) DO(f16) DO(bf16)

namespace taut::planes {

// ---- The value types that the codec quantises: this list is the only one

template <class, class... T>
struct TypeList {
  template <template <class> class Table>
  using Tables = std::tuple<Table<T>...>;

  // Returns a tuple of make_one.operator()<T>() for each type T.
  template <class Make>
  static constexpr auto each(Make make_one) {
    return std::tuple{make_one.template operator()<T>()...};
  }
};

#define TAUT_NEXT_TYPE(T) , T
using ValueTypes = TypeList<void TAUT_PLANES_TYPES(TAUT_NEXT_TYPE)>;
#undef TAUT_NEXT_TYPE

// Tuple of a Table<T> for each type.
template <template <class> class Table>
using ForEachType = ValueTypes::Tables<Table>;

// ---- Kernels

// The coded differences of a chunk as input of a kernel. They are checked: `payload` is as long as the sum of
// the widths, and may be read `overrun` bytes beyond its end.
struct PlanesIn {
  const std::byte* payload;
  const Widths* widths;
  unsigned max_width;  // of the blocks of the chunk, at most 32
  std::int32_t base;   // q of the first value; 0 without a predictor
};

// The coded differences of a chunk as output of a kernel. `payload` has room for max_plane_record.
struct PlanesOut {
  std::byte* payload;
  unsigned width_class;  // bits of a difference that a kernel tries first; no effect on the bytes written
  std::size_t bytes = 0;
  std::int32_t base = 0;
  Widths widths;

  explicit PlanesOut(std::byte* to, unsigned guess = 8) noexcept : payload(to), width_class(guess) {}
};

// The values of references at the positions of a chunk.
template <class T>
struct ReferenceValues {
  const T* newest = nullptr;
  const T* older = nullptr;  // null: there is one reference
};

// Kernels on values of type T; `q` are integers, `z` is the quantiser.
template <class T>
struct Kernels {
  // Quantises and encodes in the arithmetic of T; halves in float. Returns false if some |q| leaves the small
  // range or a value is NaN; the output is then unusable.
  bool (*encode)(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept;

  // q <- quantise(values); returns false in the same cases.
  bool (*quantise)(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept;

  // out <- in + quantise(values); returns false in the same cases.
  bool (*accumulate)(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                     PlanesOut& out) noexcept;

  // The same three for integers of up to unchecked_bits<T>, computed in double beyond the small range. Null
  // where the general path is as fast.
  bool (*encode_large)(const T* values, std::size_t groups, const Quantiser<T>& z, PlanesOut& out) noexcept;
  bool (*quantise_large)(const T* values, std::size_t groups, const Quantiser<T>& z,
                         std::int32_t* q) noexcept;
  bool (*accumulate_large)(const PlanesIn& in, const T* values, std::size_t groups, const Quantiser<T>& z,
                           PlanesOut& out) noexcept;

  // values <- step * q, with the product in double, for any q.
  void (*dequantise_large)(const std::int32_t* q, std::size_t groups, const Quantiser<T>& z,
                           T* values) noexcept;

  // values <- step * q, and values <- values + step * q, in the arithmetic of T, for |q| <= 2^24. The sums
  // are bit for bit those of combine(); an addition of x86 gives them, because no product is a NaN.
  void (*decode)(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept;
  void (*decode_add)(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z, T* values) noexcept;

  // Decodes a record of residuals, and computes its integers `q`.
  void (*decode_residuals)(const PlanesIn& in, std::size_t groups, const Quantiser<T>& z,
                           const EarlierIntegers& earlier, std::int32_t* q, T* values) noexcept;

  // Encode and decode as encode() and decode() do, with a prediction from values of references. Return false
  // if some |q| of a value or a reference leaves the small range; the output is then unusable. Null where
  // other kernels are as fast.
  bool (*encode_from_references)(const T* values, const ReferenceValues<T>& before, std::size_t groups,
                                 const Quantiser<T>& z, PlanesOut& out) noexcept;
  bool (*decode_from_references)(const PlanesIn& in, const ReferenceValues<T>& before, std::size_t groups,
                                 const Quantiser<T>& z, T* values) noexcept;

  // Returns true if a value is a packed integer because it is smaller than numbers in use:
  // any_below_numbers() of compressor/values/number_range.hpp.
  bool (*any_below_numbers)(const T* values, std::size_t n) noexcept;
};

inline constexpr std::size_t max_operands = FrameArithmetic::max_operands;

// Kernels on the widths of a chunk's blocks.
struct WidthKernels {
  // Returns sum, number above 0 and maximum of the widths.
  WidthSummary (*summarize)(const Widths& widths) noexcept;

  // Counts the blocks of a whole chunk by their widths, none of which exceeds `max_width`. Widths above 15 do
  // not count.
  WidthCounts (*count)(const Widths& widths, unsigned max_width) noexcept;

  // Returns the number of bytes of the bitmap of coded blocks that are not 0.
  std::size_t (*marked_bytes)(const Widths& widths) noexcept;

  // Writes the table of the first `blocks` widths. `to` has room for max_table_bytes.
  void (*write)(std::byte* to, const Widths& widths, std::size_t blocks, WidthTable table) noexcept;

  // Reads a table and sets all widths. Any content is safe; up to max_table_bytes at `table` may be read.
  WidthsRead (*read)(const std::byte* table, std::size_t blocks, std::uint8_t flags, Widths& widths) noexcept;
};

// Kernels between integers and planes.
struct IntKernels {
  // Convert integers to planes and back. The earlier integers of the prediction may be in the same memory,
  // min_lag or more before `q`.
  void (*pack)(const std::int32_t* q, std::size_t groups, const ChunkPrediction& p, PlanesOut& out) noexcept;
  void (*unpack)(const PlanesIn& in, std::size_t groups, const ChunkPrediction& p, std::int32_t* q) noexcept;

  // out <- in + the planes of integers.
  void (*add)(const PlanesIn& in, const std::int32_t* q, std::size_t groups, const ChunkPrediction& p,
              PlanesOut& out) noexcept;

  // Sums 2 <= n <= max_operands chunks. The caller ensures that the sums of q stay in range.
  void (*sum)(const PlanesIn* in, std::size_t n, std::size_t groups, PlanesOut& out) noexcept;
};

// Calls action.operator()<P>() for the given predictor.
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

// All kernels for one instruction set.
struct KernelSet {
  template <class Set>
  static const KernelSet& with() noexcept;  // Set: an instruction set of compressor/simd

  const char* name;
  bool (*supported)() noexcept;
  ForEachType<Kernels> values;
  IntKernels ints;
  WidthKernels widths;
  const GeneralKernels& (*general)() noexcept;

  template <class T>
  const Kernels<T>& for_type() const noexcept {
    return std::get<Kernels<T>>(values);
  }
};

// Returns all sets of this build; see built_kernels.
std::span<const KernelSet* const> kernel_sets() noexcept;

}  // namespace taut::planes
