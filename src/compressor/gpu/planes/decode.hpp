// Decodes frames: values <- frame, or values += frame. A thread block processes a chunk. The values have the
// same bits as those of decode.cpp, general.cpp and exact_values.cpp. Decoding takes two kernels, because few
// chunks need the many registers of the second one. The first kernel opens the frame, decodes what encoders
// write, and lists the other chunks for the second kernel: those with 64-bit integers, several raw layers, or
// sums of exact values.
#pragma once

#include "compressor/gpu/planes/parse_header.hpp"
#include "compressor/gpu/planes/read_exact.hpp"
#include "compressor/gpu/simt/load.hpp"
#include "compressor/gpu/simt/source.hpp"

namespace taut::planes::cuda {

template <class T, class Expected = ExpectedFrame>
struct DecodeJob {
  static constexpr bool referenced = reads_references<Expected>;

  Source source;
  T* values;
  Expected expected;
  std::uint32_t chunks;
  bool add;  // adds to the values in memory
  Scratch* scratch;
  ChunkState* deferred;  // chunks for the second kernel; Control::deferred is their number
  std::uint32_t blocks;  // blocks of the second kernel
};

struct DecodeShared {
  ChunkThreadsShared threads;
  OpenFrame frame;
  RecordHead head;
  bool good;                                // the head is valid
  std::uint32_t runs;                       // number of runs
  std::uint32_t starts[chunk_values / 32];  // a bit for each place: a run begins there
};

struct DecodeExactShared {
  DecodeShared decode;
  std::int64_t q[chunk_values];
};

// Decodes the chunks of one thread block. Job: a DecodeJob, or one with references (decode_referenced.hpp).
template <class T, class Simt, class Job = DecodeJob<T>>
class ChunkDecoder {
 public:
  // `frame`: the opened frame; of the first kernel: shared.frame.
  TAUT_DEVICE ChunkDecoder(Simt simt, DecodeShared& shared, const Job& job, const OpenFrame& frame)
      : group_(simt, shared.threads), shared_(shared), job_(job), frame_(frame) {}

  // Runs the first kernel.
  TAUT_DEVICE void run() {
    const std::uint32_t chunk = group_.simt().block();
    if (open(chunk, Job::referenced ? resident_predicted_blocks : resident_blocks)) decode(chunk);
  }

  // Runs the second kernel, on chunks whose sizes are valid. `q` is shared memory for the chunk's integers.
  TAUT_DEVICE void run_exact(std::int64_t* q) {
    each_deferred([&](std::uint32_t) { decode_exact(q); });
  }

 protected:
  // Opens the frame, and reads the head of the chunk's record. Called by all threads. Returns false if the
  // block has nothing to decode. `resident`: number of blocks on a multiprocessor.
  TAUT_DEVICE bool open(std::uint32_t chunk, unsigned resident) {
    if (group_.warp() == 0) {
      find_opened<T>(group_.simt(), *job_.scratch, job_.expected, job_.source, shared_.frame);
      const bool coded = frame_.status == 0 && !frame_.stored;
      if (group_.thread() == 0 && coded && chunk < job_.chunks) read_head_of(chunk);
    } else if (group_.warp() == 1) {
      prefetch_record(group_.simt(), job_.source, job_.chunks, next_resident(group_.simt(), resident));
    }
    group_.simt().barrier();
    return frame_.status == 0 && chunk < job_.chunks;
  }

  // Decodes a chunk of the opened frame, or leaves it to the second kernel.
  TAUT_DEVICE void decode(std::uint32_t chunk) {
    locate(chunk);
    if (frame_.stored) return copy_stored(chunk);
    const RecordHead& head = shared_.head;
    if (!shared_.good) return fail();
    if (head.simple()) return read<RunsCheck::absent>() ? decode_simple() : fail();
    if (head.is_raw_layer<T>(n_)) return copy_layer();
    if (head.has(wide | has_layers) || !decode_with_runs()) defer(chunk);
  }

