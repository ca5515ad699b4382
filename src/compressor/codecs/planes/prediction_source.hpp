// Integers from which the chunks of a frame are predicted: earlier integers of the frame by lags, the
// integers of references, or both.
#pragma once

#include <memory>
#include <new>
#include <optional>

#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/codecs/planes/general/general.hpp"
#include "compressor/frame/references.hpp"

namespace taut::planes {

// The references of a frame, quantised with its step, however far their values are from its multiples. A
// value without an integer of 22 bits, or 43 bits behind wide records, counts as 0. The integers are
// multiplied by the number of addends, each of which was predicted from these references. Where each addend
// had a reference of its own, the one reference of the sum counts once.
template <class T>
class ReferenceIntegers {
 public:
  // `header`: header of the frame. fit_values() is true for the references and the frame's values. The
  // references outlive this object.
  ReferenceIntegers(References references, const FrameHeader& header, const KernelSet& kernels) noexcept
      : references_(references),
        quantiser_(Quantiser<T>::of_frame(header.step, std::numeric_limits<double>::infinity())),
        by_addend_(refers_by_addend(header)),
        addends_(by_addend_ ? 1 : header.addends),
        kernels_(&kernels) {}

  std::size_t count() const noexcept { return references_.size(); }
  bool by_addend() const noexcept { return by_addend_; }

  // Returns the values of the references from position `first` on. Returns nothing if they count more than
  // once.
  std::optional<ReferenceValues<T>> values_from(std::size_t first) const noexcept {
    if (addends_ != 1) return {};
    return ReferenceValues<T>{reference(0) + first, references_.size() == 1 ? nullptr : reference(1) + first};
  }

  // Computes the integers of the n values from `first` on of reference k, in whole groups. `small`: all
  // values of the chunk before were small, a guess for this one.
  void read(std::size_t k, std::size_t first, std::size_t n, std::int32_t* q, bool& small) const noexcept {
    T padded[chunk_values];
    const T* const whole = whole_groups(reference(k) + first, n, Predictor::none, padded);
    quantise(whole, groups_of(n), q, small);
    if (addends_ == 1) return;
    for (std::size_t i = 0; i < groups_of(n) * group_values; ++i)
      q[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(q[i]) * addends_);
  }

  // Computes what the first `of` references predict for the n integers from `first` on. `room`, `small`: as
  // for read(), of the second reference and of both.
  void predict(std::size_t of, std::size_t first, std::size_t n, std::int32_t* room, bool* small,
               std::int32_t* q) const noexcept {
    read(0, first, n, q, small[0]);
    if (of == 1) return;
    read(1, first, n, room, small[1]);
    for (std::size_t i = 0; i < groups_of(n) * group_values; ++i)
      q[i] = subtract_wrapping(add_wrapping(q[i], q[i]), room[i]);
  }

  // Computes, modulo 2^64, what the first `of` references predict for the n integers of a wide record from
  // `first` on.
  void predict_wide(std::size_t of, std::size_t first, std::size_t n, std::int64_t* q) const noexcept {
    const auto each = [&](auto value) {
      for (std::size_t i = 0; i < n; ++i) q[i] = static_cast<std::int64_t>(value(i));
    };
    const auto bits = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
    quantise_wide(0, first, n, q);
    if (of == 2) {
      alignas(64) std::int64_t older[chunk_values];
      quantise_wide(1, first, n, older);
      each([&](std::size_t i) { return 2 * bits(q[i]) - bits(older[i]); });
    }
    if (addends_ != 1) each([&](std::size_t i) { return addends_ * bits(q[i]); });
  }

 private:
  const T* reference(std::size_t k) const noexcept {
    return static_cast<const T*>(references_[k].values.data);
  }

  // Computes the integers of one reference, each of which counts once.
  void quantise(const T* values, std::size_t groups, std::int32_t* q, bool& small) const noexcept {
    const Kernels<T>& kernels = kernels_->for_type<T>();
    if (small && kernels.quantise(values, groups, quantiser_, q)) return;
    if (kernels.quantise_large != nullptr && kernels.quantise_large(values, groups, quantiser_, q)) {
      std::uint32_t seen = 0;
      for (std::size_t i = 0; i < groups * group_values; ++i)
        seen |= static_cast<std::uint32_t>(q[i]) + (1u << small_bits);
      small = seen >> (small_bits + 1) == 0;
      return;
    }
    ChunkMask marks;
    const QuantisedChunk found =
        kernels_->general().template for_type<T>().quantise(values, groups, quantiser_, q, marks);
    small = found.all_have_integers && found.all_small;
    if (found.all_have_integers) return;
    for (std::size_t i = 0; i < groups * group_values; ++i)
      if ((marks.words[i / 64] >> (i % 64) & 1) != 0) q[i] = 0;
  }

