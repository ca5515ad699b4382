// Integers from which the chunks of a frame are predicted: earlier ones of the frame (lags), those of
// references, or both.
#pragma once

#include <memory>
#include <new>
#include <optional>

#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/codecs/planes/general/general.hpp"
#include "compressor/frame/references.hpp"

namespace taut::planes {

// The references of a frame, quantised with its step, however far their values are from its multiples. A
// value without an integer counts as 0, and so does one that needs 64 bits. In a sum of frames that were
// predicted from the same references, each addend counts. The reference of a sum whose addends had their own
// counts once.
template <class T>
class ReferenceIntegers {
 public:
  // `header`: of the frame. The references must refer_to() its values, and outlive this object.
  ReferenceIntegers(References references, const FrameHeader& header, const KernelSet& kernels) noexcept
      : references_(references),
        z_(Quantiser<T>::of_frame(header.step, std::numeric_limits<double>::infinity())),
        addends_(refers_by_addend(header) ? 1 : header.addends),
        kernels_(&kernels) {}

  std::size_t count() const noexcept { return references_.size(); }

  // Returns the values from `first` on. Nothing if several addends count.
  std::optional<ReferenceValues<T>> values(std::size_t first) const noexcept {
    if (addends_ != 1) return {};
    return ReferenceValues<T>{at(0) + first, references_.size() == 1 ? nullptr : at(1) + first};
  }

  // Computes the integers of the n values from `first` on of reference k, in whole groups. `small`: all
  // values of the chunk before were small, a guess for this one.
  void read(std::size_t k, std::size_t first, std::size_t n, std::int32_t* q, bool& small) const noexcept {
    T padded[chunk_values];
    const T* const whole = whole_groups(at(k) + first, n, Predictor::none, padded);
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

 private:
  const T* at(std::size_t k) const noexcept { return static_cast<const T*>(references_[k].values.data); }

  void quantise(const T* values, std::size_t groups, std::int32_t* q, bool& small) const noexcept {
    const Kernels<T>& kernels = kernels_->of<T>();
    if (small && kernels.quantise(values, groups, z_, q)) return;
    if (kernels.quantise_large != nullptr && kernels.quantise_large(values, groups, z_, q)) {
      std::uint32_t seen = 0;
      for (std::size_t i = 0; i < groups * group_values; ++i)
        seen |= static_cast<std::uint32_t>(q[i]) + (1u << small_bits);
      small = seen >> (small_bits + 1) == 0;
      return;
    }
    Marks marks;
    const Quantised found = kernels_->general().template of<T>().quantise(values, groups, z_, q, marks);
    small = found.complete && found.small;
    if (found.complete) return;
    for (std::size_t i = 0; i < groups * group_values; ++i)
      if ((marks.of[i / 64] >> (i % 64) & 1) != 0) q[i] = 0;
  }

  References references_;
  Quantiser<T> z_;
  std::uint32_t addends_;
  const KernelSet* kernels_;
};

// The integers of the current chunk, and those from which it is predicted. Chunks of a frame with lags follow
// each other; those of a frame with references alone may be in any order.
template <class T>
class PredictionSource {
 public:
  PredictionSource() = default;

  // For a frame of `count` values with lags. Throws std::bad_alloc.
  PredictionSource(const Lags& lags, std::size_t count) : lags_(lags), window_(lags.span(), count) {}

  // For a frame of `count` values with references, and behind them a lag or none. Throws std::bad_alloc if
  // there is no memory for the lag; without_memory() tells whether there is memory for the references.
  PredictionSource(const Lags& lags, const ReferenceIntegers<T>& references, std::size_t count)
      : lags_(lags), references_(&references), count_(count), rooms_(new (std::nothrow) Rooms) {
    if (!lags.any()) return;
    window_ = LagWindow(lags.span(), count);
    predicted_ = LagWindow(lags.span(), count);
  }

  bool any() const noexcept { return window_.any() || references_ != nullptr; }
  bool without_memory() const noexcept { return references_ != nullptr && rooms_ == nullptr; }

  // Returns the room for the integers of chunk i; earlier() is then what predicts them.
  std::int32_t* next(std::size_t i) noexcept {
    earlier_ = {};
    first_ = i * chunk_values;
    if (!window_.any()) return rooms_->own;
    std::int32_t* const q = window_.next();
    earlier_ = references_ == nullptr ? Earlier::at(q, lags_) : behind_references(q);
    return q;
  }

  // Returns the integers that predict those of the chunk. Integers of references are computed when they are
  // asked for.
  const Earlier& earlier() noexcept {
    if (references_ == nullptr || earlier_.any()) return earlier_;
    const std::size_t n = std::min(chunk_values, count_ - first_);
    for (std::size_t k = 0; k < references_->count(); ++k)
      references_->read(k, first_, n, rooms_->of_references[k], rooms_->small[k]);
    likely_small_ = rooms_->small[0] && rooms_->small[1];
    const std::int32_t* const newest = rooms_->of_references[0];
    earlier_ = {newest};
    if (references_->count() == 2) earlier_ = {newest, newest, rooms_->of_references[1]};
    return earlier_;
  }

  // Returns the values of references at the chunk's n places, for kernels that take these: whole groups that
  // are likely to be small. Nothing if there are none.
  std::optional<ReferenceValues<T>> values(std::size_t n) const noexcept {
    if (references_ == nullptr || lags_.any() || n % group_values != 0 || !likely_small_) return {};
    return references_->values(first_);
  }
  void not_small() noexcept { likely_small_ = false; }

 private:
  struct Rooms {
    alignas(64) std::int32_t own[chunk_values];
    alignas(64) std::int32_t of_references[max_references][chunk_values];
    bool small[max_references] = {true, true};
  };

  // Returns what predicts the integers at `q` from a lag behind references. A residual is predicted to be
  // that of the integer a lag before, which is that integer less its own prediction.
  Earlier behind_references(const std::int32_t* q) noexcept {
    std::int32_t* const predicted = predicted_.next();
    references_->predict(references_->count(), first_, std::min(chunk_values, count_ - first_),
                         rooms_->of_references[0], rooms_->small, predicted);
    return {q - lags_.lag[0], predicted, predicted - lags_.lag[0]};
  }

  Lags lags_;
  LagWindow window_, predicted_;  // integers of the frame, and what references predict for them
  const ReferenceIntegers<T>* references_ = nullptr;
  std::size_t count_ = 0, first_ = 0;  // values of the frame; the first one of the chunk
  bool likely_small_ = true;
  std::unique_ptr<Rooms> rooms_;
  Earlier earlier_;
};

}  // namespace taut::planes
