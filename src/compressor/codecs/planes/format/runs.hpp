// Runs: exact values of a chunk at consecutive positions, as stored in a record.
#pragma once

#include "compressor/codecs/planes/format/format.hpp"

namespace taut::planes {

template <class T>
bool same_bits(T a, T b) noexcept {
  return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b);
}

// One exact value at consecutive positions of a chunk.
template <class T>
struct Run {
  std::uint32_t start_and_length = 0;  // start << 16 | length, so that runs compare by start
  std::int64_t hold = 0;               // integer that the planes carry there
  T value{};

  std::size_t start() const noexcept { return start_and_length >> 16; }
  std::size_t end() const noexcept { return start() + (start_and_length & 0xFFFF); }

  // Order of the runs in a record. Without branches, because the order is hard to predict.
  bool operator<(const Run& b) const noexcept {
    const bool by_value = std::bit_cast<BitsOf<T>>(value) < std::bit_cast<BitsOf<T>>(b.value);
    return (start_and_length < b.start_and_length) |
           ((start_and_length == b.start_and_length) & ((hold < b.hold) | ((hold == b.hold) & by_value)));
  }
};

template <class T>
constexpr std::size_t run_bytes(bool is_wide) noexcept {
  return 4 + (is_wide ? 8 : 4) + sizeof(T);
}

// Reads a run of a record: u16 start, u16 length, so that the halves of the little-endian word are exchanged;
// then the hold and the value.
template <class T>
Run<T> read_run(const std::byte* at, bool is_wide) noexcept {
  const auto start_and_length = load<std::uint32_t>(at);
  const std::int64_t hold = is_wide ? load<std::int64_t>(at + 4) : load<std::int32_t>(at + 4);
  return {start_and_length >> 16 | start_and_length << 16, hold, load<T>(at + (is_wide ? 12 : 8))};
}

// Writes a run as read_run() reads it. Returns its end.
template <class T>
std::byte* write_run(std::byte* out, const Run<T>& run, bool is_wide) noexcept {
  out = store(out, run.start_and_length >> 16 | run.start_and_length << 16);
  out = is_wide ? store(out, run.hold) : store(out, static_cast<std::int32_t>(run.hold));
  return store(out, run.value);
}

// The runs of one record.
template <class T>
class Runs {
 public:
  Runs() = default;
  Runs(const std::byte* at, std::size_t count, bool is_wide) noexcept
      : at_(at), count_(count), wide_(is_wide) {}

  std::size_t size() const noexcept { return count_; }

  Run<T> operator[](std::size_t i) const noexcept {
    return read_run<T>(at_ + i * run_bytes<T>(wide_), wide_);
  }

 private:
  const std::byte* at_ = nullptr;
  std::size_t count_ = 0;
  bool wide_ = false;
};

}  // namespace taut::planes