  // Computes the 64-bit integers of n values of reference k.
  void quantise_wide(std::size_t k, std::size_t first, std::size_t n, std::int64_t* q) const noexcept {
    const GeneralValueKernels<T>& general = kernels_->general().template for_type<T>();
    if (general.quantise_wide(reference(k) + first, n, quantiser_, q) < n)
      std::replace(q, q + n, escaped<std::int64_t>, std::int64_t{0});
  }

  References references_;
  Quantiser<T> quantiser_;
  bool by_addend_;
  std::uint32_t addends_;
  const KernelSet* kernels_;
};

// Memory for the integers of the current chunk, and the earlier integers from which they are predicted.
// Chunks of a frame with lags follow each other; those of a frame with references alone may be in any order.
template <class T>
class PredictionSource {
 public:
  PredictionSource() = default;

  // Makes the source for a frame of `count` values with lags. Throws std::bad_alloc.
  PredictionSource(const Lags& lags, std::size_t count) : lags_(lags), window_(lags.span(), count) {}

  // Makes the source for a frame of `count` values with references, and behind them a lag or none. Throws
  // std::bad_alloc if there is no memory for the lag; out_of_memory() tells if there is none for the
  // references.
  PredictionSource(const Lags& lags, const ReferenceIntegers<T>& references, std::size_t count)
      : lags_(lags), references_(&references), count_(count), buffers_(new (std::nothrow) Buffers) {
    if (!lags.any()) return;
    window_ = LagWindow(lags.span(), count);
    predicted_ = LagWindow(lags.span(), count);
  }

  bool any() const noexcept { return window_.any() || references_ != nullptr; }
  bool out_of_memory() const noexcept { return references_ != nullptr && buffers_ == nullptr; }

  // Moves to chunk i and returns the memory for its integers; earlier() then returns what predicts them.
  std::int32_t* start_chunk(std::size_t i) noexcept {
    earlier_ = {};
    first_ = i * chunk_values;
    if (!window_.any()) return buffers_->chunk;
    std::int32_t* const q = window_.next();
    earlier_ = references_ == nullptr ? EarlierIntegers::by_lags(q, lags_) : predict_from_lag(q);
    return q;
  }

  // Returns the integers that predict those of the chunk. Integers of references are computed when they are
  // asked for.
  const EarlierIntegers& earlier() noexcept {
    if (references_ == nullptr || earlier_.any()) return earlier_;
    const std::size_t n = chunk_count();
    for (std::size_t k = 0; k < references_->count(); ++k)
      references_->read(k, first_, n, buffers_->reference[k], buffers_->small[k]);
    likely_small_ = buffers_->small[0] && buffers_->small[1];
    const std::int32_t* const newest = buffers_->reference[0];
    earlier_ = {newest};
    if (references_->count() == 2) earlier_ = {newest, newest, buffers_->reference[1]};
    return earlier_;
  }

  // Returns what references predict for the integers of a wide record of the chunk, in whole blocks.
  std::int64_t* predict_wide() noexcept {
    const std::size_t n = chunk_count();
    std::int64_t* const q = buffers_->wide;
    if (references_->by_addend()) {
      std::copy_n(earlier().near, n, q);
    } else {
      references_->predict_wide(references_->count(), first_, n, q);
    }
    std::fill(q + n, q + blocks_of(n) * block_values, 0);
    return q;
  }

  // Returns the values of references at the chunk's n positions, for kernels that take whole groups of small
  // values. Returns nothing if the frame has no references or a lag, or the chunk is unlikely to be small.
  std::optional<ReferenceValues<T>> reference_values(std::size_t n) const noexcept {
    if (references_ == nullptr || lags_.any() || n % group_values != 0 || !likely_small_) return {};
    return references_->values_from(first_);
  }
  // Makes reference_values() return nothing until the references of a chunk are small again.
  void expect_large() noexcept { likely_small_ = false; }

 private:
  struct Buffers {
    alignas(64) std::int32_t chunk[chunk_values];
    alignas(64) std::int32_t reference[max_references][chunk_values];
    alignas(64) std::int64_t wide[chunk_values];
    bool small[max_references] = {true, true};
  };

  std::size_t chunk_count() const noexcept { return std::min(chunk_values, count_ - first_); }

  // Returns what predicts the integers at `q` from a lag behind references. A residual is predicted to be
  // that of the integer a lag before, which is that integer less its own prediction.
  EarlierIntegers predict_from_lag(const std::int32_t* q) noexcept {
    std::int32_t* const predicted = predicted_.next();
    references_->predict(references_->count(), first_, chunk_count(), buffers_->reference[0], buffers_->small,
                         predicted);
    return {q - lags_.lag[0], predicted, predicted - lags_.lag[0]};
  }

  Lags lags_;
  LagWindow window_, predicted_;  // integers of the frame, and what references predict for them
  const ReferenceIntegers<T>* references_ = nullptr;
  std::size_t count_ = 0, first_ = 0;  // number of values of the frame; position of the chunk's first value
  bool likely_small_ = true;
  std::unique_ptr<Buffers> buffers_;
  EarlierIntegers earlier_;
};

}  // namespace taut::planes
