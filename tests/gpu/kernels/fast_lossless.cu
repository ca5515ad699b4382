// Kernels for counting instructions: the parts of the mpc kernels that a usual chunk (float32, distance 1,
// coded) executes. nvcc_test.py says how often each part is executed. The code is composed of the kernels'
// own functions and is never run.
#include "compressor/gpu/mpc/calls.hpp"
#include "compressor/gpu/simt/kernel.cuh"

namespace taut::mpc::cuda {

using Word = std::uint32_t;

// Makes the compiler assume that other code reads and writes this shared memory, so that it removes no
// access.
template <class Shared>
TAUT_DEVICE void is_used(Shared& shared) {
  asm volatile("" ::"l"(&shared) : "memory");
}

// Describes a whole chunk at distance 1, without rounding.
TAUT_DEVICE EncodeJob<Word> usual(EncodeJob<Word> job) {
  job.count = chunk_words<Word>;
  job.distance = 1;
  job.rounding = {};
  return job;
}

__global__ void __launch_bounds__(block_threads, 5)
    lossless_encode_step(const __grid_constant__ EncodeJob<Word> job, unsigned step) {
  __shared__ EncodeWarp shared;
  is_used(shared);
  const CudaThread simt;
  const EncodeJob<Word> whole = usual(job);
  ChunkEncoder<Word, CudaThread> encoder(simt, shared, whole, 0);
  Differences<Word, CudaThread> differences(simt, 1);
  const unsigned block = (1 + step) * warp_lanes + simt.thread() % warp_lanes;
  Word x[lane_words];
  load_block(job.values + block * lane_words, lane_words, x);
  differences.convert(x, block, lane_words);
  encoder.write_block(x, block);
  is_used(shared);
}

__global__ void __launch_bounds__(block_threads, 5)
    lossless_encode_tables(const __grid_constant__ EncodeJob<Word> job, unsigned at) {
  __shared__ EncodeWarp shared;
  is_used(shared);
  const CudaThread simt;
  const EncodeJob<Word> whole = usual(job);
  ChunkEncoder<Word, CudaThread> encoder(simt, shared, whole, 0);
  encoder.write_tables(code_tables<Word>(simt, shared.bitmaps, chunk_vectors), shared.record + at);
  is_used(shared);
}

__global__ void __launch_bounds__(block_threads, 5) lossless_place(const __grid_constant__ EncodeJob<Word> job) {
  __shared__ EncodeShared shared;
  is_used(shared);
  const CudaThread simt;
  take_chunk(simt, job.sink, shared.group);
  place_group(simt, shared, job.sink, job.chunks);
  is_used(shared);
}

// Moves rows of words, one word for each lane, between shared memory and memory of the GPU.
__global__ void __launch_bounds__(block_threads, 5) lossless_move(const std::uint32_t* from, std::uint32_t* to) {
  __shared__ std::uint32_t words[8 * warp_lanes];
  const unsigned lane = threadIdx.x % warp_lanes;
  for (unsigned row = 0; row < 4; ++row) words[row * warp_lanes + lane] = from[row * warp_lanes + lane];
  is_used(words);
  for (unsigned row = 4; row < 8; ++row) to[row * warp_lanes + lane] = words[row * warp_lanes + lane];
}

__global__ void __launch_bounds__(block_threads, 5) lossless_open(const __grid_constant__ DecodeJob<Word> job, OpenFrame* frame) {
  *frame = open_frame(CudaThread{}, job.source, job.expected, job.scratch->crc);
}

__global__ void __launch_bounds__(block_threads, 5) lossless_decode_tables(const __grid_constant__ DecodeJob<Word> job, OpenFrame frame) {
  __shared__ DecodeWarp shared;
  is_used(shared);
  const CudaThread simt;
  DecodeJob<Word> whole = job;
  whole.count = chunk_words<Word>;
  ChunkDecoder<Replace<Word>, CudaThread> decoder(simt, shared, whole, frame.distance, 0);
  Words record;
  if (find_record(job.source, frame.record_words, job.expected.chunks, blockIdx.x, record) && !decoder.read_tables(record))
    job.scratch->control.failure = 1;
  is_used(shared);
}

__global__ void __launch_bounds__(block_threads, 5)
    lossless_decode_step(const __grid_constant__ DecodeJob<Word> job, unsigned at, unsigned step, Word before) {
  __shared__ DecodeWarp shared;
  is_used(shared);
  const CudaThread simt;
  ChunkDecoder<Replace<Word>, CudaThread> decoder(simt, shared, job, 1, 0);
  const unsigned block = step * warp_lanes + simt.thread() % warp_lanes;
  Word x[lane_words];
  decoder.read_block(shared.words + at, block, x);
  decoder.add_up(x, before);
  std::memcpy(__builtin_assume_aligned(shared.words + block * sizeof x, 16), x, sizeof x);
  if (before == 0) job.values[block] = 0;  // uses what the next step needs
  is_used(shared);
}

}  // namespace taut::mpc::cuda
