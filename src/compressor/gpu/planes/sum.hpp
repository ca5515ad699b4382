// The kernel that adds up to 8 frames or slots without decoding them: a thread block adds the records of one
// chunk, difference by difference. The kernel of sum_exact.hpp merges their runs and raw layers. Writes the
// same bytes as sum.cpp and general.cpp. A thread has four blocks of a chunk, side by side in each record, so
// that the work that is done once a thread (heads, tables, places) is shared by 32 values. Chunks whose
// records are all simple are usual. The code for other chunks uses rolled loops and arrays in local memory
// (keep_in_memory), so that it does not raise the number of registers of the kernel.
#pragma once

#include "compressor/gpu/planes/plane_sum.hpp"
#include "compressor/gpu/planes/sum_operands.hpp"
#include "compressor/gpu/simt/source.hpp"

namespace taut::planes::cuda {

// A thread's blocks to be written, given by their differences.
template <class Int, unsigned BlocksPerThread>
struct DifferencesOfBlocks {
  const Int (&d)[BlocksPerThread][block_values];

  // Writes the blocks, each with the planes of its width. Called by whole warps.
  template <class Simt>
  TAUT_DEVICE void write(const Simt& simt, std::uint8_t* to, std::uint32_t widths) const {
    TAUT_ROLLED
    for (unsigned i = 0; i < BlocksPerThread; ++i) {
      Differences<Int>{d[i]}.write(simt, to, width_at(widths, i));
      to += width_at(widths, i);
    }
  }
};

template <class T, class Simt>
class ChunkAdder {
  using Group = ChunkThreads<Simt, sum_threads>;
  static constexpr unsigned own_values = Group::blocks_per_thread * block_values;  // of a thread

 public:
  TAUT_DEVICE ChunkAdder(Simt simt, SumShared<T>& shared, const SumJob<T>& job)
      : group_(simt, shared.threads), shared_(shared), job_(job), total_(shared.opened.total) {}

  TAUT_DEVICE void run() {
    open();
    if (total_.status != 0 || job_.sink.chunks == 0) return;
    if (!has_chunk(group_.simt(), job_.sink, shared_.chunk)) return;
    if (!shared_.operands.good || !add_records()) refuse();
  }

 private:
  // Takes a chunk, opens the sources unless they are published, and finds the records of the chunk.
  TAUT_DEVICE void open() {
    const Simt& simt = group_.simt();
    Scratch& scratch = *job_.scratch;
    const std::uint32_t taken = simt.thread() == 0 ? take_chunk(simt, job_.sink) : 0;
    if (group_.warp() > 0)  // the first warp has enough to do
      for (unsigned k = group_.warp() - 1; k < job_.input.count; k += Group::warps - 1)
        prefetch_record(simt, job_.input.sources[k], job_.sink.chunks,
                        next_resident(simt, resident_sum_blocks));
    const bool there =
        read_published(simt, scratch.control, scratch.published, opened_words(job_.input), shared_.opened);
    if (simt.barrier_any(!there)) open_sources();
    if (group_.warp() == 0) find_records(simt, job_, simt.shuffle(taken, 0), shared_);
    simt.barrier();
  }

  // Opens the sources. The first block publishes them, and keeps them for the next kernel.
  TAUT_DEVICE void open_sources() {
    const Simt& simt = group_.simt();
    Scratch& scratch = *job_.scratch;
    cuda::open_sources<T>(simt, job_.input, scratch.crc, Group::warps, shared_.opened);
    if (group_.warp() == 0) {
      const SumDescriber describer(simt, job_.input, shared_.opened);
      describer.describe();
      if (simt.block() == 0) describer.publish(scratch);
      if (simt.thread() == 0 && total_.status != 0) simt.atomic_max(&scratch.control.failure, total_.status);
    }
    simt.barrier();
    if (simt.block() == 0)
      publish(simt, scratch.control, shared_.opened, opened_words(job_.input), scratch.published);
  }

  // Reports a corrupt frame, and places an empty record for the chunk.
  TAUT_DEVICE void refuse() {
    if (group_.thread() == 0)
      group_.simt().atomic_max(&job_.sink.control->failure, code(Status::corrupt_frame));
    place_record(0, false);
  }

