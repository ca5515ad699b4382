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

// A record that begins as usual, with widths of at most 8 in this warp.
TAUT_DEVICE bool read_usual(Crew<CudaThread>& crew, const Words& words, RecordIn<float>& record) {
  RecordReader<float, CudaThread, RunsCheck::lengths> reader(crew, record);
  record = {};
  record.words = words;
  record.n = chunk_values;
  if (!reader.read_head(Predictor::delta) || record.flags != (has_planes | dense)) return false;
  record.flags = has_planes | dense;
  return reader.read_rest() && rows_of<std::int32_t>(crew.simt(), record.width) == 1;
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
  const PlanesPlan plan = plan_planes(crew, width_of(crew.simt(), q), chunk_blocks, false);
  if (crew.thread() == 0) announce(crew.simt(), job.sink, chunk, plan.bytes() / 4);
  write_planes(crew, shared.planes, plan, 0, base, chunk_blocks, q, shared.record);
  if (crew.thread() < warp_lanes) {
    const std::uint32_t at = place(crew.simt(), job.sink, chunk, plan.bytes() / 4);
    if (crew.thread() == 0) shared.at = at;
  }
  crew.simt().barrier();
  copy_words(crew, shared.record, plan.bytes() / 4, job.sink.records + shared.at);
}

__global__ void __launch_bounds__(crew_threads, 2) fast_decode(const __grid_constant__ DecodeJob<float> job) {
  __shared__ DecodeShared shared;
  Crew<CudaThread> crew(CudaThread{}, shared.crew);
  const OpenFrame& frame = job.scratch->opened[0];
  Words words;
  RecordIn<float> record;
  const std::uint32_t chunk = crew.simt().block();
  if (!find_record(job.source, frame, job.chunks, chunk, words) ||
      !read_usual(crew, words, record))
    return;
  std::int32_t q[block_values];
  read_rows<1>(crew.simt(), words, record.at, record.width, q);
  undo_difference(crew, Predictor::delta, static_cast<std::int32_t>(record.base), q);
  float x[block_values];
  for (unsigned i = 0; i < block_values; ++i) x[i] = static_cast<float>(q[i]) * static_cast<float>(frame.step);
  store_block(job.values + std::uint64_t{chunk} * chunk_values + crew.thread() * block_values, block_values, x);
}

__global__ void __launch_bounds__(crew_threads, 2) fast_add(const __grid_constant__ SumJob<float> job) {
  __shared__ SumShared<float> shared;
  Crew<CudaThread> crew(CudaThread{}, shared.crew);
  const std::uint32_t chunk = take_chunk(crew.simt(), job.sink, shared.chunk);
  std::int32_t sum[block_values] = {}, base = 0;
  for (unsigned k = 0; k < 2; ++k) {
    Words words;
    RecordIn<float> r;
    if (!find_record(job.sources[k], job.scratch->opened[k], job.sink.chunks, chunk, words) ||
        !read_usual(crew, words, r))
      return;
    std::int32_t d[block_values];
    read_rows<1>(crew.simt(), words, r.at, r.width, d);
    base += static_cast<std::int32_t>(r.base);
    for (unsigned i = 0; i < block_values; ++i) sum[i] += d[i];
  }
  const PlanesPlan plan = plan_planes(crew, width_of(crew.simt(), sum), chunk_blocks, false);
  if (crew.thread() == 0) announce(crew.simt(), job.sink, chunk, plan.bytes() / 4);
  write_planes(crew, shared.planes, plan, 0, base, chunk_blocks, sum, shared.record);
  if (crew.thread() < warp_lanes) {
    const std::uint32_t at = place(crew.simt(), job.sink, chunk, plan.bytes() / 4);
    if (crew.thread() == 0) shared.at = at;
  }
  crew.simt().barrier();
  copy_words(crew, shared.record, plan.bytes() / 4, job.sink.records + shared.at);
}

}  // namespace taut::planes::cuda
