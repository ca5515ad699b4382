// Estimates of the size of a message under several predictions, from sampled pieces of its values.
#include "compressor/codecs/planes/typed_codec.hpp"

#include <bit>
#include <numeric>

#include "compressor/frame/sample.hpp"

namespace taut::planes {
namespace {

constexpr std::size_t piece_values = Pieces::max_values, piece_groups = piece_values / group_values,
                      piece_blocks = piece_values / block_values;

// Number of pieces with references; more than without them, because the values that change may be a small
// part of the message.
constexpr std::size_t pieces_with_references = 16;

// Distance between pieces that are measured one after the other with references: the first few, by which
// predictions are dropped, are from all over the message.
constexpr std::size_t piece_stride = 5;
static_assert(std::gcd(pieces_with_references, piece_stride) == 1 &&
              min_values_to_sample / Pieces::max_values >= pieces_with_references);

// Behind references a piece with more runs is measured as a part of a wide chunk.
constexpr std::size_t min_runs_of_wide_piece = wide_threshold / (chunk_values / piece_values);

// A slow prediction is chosen if it saves at least 1 / min_gain_divisor of the bytes, a tenth.
constexpr std::size_t min_gain_divisor = 10;
constexpr std::size_t with_surcharge(std::size_t bytes) noexcept {
  return bytes + bytes / (min_gain_divisor - 1);
}
// A lag behind references is chosen if it saves about this part more: chunks then depend on each other.
constexpr std::size_t min_gain_of_row_divisor = 64;

// More bytes than all pieces take: marks a prediction that was dropped, or that cannot serve a piece.
constexpr std::size_t never_chosen = std::size_t{1} << 32;

// Drops the predictions that are far behind the best one after 2, 4 and 8 pieces: by more than 1, 1/2 and 1/4
// of its bytes, and some bytes a piece for headers and tables. Most of the time of an estimate goes into
// predictions that lose. The best one of each number of references stays, as later pieces may change more, or
// less, than the first ones.
void drop_losers(std::size_t pieces, std::span<const Prediction> predictions,
                 std::span<std::size_t> bytes) noexcept {
  constexpr std::size_t slack = 32;  // bytes a piece
  if (pieces < 2 || !std::has_single_bit(pieces)) return;
  std::size_t least[max_references + 1] = {never_chosen, never_chosen, never_chosen};
  for (std::size_t k = 0; k < bytes.size(); ++k)
    least[predictions[k].references] = std::min(least[predictions[k].references], bytes[k]);
  const std::size_t best = *std::ranges::min_element(least),
                    limit = best + 2 * best / pieces + slack * pieces;
  for (std::size_t k = 0; k < bytes.size(); ++k)
    if (bytes[k] > std::max(limit, least[predictions[k].references])) bytes[k] = never_chosen;
}

// Returns true for a prediction that costs more time than the others.
bool slow(const Prediction& p) noexcept {
  return p.lags.any() || p.references > 0 || p.inner == Predictor::second;
}

// Integers of a sampled piece, and the integers from which lags and references predict them.
template <class T>
class Piece {
 public:
  Piece(const T* values, std::size_t first, const Quantiser<T>& z, const ReferenceIntegers<T>& references,
        const KernelSet& kernels) noexcept
      : values_(values), first_(first), quantiser_(z), references_(references), kernels_(kernels) {
    runs_ = quantise(0, windows_[0].q);
  }

  std::size_t runs() const noexcept { return runs_; }

  const std::int32_t* integers() const noexcept { return windows_[0].q; }

  // Returns the integers that lags and references predict from.
  EarlierIntegers earlier(const Prediction& prediction) noexcept {
    const Lags& lags = prediction.lags;
    const unsigned behind = prediction.references;
    if (behind > 0 && lags.n == 0) return {window(0, behind)};
    if (behind > 0) return {window(lags.lag[0]), window(0, behind), window(lags.lag[0], behind)};
    if (lags.n == 0) return {};
    if (lags.n == 1) return {window(lags.lag[0])};
    return {window(lags.lag[0]), window(lags.lag[1]), window(lags.span())};
  }

 private:
  struct Window {
    std::size_t distance = 0;
    unsigned references = 0;
    alignas(64) std::int32_t q[piece_values];
  };

