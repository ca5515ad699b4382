#include "compressor/codecs/mpc/frame_io.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "compressor/codecs/mpc/sparse.hpp"
#include "compressor/frame/lag_window.hpp"
#include "compressor/frame/sample.hpp"

namespace taut::mpc {
namespace {

// Part of the values: the offset of its first byte, which is negative before the values, and its size.
struct Part {
  std::ptrdiff_t first;
  std::size_t size;

  Part before(std::size_t distance) const noexcept {
    return {first - static_cast<std::ptrdiff_t>(distance), size};
  }
};

// Returns chunk i of `bytes` bytes of values.
Part chunk_at(std::size_t i, std::size_t bytes) noexcept {
  const std::size_t first = i * chunk_bytes;
  return {static_cast<std::ptrdiff_t>(first), std::min(chunk_bytes, bytes - first)};
}

// Preparation of parts of the values for kernels: as words, codes of the grid or residuals, in whole vectors.
class Preparation {
 public:
  // `kept`: codes of sampled parts, if the parts are those of samples.
  Preparation(ConstBytes values, const Layout& layout, const KernelSet& kernels,
              SampledCodes* kept = nullptr) noexcept
      : values_(values), layout_(layout), kernels_(kernels.for_word_bytes(layout.word_bytes)), kept_(kept) {}

  // Begins a sequence of chunks in order, from `chunk` on: codes of a grid are kept for later chunks, which
  // refer to them by lags. Throws std::bad_alloc.
  void begin_at(std::size_t chunk) {
    const Lags& lags = layout_.prediction.lags;
    if (!layout_.grid.any() || !lags.any()) return;
    const std::size_t span = lags.span() * layout_.word_bytes;
    coded_ = LagWindow<std::byte, chunk_bytes>(span, values_.size(), window_spans);
    for (std::size_t i = chunk - std::min(chunk, chunks_of(span)); i < chunk; ++i)
      code(chunk_at(i, values_.size()), coded_.next());
  }

  // Returns the words of a part, rounded, in whole vectors. Words before the values are 0.
  const std::byte* words(Part part) noexcept { return prepared(part, own_); }

  // Returns false if a word would be read as a code of the grid.
  bool fits_grid() const noexcept { return fits_grid_; }

  // Returns the residuals of a part, in whole vectors; those beyond its end equal their prediction.
  const std::byte* residuals(Part part) noexcept {
    const std::size_t vectors = vectors_of(part.size), end = vectors * vector_bytes;
    const Lags& lags = layout_.prediction.lags;
    const std::byte* residuals = own_.bytes;
    if (coded_.any()) {
      code_next(part, lags);
    } else {
      residuals = prepared(part, own_);
      if (lags.any() || !layout_.references.empty()) {
        kernels_.subtract_lags(sources(residuals, part, lags), vectors, own_.bytes);
        residuals = own_.bytes;
      }
    }
    if (part.size == end) return residuals;
    if (residuals != own_.bytes) std::memcpy(own_.bytes, residuals, part.size);
    const std::size_t back = layout_.heads_bytes();
    for (std::size_t i = part.size; i < end; ++i)
      own_.bytes[i] = i < back || back == 0 ? std::byte{0} : own_.bytes[i - back];
    return own_.bytes;
  }

 private:
  // Returns the words of a part with the words at the lags, or of the references, that predict them.
  Sources sources(const std::byte* words, Part part, const Lags& lags) noexcept {
    if (!layout_.references.empty())
      return reference_sources(words, layout_.references, static_cast<std::size_t>(part.first), part.size,
                               earlier_);
    const auto at = [&](std::size_t lag, Piece& piece) {
      return prepared(part.before(lag * layout_.word_bytes), piece);
    };
    if (lags.n == 1) return {words, at(lags.lag[0], earlier_[0])};
    return {words, at(lags.lag[0], earlier_[0]), at(lags.lag[1], earlier_[1]), at(lags.span(), earlier_[2])};
  }

