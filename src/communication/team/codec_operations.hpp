// Operations of codecs that may run beside the host, and of several frames together.
#pragma once

#include <optional>

#include "communication/team/task.hpp"
#include "compressor/base/status.hpp"
#include "compressor/frame/coding.hpp"

namespace taut {

// Returns the outcome of action(), or the status of the exception that the action throws.
template <class Action>
SizeOrStatus outcome_of(const Action& action) noexcept {
  try {
    return action();
  } catch (const Error& error) {
    return {error.status()};
  } catch (...) {
    return {Status::out_of_memory};
  }
}

// Work of a codec that has been started. The work is complete, or a task completes it, for example when
// kernels on a GPU do the work and leave the host free meanwhile.
class [[nodiscard]] Operation final : public Waitable {
 public:
  Operation(SizeOrStatus outcome = {}) noexcept : outcome_(outcome) {}

  // Returns the operation that the task of make_task() completes.
  template <class MakeTask>
  static Operation by_task(const MakeTask& make_task) noexcept {
    Operation operation;
    operation.outcome_ = outcome_of([&] {
      operation.task_.emplace(make_task());
      return SizeOrStatus{};
    });
    return operation;
  }

  bool ready() override { return !task_ || task_->advance(); }
  SizeOrStatus result() noexcept {
    return task_ ? outcome_of([&] { return task_->result(); }) : outcome_;
  }
  SizeOrStatus wait() noexcept {
    for (Backoff backoff; !ready();) backoff.pause();
    return result();
  }

 private:
  std::optional<Task<SizeOrStatus>> task_;  // empty: the work is complete
  SizeOrStatus outcome_;
};

// Frame among those that a codec encodes or decodes together, its outcome, and its references.
struct EncodeItem {
  ConstSlice values;
  Bytes out;
  SizeOrStatus made = {};
  References references = {};
};
struct DecodeItem {
  ConstBytes in;
  Slice values;
  Status status = Status::ok;
  References references = {};
};

// Optional interface of a codec whose work is asynchronous. start_X() starts what X() of Codec or
// FrameArithmetic does. All memory, items included, must stay valid until the operation is complete. If an
// operation on items fails as a whole, the outcomes in the items are not set.
class CodecOperations {
 public:
  static constexpr int max_batch = 8;

  // Returns the number of frames that are best encoded or decoded together, at most max_batch.
  virtual int batch() const noexcept = 0;
  virtual Operation start_encode(std::span<EncodeItem> items) const noexcept = 0;
  virtual Operation start_decode(std::span<DecodeItem> items) const noexcept = 0;
  virtual Operation start_reduce(ConstBytes in, Slice values, Reduction op) const noexcept = 0;
  virtual Operation start_sum(std::span<const ConstBytes> frames, Bytes out) const noexcept = 0;
  virtual Operation start_accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept = 0;

 protected:
  ~CodecOperations() = default;
};

// Codec with one interface for both kinds: the asynchronous CodecOperations if the codec has them; otherwise
// the work is complete when a function returns. sum() and accumulate() need a codec with arithmetic().
class CodecHandle {
 public:
  explicit CodecHandle(const Codec& codec) noexcept
      : codec_(&codec), operations_(dynamic_cast<const CodecOperations*>(&codec)) {}

  const Codec* operator->() const noexcept { return codec_; }

  int batch() const noexcept { return operations_ == nullptr ? 1 : operations_->batch(); }
  Operation encode(std::span<EncodeItem> items) const noexcept {
    if (operations_ != nullptr) return operations_->start_encode(items);
    for (EncodeItem& item : items) item.made = codec_->encode(item.values, item.references, item.out);
    return {};
  }
  Operation decode(std::span<DecodeItem> items) const noexcept {
    if (operations_ != nullptr) return operations_->start_decode(items);
    for (DecodeItem& item : items) item.status = codec_->decode(item.in, item.references, item.values);
    return {};
  }
  Operation reduce(ConstBytes in, Slice values, Reduction op) const noexcept {
    if (operations_ != nullptr) return operations_->start_reduce(in, values, op);
    return SizeOrStatus{codec_->reduce(in, values, op)};
  }
  Operation sum(std::span<const ConstBytes> frames, Bytes out) const noexcept {
    if (operations_ != nullptr) return operations_->start_sum(frames, out);
    return codec_->arithmetic()->sum(frames, out);
  }
  Operation accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept {
    if (operations_ != nullptr) return operations_->start_accumulate(frame, values, out);
    return codec_->arithmetic()->accumulate(frame, values, out);
  }

 private:
  const Codec* codec_;
  const CodecOperations* operations_;  // null: the codec has none
};

}  // namespace taut