  // Reads each chunk of the list, and calls decode_found(chunk) if the chunk is valid.
  template <class DecodeFound>
  TAUT_DEVICE void each_deferred(const DecodeFound& decode_found) {
    const std::uint32_t deferred = frame_.status == 0 ? job_.scratch->control.deferred : 0;
    for (std::uint32_t i = group_.simt().block(); i < deferred; i += job_.blocks) {
      const std::uint32_t chunk = job_.deferred[i].deferred.chunk;
      locate(chunk);
      if (find_head(chunk) && read<RunsCheck::all>()) {
        decode_found(chunk);
      } else {
        fail();
      }
      group_.simt().barrier();
    }
  }

  TAUT_DEVICE void defer(std::uint32_t chunk) const {
    if (group_.thread() == 0)
      job_.deferred[group_.simt().atomic_add(&job_.scratch->control.deferred, 1)].deferred = {chunk, 0};
  }

  TAUT_DEVICE void locate(std::uint32_t chunk) {
    const std::uint64_t left = job_.expected.values - std::uint64_t{chunk} * chunk_values;
    n_ = left < chunk_values ? static_cast<std::uint32_t>(left) : static_cast<std::uint32_t>(chunk_values);
    chunk_ = chunk;
  }

  TAUT_DEVICE void fail() const {
    if (group_.thread() == 0)
      group_.simt().atomic_max(&job_.scratch->control.failure, code(Status::corrupt_frame));
  }

  // Reads the record whose head has been read. Called by all threads alike. Returns false if the record is
  // malformed.
  template <RunsCheck Check>
  TAUT_DEVICE bool read() {
    return RecordReader<T, ChunkThreads<Simt>, Check, Job::referenced>(group_, record_, shared_.head, n_,
                                                                       frame_.addends)
        .read();
  }
  // Reads the head of a chunk's record into shared memory. Called by one thread, which reads for all: threads
  // that disagreed about a frame that changes meanwhile would wait at different barriers for ever.
  TAUT_DEVICE void read_head_of(std::uint32_t chunk) const {
    Words words;
    Source source = behind_lags(job_.source, frame_);
    if constexpr (Job::referenced) source.frame += state_words * frame_.prediction.references;
    shared_.good = find_record(source, frame_.record_words, job_.chunks, chunk, words) &&
                   read_head<Job::referenced, T>(words, frame_.prediction, shared_.head);
  }
  // Calls read_head_of() in one thread. Called by all threads. Returns false if the head is malformed.
  TAUT_DEVICE bool find_head(std::uint32_t chunk) {
    if (group_.thread() == 0) read_head_of(chunk);
    group_.simt().barrier();
    return shared_.good;
  }

  TAUT_DEVICE T combined(T there, T x) const { return job_.add ? combine(Reduction::sum, there, x) : x; }

  // Returns the address of the chunk's first value.
  TAUT_DEVICE T* output() const { return job_.values + std::uint64_t{chunk_} * chunk_values; }
  // Returns the number of values of this thread.
  TAUT_DEVICE unsigned values() const { return values_of(group_.thread(), n_); }

  TAUT_DEVICE void store(T (&x)[block_values]) const {
    T* const at = output() + group_.thread() * block_values;
    if (job_.add)
      combine_block<T>(at, values(), x, [](T there, T mine) { return combine(Reduction::sum, there, mine); });
    store_block(at, values(), x);
  }

  TAUT_DEVICE void copy_stored(std::uint32_t chunk) const {
    T x[block_values];
    const T* const from =
        reinterpret_cast<const T*>(job_.source.frame + header_words) + std::uint64_t{chunk} * chunk_values;
    load_block(from + group_.thread() * block_values, values(), x);
    store(x);
  }