  // Adds the records, and writes their sum. Returns false if some record is malformed.
  TAUT_DEVICE bool add_records() {
    const Operands operands = shared_.operands;
    if (!operands.alike || is_wide()) return add_integers();
    if (!(is_simple() ? find_simple_blocks() : find_blocks())) return false;
    add_planes();
    return true;
  }

  TAUT_DEVICE bool is_wide() const { return (shared_.operands.form & wide) != 0; }
  TAUT_DEVICE std::uint32_t blocks() const { return blocks_in(shared_.n); }

  // Returns true if no record of the chunk has runs or layers, and no frame is stored.
  TAUT_DEVICE bool is_simple() const {
    const Operands& all = shared_.operands;
    return all.stored_sources == 0 && (all.flags & (has_runs | has_layers)) == 0;
  }

  // Reads simple records, two at a time, and finds this thread's blocks in each. An empty record follows the
  // last one. Returns false if a record is malformed.
  TAUT_DEVICE bool find_simple_blocks() {
    using Reader = RecordReader<T, Group, RunsCheck::absent>;
    TAUT_ROLLED
    for (unsigned k = 0; k < job_.input.count; k += 2) {
      ParsedRecord<T> a, b;
      Reader reader_a(group_, a, shared_.heads[k], shared_.n, 0);
      reader_a.read_widths();
      Reader reader_b(group_, b, shared_.heads[k + 1], shared_.n, 0);
      reader_b.read_widths();
      raise_max_width(a.widths, b.widths);
      if (!read_rests(group_, reader_a, reader_b)) return false;
      placed(k) = {a.blocks_at, a.widths};
      placed(k + 1) = {b.blocks_at, b.widths};
    }
    return true;
  }

  // Reads records of any kind, one at a time, and finds this thread's blocks in each. Returns false if a
  // record is malformed.
  TAUT_DEVICE bool find_blocks() {
    TAUT_ROLLED
    for (unsigned k = 0; k < job_.input.count; ++k) {
      ParsedRecord<T> r;
      if (!read(k, r)) return false;
      placed(k) = {r.blocks_at, r.widths};
      raise_max_width(r.widths, 0);
    }
    group_.simt().barrier();
    return true;
  }

  // Raises the greatest width of the chunk to that of this warp's blocks in two records. The caller waits at
  // a barrier before it reads the width. Called by whole warps.
  TAUT_DEVICE void raise_max_width(std::uint32_t a, std::uint32_t b) {
    std::uint32_t greatest = 0;
    for (unsigned i = 0; i < Group::blocks_per_thread; ++i) {
      greatest = width_at(a, i) > greatest ? width_at(a, i) : greatest;
      greatest = width_at(b, i) > greatest ? width_at(b, i) : greatest;
    }
    greatest = group_.simt().reduce_max(greatest);
    if (group_.lane() == 0) group_.simt().atomic_max(&shared_.max_width, greatest);
  }

  // Reads the record of source k, of whose runs it checks neither the number nor the values. Returns false if
  // the record is malformed.
  TAUT_DEVICE bool read(unsigned k, ParsedRecord<T>& r) {
    using Reader = RecordReader<T, Group, RunsCheck::lengths>;
    if (!Reader(group_, r, shared_.heads[k], shared_.n, 0).read()) return false;
    count_exact(r.runs.count, r.layers);
    return true;
  }

  // Counts runs and layers of a record. Called by all threads; a barrier precedes the use of the counts.
  TAUT_DEVICE void count_exact(std::uint32_t runs, std::uint32_t layers) {
    if (group_.thread() != 0) return;
    shared_.runs += runs;
    shared_.layers += layers;
  }

  // Returns this thread's blocks in source k. No other thread accesses them.
  TAUT_DEVICE PlacedBlocks& placed(unsigned k) { return shared_.blocks[k][group_.thread()]; }

