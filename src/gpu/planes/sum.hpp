// Adds up to 8 frames or slots without decoding them: differences are added block by block. Runs and layers
// of the records are added by sum_exact.hpp. Writes the same bytes as sum.cpp and general.cpp.
// Chunks whose records are all simple are usual. For other chunks, loops over the values of a thread are
// rolled: their arrays are in local memory, so that all chunks do with the registers of the usual ones.
#pragma once

#include "gpu/planes/open_sum.hpp"
#include "gpu/planes/plane_sum.hpp"
#include "gpu/planes/record_reader.hpp"
#include "gpu/planes/record_writer.hpp"
#include "gpu/simt/prefetch.hpp"
#include "gpu/simt/sink.hpp"

namespace taut::planes::cuda {

template <class T>
struct SumJob {
  SumInput input;
  Sink sink;
  Scratch* scratch;
  ChunkWords* deferred;  // chunks for sum_exact.hpp; Control::deferred is their number
  std::uint32_t blocks;  // blocks of the kernel of sum_exact.hpp
};

// Properties of a chunk's records in all sources together.
struct Operands {
  bool good;            // the heads of all records are valid
  bool alike;           // all records have the predictor of the sum
  std::uint8_t flags;   // flags of all records, combined by or
  std::uint8_t stored;  // number of sources that are layers
  std::uint8_t coded;   // number of records with planes
  std::uint8_t form;    // flags `wide` and `large` of the sum
};

// Place of a block in its record, and its width, in one word.
struct PlacedBlock {
  std::uint32_t word;

  TAUT_DEVICE static PlacedBlock of(std::uint32_t at, unsigned width) { return {at << 8 | width}; }
  TAUT_DEVICE std::uint32_t at() const { return word >> 8; }
  TAUT_DEVICE unsigned width() const { return word & 0xFF; }
};

template <class T>
struct SumShared {
  BlockGroupShared block_group;
  OpenedSources opened;
  std::uint32_t chunk, n, at;  // n: number of values in the chunk
  std::uint32_t runs, layers;  // of all records
  std::int64_t base;           // of the sum
  Operands operands;
  RecordHead heads[max_sources];
  PlanesShared planes;
  union {
    PlacedBlock blocks[max_sources][group_threads];
    struct {
      std::uint32_t record[max_plane_record<std::int32_t> / 4];
      SummedPlanes planes;
    } narrow;
    std::int64_t sums[chunk_values];  // integers, before they are written
    std::uint32_t record[max_plane_record<std::int64_t> / 4];
  };
};

// Returns `sink` moved past the lags at the start of the frame, for which there is room.
TAUT_DEVICE Sink behind_lags(Sink sink, const OpenFrame& total) {
  const unsigned lags = total.prediction.lags.n;
  sink.index += lags;
  sink.records += lags;
  sink.capacity -= lags;
  return sink;
}

// Finds the record of a chunk in each source. Called by the first warp; each lane handles one source.
template <class T, class Simt>
TAUT_DEVICE void find_records(const Simt& simt, const SumJob<T>& job, std::uint32_t chunk,
                              SumShared<T>& shared) {
  const unsigned k = simt.thread();
  const OpenFrame& total = shared.opened.total;
  if (total.status != 0) return;
  RecordHead head;  // head of a stored frame: that of a chunk of zeros
  bool good = true, alike = true, stored = false;
  if (k <= job.input.count && k < max_sources) shared.heads[k] = {};  // ChunkAdder reads two at a time
  if (chunk < job.sink.chunks && k < job.input.count) {
    const OpenFrame& frame = shared.opened.of[k];
    stored = frame.stored;
    alike = stored || frame.prediction.inner == total.prediction.inner;
    Words words;
    good = stored || (find_record(behind_lags(job.input.sources[k], frame), frame.record_words,
                                  job.sink.chunks, chunk, words) &&
                      read_head(words, frame.prediction, head));
    shared.heads[k] = head;
  }
  const auto flags = static_cast<std::uint8_t>(simt.either(head.flags));
  const unsigned form = (flags & (wide | large)) | (fits_narrow(flags, total.addends) ? 0u : unsigned{wide});
  const Operands all{simt.ballot(!good) == 0,
                     simt.ballot(!alike) == 0,
                     flags,
                     static_cast<std::uint8_t>(simt.population(simt.ballot(stored))),
                     static_cast<std::uint8_t>(simt.population(simt.ballot(head.has(has_planes)))),
                     static_cast<std::uint8_t>(form)};
  const std::uint32_t base = simt.sum(static_cast<std::uint32_t>(head.base));
  if (k != 0) return;
  const std::uint64_t left = job.input.opening.values - std::uint64_t{chunk} * chunk_values;
  shared.chunk = chunk;
  shared.n =
      left < chunk_values ? static_cast<std::uint32_t>(left) : static_cast<std::uint32_t>(chunk_values);
  shared.base = static_cast<std::int32_t>(base);
  shared.runs = 0;
  shared.layers = all.stored;
  shared.operands = all;
}

template <class T, class Simt>
class ChunkAdder {
 public:
  TAUT_DEVICE ChunkAdder(Simt simt, SumShared<T>& shared, const SumJob<T>& job)
      : group_(simt, shared.block_group), shared_(shared), job_(job), total_(shared.opened.total) {}

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
    const unsigned source = group_.warp() - 1;  // the first warp has enough to do
    if (source < job_.input.count)
      prefetch_record(simt, job_.input.sources[source], job_.sink.chunks,
                      next_resident(simt, resident_blocks));
    const bool there =
        take_published(simt, scratch.control, scratch.published, opened_words(job_.input), shared_.opened);
    if (simt.barrier_any(!there)) open_sources();
    if (group_.warp() == 0) find_records(simt, job_, simt.shuffle(taken, 0), shared_);
    simt.barrier();
  }

