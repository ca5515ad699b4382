// Coding of arrays by the calls of taut.h, and conversion of a bound for a whole array to a bound for each
// frame.
#pragma once

#include <memory>

#include "compressor/file/array.hpp"
#include "compressor/file/chunking.hpp"
#include "compressor/frame/coding.hpp"
#include "compressor/values/value_range.hpp"

namespace taut::file {

// Parsed coding text.
class ArrayCoding {
 public:
  // Parses the text; messages name `option`. Throws Failure(usage).
  ArrayCoding(std::string_view option, const std::string& text);

  const std::string& text() const noexcept { return text_; }
  bool names_codec() const noexcept { return coding_.codec != nullptr; }
  bool needs_range(DType type) const noexcept { return is_relative(bound_for(type, coding_.bound)); }
  const Coding& coding() const noexcept { return coding_; }
  std::optional<double> fill() const noexcept { return coding_.fill; }
  PackedBits bits() const noexcept { return coding_.bits; }
  std::optional<double> wanted_psnr() const noexcept;  // in dB

  // Returns the range of the values if the bound is relative to it.
  ValueRange range(ConstSlice values) const {
    return needs_range(values.type) ? range_of(values, fill(), bits()) : ValueRange{};
  }

  // Returns the bound that each value must meet, and the text for frames, in which bounds relative to the
  // array's range are absolute, and those of integers exact.
  Bound bound(DType type, const ValueRange& range) const noexcept {
    return resolved(bound_for(type, coding_.bound), range);
  }
  std::string frame_text(DType type, const ValueRange& range) const;

 private:
  std::string text_;
  Coding coding_;
};

// Returns the greatest size of a frame in bytes; 0 if this build does not code values of the type.
std::size_t most_frame_bytes(DType type, std::size_t values);

// Throws Failure if this build does not code values of the type.
void check_coded(DType type);

// Memory for values or frames. It is cleared, so that its pages exist before anything is timed.
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

// Earlier values that a frame may refer to, newest first: each points to as many values of the same type.
using EarlierValues = std::span<const void* const>;

// Encodes a piece into `out` and sets `bytes` to the size of the frame. Returns a TAUT_Status.
int try_to_encode(const Piece& piece, const void* values, DType type, const std::string& frame_text,
                  EarlierValues earlier, Bytes out, std::size_t& bytes);

// Encodes a piece into `out` and returns the size of the frame in bytes. Throws Failure.
std::size_t encode(const Piece& piece, ConstBytes values, DType type, const std::string& frame_text,
                   Bytes out, EarlierValues earlier = {});

// Decodes a frame by TAUT_Decode. Returns false if the frame is damaged, or refers to other values than
// `earlier`; throws Failure for other reasons.
bool decode(ConstBytes frame, std::size_t count, DType type, Bytes values, EarlierValues earlier = {});

// Codec, bound and references from a frame's header; read_facts() returns false if the frame is damaged.
struct FrameFacts {
  std::string codec;
  Bound bound;
  std::vector<std::uint64_t> states;  // state numbers of the references, newest first
};
bool read_facts(ConstBytes frame, FrameFacts& facts);

}  // namespace taut::file
