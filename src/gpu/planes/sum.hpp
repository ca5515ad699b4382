// Adds up to 8 frames or slots without decoding them: differences are added block by block. Runs and layers
// of the records are added by sum_exact.hpp. Writes the same bytes as sum.cpp and general.cpp.
#pragma once

#include "gpu/planes/parse_header.hpp"
#include "gpu/planes/plane_sum.hpp"
#include "gpu/planes/record_reader.hpp"
#include "gpu/planes/record_writer.hpp"
#include "gpu/simt/sink.hpp"

namespace taut::planes::cuda {

template <class T>
struct SumJob {
  Source sources[max_sources];
  unsigned sources_count;
  std::uint64_t count;
  Sink sink;
  Scratch* scratch;
  ChunkWords* left;      // chunks for sum_exact.hpp; Control::left is their number
  std::uint32_t blocks;  // blocks of the kernel of sum_exact.hpp
};

// Properties of a chunk's records in all sources together.
struct Operands {
  bool good;            // the heads of all records are valid
  bool alike;           // all records have the predictor of the sum
  std::uint8_t flags;   // flags of all records, combined by or
  std::uint8_t stored;  // number of sources that are layers
};

template <class T>
struct SumShared {
  BlockGroupShared block_group;
  std::uint32_t chunk, at;
  Operands operands;
  RecordHead heads[max_sources];
  PlanesShared planes;
  union {
    std::int64_t sums[chunk_values];  // integers, before they are written; registers are scarce
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

// Takes a chunk and finds its record in each source. Called by the first warp; each lane handles one source.
template <class T, class Simt>
TAUT_DEVICE void find_records(const Simt& simt, const SumJob<T>& job, SumShared<T>& shared) {
  const unsigned k = simt.thread();
  const std::uint32_t chunk = simt.shuffle(k == 0 ? take_chunk(simt, job.sink) : 0u, 0);
  RecordHead head;  // head of a stored frame: that of a chunk of zeros
  bool good = true, alike = true, stored = false;
  if (chunk < job.sink.chunks && k < job.sources_count) {
    const OpenFrame& frame = job.scratch->opened[k];
    stored = frame.stored;
    alike = stored || frame.prediction.inner == job.scratch->total.prediction.inner;
    Words words;
    good = stored || (find_record(behind_lags(job.sources[k], frame), frame.record_words, job.sink.chunks,
                                  chunk, words) &&
                      read_head(words, frame.prediction, head));
    shared.heads[k] = head;
  }
  const Operands all{simt.ballot(!good) == 0, simt.ballot(!alike) == 0,
                     static_cast<std::uint8_t>(simt.either(head.flags)),
                     static_cast<std::uint8_t>(simt.population(simt.ballot(stored)))};
  if (k != 0) return;
  shared.chunk = chunk;
  shared.operands = all;
}

template <class T, class Simt>
class ChunkAdder {
 public:
  TAUT_DEVICE ChunkAdder(Simt simt, SumShared<T>& shared, const SumJob<T>& job)
      : group_(simt, shared.block_group), shared_(shared), job_(job), total_(job.scratch->total) {}

  TAUT_DEVICE void run() {
    if (total_.status != 0) return;
    if (group_.warp() == 0) find_records(group_.simt(), job_, shared_);
    group_.simt().barrier();
    const std::uint32_t chunk = shared_.chunk;
    if (!has_chunk(group_.simt(), job_.sink, chunk)) return;
    const std::uint64_t left = job_.count - std::uint64_t{chunk} * chunk_values;
    n_ = left < chunk_values ? static_cast<std::uint32_t>(left) : static_cast<std::uint32_t>(chunk_values);
    const Operands operands = shared_.operands;
    look_at(operands);
    const bool by_planes = operands.alike && (flags_ & wide) == 0;
    if (operands.good && (by_planes ? add_planes() : add_integers())) return;
    if (group_.thread() == 0) group_.simt().raise(&job_.sink.control->failure, code(Status::corrupt_frame));
    finish({}, false);
  }

 private:
  using Reader = RecordReader<T, Simt, RunsCheck::lengths>;  // does not look at addends

  TAUT_DEVICE const OpenFrame& opened(unsigned k) const { return job_.scratch->opened[k]; }

  // Determines the form of the sum.
  TAUT_DEVICE void look_at(const Operands& operands) {
    flags_ = operands.flags & (wide | large);
    if (!fits_narrow(flags_, total_.addends)) flags_ |= wide;
    layers_ = operands.stored;
  }

  // True if a sum that is all zeros has no record.
  TAUT_DEVICE bool may_be_empty() const {
    const Operands& all = shared_.operands;
    return all.stored == 0 && (all.flags & (wide | has_runs | has_layers)) == 0 && all.alike &&
           (flags_ & (wide | large)) == 0;
  }

  // Reads the records of sources k and k + 1; the second one is empty if source k is the last. Called by all
  // threads alike. Returns false if a record is malformed.
  TAUT_DEVICE bool read_two(unsigned k, RecordIn<T>& a, RecordIn<T>& b) {
    const bool alone = k + 1 == job_.sources_count;
    Reader of_a(group_, a, shared_.heads[k], n_, 0),
        of_b(group_, b, alone ? RecordHead{} : shared_.heads[k + 1], n_, 0);
    if (!cuda::read_two(group_, of_a, of_b)) return false;
    runs_ += a.runs.count + b.runs.count;
    layers_ += a.layers + b.layers;
    return true;
  }