  // Adds the blocks plane by plane. All warps take the same way, because there are barriers on it.
  TAUT_DEVICE void add_planes() {
    const unsigned coded = shared_.operands.coded_records;
    const unsigned carries = coded > 1 ? 32 - group_.simt().leading_zeros(coded - 1u) : 0;
    const unsigned rows = rows_of<std::int32_t>(group_.simt(), shared_.max_width + carries);
    if (rows == 1) {
      add_rows<1>();
    } else if (rows == 2) {
      add_rows<2>();
    } else {
      add_rows<4>();
    }
  }

  // Adds the blocks, and writes their sums. Blocks of a single record keep their widths.
  template <unsigned Rows>
  TAUT_DEVICE void add_rows() {
    PlaneSum<Group::blocks_per_thread, Rows> sum;
    std::uint32_t widths = 0;
    TAUT_ROLLED
    for (unsigned k = 0; k < job_.input.count; ++k) {
      const RecordHead& head = shared_.heads[k];
      if (!head.has(has_planes)) continue;
      const PlacedBlocks own = placed(k);
      sum.add(group_.simt(), {group_.simt().global(head.words.data), 0}, own.blocks_at, own.widths);
      widths = own.widths;
    }
    if (shared_.operands.coded_records > 1) widths = sum.widths(group_.simt());
    const PlanesPlan plan = plan_planes(group_, widths, blocks(), false);
    // A sum of zeros has no record, unless its form has to be kept.
    const bool empty =
        is_simple() && shared_.operands.form == 0 && plan.plane_bytes == 0 && shared_.base == 0;
    if (!empty) write(plan, sum, shared_.record);
    store_record(plan, !empty);
  }

  // Adds the records integer by integer: for 64-bit integers, or for predictors that differ. Returns false if
  // some record is malformed.
  TAUT_DEVICE bool add_integers() {
    std::int64_t sums[own_values];
    TAUT_ROLLED
    for (unsigned i = 0; i < own_values; ++i) sums[i] = 0;
    group_.simt().keep_in_memory(sums);
    TAUT_ROLLED
    for (unsigned k = 0; k < job_.input.count; ++k) {
      group_.simt().keep_in_memory(k);
      ParsedRecord<T> r;
      if (!read(k, r)) return false;
      if (shared_.heads[k].has(wide)) {
        add_blocks<std::int64_t>(k, {r.blocks_at, r.widths}, sums);
      } else {
        add_blocks<std::int32_t>(k, {r.blocks_at, r.widths}, sums);
      }
    }
    if (is_wide()) {
      write_sums<std::int64_t>(sums);
    } else {
      write_sums<std::int32_t>(sums);
    }
    return true;
  }

  // Adds the integers of this thread's blocks in source k. Integers of a record that is not wide are known
  // modulo 2^32.
  template <class Int>
  TAUT_DEVICE void add_blocks(unsigned k, const PlacedBlocks& own, std::int64_t (&sums)[own_values]) {
    const Words words{group_.simt().global(shared_.heads[k].words.data), 0};
    Int q[Group::blocks_per_thread][block_values];
    std::uint32_t at = own.blocks_at;
    TAUT_ROLLED
    for (unsigned i = 0; i < Group::blocks_per_thread; ++i) {
      const unsigned width = width_at(own.widths, i);
      read_block_in_loops(group_.simt(), words, at, width, q[i]);
      at += width;
    }
    group_.simt().keep_in_memory(q);
    auto& line = reinterpret_cast<Int(&)[own_values]>(q);
    undo_difference(group_, shared_.opened.sources[k].prediction.inner,
                    static_cast<Int>(shared_.heads[k].base), line);
    TAUT_ROLLED
    for (unsigned i = 0; i < own_values; ++i)
      sums[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums[i]) +
                                          static_cast<std::uint64_t>(std::int64_t{line[i]}));
  }