  // Returns the words of a part, rounded or as codes of the grid, in whole vectors. Before the values the
  // words are 0, and so are the codes.
  const std::byte* prepared(Part part, Piece& piece) noexcept {
    if (layout_.grid.any()) return codes_of(part, piece);
    const std::byte* const whole = whole_vectors(part, piece.bytes);
    if (layout_.rounding.dropped == 0) return whole;
    kernels_.round(whole, vectors_of(part.size), layout_.rounding, piece.bytes);
    return piece.bytes;
  }

  // Returns the codes of a part. The function is not inlined: the loop over the chunks of frames without a
  // grid is faster without this code.
  [[gnu::noinline]] const std::byte* codes_of(Part part, Piece& piece) noexcept {
    if (const std::byte* const kept = kept_ ? kept_->find(part.first) : nullptr) return kept;
    std::byte* const room = kept_ ? kept_->add(part.first) : nullptr;
    std::byte* const codes = room ? room : piece.bytes;
    code(part, codes);
    const std::size_t before =
        part.first < 0 ? std::min(static_cast<std::size_t>(-part.first), part.size) : 0;
    std::memset(codes, 0, before);
    return codes;
  }

  // Codes the chunk that follows those in the window, and writes its residuals to own_.
  [[gnu::noinline]] void code_next(Part part, const Lags& lags) noexcept {
    std::byte* const codes = coded_.next();
    code(part, codes, {lag_sources(codes, lags, layout_.word_bytes), own_.bytes});
  }

  // Writes the codes of a part to `to`, and their residuals.
  void code(Part part, std::byte* to, const ResidualOutput& residuals = {}) noexcept {
    fits_grid_ &=
        kernels_.to_codes(whole_vectors(part, to), vectors_of(part.size), layout_.grid, to, residuals);
  }

  // Returns the words of a part, in whole vectors: in place, or a copy in `memory`. Words outside the values
  // are 0.
  const std::byte* whole_vectors(Part part, std::byte* memory) const noexcept {
    const std::size_t end = vectors_of(part.size) * vector_bytes;
    const std::size_t absent =
        part.first < 0 ? std::min(static_cast<std::size_t>(-part.first), part.size) : 0;
    const std::size_t first = static_cast<std::size_t>(part.first + static_cast<std::ptrdiff_t>(absent));
    if (absent == 0 && end <= values_.size() - first) return values_.data() + first;
    std::memset(memory, 0, end);
    if (absent < part.size) std::memcpy(memory + absent, values_.data() + first, part.size - absent);
    return memory;
  }

