// Kernels that encode tiles with NaN or infinities again, after EncodeKernel. ClassifyKernel determines form
// and size of the record of such a tile. PlaceKernel (frame.hpp) then computes the positions of all records,
// if some tile is stored uncompressed. Both are launched only if some tile's record has another size when its
// values are not finite. RepairKernel encodes the tiles with NaN or infinities, and tiles whose records have
// moved because an earlier one is longer. It completes the call.
#pragma once

#include "compressor/gpu/zfp/encode.hpp"
#include "compressor/gpu/zfp/finite.hpp"

namespace taut::zfp::cuda {

// A block of threads processes a tile.
template <class T, unsigned D>
struct ClassifyKernel {
  using Job = EncodeJob<T>;
  static constexpr BlockShape shape{256, 4};
  struct Shared {
    std::uint32_t class_bytes[shape.threads / warp_lanes];
  };

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    constexpr unsigned warps = shape.threads / warp_lanes;
    const unsigned warp = simt.thread() / warp_lanes;
    if (job.scratch->tiles()[simt.block()].special == 0) return;
    const Tile<D> tile(job.field, simt.block());
    const std::uint32_t values = tile.values();
    std::uint32_t bytes = 0;  // bytes of the classes
    TAUT_ROLLED
    for (std::uint32_t group = warp; group * group_size < values; group += warps) {
      const std::uint32_t count = group_values(values, group);
      if (finite_values(simt, job.values, tile, values, group) != group_mask(count))
        bytes += static_cast<std::uint32_t>(class_bytes(count));
    }
    if (simt.thread() % warp_lanes == 0) shared.class_bytes[warp] = bytes;
    simt.barrier();
    if (simt.thread() != 0) return;
    std::uint32_t map_bytes = static_cast<std::uint32_t>(mark_bytes(values));
    for (unsigned i = 0; i < warps; ++i) map_bytes += shared.class_bytes[i];
    const IndexEntry entry = entry_of<T>(values, tile.blocks(), job.bits, map_bytes);
    job.index()[simt.block()] = entry.word;
    if (entry.form() == Form::stored) job.scratch->control.encodes_again = 1;
  }
};

template <class T, unsigned D>
struct RepairShared {
  std::uint32_t header[header_words];
  FiniteValues finite;
  ClassMap map;
  WarpShared<T, D> warps[block_threads<D> / warp_lanes];
};

// Encodes one tile again: a map of the values that are not finite, then zfp blocks with substitutes for
// these; or uncompressed values. `record`: position of the tile's record. A block of threads processes a
// tile.
template <class T, unsigned D, class Simt>
class TileRepairer {
 public:
  TAUT_DEVICE TileRepairer(const Simt& simt, RepairShared<T, D>& shared, const EncodeJob<T>& job,
                           std::uint32_t tile, IndexEntry entry, std::uint8_t* record)
      : simt_(simt),
        shared_(shared),
        job_(job),
        tile_(job.field, tile),
        values_(tile_.values()),
        groups_(static_cast<std::uint32_t>(class_groups(values_))),
        entry_(entry),
        record_(record) {}

  TAUT_DEVICE void encode() {
    if (entry_.form() == Form::stored)
      return store_tile(job_.values, tile_, record_, simt_.thread(), block_threads<D>);
    find_finite();
    if (entry_.form() == Form::repaired) write_map();
    write_stream();
  }

 private:
  static constexpr unsigned warps = block_threads<D> / warp_lanes;
  TAUT_DEVICE unsigned lane() const { return simt_.thread() % warp_lanes; }
  TAUT_DEVICE unsigned warp() const { return simt_.thread() / warp_lanes; }

  TAUT_DEVICE void find_finite() {
    if (warp() == 0) shared_.map.marks[lane()] = 0;
    simt_.barrier();
    TAUT_ROLLED
    for (std::uint32_t group = warp(); group < groups_; group += warps) {
      const std::uint64_t finite = finite_values(simt_, job_.values, tile_, values_, group);
      if (lane() > 0) continue;
      shared_.finite.masks[group] = finite;
      if (finite != group_mask(group_values(values_, group)))
        simt_.atomic_add(&shared_.map.marks[group / 32], 1u << group % 32);
    }
    simt_.barrier();
    if (warp() == 0) {
      shared_.finite.find_substitutes(simt_, groups_);
      shared_.map.count(simt_, values_);
    }
    simt_.barrier();
  }

  TAUT_DEVICE void write_map() const {
    const auto marks = static_cast<std::uint32_t>(mark_bytes(values_));
    for (std::uint32_t i = simt_.thread(); i < marks; i += block_threads<D>)
      record_[i] = static_cast<std::uint8_t>(shared_.map.marks[i / 4] >> i % 4 * 8);
    TAUT_ROLLED
    for (std::uint32_t group = warp(); group < groups_; group += warps)
      if (shared_.map.is_marked(group)) write_classes(group);
  }