  template <class Int>
  TAUT_DEVICE void write_sums(const std::int64_t (&sums)[own_values]) {
    Int q[Group::blocks_per_thread][block_values];
    auto& line = reinterpret_cast<Int(&)[own_values]>(q);
    TAUT_ROLLED
    for (unsigned i = 0; i < own_values; ++i) line[i] = static_cast<Int>(sums[i]);
    const Int base =
        difference(group_, total_.prediction.inner, values_of<own_values>(group_.thread(), shared_.n), line);
    group_.simt().keep_in_memory(q);
    if (group_.thread() == 0) shared_.base = base;
    std::uint32_t widths = 0;
    TAUT_ROLLED
    for (unsigned i = 0; i < Group::blocks_per_thread; ++i)
      widths |= width_of(group_.simt(), q[i]) << (8 * i);
    const unsigned first = group_.thread() * Group::blocks_per_thread;
    widths = first < blocks() ? low_bytes(widths, blocks() - first) : 0;
    PlanesPlan plan = plan_planes(group_, widths, blocks(), sizeof(Int) == 8);
    group_.simt().keep_in_memory(plan);
    if constexpr (sizeof(Int) == 8) {
      std::uint32_t* const to = place_record(plan.bytes(), true);
      if (to != nullptr) write(plan, DifferencesOfBlocks<Int, Group::blocks_per_thread>{q}, to);
    } else {
      write(plan, DifferencesOfBlocks<Int, Group::blocks_per_thread>{q}, shared_.record);
      store_record(plan, true);
    }
  }

  template <class Block>
  TAUT_DEVICE void write(const PlanesPlan& plan, const Block& block, std::uint32_t* record) {
    write_planes(group_, shared_.planes, plan, flags(), shared_.base, blocks(), block, record);
  }

  // Returns the flags of the record, except those of its planes.
  TAUT_DEVICE std::uint8_t flags() const {
    const unsigned exact =
        (shared_.runs > 0 ? unsigned{has_runs} : 0u) | (shared_.layers > 0 ? unsigned{has_layers} : 0u);
    return static_cast<std::uint8_t>(shared_.operands.form | exact);
  }
  // Returns the size of the runs and layers.
  TAUT_DEVICE std::uint64_t exact_bytes() const {
    const std::uint64_t runs = shared_.runs, layers = shared_.layers;
    return (runs > 0 ? 4 + runs * run_bytes_of<T>(is_wide()) : 0) +
           (layers > 0 ? 4 + layers * shared_.n * sizeof(T) : 0);
  }

  // Places the record of the chunk, and leaves its exact values to the next kernel. Returns where its planes
  // go, or null if the frame has no room for the record. `has_record`: the chunk has a record. Takes one
  // barrier.
  TAUT_DEVICE std::uint32_t* place_record(std::uint32_t plane_bytes, bool has_record) {
    const Sink sink = behind_lags(job_.sink, total_);
    const std::uint32_t words = saturated((plane_bytes + (has_record ? exact_bytes() : 0) + 3) / 4);
    if (group_.thread() == 0) publish_own_size(group_.simt(), sink, shared_.chunk, words);
    if (group_.thread() < warp_lanes) {
      const std::uint64_t at = place_in_sink(group_.simt(), sink, shared_.chunk, words);
      if (group_.thread() == 0) shared_.record_at = static_cast<std::uint32_t>(at);
    }
    group_.simt().barrier();
    const std::uint32_t at = shared_.record_at;
    const bool has_room = fits(sink, at, words);
    if (group_.thread() == 0 && !has_room)
      group_.simt().atomic_max(&sink.control->failure, code(Status::buffer_too_small));
    if (group_.thread() == 0 && has_room && words > plane_bytes / 4)
      job_.deferred[group_.simt().atomic_add(&sink.control->deferred, 1)].deferred = {shared_.chunk,
                                                                                      at + plane_bytes / 4};
    return has_room ? sink.records + at : nullptr;
  }

  // Places the record whose planes are in shared memory, and copies them there.
  TAUT_DEVICE void store_record(const PlanesPlan& plan, bool has_record) {
    const std::uint32_t bytes = has_record ? plan.bytes() : 0;
    std::uint32_t* const to = place_record(bytes, has_record);
    if (to != nullptr) copy_words(group_, shared_.record, bytes / 4, to);
  }

  Group group_;
  SumShared<T>& shared_;
  const SumJob<T>& job_;
  const OpenFrame& total_;
};

template <class T>
struct SumKernel {
  using Job = SumJob<T>;
  using Shared = SumShared<T>;
  static constexpr BlockShape shape{sum_threads, resident_sum_blocks};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkAdder<T, Simt>(simt, shared, job).run();
  }
};

}  // namespace taut::planes::cuda
