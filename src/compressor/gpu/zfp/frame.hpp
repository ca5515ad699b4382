// Reads and writes the part of a frame before its records, and computes the positions of the records.
#pragma once

#include "compressor/gpu/simt/source.hpp"
#include "compressor/gpu/zfp/field.hpp"

namespace taut::zfp::cuda {

// Contents of an opened frame's header.
struct OpenFrame {
  std::uint32_t status;  // not 0: the other members are invalid
  unsigned bits;         // bits of a block
};

// State of a tile in scratch memory.
struct TileState {
  std::uint64_t record;   // position of its record, in bytes from the first record
  std::uint32_t special;  // not 0: some of its values are not finite; 0 between calls
};

// Head of the scratch memory; followed by the states of all tiles.
struct Scratch : ScratchHead {
  OpenFrame opened;

  TAUT_DEVICE TileState* tiles() { return reinterpret_cast<TileState*>(this + 1); }
};

inline constexpr unsigned place_threads = 256;

struct PlaceShared {
  std::uint64_t warp_bytes[place_threads / warp_lanes];  // bytes of the records of a warp's tiles
  std::uint32_t status;
};

// Computes the positions of records that follow each other, and returns their total size. Called by all
// threads of a block.
template <class Simt>
TAUT_DEVICE std::uint64_t place_records(const Simt& simt, PlaceShared& shared, const std::uint32_t* index,
                                        std::uint32_t tiles, TileState* states) {
  std::uint64_t before = 0;
  TAUT_ROLLED
  for (std::uint32_t first = 0; first < tiles; first += place_threads) {
    const std::uint32_t tile = first + simt.thread();
    const std::uint64_t own = tile < tiles ? IndexEntry(index[tile]).bytes() : 0,
                        up_to = simt.inclusive_sum(own);
    if (simt.thread() % warp_lanes == warp_lanes - 1) shared.warp_bytes[simt.thread() / warp_lanes] = up_to;
    simt.barrier();
    std::uint64_t at = before + up_to - own;
    for (unsigned warp = 0; warp < place_threads / warp_lanes; ++warp) {
      if (warp < simt.thread() / warp_lanes) at += shared.warp_bytes[warp];
      before += shared.warp_bytes[warp];
    }
    if (tile < tiles) states[tile].record = at;
    simt.barrier();
  }
  return before;
}

struct PlaceJob {
  const std::uint32_t* index;
  std::uint32_t tiles;
  Scratch* scratch;
};

// Computes the positions of the records of a frame whose index is complete, if some differ from those of
// RecordPositions.
struct PlaceKernel {
  using Job = PlaceJob;
  using Shared = PlaceShared;
  static constexpr BlockShape shape{place_threads, 1};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    if (job.scratch->control.encodes_again == 0) return;
    place_records(simt, shared, job.index, job.tiles, job.scratch->tiles());
  }
};

struct OpenJob {
  Source source;
  Field field;  // field that the frame must hold
  std::uint64_t values;
  DType type;
  Scratch* scratch;
};

// Checks all of a frame except the records themselves: frame_reader.cpp.
struct OpenKernel {
  using Job = OpenJob;
  using Shared = PlaceShared;
  static constexpr BlockShape shape{place_threads, 1};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const Source& source = job.source;
    const HeaderView h{source.frame};
    if (simt.thread() < warp_lanes) {
      std::uint32_t status = check_header(simt, job.scratch->crc, source.frame, source.bytes, frame_id);
      if (status == 0) status = check(h, job);
      if (simt.thread() == 0) shared.status = status;
    }
    simt.barrier();
    OpenFrame f{shared.status, 0};
    if (f.status == 0) {
      const unsigned dims = job.field.dims;
      const std::uint32_t* const index = source.frame + header_words + extent_words(dims);
      const std::uint64_t front = front_bytes(dims, job.field.tiles);
      if (front + place_records(simt, shared, index, job.field.tiles, job.scratch->tiles()) !=
          h.payload_bytes())
        f.status = code(Status::corrupt_frame);
      f.bits = job.type == DType::f64 ? block_bits<double>(h.bound(), 1u << 2 * dims)
                                      : block_bits<float>(h.bound(), 1u << 2 * dims);
    }
    if (simt.thread() != 0) return;
    job.scratch->opened = f;
    if (f.status != 0) simt.atomic_max(&job.scratch->control.failure, f.status);
  }

 private:
  // Checks the header of a zfp frame whose common part is valid, and returns a status.
  TAUT_DEVICE static std::uint32_t check(const HeaderView& h, const Job& job) {
    const unsigned dims = h.parameter(0);
    const auto kind = static_cast<Bound::Kind>(h.bound_kind());
    const bool at_a_rate = kind == Bound::Kind::rate;
    if (h.type() != static_cast<unsigned>(job.type) || h.count() != job.values)
      return code(Status::frame_mismatch);
    if (h.has(FrameHeader::stored) || h.addends() != 1 || dims == 0 || dims > max_dims ||
        !(at_a_rate ? h.bound() <= 64 : kind == Bound::Kind::absolute))
      return code(Status::corrupt_frame);
    if (!at_a_rate || dims != job.field.dims) return needs_host;
    if (h.payload_bytes() < front_bytes(dims, 0)) return code(Status::corrupt_frame);
    for (unsigned k = 0; k < extent_words(dims); ++k)
      if (h.word[header_words + k] != job.field.extent[max_dims - dims + k]) return needs_host;
    if (h.payload_bytes() < front_bytes(dims, job.field.tiles)) return code(Status::corrupt_frame);
    return 0;
  }
};

}  // namespace taut::zfp::cuda
