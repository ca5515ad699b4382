// Location of the records of a frame or of slots.
#pragma once

#include "compressor/gpu/simt/frame.hpp"
#include "compressor/gpu/simt/words.hpp"

namespace taut::cuda {

struct Source {
  const std::uint32_t* frame;  // frame with its header; null: slots
  std::uint64_t bytes;         // number of bytes that may be read at `frame`
  const std::uint32_t* words;  // slots only: number of words of each chunk
  const std::uint32_t* slots;
  std::uint32_t slot_words;
};

inline Source source_of(const std::byte* frame, std::uint64_t bytes) {
  return {reinterpret_cast<const std::uint32_t*>(frame), bytes, nullptr, nullptr, 0};
}

// Finds the record of chunk i in a frame whose records have `record_words` words. Returns false if the index
// is invalid there.
TAUT_DEVICE bool find_record(const Source& source, std::uint32_t record_words, std::uint32_t chunks,
                             std::uint32_t i, Words& words) {
  if (source.frame == nullptr) {
    words = {source.slots + std::uint64_t{i} * source.slot_words, source.words[i]};
    return words.count <= source.slot_words;
  }
  const std::uint32_t* const index = source.frame + header_words;
  const std::uint32_t first = index[i], last = index[i + 1];
  words = {index + chunks + 1 + first, last - first};
  return first <= last && last <= record_words && (i > 0 || first == 0) &&
         (i + 1 < chunks || last == record_words);
}

}  // namespace taut::cuda
