// What the kernels execute of a usual chunk (small integers, delta, a dense table of nibbles), without the branches to
// everything else: to count its instructions. Composed of the kernels' own functions; never run. And the kernels of
// float32 as they are.
#include "codecs/planes/cuda/kernels.cuh"

namespace taut::planes::cuda {

template __global__ void entry<EncodeKernel<float>>(const __grid_constant__ EncodeJob<float>);
template __global__ void entry<OpenKernel<float>>(const __grid_constant__ OpenJob);
template __global__ void entry<DecodeKernel<float>>(const __grid_constant__ DecodeJob<float>);
template __global__ void entry<DecodeExactKernel<float>>(const __grid_constant__ DecodeJob<float>);
template __global__ void entry<SumKernel<float>>(const __grid_constant__ SumJob<float>);
template __global__ void entry<SumExactKernel<float>>(const __grid_constant__ SumJob<float>);
template __global__ void entry<FinishKernel<float>>(const __grid_constant__ FinishJob<float>);

using UsualReader = RecordReader<float, CudaThread, RunsCheck::lengths>;

// Whether a record is of the usual form. Once that is known, the compiler leaves out all other ways.
TAUT_DEVICE bool is_usual(RecordHead& head) {
  if (head.flags != (has_planes | dense)) return false;
  head.flags = has_planes | dense;
  return true;
}

// A complete record to its place, which one warp of 16 finds: fast_place is counted for it.
TAUT_DEVICE void store(Crew<CudaThread>& crew, const Sink& sink, std::uint32_t chunk, std::uint32_t words,
                       const std::uint32_t* record, const std::uint32_t& at) {
  crew.simt().barrier();
  if (fits(sink, at, words)) copy_words(crew, record, words, sink.records + at);
}

__global__ void __launch_bounds__(crew_threads, 2) fast_place(const __grid_constant__ Sink sink, std::uint32_t words) {
  __shared__ std::uint32_t at;
  const CudaThread simt;
  const std::uint32_t before = place(simt, sink, simt.block(), words);
  if (simt.thread() == 0) at = before;
}

__global__ void __launch_bounds__(crew_threads, 2) fast_encode(const __grid_constant__ EncodeJob<float> job) {
  __shared__ EncodeShared<float> shared;
  Crew<CudaThread> crew(CudaThread{}, shared.crew);
  const std::uint32_t chunk = take_chunk(crew.simt(), job.sink, shared.chunk);
  float x[block_values];
  load_block(job.values + std::uint64_t{chunk} * chunk_values + crew.thread() * block_values, block_values, x);
  std::int32_t q[block_values];
  bool is_small = true;
  for (unsigned i = 0; i < block_values; ++i) is_small &= quantise_small(x[i], job.z, q[i]);
  if (crew.any(!is_small)) return;
  const std::int32_t base = difference(crew, Predictor::delta, block_values, q);
  PlanesPlan plan = plan_planes(crew, width_of(crew.simt(), q), chunk_blocks, false);
  if (plan.table_flags != dense || rows_of<std::int32_t>(crew.simt(), plan.width) != 1) return;
  plan.table_flags = dense;
  if (crew.thread() == 0) {
    announce(crew.simt(), job.sink, chunk, plan.bytes() / 4);
    write_head(plan, 0, base, shared.record);
  }
  write_rows<1>(crew.simt(), plan.block_in(shared.record), q, plan.width);
  write_table(crew, shared.planes, plan, chunk_blocks, shared.record);
  store(crew, job.sink, chunk, plan.bytes() / 4, shared.record, shared.at);
}

__global__ void __launch_bounds__(crew_threads, 2) fast_decode(const __grid_constant__ DecodeJob<float> job) {
  __shared__ DecodeShared shared;
  Crew<CudaThread> crew(CudaThread{}, shared.crew);
  const OpenFrame& frame = job.scratch->opened[0];
  Words words;
  RecordHead head;
  const std::uint32_t chunk = crew.simt().block();
  if (!find_record(job.source, frame, job.chunks, chunk, words) || !read_head(words, Predictor::delta, head) || !is_usual(head)) return;
  RecordIn<float> record;
  if (!UsualReader(crew, record, head, chunk_values).read()) return;
  if (rows_of<std::int32_t>(crew.simt(), record.width) != 1) return;
  std::int32_t q[block_values];
  read_rows<1>(crew.simt(), words, record.at, record.width, q);
  undo_difference(crew, Predictor::delta, static_cast<std::int32_t>(record.base), q);
  float x[block_values];
  for (unsigned i = 0; i < block_values; ++i) x[i] = static_cast<float>(q[i]) * static_cast<float>(frame.step);
  store_block(job.values + std::uint64_t{chunk} * chunk_values + crew.thread() * block_values, block_values, x);
}

__global__ void __launch_bounds__(crew_threads, 2) fast_find(const __grid_constant__ SumJob<float> job) {
  __shared__ SumShared<float> shared;
  find_records(CudaThread{}, job, shared);
}

__global__ void __launch_bounds__(crew_threads, 2) fast_add(const __grid_constant__ SumJob<float> job) {
  __shared__ SumShared<float> shared;
  Crew<CudaThread> crew(CudaThread{}, shared.crew);
  crew.simt().barrier();
  RecordHead heads[] = {shared.heads[0], shared.heads[1]};
  if (!shared.operands.good || !is_usual(heads[0]) || !is_usual(heads[1])) return;
  RecordIn<float> a, b;
  UsualReader of_a(crew, a, heads[0], chunk_values), of_b(crew, b, heads[1], chunk_values);
  if (!read_two(crew, of_a, of_b)) return;
  const unsigned greatest = a.width > b.width ? a.width : b.width;
  if (rows_of<std::int32_t>(crew.simt(), greatest + 1) != 1) return;
  PlaneSum sum;
  sum.add_rows<1>(crew.simt(), a.words, a.at, a.width);
  sum.add_rows<1>(crew.simt(), b.words, b.at, b.width);
  PlanesPlan plan = plan_planes(crew, sum.width(crew.simt()), chunk_blocks, false);
  if (plan.table_flags != dense) return;
  plan.table_flags = dense;
  if (crew.thread() == 0) {
    announce(crew.simt(), job.sink, shared.chunk, plan.bytes() / 4);
    write_head(plan, 0, static_cast<std::int32_t>(a.base + b.base), shared.record);
  }
  sum.write(crew.simt(), plan.block_in(shared.record), plan.width);
  write_table(crew, shared.planes, plan, chunk_blocks, shared.record);
  store(crew, job.sink, shared.chunk, plan.bytes() / 4, shared.record, shared.at);
}

}  // namespace taut::planes::cuda