  // Adds the records plane by plane. Returns false if some record is malformed.
  TAUT_DEVICE bool add_planes() {
    PlaneSum sum;
    std::uint32_t base = 0;
    unsigned coded = 0, only_width = 0;
    const auto add = [&](const RecordIn<T>& r) {
      base += static_cast<std::uint32_t>(r.base);
      if (!r.has(has_planes)) return;
      sum.add(group_.simt(), r.words, r.at, r.width);
      only_width = r.width;
      ++coded;
    };
    for (unsigned k = 0; k < job_.sources_count; k += 2) {
      RecordIn<T> a, b;
      if (!read_two(k, a, b)) return false;
      add(a);
      add(b);
    }
    const unsigned width = coded == 1 ? only_width : sum.width(group_.simt());
    write(sum, width, static_cast<std::int32_t>(base));
    return true;
  }

  // Adds the records integer by integer: for 64-bit integers, or for predictors that differ. Returns false if
  // some record is malformed.
  TAUT_DEVICE bool add_integers() {
    for (unsigned i = 0; i < block_values; ++i) sum(i) = 0;
    for (unsigned k = 0; k < job_.sources_count; ++k) {
      RecordIn<T> r;
      if (!Reader(group_, r, shared_.heads[k], n_, 0).read()) return false;
      runs_ += r.runs.count;
      layers_ += r.layers;
      if (r.has(wide)) {
        add_record<std::int64_t>(r, opened(k).prediction.inner);
      } else {
        add_record<std::int32_t>(r, opened(k).prediction.inner);
      }
    }
    if ((flags_ & wide) != 0) {
      write_sums<std::int64_t>();
    } else {
      write_sums<std::int32_t>();
    }
    return true;
  }

  // Returns the sum of value i of this thread. No other thread accesses it.
  TAUT_DEVICE std::int64_t& sum(unsigned i) { return shared_.sums[i * group_threads + group_.thread()]; }

  // Adds the integers of a record. Integers of a record that is not wide are known modulo 2^32.
  template <class Int>
  TAUT_DEVICE void add_record(const RecordIn<T>& r, Predictor predictor) {
    Int q[block_values];
    r.differences(group_.simt(), q);
    undo_difference(group_, predictor, static_cast<Int>(r.base), q);
    for (unsigned i = 0; i < block_values; ++i)
      sum(i) = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum(i)) +
                                         static_cast<std::uint64_t>(std::int64_t{q[i]}));
  }

  template <class Int>
  TAUT_DEVICE void write_sums() {
    Int q[block_values];
    for (unsigned i = 0; i < block_values; ++i) q[i] = static_cast<Int>(sum(i));
    const Int base = difference(group_, total_.prediction.inner, values_of(group_.thread(), n_), q);
    write(Differences<Int>{q}, width_of(group_.simt(), q), base);
  }

  template <class Block, class Int>
  TAUT_DEVICE void write(const Block& block, unsigned width, Int base) {
    const bool is_wide = (flags_ & wide) != 0;
    const auto blocks = static_cast<std::uint32_t>(blocks_of(n_));
    const PlanesPlan plan =
        plan_planes(group_, values_of(group_.thread(), n_) > 0 ? width : 0, blocks, is_wide);
    const bool empty = may_be_empty() && plan.sum == 0 && !group_.any(group_.thread() == 0 && base != 0);
    if (runs_ > 0) flags_ |= has_runs;
    if (layers_ > 0) flags_ |= has_layers;
    if (!empty) write_planes(group_, shared_.planes, plan, flags_, base, blocks, block, shared_.record);
    finish(plan, !empty);
  }

  TAUT_DEVICE void finish(const PlanesPlan& plan, bool any) {
    const std::uint32_t plane_bytes = any ? plan.bytes() : 0;
    const std::uint32_t each = run_bytes_of<T>((flags_ & wide) != 0);
    const std::uint64_t run_bytes = any && runs_ > 0 ? 4 + std::uint64_t{runs_} * each : 0;
    const std::uint64_t layer_bytes = any && layers_ > 0 ? 4 + std::uint64_t{layers_} * n_ * sizeof(T) : 0;
    const std::uint32_t words = saturated((plane_bytes + run_bytes + layer_bytes + 3) / 4);
    const Sink sink = behind_lags(job_.sink, total_);
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
      job_.left[group_.simt().add(&sink.control->left, 1)].left = {shared_.chunk,
                                                                   shared_.at + plane_bytes / 4};
  }

  BlockGroup<Simt> group_;
  SumShared<T>& shared_;
  const SumJob<T>& job_;
  const OpenFrame& total_;
  std::uint32_t n_ = 0, runs_ = 0, layers_ = 0;
  std::uint8_t flags_ = 0;
};

template <class T>
struct SumKernel {
  using Job = SumJob<T>;
  using Shared = SumShared<T>;
  static constexpr BlockShape shape{group_threads, 2};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkAdder<T, Simt>(simt, shared, job).run();
  }
};

}  // namespace taut::planes::cuda
