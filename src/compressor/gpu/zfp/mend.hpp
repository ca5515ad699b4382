// Last encoding kernel: encodes again the boxes with values that are not finite (a map of these values, then
// zfp blocks with substitutes in their place; or stored values), and the boxes whose pieces moved because
// another one is stored. Completes the call. A block of threads processes a box.
#pragma once

#include "compressor/gpu/zfp/survey.hpp"

namespace taut::zfp::cuda {

template <class T, unsigned D>
struct MendShared {
  std::uint32_t header[header_words];
  FiniteValues finite;
  Marks marks;
  WarpShared<T, D> warps[block_threads<D> / warp_lanes];
};

// Encodes one box again. `piece`: its place.
template <class T, unsigned D, class Simt>
class Mender {
 public:
  TAUT_DEVICE Mender(const Simt& simt, MendShared<T, D>& shared, const EncodeJob<T>& job, std::uint32_t box,
                     Entry entry, std::uint8_t* piece)
      : simt_(simt),
        shared_(shared),
        job_(job),
        box_(job.field, box),
        values_(box_.values()),
        groups_(static_cast<std::uint32_t>(class_groups(values_))),
        entry_(entry),
        piece_(piece) {}

  TAUT_DEVICE void encode() {
    if (entry_.form() == Form::stored)
      return store_box(job_.values, box_, piece_, simt_.thread(), block_threads<D>);
    find_finite();
    if (entry_.form() == Form::mended) write_map();
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
    const std::uint32_t blocks = box_.blocks(), bytes = entry_.bytes();
    const std::uint32_t map = entry_.form() == Form::mended ? shared_.marks.bytes : 0;
    const unsigned bits = mended_bits(bytes, map, blocks, job_.bits);
    TAUT_ROLLED
    for (std::uint32_t first = warp() * warp_blocks<D>; first < blocks; first += part_blocks<D>)
      encode_blocks(simt_, shared_.warps[warp()], box_, first, bits, piece_ + map,
                    [this](const Row& row, unsigned width, T* x) {
                      for (unsigned i = 0; i < edge; ++i)
                        x[i] = coded_value(row.number + Block<1>::padded_index(i, width));
                    });
    for (std::uint32_t i = map + stream_bytes(blocks, bits) + simt_.thread(); i < bytes;
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
  std::uint32_t values_, groups_;
  Entry entry_;
  std::uint8_t* piece_;
};

template <class T, unsigned D>
struct MendKernel {
  using Job = EncodeJob<T>;
  using Shared = MendShared<T, D>;
  static constexpr BlockShape shape = shape_for<D>;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const std::uint32_t boxes = job.field.boxes;
    if (simt.block() < boxes) mend(simt, shared, job, simt.block());
    if (!arrives_last(simt, job.scratch->control, boxes > 0 ? boxes : 1)) return;
    write_front(simt, shared.header, job);
    end_call(simt, *job.scratch, job.result);
  }

 private:
  template <class Simt>
  TAUT_DEVICE static void mend(const Simt& simt, Shared& shared, const Job& job, std::uint32_t box) {
    BoxState& state = job.scratch->boxes()[box];
    const std::uint64_t usual = job.places.template of<D>(job.field, box);
    const std::uint64_t place = job.scratch->control.again != 0 ? state.piece : usual;
    const bool special = state.special != 0;
    if (!special && place == usual) return;
    Entry entry = job.index()[box];
    if (special && entry.form() == Form::coded) entry = Entry(Form::mended, entry.bytes());
    Mender<T, D, Simt>(simt, shared, job, box, entry, job.pieces() + place).encode();
    simt.barrier();
    if (simt.thread() != 0) return;
    job.index()[box] = entry.word;
    state.special = 0;
  }

  // Writes header and extents. Called by a warp.
  template <class Simt>
  TAUT_DEVICE static void write_front(const Simt& simt, std::uint32_t* header, const Job& job) {
    const unsigned dims = job.field.dims, lane = simt.thread();
    const std::uint32_t boxes = job.field.boxes;
    std::uint64_t bytes = job.places.total;
    if (job.scratch->control.again != 0)
      bytes = job.scratch->boxes()[boxes - 1].piece + Entry(job.index()[boxes - 1]).bytes();
    if (lane < extent_words(dims)) job.frame[header_words + lane] = job.field.extent[max_dims - dims + lane];
    for (unsigned i = 0; lane == 0 && i < header_words; ++i) header[i] = job.header[i];
    write_header(simt, job.scratch->crc, header, front_bytes(dims, boxes) + bytes, job.frame, job.result);
  }
};

}  // namespace taut::zfp::cuda
