// Messages whose words are mostly 0, for tests of the sparse records of mpc.
#pragma once

#include "compressor/codecs/mpc/sparse.hpp"
#include "compressor/frame/chunk_records.hpp"
#include "support/mpc_frames.hpp"

namespace taut::test {

// Returns `count` words of a type; each is value(random) with the given probability, or else 0.
template <class Word, class Value>
ByteVector sparse_words(std::size_t count, double probability, const Value& value, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<Word> words(count);
  for (Word& word : words)
    if (static_cast<double>(random() >> 11) * 0x1p-53 < probability) word = static_cast<Word>(value(random));
  return as_bytes(words);
}

// Returns a step of 1 up or down, or, one time in 16, of up to 8.
inline std::int64_t small_step(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  const auto size = static_cast<std::int64_t>(bits % 16 == 0 ? 1 + bits / 64 % 8 : 1);
  return bits & 32 ? size : -size;
}

inline DType unsigned_type(std::size_t word_bytes) {
  switch (word_bytes) {
    case 1: return DType::u8;
    case 2: return DType::u16;
    case 4: return DType::u32;
    default: return DType::u64;
  }
}

// Returns the record of chunk i of a frame without lags.
inline ConstBytes mpc_record(const ByteVector& frame, std::size_t chunks, std::size_t i) {
  return record_at(ConstBytes(frame).subspan(frame_header_bytes), chunks, i);
}

// Returns the number of sparse records in a frame without lags.
inline std::size_t sparse_records(const ByteVector& frame, std::size_t values_bytes, std::size_t heads) {
  const std::size_t chunks = mpc::chunks_of(values_bytes);
  std::size_t n = 0;
  for (std::size_t i = 0; i < chunks; ++i) {
    const ConstBytes record = mpc_record(frame, chunks, i);
    n += record.size() < std::min(values_bytes - i * mpc::chunk_bytes, mpc::chunk_bytes) &&
         mpc::is_sparse_record(record, heads);
  }
  return n;
}

}  // namespace taut::test