  template <class Int>
  TAUT_DEVICE void integers(Int (&q)[block_values]) {
    record_.differences(group_.simt(), q);
    undo_difference(group_, frame_.prediction.inner, static_cast<Int>(record_.base), q);
    if constexpr (Job::referenced && (sizeof(Int) == 4 || sizeof(T) == 8)) add_prediction(q);
  }
  // Adds what the references predict, once for each addend.
  template <class Int>
  TAUT_DEVICE void add_prediction(Int (&q)[block_values]) const {
    const unsigned references = frame_.prediction.references;
    if (references == 0) return;
    const std::uint64_t first = std::uint64_t{chunk_} * chunk_values + group_.thread() * block_values;
    const auto grid = ReferenceGrid<T>::of(frame_.step);
    ReferencePrediction<T>(job_.arrays, references, grid, first, values()).add_to(q, frame_.addends);
  }

  TAUT_DEVICE void decode_simple() {
    std::int32_t q[block_values];
    integers(q);
    store_multiples(record_.flags, q);
  }

  // Returns true if multiples of the step have the same bits computed in T. `flags` are those of the record
  // that the integers come from.
  TAUT_DEVICE bool exact_in_type(std::uint8_t flags) const {
    return sizeof(T) == 8 || max_sum(flags & large, frame_.addends) <= 1u << 24;
  }
  TAUT_DEVICE void store_multiples(std::uint8_t flags, const std::int32_t (&q)[block_values]) const {
    const bool in_type = exact_in_type(flags);
    const auto step = static_cast<ComputedIn<T>>(frame_.step);
    T x[block_values];
    for (unsigned i = 0; i < block_values; ++i)
      x[i] =
          in_type ? static_cast<T>(static_cast<ComputedIn<T>>(q[i]) * step) : multiple<T>(q[i], frame_.step);
    store(x);
  }

  // Copies the raw layer of a record that has nothing else. Neighbouring threads have neighbouring values,
  // because the record is aligned to words only.
  TAUT_DEVICE void copy_layer() const {
    constexpr unsigned at_once = sizeof(T) == 8 ? 4 : 8;
    const std::uint32_t* const record = group_.simt().global(shared_.head.words.data);
    T* const there = output();
    TAUT_ROLLED
    for (std::uint32_t first = group_.thread(); first < n_; first += at_once * chunk_threads) {
      T x[at_once];
      for (unsigned k = 0; k < at_once; ++k) {
        const std::uint32_t i = first + k * chunk_threads;
        x[k] = i < n_ ? load_layer_value<T>(record, i) : T{};
      }
      if (job_.add) {
        for (unsigned k = 0; k < at_once; ++k)
          if (const std::uint32_t i = first + k * chunk_threads; i < n_)
            x[k] = combine(Reduction::sum, there[i], x[k]);
      }
      for (unsigned k = 0; k < at_once; ++k)
        if (const std::uint32_t i = first + k * chunk_threads; i < n_) there[i] = x[k];
    }
  }

  // Decodes a record with runs of which none overlaps another one, and whose holds are the integers at their
  // places: each place of a run has the run's value. An encoder writes such records. Returns false, without
  // having stored anything, if the record is of another kind, malformed, or a sum of many addends.
  TAUT_DEVICE bool decode_with_runs() {
    if (!exact_in_type(shared_.head.flags) || !read<RunsCheck::by_caller>() || !find_runs()) return false;
    std::int32_t q[block_values];
    integers(q);
    T x[block_values];
    if (!put_runs(q, x)) return false;
    store(x);
    return true;
  }

