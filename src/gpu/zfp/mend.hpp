// Last encoding kernel: encodes the boxes of form `mended`, which hold values that are not finite (a map of
// these values, then zfp blocks with substitutes in their place), and completes the call. A block of threads
// processes a box.
#pragma once

#include "gpu/zfp/encode.hpp"
#include "gpu/zfp/survey.hpp"

namespace taut::zfp::cuda {

template <class T, unsigned D>
struct MendShared {
  FiniteValues finite;
  Marks marks;
  WarpShared<T, D> warps[block_threads<D> / warp_lanes];
};

// Encoder of one box of form `mended`.
template <class T, unsigned D, class Simt>
class Mender {
 public:
  TAUT_DEVICE Mender(const Simt& simt, MendShared<T, D>& shared, const EncodeJob<T>& job, std::uint32_t box)
      : simt_(simt),
        shared_(shared),
        job_(job),
        box_(job.field, box),
        values_(box_.values()),
        groups_(static_cast<std::uint32_t>(class_groups(values_))),
        bytes_(job.entry(box).bytes()),
        piece_(job.piece(box)) {}

  TAUT_DEVICE void mend() {
    find_finite();
    write_map();
    write_stream();
  }

 private:
  static constexpr unsigned warps = block_threads<D> / warp_lanes;
  TAUT_DEVICE unsigned lane() const { return simt_.thread() % warp_lanes; }
  TAUT_DEVICE unsigned warp() const { return simt_.thread() / warp_lanes; }

  TAUT_DEVICE void find_finite() {
    if (warp() == 0) shared_.marks.of[lane()] = 0;
    simt_.barrier();
    TAUT_ROLLED
    for (std::uint32_t group = warp(); group < groups_; group += warps) {
      const std::uint64_t finite = finite_values(simt_, job_.values, box_, values_, group);
      if (lane() > 0) continue;
      shared_.finite.of[group] = finite;
      if (finite != all_of(group_values(values_, group)))
        simt_.add(&shared_.marks.of[group / 32], 1u << group % 32);
    }
    simt_.barrier();
    if (warp() == 0) {
      shared_.finite.look_back(simt_, groups_);
      shared_.marks.count(simt_, values_);
    }
    simt_.barrier();
  }

  TAUT_DEVICE void write_map() const {
    const auto marks = static_cast<std::uint32_t>(mark_bytes(values_));
    for (std::uint32_t i = simt_.thread(); i < marks; i += block_threads<D>)
      piece_[i] = static_cast<std::uint8_t>(shared_.marks.of[i / 4] >> i % 4 * 8);
    TAUT_ROLLED
    for (std::uint32_t group = warp(); group < groups_; group += warps)
      if (shared_.marks.has(group)) write_classes(group);
  }

  // Writes the classes of a group. Each lane handles four values.
  TAUT_DEVICE void write_classes(std::uint32_t group) const {
    const std::uint32_t there = group_values(values_, group), first = 4 * lane();
    if (first >= there) return;
    unsigned byte = 0;
    for (unsigned k = 0; k < 4; ++k)
      if (first + k < there)
        byte |= static_cast<unsigned>(class_at(value(group * group_size + first + k))) << 2 * k;
    piece_[shared_.marks.place(simt_, values_, group) + lane()] = static_cast<std::uint8_t>(byte);
  }

  TAUT_DEVICE void write_stream() {
    const std::uint32_t blocks = box_.blocks(), map = shared_.marks.bytes;
    const unsigned bits = mended_bits(bytes_, map, blocks, job_.bits);
    TAUT_ROLLED
    for (std::uint32_t first = warp() * warp_blocks<D>; first < blocks; first += part_blocks<D>)
      encode_blocks(simt_, shared_.warps[warp()], box_, first, bits, piece_ + map,
                    [this](const Row& row, unsigned width, T* x) {
                      for (unsigned i = 0; i < edge; ++i)
                        x[i] = coded_value(row.number + Block<1>::padded_index(i, width));
                    });
    for (std::uint32_t i = map + stream_bytes(blocks, bits) + simt_.thread(); i < bytes_;
         i += block_threads<D>)
      piece_[i] = 0;
  }

  TAUT_DEVICE T value(std::uint32_t i) const { return job_.values[box_.place(i)]; }
  TAUT_DEVICE T coded_value(std::uint32_t i) const {
    const std::uint32_t from = shared_.finite.coded_index(simt_, i);
    return from == FiniteValues::none ? T(0) : value(from);
  }

  const Simt& simt_;
  MendShared<T, D>& shared_;
  const EncodeJob<T>& job_;
  const Box<D> box_;
  std::uint32_t values_, groups_, bytes_;
  std::uint8_t* piece_;
};

template <class T, unsigned D>
struct MendKernel {
  using Job = EncodeJob<T>;
  using Shared = MendShared<T, D>;
  static constexpr BlockShape shape = shape_for<D>;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const std::uint32_t box = simt.block(), boxes = job.field.boxes;
    if (box < boxes && job.entry(box).form() == Form::mended)
      Mender<T, D, Simt>(simt, shared, job, box).mend();
    close(simt, *job.scratch, boxes > 0 ? boxes : 1, job.result);
  }
};

}  // namespace taut::zfp::cuda
