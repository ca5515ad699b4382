// Work on the chunks of one frame by several threads of this process. The bytes do not depend on their
// number.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/slice.hpp"

namespace taut {

inline constexpr int most_threads = 64;

// How many threads are worth while for that many chunks, of the number that may be had.
constexpr std::size_t parts_of(int threads, std::size_t chunks) noexcept {
  constexpr std::size_t least_chunks = 8;  // below that, starting a thread costs more than it gains
  const auto most = static_cast<std::size_t>(std::clamp(threads, 1, most_threads));
  return std::clamp<std::size_t>(chunks / least_chunks, 1, most);
}

// work(part, range of chunks) for each of `parts` nearly equal ranges, side by side where OpenMP is there.
// `work` throws nothing.
template <class Work>
void for_each_part(std::size_t parts, std::size_t chunks, const Work& work) {
  if (parts == 1) return work(std::size_t{0}, Range{0, chunks});
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts))
#endif
  for (std::size_t part = 0; part < parts; ++part) work(part, part_range(chunks, part, parts));
}

struct Encoded {
  bool fits = true;
  std::size_t bytes = 0;
};

// Encodes ranges of chunks, each into its share of `room`, `chunk_bytes` a chunk, and closes the gaps between
// them.
//   encode(part, range, room) -> Encoded;  shift(range, bytes): the records of these chunks begin that much
//   later.
// Where a range does not fit into its share, all of it is encoded again in one piece.
template <class Encode, class Shift>
Encoded encode_in_parts(std::size_t parts, std::size_t chunks, std::size_t chunk_bytes, Bytes room,
                        const Encode& encode, const Shift& shift) {
  Encoded done[most_threads];
  const auto begin = [&](std::size_t part) { return part_range(chunks, part, parts).first * chunk_bytes; };
  for_each_part(parts, chunks, [&](std::size_t part, Range range) {
    const std::size_t end = part + 1 == parts ? room.size() : begin(part + 1);
    done[part] = encode(part, range, room.subspan(begin(part), end - begin(part)));
  });
  Encoded all = done[0];
  for (std::size_t part = 1; part < parts; ++part) {
    all.fits &= done[part].fits;
    if (!all.fits) return encode(0, Range{0, chunks}, room);
    std::memmove(room.data() + all.bytes, room.data() + begin(part), done[part].bytes);
    shift(part_range(chunks, part, parts), all.bytes);
    all.bytes += done[part].bytes;
  }
  return all;
}

}  // namespace taut