  // Writes the classes of a group. Each lane handles four values.
  TAUT_DEVICE void write_classes(std::uint32_t group) const {
    const std::uint32_t count = group_values(values_, group), first = 4 * lane();
    if (first >= count) return;
    unsigned byte = 0;
    for (unsigned k = 0; k < 4; ++k)
      if (first + k < count)
        byte |= static_cast<unsigned>(class_of_value(value(group * group_size + first + k))) << 2 * k;
    record_[shared_.map.classes_at(simt_, values_, group) + lane()] = static_cast<std::uint8_t>(byte);
  }

  TAUT_DEVICE void write_stream() {
    const std::uint32_t blocks = tile_.blocks(), bytes = entry_.bytes();
    const std::uint32_t map = entry_.form() == Form::repaired ? shared_.map.bytes : 0;
    const unsigned bits = repaired_bits(bytes, map, blocks, job_.bits);
    TAUT_ROLLED
    for (std::uint32_t first = warp() * warp_blocks<D>; first < blocks; first += part_blocks<D>)
      encode_blocks(simt_, shared_.warps[warp()], tile_, first, bits, record_ + map,
                    [this](const Row& row, unsigned width, T* x) {
                      for (unsigned i = 0; i < edge; ++i)
                        x[i] = coded_value(row.number + Block<1>::padded_index(i, width));
                    });
    for (std::uint32_t i = map + stream_bytes(blocks, bits) + simt_.thread(); i < bytes;
         i += block_threads<D>)
      record_[i] = 0;
  }

  TAUT_DEVICE T value(std::uint32_t i) const { return job_.values[tile_.place(i)]; }
  TAUT_DEVICE T coded_value(std::uint32_t i) const {
    const std::uint32_t from = shared_.finite.coded_index(simt_, i);
    return from == FiniteValues::none ? T(0) : value(from);
  }

  const Simt& simt_;
  RepairShared<T, D>& shared_;
  const EncodeJob<T>& job_;
  const Tile<D> tile_;
  std::uint32_t values_, groups_;
  IndexEntry entry_;
  std::uint8_t* record_;
};

template <class T, unsigned D>
struct RepairKernel {
  using Job = EncodeJob<T>;
  using Shared = RepairShared<T, D>;
  static constexpr BlockShape shape = shape_for<D>;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const std::uint32_t tiles = job.field.tiles;
    if (simt.block() < tiles) repair(simt, shared, job, simt.block());
    if (!arrives_last(simt, job.scratch->control, tiles > 0 ? tiles : 1)) return;
    write_front(simt, shared.header, job);
    end_call(simt, *job.scratch, job.result);
  }

 private:
  template <class Simt>
  TAUT_DEVICE static void repair(const Simt& simt, Shared& shared, const Job& job, std::uint32_t tile) {
    TileState& state = job.scratch->tiles()[tile];
    const std::uint64_t expected = job.positions.template record_position<D>(job.field, tile);
    const std::uint64_t place = job.scratch->control.encodes_again != 0 ? state.record : expected;
    const bool special = state.special != 0;  // some values of the tile are not finite
    if (!special && place == expected) return;
    IndexEntry entry = job.index()[tile];
    // The index still has the form of EncodeKernel if ClassifyKernel was not launched.
    if (special && entry.form() == Form::coded) entry = IndexEntry(Form::repaired, entry.bytes());
    TileRepairer<T, D, Simt>(simt, shared, job, tile, entry, job.records() + place).encode();
    simt.barrier();
    if (simt.thread() != 0) return;
    job.index()[tile] = entry.word;
    state.special = 0;  // the next call expects 0
  }

  // Writes header and extents. Called by a warp.
  template <class Simt>
  TAUT_DEVICE static void write_front(const Simt& simt, std::uint32_t* header, const Job& job) {
    const unsigned dims = job.field.dims, lane = simt.thread();
    const std::uint32_t tiles = job.field.tiles;
    std::uint64_t bytes = job.positions.total;
    if (job.scratch->control.encodes_again != 0)
      bytes = job.scratch->tiles()[tiles - 1].record + IndexEntry(job.index()[tiles - 1]).bytes();
    if (lane < extent_words(dims)) job.frame[header_words + lane] = job.field.extent[max_dims - dims + lane];
    for (unsigned i = 0; lane == 0 && i < header_words; ++i) header[i] = job.header[i];
    write_header(simt, job.scratch->crc, header, front_bytes(dims, tiles) + bytes, job.frame, job.result);
  }
};

}  // namespace taut::zfp::cuda