  // Returns the integers `distance` values before the piece, or what so many references predict for them.
  const std::int32_t* window(std::size_t distance, unsigned references = 0) noexcept {
    for (std::size_t k = 0; k < known_; ++k)
      if (windows_[k].distance == distance && windows_[k].references == references) return windows_[k].q;
    if (known_ == std::size(windows_)) --known_;  // replaces the last one: candidates have no more
    Window& next = windows_[known_++];
    next.distance = distance;
    next.references = references;
    if (references == 0)
      quantise(distance, next.q);
    else
      predict(distance, references, next.q);
    return next.q;
  }

  // Computes what references predict for the integers `distance` values before the piece; 0 before the first
  // value.
  void predict(std::size_t distance, unsigned references, std::int32_t* q) const noexcept {
    const std::size_t first = first_ - std::min(first_, distance),
                      absent = std::min(distance - (first_ - first), piece_values);
    alignas(64) std::int32_t room[piece_values];
    bool small[max_references] = {true, true};
    references_.predict(references, first, piece_values, room, small, q);
    std::copy_backward(q, q + (piece_values - absent), q + piece_values);
    std::fill_n(q, absent, 0);
  }

  // Quantises the piece `distance` values earlier; returns the number of runs of values without an integer.
  // Positions before the first value count as 0.
  std::size_t quantise(std::size_t distance, std::int32_t* q) const noexcept {
    T padded[piece_values];
    const T* x = values_ + first_ - std::min(first_, distance);
    if (distance > first_) {
      const std::size_t absent = std::min(distance - first_, piece_values);
      std::fill_n(padded, absent, T{});
      std::copy(values_, values_ + (piece_values - absent), padded + absent);
      x = padded;
    }
    const bool has_packed =
        quantiser_.exact_bits && kernels_.for_type<T>().any_below_numbers(x, piece_values);
    if (!has_packed && kernels_.for_type<T>().quantise(x, piece_groups, quantiser_, q)) return 0;
    const GeneralValueKernels<T>& general = kernels_.general().template for_type<T>();
    ChunkMask marks;
    if (general.quantise(x, piece_groups, quantiser_, q, marks).all_have_integers && !has_packed) return 0;
    if (has_packed) mark_packed(x, piece_values, marks);
    std::byte runs[piece_values * run_bytes<T>(false) + 64];
    return general.take_runs(x, piece_values, marks, piece_values, q, runs);
  }

  const T* values_;
  std::size_t first_;
  const Quantiser<T>& quantiser_;
  const ReferenceIntegers<T>& references_;
  const KernelSet& kernels_;
  std::size_t runs_ = 0, known_ = 1;
  Window windows_[9];
};

// Sampled piece whose integers have up to 43 bits.
template <class T>
class WidePiece {
 public:
  WidePiece(const T* values, std::size_t first, const Quantiser<T>& z, const ReferenceIntegers<T>& references,
            const KernelSet& kernels) noexcept
      : first_(first), references_(references), kernels_(kernels) {
    const T* const x = values + first;
    const GeneralValueKernels<T>& general = kernels.general().template for_type<T>();
    general.quantise_wide(x, piece_values, z, q_);
    ChunkMask marks;
    kernels.general().mark_escaped(q_, piece_values, marks);
    if (z.exact_bits) mark_packed(x, piece_values, marks);
    std::byte runs[piece_values * run_bytes<T>(true) + 64];
    runs_ = general.take_wide_runs(x, piece_values, marks, piece_values, q_, runs);
  }

  std::size_t runs() const noexcept { return runs_; }

  // Returns the bytes of a record of the piece's differences. Wide records have no lags.
  std::size_t plane_bytes(const Prediction& prediction) const noexcept {
    if (prediction.lags.any()) return never_chosen;
    alignas(64) std::int64_t d[piece_values] = {};
    if (prediction.references > 0) references_.predict_wide(prediction.references, first_, piece_values, d);
    for (std::size_t i = 0; i < piece_values; ++i)
      d[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(q_[i]) - static_cast<std::uint64_t>(d[i]));
    alignas(64)
        std::byte payload[max_plane_record<std::int64_t> / (chunk_values / piece_values) + 2 * overrun];
    Widths widths{};
    const std::size_t planes = kernels_.general().pack(d, piece_blocks, prediction.inner, payload, widths);
    const WidthTable table = choose_table(widths, kernels_.widths.summarize(widths), piece_blocks,
                                          prediction.references > 0 ? two_bits : 0, kernels_.widths);
    return RecordHeader{.flags = wide}.bytes() + planes + table.bytes;
  }