  // Marks the starts of the runs. Returns false if they overlap or are malformed.
  TAUT_DEVICE bool find_runs() {
    const unsigned t = group_.thread();
    if (t < chunk_values / 32) shared_.starts[t] = 0;
    if (t == 0) shared_.runs = record_.words.data[record_.runs.first_byte / 4];
    group_.simt().barrier();
    record_.runs = {record_.words, record_.runs.first_byte + 4, shared_.runs, false};
    const RunsView<T>& runs = record_.runs;
    if (runs.count > n_) return false;
    bool bad = whole_words(runs.first_byte + runs.count * run_bytes_of<T>(false)) / 4 != record_.words.count;
    if (runs.count == 0 || bad) return false;
    TAUT_ROLLED
    for (std::uint32_t i = t; i < runs.count; i += chunk_threads) {
      const DecodedRun<T> run = runs[i], before = i > 0 ? runs[i - 1] : DecodedRun<T>{};
      const std::uint32_t start = run.start();
      const bool good = start >= before.end() && run.end() > start && run.end() <= n_;
      if (good) group_.simt().atomic_add(&shared_.starts[start / 32], std::uint32_t{1} << start % 32);
      bad |= !good;
    }
    return !group_.any(bad);
  }

  // Computes this thread's values: those of runs, and multiples of the step elsewhere. Returns false if a
  // hold is not the integer at its place.
  TAUT_DEVICE bool put_runs(const std::int32_t (&q)[block_values], T (&x)[block_values]) {
    const std::uint32_t first = group_.thread() * block_values,
                        starts = shared_.starts[first / 32] >> first % 32 & 0xFF;
    std::uint32_t next = group_.scan(static_cast<std::uint32_t>(group_.simt().popcount(starts))).before;
    const auto step = static_cast<ComputedIn<T>>(frame_.step);
    DecodedRun<T> run = next > 0 ? record_.runs[next - 1] : DecodedRun<T>{};
    bool other = false;
    for (unsigned i = 0; i < block_values; ++i) {
      if ((starts >> i & 1) != 0) run = record_.runs[next++];
      const bool covered = first + i < run.end();
      other |= covered && q[i] != run.hold;
      x[i] = covered ? run.value : static_cast<T>(static_cast<ComputedIn<T>>(q[i]) * step);
    }
    return !group_.any(other);
  }

  TAUT_DEVICE void decode_exact(std::int64_t* chunk_integers) {
    if (record_.has(wide)) {
      decode_general<std::int64_t>(chunk_integers);
    } else {
      decode_general<std::int32_t>(chunk_integers);
    }
  }

  template <class Int>
  TAUT_DEVICE void decode_general(std::int64_t* chunk_integers) {
    Int q[block_values];
    integers(q);
    store_general(q, chunk_integers);
  }

  // Stores the values given by the integers and by the exact values of the record; `chunk_integers` is shared
  // memory for the integers of the chunk.
  template <class Int>
  TAUT_DEVICE void store_general(const Int (&q)[block_values], std::int64_t* chunk_integers) const {
    for (unsigned i = 0; i < block_values; ++i) chunk_integers[group_.thread() * block_values + i] = q[i];
    group_.simt().barrier();
    for (std::uint32_t i = group_.thread(); i < n_; i += chunk_threads) {
      const ExactPlace<T> place(record_, frame_.step, i, chunk_integers[i]);
      const T x = place.covered() ? place.value(group_.simt()) : multiple<T>(chunk_integers[i], frame_.step);
      output()[i] = combined(output()[i], x);
    }
  }

  ChunkThreads<Simt> group_;
  DecodeShared& shared_;
  const Job& job_;
  const OpenFrame& frame_;
  ParsedRecord<T> record_;
  std::uint32_t n_ = 0, chunk_ = 0;
};

template <class T>
struct DecodeKernel {
  using Job = DecodeJob<T>;
  using Shared = DecodeShared;
  static constexpr BlockShape shape{chunk_threads, resident_blocks};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkDecoder<T, Simt>(simt, shared, job, shared.frame).run();
  }
};

template <class T>
struct DecodeExactKernel {
  using Job = DecodeJob<T>;
  using Shared = DecodeExactShared;
  // One block on a multiprocessor is enough, because few chunks need this kernel.
  static constexpr BlockShape shape{chunk_threads, 1};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkDecoder<T, Simt>(simt, shared.decode, job, job.scratch->opened.total).run_exact(shared.q);
  }
};

}  // namespace taut::planes::cuda