  // Opens the sources. The first block publishes them, and keeps them for the next kernel.
  TAUT_DEVICE void open_sources() {
    const Simt& simt = group_.simt();
    Scratch& scratch = *job_.scratch;
    cuda::open_sources<T>(simt, job_.input, scratch.crc, shared_.opened);
    if (group_.warp() == 0) {
      const SumDescriber describer(simt, job_.input, shared_.opened);
      describer.describe();
      if (simt.block() == 0) describer.keep(scratch);
      if (simt.thread() == 0 && total_.status != 0) simt.raise(&scratch.control.failure, total_.status);
    }
    simt.barrier();
    if (simt.block() == 0)
      publish(simt, scratch.control, shared_.opened, opened_words(job_.input), scratch.published);
  }

  // Gives a chunk with a malformed record no words.
  TAUT_DEVICE void refuse() {
    if (group_.thread() == 0) group_.simt().raise(&job_.sink.control->failure, code(Status::corrupt_frame));
    finish(0, false);
  }

  // Adds the records, and writes their sum. Returns false if some record is malformed.
  TAUT_DEVICE bool add_records() {
    const Operands operands = shared_.operands;
    if (!operands.alike || is_wide()) return add_integers();
    const bool simple = operands.stored == 0 && (operands.flags & (has_runs | has_layers)) == 0;
    if (!(simple ? find_simple_blocks() : find_blocks())) return false;
    add_planes();
    return true;
  }

  TAUT_DEVICE bool is_wide() const { return (shared_.operands.form & wide) != 0; }
  TAUT_DEVICE unsigned values() const { return values_of(group_.thread(), shared_.n); }

  TAUT_DEVICE std::uint32_t blocks() const { return static_cast<std::uint32_t>(blocks_of(shared_.n)); }

  // True if a sum that is all zeros has no record.
  TAUT_DEVICE bool may_be_empty() const {
    const Operands& all = shared_.operands;
    return all.stored == 0 && (all.flags & (wide | has_runs | has_layers)) == 0 && all.alike && all.form == 0;
  }