 private:
  std::size_t first_, runs_ = 0;
  const ReferenceIntegers<T>& references_;
  const KernelSet& kernels_;
  alignas(64) std::int64_t q_[piece_values];
};

// Returns the bytes of a record of the piece's residuals.
template <class T>
std::size_t plane_bytes(Piece<T>& piece, const Prediction& prediction, const KernelSet& kernels) noexcept {
  alignas(64) std::byte payload[max_plane_record<std::int32_t> / (chunk_values / piece_values) + 2 * overrun];
  PlanesOut planes(payload);
  kernels.ints.pack(piece.integers(), piece_groups, {prediction.inner, piece.earlier(prediction)}, planes);
  const WidthTable table = choose_table(planes.widths, kernels.widths.summarize(planes.widths), piece_blocks,
                                        prediction.references > 0 ? two_bits : 0, kernels.widths);
  return RecordHeader{}.bytes() + planes.bytes + table.bytes;
}

// Adds the bytes of the piece's record under each prediction. Returns false if it has too many exact values.
template <class T>
bool add_wide_piece(const WidePiece<T>& piece, std::span<const Prediction> predictions,
                    std::span<std::size_t> bytes) noexcept {
  const std::size_t exact_bytes = piece.runs() * run_bytes<T>(true);
  for (std::size_t k = 0; k < predictions.size(); ++k) {
    if (bytes[k] >= never_chosen) continue;
    const std::size_t all = exact_bytes + piece.plane_bytes(predictions[k]);
    bytes[k] += predictions[k].references > 0 ? with_surcharge(all) : all;
  }
  return exact_bytes <= piece_values * sizeof(T) / 4;
}

}  // namespace

template <class T>
std::size_t estimate(const T* values, std::size_t count, const Quantiser<T>& z, const KernelSet& kernels,
                     const ReferenceIntegers<T>& references, std::span<const Prediction> predictions,
                     std::span<std::size_t> bytes) noexcept {
  const Pieces pieces(count, references.count() > 0 ? pieces_with_references : Pieces::min_pieces);
  if (pieces.values != piece_values || z.step == 0) return 0;
  std::ranges::fill(bytes, 0);
  const bool refers = references.count() > 0;
  const bool may_be_wide = sizeof(T) == 8 && refers && !predictions[0].by_addend;
  for (std::size_t i = 0; i < pieces.count; ++i) {
    if (refers) drop_losers(i, predictions, bytes);
    const std::size_t first = pieces.first(refers ? i * piece_stride % pieces.count : i);
    Piece<T> piece(values, first, z, references, kernels);
    if (may_be_wide && piece.runs() > min_runs_of_wide_piece) {
      if (!add_wide_piece<T>({values, first, z, references, kernels}, predictions, bytes)) return 0;
      continue;
    }
    const std::size_t exact_bytes = piece.runs() * run_bytes<T>(false);
    if (exact_bytes > piece_values * sizeof(T) / 4) return 0;
    for (std::size_t k = 0; k < predictions.size(); ++k) {
      if (bytes[k] >= never_chosen) continue;
      const std::size_t all = exact_bytes + plane_bytes(piece, predictions[k], kernels);
      bytes[k] += slow(predictions[k]) ? with_surcharge(all) : all;
      if (predictions[k].references > 0 && predictions[k].lags.any())
        bytes[k] += all / min_gain_of_row_divisor;
    }
  }
  return pieces.count * piece_values * sizeof(T);
}

#define INSTANTIATE(T)                                                                        \
  template std::size_t estimate(const T*, std::size_t, const Quantiser<T>&, const KernelSet&, \
                                const ReferenceIntegers<T>&, std::span<const Prediction>,     \
                                std::span<std::size_t>) noexcept;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
