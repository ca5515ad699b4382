// Kernels for counting instructions: the code that the planes kernels execute for a usual chunk (small
// integers, delta, a dense table, no width above 8), without branches to other cases. `large`: for a chunk of
// integers beyond 14 bits, with widths of 9 to 15. The code is composed of the kernels' own functions and is never run. fast_open, fast_find and fast_place contain the work of one warp
// of 16 (of a sum: of 4), in a block that finds the opened frames published.
#include "compressor/gpu/planes/calls.hpp"
#include "compressor/gpu/simt/kernel.cuh"

namespace taut::planes::cuda {

template <class Group>
using UsualReader = RecordReader<float, Group, RunsCheck::absent>;
using SumGroup = ChunkThreads<CudaThread, sum_threads>;

// True if a record has the usual form. The compiler then removes the code for all other forms.
TAUT_DEVICE bool is_usual(RecordHead& head) {
  if (head.flags != (has_planes | dense)) return false;
  head.flags = has_planes | dense;
  return true;
}

// Writes a record to a known place.
template <class Group, class Shared, class Write>
TAUT_DEVICE void write_usual(Group& threads, Shared& shared, const Sink& sink, std::uint32_t width, const Write& write) {
  PlanesPlan plan = plan_planes(threads, width, chunk_blocks, false);
  if (plan.table_flags != dense) return;
  plan.table_flags = dense;
  write(plan.block_in(shared.record));
  write_table(threads, shared.planes, plan, chunk_blocks, shared.record);
  threads.simt().barrier();
  const std::uint32_t words = plan.bytes() / 4;
  if (fits(sink, shared.record_at, words)) copy_words(threads, shared.record, words, sink.records + shared.record_at);
}

__global__ void __launch_bounds__(chunk_threads, 4)
    fast_place(const __grid_constant__ Sink sink, const __grid_constant__ PlanesPlan plan, std::int32_t base) {
  __shared__ std::uint64_t at;
  __shared__ std::uint32_t chunk, record[2];
  const CudaThread simt;
  chunk = take_chunk(simt, sink);
  const std::uint32_t words = plan.bytes() / 4;
  if (simt.thread() == 0) {
    publish_own_size(simt, sink, chunk, words);
    write_head(plan, 0, base, record);
  }
  const std::uint64_t before = place_in_sink(simt, sink, chunk, words);
  if (simt.thread() == 0) at = before;
  arrive(simt, *sink.control);
}

// Encodes the integers of a chunk whose widths need `Rows` rows.
template <unsigned Rows, class Group>
TAUT_DEVICE void encode_rows(Group& threads, EncodeShared<float>& shared, const EncodeJob<float>& job, std::int32_t (&q)[block_values]) {
  const std::int32_t base = difference<last_shared>(threads, Predictor::delta, block_values, q);
  if (threads.thread() == 0) shared.record[1] = static_cast<std::uint32_t>(base);
  const unsigned width = width_of(threads.simt(), q);
  if (rows_of<std::int32_t>(threads.simt(), width) != Rows) return;
  write_usual(threads, shared, job.sink, width, [&](std::uint8_t* to) { write_rows<Rows>(threads.simt(), to, q, width); });
  threads.simt().barrier();  // the block arrives at its end
}

// Computes small integers. Returns true if every value of the chunk has one.
template <PackedBits Bits, class Group>
TAUT_DEVICE bool all_small(Group& threads, const EncodeJob<float>& job, const float* from, std::int32_t (&q)[block_values]) {
  float x[block_values];
  load_block(from, block_values, x);
  bool is_small = true;
  for (unsigned i = 0; i < block_values; ++i) is_small &= quantise_small(x[i], job.z, q[i]);
  if constexpr (Bits == PackedBits::exact) is_small &= has_no_packed(x, job.z);
  threads.share_last(q[block_values - 1]);
  return !threads.any(!is_small);
}

template <PackedBits Bits, bool Large = false>
TAUT_DEVICE void encode_usual(const EncodeJob<float>& job) {
  __shared__ EncodeShared<float> shared;
  ChunkThreads<CudaThread> threads(CudaThread{}, shared.threads);
  threads.simt().barrier();  // the chunk has been taken
  const float* const from = job.values + std::uint64_t{shared.chunk} * chunk_values + threads.thread() * block_values;
  std::int32_t q[block_values];
  if (all_small<Bits>(threads, job, from, q) == Large) return;
  if constexpr (Large) {
    float x[block_values];
    load_block(from, block_values, x);
    std::uint32_t marked = 0;
    for (unsigned i = 0; i < block_values; ++i) marked |= static_cast<std::uint32_t>(!quantise_large(x[i], job.z, job.range, q[i])) << i;
    threads.share_last(q[block_values - 1]);
    if (threads.any(marked != 0)) return;
  }
  encode_rows<Large ? 2 : 1>(threads, shared, job, q);
}

__global__ void __launch_bounds__(chunk_threads, 4)
    fast_encode(const __grid_constant__ EncodeJob<float> job) {
  encode_usual<PackedBits::rounded>(job);
}

__global__ void __launch_bounds__(chunk_threads, 4)
    fast_encode_exact(const __grid_constant__ EncodeJob<float> job) {
  encode_usual<PackedBits::exact>(job);
}

__global__ void __launch_bounds__(chunk_threads, 4)
    fast_encode_large(const __grid_constant__ EncodeJob<float> job) {
  encode_usual<PackedBits::rounded, true>(job);
}

__global__ void __launch_bounds__(chunk_threads, 4)
    fast_open(const __grid_constant__ DecodeJob<float> job) {
  __shared__ DecodeShared shared;
  const CudaThread simt;
  const Scratch& scratch = *job.scratch;
  const bool there = read_published(simt, scratch.control, scratch.published, words_of<OpenFrame>(), shared.frame);
  if (simt.ballot(!there) != 0) return;
  simt.sync_warp();
  if (simt.thread() != 0 || shared.frame.status != 0) return;
  Words words;
  shared.good = find_record(job.source, shared.frame.record_words, job.chunks, simt.block(), words) &&
                read_head(words, {}, shared.head);
  asm volatile("" ::"l"(&shared) : "memory");  // other threads read it
}

// Decodes a chunk whose widths need `Rows` rows.
template <unsigned Rows>
TAUT_DEVICE void decode_usual(const DecodeJob<float>& job) {
  __shared__ DecodeShared shared;
  ChunkThreads<CudaThread> threads(CudaThread{}, shared.threads);
  const OpenFrame& frame = shared.frame;
  threads.simt().barrier();  // the record has been found
  RecordHead head = shared.head;
  const std::uint32_t chunk = threads.simt().block();
  if (!shared.good || !is_usual(head)) return;
  ParsedRecord<float> record;
  if (!UsualReader<ChunkThreads<CudaThread>>(threads, record, head, chunk_values, 1).read()) return;
  if (rows_of<std::int32_t>(threads.simt(), record.widths) != Rows) return;
  std::int32_t q[block_values];
  read_rows<Rows>(threads.simt(), record.words, record.blocks_at, record.widths, q);
  undo_difference(threads, Predictor::delta, static_cast<std::int32_t>(record.base), q);
  float x[block_values];
  for (unsigned i = 0; i < block_values; ++i) x[i] = static_cast<float>(q[i]) * static_cast<float>(frame.step);
  store_block(job.values + std::uint64_t{chunk} * chunk_values + threads.thread() * block_values, block_values, x);
}

__global__ void __launch_bounds__(chunk_threads, 4)
    fast_decode(const __grid_constant__ DecodeJob<float> job) {
  decode_usual<1>(job);
}

__global__ void __launch_bounds__(chunk_threads, 4)
    fast_decode_large(const __grid_constant__ DecodeJob<float> job) {
  decode_usual<2>(job);
}

__global__ void __launch_bounds__(sum_threads, resident_sum_blocks) fast_find(const __grid_constant__ SumJob<float> job) {
  __shared__ SumShared<float> shared;
  const CudaThread simt;
  const Scratch& scratch = *job.scratch;
  const std::uint32_t taken = simt.thread() == 0 ? take_chunk(simt, job.sink) : 0;
  if (simt.barrier_any(!read_published(simt, scratch.control, scratch.published, opened_words(job.input), shared.opened))) return;
  find_records(simt, job, simt.shuffle(taken, 0), shared);
  asm volatile("" ::"l"(&shared) : "memory");  // other threads read it
}

__global__ void __launch_bounds__(sum_threads, resident_sum_blocks) fast_add(const __grid_constant__ SumJob<float> job) {
  __shared__ SumShared<float> shared;
  SumGroup threads(CudaThread{}, shared.threads);
  const CudaThread& simt = threads.simt();
  simt.barrier();  // the records have been found
  RecordHead heads[] = {shared.heads[0], shared.heads[1]};
  if (!shared.operands.good || !is_usual(heads[0]) || !is_usual(heads[1])) return;
  ParsedRecord<float> a, b;
  UsualReader<SumGroup> reader_a(threads, a, heads[0], chunk_values, 1);
  reader_a.read_widths();
  UsualReader<SumGroup> reader_b(threads, b, heads[1], chunk_values, 1);
  reader_b.read_widths();
  if (!read_rests(threads, reader_a, reader_b)) return;
  shared.blocks[0][simt.thread()] = {a.blocks_at, a.widths};
  shared.blocks[1][simt.thread()] = {b.blocks_at, b.widths};
  unsigned greatest = 0;
  for (unsigned i = 0; i < SumGroup::blocks_per_thread; ++i)
    for (const std::uint32_t widths : {a.widths, b.widths}) greatest = width_at(widths, i) > greatest ? width_at(widths, i) : greatest;
  if (rows_of<std::int32_t>(simt, greatest + 1) != 1) return;
  PlaneSum<SumGroup::blocks_per_thread, 1> sum;
  for (unsigned k = 0; k < 2; ++k) {
    const PlacedBlocks placed = shared.blocks[k][simt.thread()];
    sum.add(simt, {simt.global(shared.heads[k].words.data), 0}, placed.blocks_at, placed.widths);
  }
  if (simt.thread() == 0) shared.record[1] = static_cast<std::uint32_t>(shared.base);
  const std::uint32_t widths = sum.widths(simt);
  write_usual(threads, shared, job.sink, widths, [&](std::uint8_t* to) { sum.write(simt, to, widths); });
}

}  // namespace taut::planes::cuda