  // Reads simple records, two at a time, and finds this thread's block in each. An empty record follows the
  // last one. Returns false if a record is malformed.
  TAUT_DEVICE bool find_simple_blocks() {
    using Reader = RecordReader<T, Simt, RunsCheck::none>;
    TAUT_ROLLED
    for (unsigned k = 0; k < job_.input.count; k += 2) {
      RecordIn<T> a, b;
      Reader of_a(group_, a, shared_.heads[k], shared_.n, 0);
      of_a.read_width();
      Reader of_b(group_, b, shared_.heads[k + 1], shared_.n, 0);
      of_b.read_width();
      if (!read_rests(group_, of_a, of_b)) return false;
      block(k) = PlacedBlock::of(a.at, a.width);
      block(k + 1) = PlacedBlock::of(b.at, b.width);
    }
    return true;
  }

  // Same as above, for records of any kind, one at a time.
  TAUT_DEVICE bool find_blocks() {
    TAUT_ROLLED
    for (unsigned k = 0; k < job_.input.count; ++k) {
      RecordIn<T> r;
      if (!read(k, r)) return false;
      block(k) = PlacedBlock::of(r.at, r.width);
    }
    return true;
  }

  // Reads the record of source k, but does not look at addends. Returns false if the record is malformed.
  TAUT_DEVICE bool read(unsigned k, RecordIn<T>& r) {
    using Reader = RecordReader<T, Simt, RunsCheck::lengths>;
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

  // Returns this thread's block in source k. No other thread accesses it.
  TAUT_DEVICE PlacedBlock& block(unsigned k) { return shared_.blocks[k][group_.thread()]; }

  // Adds the blocks plane by plane.
  TAUT_DEVICE void add_planes() {
    const unsigned coded = shared_.operands.coded;
    const unsigned carries = coded > 1 ? 32 - group_.simt().leading_zeros(coded - 1u) : 0;
    const unsigned rows = rows_of<std::int32_t>(group_.simt(), greatest_width() + carries);
    const unsigned width = rows == 1 ? add_rows<1>() : rows == 2 ? add_rows<2>() : add_rows<4>();
    write(SummedBlock{shared_.narrow.planes, group_.thread(), rows}, width);
  }

  // Returns the greatest width of this thread's blocks.
  TAUT_DEVICE unsigned greatest_width() {
    unsigned greatest = 0;
    TAUT_ROLLED
    for (unsigned k = 0; k < job_.input.count; ++k)
      greatest = block(k).width() > greatest ? block(k).width() : greatest;
    return greatest;
  }

  // Adds the blocks in registers, and keeps the sum in shared memory. Returns its width. A single block keeps
  // its own width.
  template <unsigned Rows>
  TAUT_DEVICE unsigned add_rows() {
    PlaneSum<Rows> sum;
    TAUT_ROLLED
    for (unsigned k = 0; k < job_.input.count; ++k) {
      const RecordHead& head = shared_.heads[k];
      const Words words{group_.simt().global(head.words.at), 0};
      if (head.has(has_planes)) sum.add(group_.simt(), words, block(k).at(), block(k).width());
    }
    shared_.narrow.planes.keep(group_.thread(), sum);
    return shared_.operands.coded > 1 ? sum.width(group_.simt()) : greatest_width();
  }

  // Adds the records integer by integer: for 64-bit integers, or for predictors that differ. Returns false if
  // some record is malformed.
  TAUT_DEVICE bool add_integers() {
    for (unsigned i = 0; i < block_values; ++i) sum(i) = 0;
    TAUT_ROLLED
    for (unsigned k = 0; k < job_.input.count; ++k) {
      group_.simt().keep_in_memory(k);
      RecordIn<T> r;
      if (!read(k, r)) return false;
      const PlacedBlock block = PlacedBlock::of(r.at, r.width);
      if (shared_.heads[k].has(wide)) {
        add_block<std::int64_t>(k, block);
      } else {
        add_block<std::int32_t>(k, block);
      }
    }
    if (is_wide()) {
      write_sums<std::int64_t>();
    } else {
      write_sums<std::int32_t>();
    }
    return true;
  }

  // Returns the sum of value i of this thread. No other thread accesses it.
  TAUT_DEVICE std::int64_t& sum(unsigned i) { return shared_.sums[i * group_threads + group_.thread()]; }

  // Adds the integers of a block of source k. Integers of a record that is not wide are known modulo 2^32.
  template <class Int>
  TAUT_DEVICE void add_block(unsigned k, const PlacedBlock& block) {
    const Words words{group_.simt().global(shared_.heads[k].words.at), 0};
    Int q[block_values];
    read_block_in_loops(group_.simt(), words, block.at(), block.width(), q);
    group_.simt().keep_in_memory(q);
    undo_difference(group_, shared_.opened.of[k].prediction.inner, static_cast<Int>(shared_.heads[k].base),
                    q);
    TAUT_ROLLED
    for (unsigned i = 0; i < block_values; ++i)
      sum(i) = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum(i)) +
                                         static_cast<std::uint64_t>(std::int64_t{q[i]}));
  }

  template <class Int>
  TAUT_DEVICE void write_sums() {
    Int q[block_values];
    TAUT_ROLLED
    for (unsigned i = 0; i < block_values; ++i) q[i] = static_cast<Int>(sum(i));
    const Int base = difference(group_, total_.prediction.inner, values(), q);
    group_.simt().keep_in_memory(q);
    if (group_.thread() == 0) shared_.base = base;
    write(Differences<Int>{q}, width_of(group_.simt(), q));
  }

  template <class Block>
  TAUT_DEVICE void write(const Block& block, unsigned width) {
    PlanesPlan plan = plan_planes(group_, values() > 0 ? width : 0, blocks(), is_wide());
    if constexpr (!std::is_same_v<Block, SummedBlock>) group_.simt().keep_in_memory(plan);
    const bool empty = may_be_empty() && plan.sum == 0 && shared_.base == 0;
    if (!empty)
      write_planes(group_, shared_.planes, plan, flags(), shared_.base, blocks(), block, shared_.record);
    finish(empty ? 0 : plan.bytes(), !empty);
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

  // Places and stores the record, whose planes are in shared memory. `any`: the chunk has a record.
  TAUT_DEVICE void finish(std::uint32_t plane_bytes, bool any) {
    const Sink sink = behind_lags(job_.sink, total_);
    const std::uint32_t words = saturated((plane_bytes + (any ? exact_bytes() : 0) + 3) / 4);
    if (group_.thread() == 0) announce(group_.simt(), sink, shared_.chunk, words);
    if (group_.thread() < warp_lanes) {
      const std::uint64_t at = place(group_.simt(), sink, shared_.chunk, words);
      if (group_.thread() == 0) shared_.at = static_cast<std::uint32_t>(at);
    }
    group_.simt().barrier();
    if (!fits(sink, shared_.at, words)) {
      if (group_.thread() == 0) group_.simt().raise(&sink.control->failure, code(Status::buffer_too_small));
      return;
    }
    std::uint32_t* const to = sink.records + shared_.at;
    copy_words(group_, shared_.record, plane_bytes / 4, to);
    if (group_.thread() == 0 && words > plane_bytes / 4)
      job_.deferred[group_.simt().add(&sink.control->deferred, 1)].deferred = {shared_.chunk,
                                                                               shared_.at + plane_bytes / 4};
  }

  BlockGroup<Simt> group_;
  SumShared<T>& shared_;
  const SumJob<T>& job_;
  const OpenFrame& total_;
};

template <class T>
struct SumKernel {
  using Job = SumJob<T>;
  using Shared = SumShared<T>;
  static constexpr BlockShape shape{group_threads, resident_blocks};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkAdder<T, Simt>(simt, shared, job).run();
  }
};

}  // namespace taut::planes::cuda