  ConstBytes values_;
  const Layout& layout_;
  const Kernels& kernels_;
  SampledCodes* kept_;  // may be null
  bool fits_grid_ = true;
  Piece own_, earlier_[3];  // for the current part, and for the parts or references that predict it
  LagWindow<std::byte, chunk_bytes> coded_;  // codes of the last chunks, after begin_at() of a grid with lags
};

template <class Word>
unsigned probed_zeros(const std::byte* words, std::uint32_t n) noexcept {
  unsigned zeros = 0;
  for (unsigned k = 0; k < probed_words; ++k)
    zeros += load<Word>(words + probed_word(k, n) * sizeof(Word)) == 0;
  return zeros;
}
template <class Word>
unsigned probed_zeros(ConstBytes words) noexcept {
  // Most chunks are whole; a constant number of words makes them faster.
  constexpr std::uint32_t whole = chunk_bytes / sizeof(Word);
  if (words.size() == chunk_bytes) return probed_zeros<Word>(words.data(), whole);
  return probed_zeros<Word>(words.data(), static_cast<std::uint32_t>(words.size() / sizeof(Word)));
}
// Returns the number of probed words that are 0.
unsigned probed_zeros(ConstBytes words, std::size_t word_bytes) noexcept {
  switch (word_bytes) {
    case 1: return probed_zeros<std::uint8_t>(words);
    case 2: return probed_zeros<std::uint16_t>(words);
    case 4: return probed_zeros<std::uint32_t>(words);
    default: return probed_zeros<std::uint64_t>(words);
  }
}

// Replaces a coded record of `bytes` by the sparse one of the same words, if that is shorter. Returns the
// bytes of the record.
std::size_t keep_shorter(std::size_t bytes, ConstBytes words, const Layout& layout, const Kernels& kernels,
                         std::byte* record) noexcept {
  alignas(64) std::byte sparse[max_record_bytes];
  const std::size_t shorter =
      kernels.encode_sparse(words.data(), words.size(), layout.heads_bytes(), bytes, sparse).bytes;
  if (shorter == 0 || shorter >= bytes) return bytes;
  std::memcpy(record, sparse, shorter);
  return shorter;
}

// Encodes words in the shorter of both forms, the sparse one first. Returns the bytes of the record.
[[gnu::noinline]] std::size_t encode_shorter(ConstBytes words, const Layout& layout, const Kernels& kernels,
                                             std::byte* record) noexcept {
  const SparseSize sparse =
      kernels.encode_sparse(words.data(), words.size(), layout.heads_bytes(), max_record_bytes, record);
  if (sparse.bytes != 0 && sparse.bytes < sparse.min_coded_bytes) return sparse.bytes;
  alignas(64) std::byte coded[max_record_bytes];
  std::byte* const to = sparse.bytes == 0 ? record : coded;
  const std::size_t bytes =
      kernels.encode(words.data(), vectors_of(words.size()), layout.prediction.inner, to);
  if (sparse.bytes != 0 && sparse.bytes < bytes) return sparse.bytes;
  if (sparse.bytes != 0) std::memcpy(record, coded, bytes);
  return bytes;
}

// Writes the record of a chunk. `zeros`: probed zeros of the chunk before, on which the order of encoding
// depends, but no record. Returns false if the record does not fit, or if a word would be read as a code of
// the grid.
template <class Writer>
bool write_chunk(Part chunk, Preparation& preparation, const Layout& layout, const KernelSet& kernels,
                 bool may_be_sparse, unsigned& zeros, Writer& writer) noexcept {
  const ConstBytes words{preparation.residuals(chunk), chunk.size};
  if (!preparation.fits_grid()) return false;
  const Kernels& of_words = kernels.for_word_bytes(layout.word_bytes);
  return write_lossless(words, writer, [&](std::byte* record) {
    const auto encode = [&] {
      return of_words.encode(words.data(), vectors_of(words.size()), layout.prediction.inner, record);
    };
    if (!may_be_sparse) return encode();
    // The coded record is made before the probe, which then finds the words in the cache.
    const std::size_t bytes = zeros >= mostly_zero_probes ? 0 : encode();
    zeros = probed_zeros(words, layout.word_bytes);
    if (zeros < min_zero_probes) return bytes != 0 ? bytes : encode();
    return bytes != 0 ? keep_shorter(bytes, words, layout, of_words, record)
                      : encode_shorter(words, layout, of_words, record);
  });
}

// Writes the parameters of a grid to the payload, and returns their end.
std::byte* write_grid(const Grid& grid, std::byte* to) noexcept {
  if (grid.any()) to = store(store(to, grid.step), grid.offset);
  if (grid.has_unit()) to = store(to, grid.unit);
  return grid.has_base() ? store(to, grid.base) : to;
}

}  // namespace

std::size_t write_chunks(ConstBytes values, const Layout& layout, const KernelSet& kernels, int threads,
                         Bytes payload) noexcept {
  using Writer = RecordWriter<max_record_bytes>;
  const Lags& lags = layout.prediction.lags;
  const StateNumbers states = state_numbers_of(layout.references);
  const std::size_t before = layout.grid.bytes() + states.bytes() + lags.n * sizeof lags.lag[0];
  if (before > payload.size()) return 0;
  std::byte* to = write_state_numbers(states, write_grid(layout.grid, payload.data()));
  for (unsigned k = 0; k < lags.n; ++k) to = store(to, lags.lag[k]);
  const bool may_be_sparse = values.size() >= min_sparse_bytes;
  const auto write = [&](Range range, Writer& writer) {
    Preparation preparation(values, layout, kernels);
    try {
      preparation.begin_at(range.first);
    } catch (const std::bad_alloc&) {
      return Status::out_of_memory;
    }
    unsigned zeros = 0;
    for (std::size_t i = range.first; i < range.first + range.count; ++i)
      if (!write_chunk(chunk_at(i, values.size()), preparation, layout, kernels, may_be_sparse, zeros,
                       writer))
        return Status::buffer_too_small;
    return Status::ok;
  };
  const std::size_t bytes =
      write_indexed<Writer>(payload.subspan(before), chunks_of(values.size()), threads, write);
  return bytes == 0 ? 0 : before + bytes;
}

void write_rounded(ConstBytes values, const Layout& layout, const KernelSet& kernels,
                   std::byte* to) noexcept {
  Preparation preparation(values, layout, kernels);
  for (std::size_t i = 0; i < chunks_of(values.size()); ++i) {
    const Part chunk = chunk_at(i, values.size());
    std::memcpy(to + chunk.first, preparation.words(chunk), chunk.size);
  }
}

const std::byte* SampledCodes::find(std::ptrdiff_t first) const noexcept {
  const auto* const found = std::find(first_, first_ + n_, first);
  return found == first_ + n_ ? nullptr : codes_.get() + (found - first_) * std::ptrdiff_t{chunk_bytes};
}

std::byte* SampledCodes::add(std::ptrdiff_t first) noexcept {
  if (codes_ == nullptr) codes_.reset(new (std::nothrow) std::byte[max_pieces * chunk_bytes]);
  if (codes_ == nullptr || n_ == max_pieces) return nullptr;
  first_[n_] = first;
  return codes_.get() + chunk_bytes * n_++;
}

Sampled sampled(ConstBytes values, const Layout& layout, const KernelSet& kernels, std::size_t enough,
                SampledCodes* codes) noexcept {
  const Pieces pieces(values.size() / layout.word_bytes);
  const std::size_t piece_bytes = pieces.values * layout.word_bytes, vectors = vectors_of(piece_bytes);
  const Kernels& of_words = kernels.for_word_bytes(layout.word_bytes);
  const unsigned distance = layout.prediction.inner;
  Preparation preparation(values, layout, kernels, codes);
  alignas(64) std::byte record[max_record_bytes];
  Sampled all;
  for (std::size_t i = 0; i < pieces.count && all.record_bytes < enough; ++i) {
    const std::size_t first = pieces.first(i) * layout.word_bytes;
    const std::byte* words = preparation.residuals({static_cast<std::ptrdiff_t>(first), piece_bytes});
    // The first vector needs fewer bytes because of the heads, and the fewer, the greater the distance. It is
    // therefore left out of the count.
    std::size_t bytes = of_words.encode(words, vectors, distance, record);
    bytes -= of_words.encode(words, 1, distance, record);
    if (probed_zeros({words, piece_bytes}, layout.word_bytes) >= min_zero_probes) {
      const std::size_t sparse =
          of_words.encode_sparse(words, piece_bytes, 0, bytes + sparse_end_bytes, record).bytes;
      if (sparse != 0)
        bytes = std::min(bytes, sparse - sparse_end_bytes * (chunk_vectors - vectors) / chunk_vectors);
    }
    all.record_bytes += bytes;
    all.value_bytes += piece_bytes - vector_bytes;
  }
  all.record_bytes += pieces.count * layout.heads_bytes() * vectors / chunk_vectors;
  return all;
}

const std::byte* reference_words(ConstBytes reference, std::size_t first, std::size_t size,
                                 Piece& piece) noexcept {
  const std::byte* const at = reference.data() + first;
  const std::size_t end = vectors_of(size) * vector_bytes;
  if (end <= reference.size() - first) return at;
  std::memcpy(piece.bytes, at, size);
  std::memset(piece.bytes + size, 0, end - size);
  return piece.bytes;
}

Status FrameReader::open(ConstBytes frame, ConstSlice values) noexcept {
  if (const Status s = open_frame(frame, frame_id, header_, payload_); s != Status::ok) return s;
  if (header_.type != values.type || header_.count != values.count) return Status::frame_mismatch;
  frame_ = frame;
  bytes_ = values.bytes();
  word_bytes_ = size_of(component_of(values.type));
  if (header_.has(FrameHeader::stored)) return payload_.size() == bytes_ ? Status::ok : Status::corrupt_frame;
  const bool good = read_grid() && distance_ <= max_distance && header_.addends == 1 &&
                    !refers_by_addend(header_) && read_state_numbers(header_, payload_, states_) &&
                    read_lags() && !(states_.any() && (lags_.any() || grid_.any())) &&
                    has_valid_index(payload_, chunks());
  return good ? Status::ok : Status::corrupt_frame;
}

bool FrameReader::read_grid() noexcept {
  const unsigned forms = product_flag | quotient_flag, parameter = header_.parameters[0],
                 form = parameter & forms;
  distance_ = parameter & ~(forms | unit_flag | base_flag);
  const bool has_unit = (parameter & unit_flag) != 0, has_base = (parameter & base_flag) != 0;
  const bool integers_alone = (header_.parameters[1] & integers_flag) != 0;
  if (form == 0) return !has_unit && !has_base && !integers_alone;
  const bool has_codes = info_of(header_.type).family != Family::integer && word_bytes_ >= 4;
  const std::size_t bytes = (std::size_t{2} + has_unit + has_base) * sizeof(double);
  if (form == forms || !has_codes || !header_.bound.exact() || payload_.size() < bytes) return false;
  const auto number = [this](std::size_t i) { return load<double>(payload_.data() + i * sizeof(double)); };
  grid_ = {form == product_flag ? Grid::Form::product : Grid::Form::quotient, number(0), number(1),
           has_unit ? number(2) : 0, integers_alone};
  if (has_base) grid_.base = load<std::uint64_t>(payload_.data() + bytes - sizeof grid_.base);
  payload_ = payload_.subspan(bytes);
  const auto is_unit_of_words = word_bytes_ == 4 ? is_unit<std::uint32_t> : is_unit<std::uint64_t>;
  return grid_.step > 0 && std::isfinite(grid_.step) && std::isfinite(grid_.offset) &&
         (!has_unit || is_unit_of_words(grid_.unit));
}

bool FrameReader::read_lags() noexcept {
  const unsigned n = header_.parameters[1] & ~integers_flag;
  if (n > max_lags || payload_.size() < n * sizeof lags_.lag[0]) return false;
  std::uint32_t before = min_lag;
  for (; lags_.n < n; ++lags_.n) {
    const auto lag = load<std::uint32_t>(payload_.data() + lags_.n * sizeof before);
    if (lag < before || lag >= bytes_ / word_bytes_) return false;
    lags_.lag[lags_.n] = before = lag;
  }
  payload_ = payload_.subspan(n * sizeof lags_.lag[0]);
  return true;
}

Status FrameReader::read(std::size_t i, const KernelSet& kernels, std::byte* to) const noexcept {
  const std::size_t size = size_of_chunk(i);
  if (header_.has(FrameHeader::stored)) {
    std::memcpy(to, payload_.data() + i * chunk_bytes, size);
    return Status::ok;
  }
  return read_lossless(record_at(payload_, chunks(), i), size, to,
                       [&](ConstBytes record) { return decode(record, size, kernels, to); });
}

// Decodes a record that is shorter than its words. Kernels read a little before the record, where header and
// index are stored, and beyond its end; a record near the end of the frame is copied first. Kernels write
// whole vectors, so an incomplete last one goes through a buffer.
bool FrameReader::decode(ConstBytes record, std::size_t size, const KernelSet& kernels,
                         std::byte* to) const noexcept {
  alignas(64) std::byte copy[overrun + chunk_bytes + overrun];
  if (static_cast<std::size_t>(frame_.data() + frame_.size() - record.data()) < chunk_bytes + overrun) {
    std::memset(copy, 0, sizeof copy);
    std::memcpy(copy + overrun, record.data(), record.size());
    record = {copy + overrun, record.size()};
  }
  const auto& kernel = kernels.for_word_bytes(word_bytes_);
  const unsigned distance = distance_;
  if (is_sparse_record(record, distance * word_bytes_)) return kernel.decode_sparse(record, size, to);
  if (size % vector_bytes == 0) return kernel.decode(record, size / vector_bytes, distance, to);
  Piece piece;
  if (!kernel.decode(record, vectors_of(size), distance, piece.bytes)) return false;
  std::memcpy(to, piece.bytes, size);
  return true;
}

}  // namespace taut::mpc
