// Values to frames and back by the calls of taut.h, and what a bound for a whole array means for each frame.
#pragma once

#include <memory>

#include "cli/array.hpp"
#include "cli/chunking.hpp"
#include "core/value_range.hpp"
#include "policy/plan/coding.hpp"

namespace taut::cli {

// A coding text as given, read.
class ArrayCoding {
 public:
  // `option` is named in messages. Throws Failure(usage).
  ArrayCoding(std::string_view option, const std::string& text);

  const std::string& text() const noexcept { return text_; }
  bool names_codec() const noexcept { return coding_.codec != nullptr; }
  bool needs_range() const noexcept { return is_relative(coding_.bound); }
  const Coding& coding() const noexcept { return coding_; }
  std::optional<double> fill() const noexcept { return coding_.fill; }
  PackedBits bits() const noexcept { return coding_.bits; }
  double wanted_psnr() const noexcept;  // dB; 0: none

  // What each value has to keep to; and the text for frames, where bounds relative to the array are absolute.
  Bound bound(const ValueRange& range) const noexcept { return resolved(coding_.bound, range); }
  std::string frame_text(const ValueRange& range) const;

 private:
  std::string text_;
  Coding coding_;
};

// 0: values of this type are not coded by this build.
std::size_t most_frame_bytes(DType type, std::size_t values);

// Throws Failure where this build codes no values of the type.
void check_coded(DType type);

// Memory for values or frames; cleared, so that its pages are there before anything is timed.
class Room {
 public:
  Room() = default;
  explicit Room(std::size_t bytes) : data_(new std::byte[bytes]()), bytes_(bytes) {}
  Bytes first(std::size_t bytes) const noexcept { return Bytes(data_.get(), bytes_).first(bytes); }
  Bytes all() const noexcept { return {data_.get(), bytes_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t bytes_ = 0;
};

// Gives the bytes of the frame, written to `out`; throws Failure.
std::size_t encode(const Piece& piece, ConstBytes values, DType type, const std::string& frame_text,
                   Bytes out);

// TAUT_Decode; false when the frame is damaged. Throws Failure for other reasons.
bool decode(ConstBytes frame, std::size_t count, DType type, Bytes values);

// What a frame says of itself; false when it is damaged.
struct FrameFacts {
  std::string codec;
  Bound bound;
};
bool read_facts(ConstBytes frame, FrameFacts& facts);

}  // namespace taut::cli
