// The sum of up to 8 frames, or slots, without decoding: differences add up block by block. What else records
// hold, runs and layers, is left to sum_exact.hpp. The same bytes as sum.cpp and general.cpp.
#pragma once

#include "codecs/planes/cuda/open.hpp"
#include "codecs/planes/cuda/record_in.hpp"
#include "codecs/planes/cuda/record_out.hpp"
#include "codecs/planes/cuda/sink.hpp"

namespace taut::planes::cuda {

template <class T>
struct SumJob {
  Source sources[max_sources];
  unsigned sources_count;
  std::uint64_t count;
  Sink sink;
  Scratch* scratch;
  ChunkWords* left;      // to sum_exact.hpp; Control::left of them
  std::uint32_t blocks;  // there
};

template <class T>
struct SumShared {
  CrewShared crew;
  std::uint32_t chunk, at;
  PlanesShared planes;
  std::uint32_t record[max_plane_record<std::int64_t> / 4];
};

template <class T, class Simt>
class ChunkAdder {
 public:
  TAUT_DEVICE ChunkAdder(Simt simt, SumShared<T>& shared, const SumJob<T>& job)
      : crew_(simt, shared.crew), shared_(shared), job_(job), total_(job.scratch->total) {}

  TAUT_DEVICE void run() {
    if (total_.status != 0) return;
    chunk_ = take_chunk(crew_.simt(), job_.sink, shared_.chunk);
    const std::uint64_t left = job_.count - std::uint64_t{chunk_} * chunk_values;
    n_ = left < chunk_values ? static_cast<std::uint32_t>(left) : static_cast<std::uint32_t>(chunk_values);
    values_ = values_of(crew_.thread(), n_);
    look_at_flags();
    if (by_integers_ || (flags_ & wide) != 0) {
      add<std::int64_t>();
    } else {
      add<std::int32_t>();
    }
  }

 private:
  TAUT_DEVICE const OpenFrame& opened(unsigned k) const { return job_.scratch->opened[k]; }
  TAUT_DEVICE bool find(unsigned k, Words& words) const {
    return find_record(job_.sources[k], opened(k), job_.sink.chunks, chunk_, words);
  }

  // In what form the sum is made, by the flags of all records.
  TAUT_DEVICE void look_at_flags() {
    bool simple = true, alike = true;
    for (unsigned k = 0; k < job_.sources_count; ++k) {
      if (opened(k).stored) {
        simple = false;
        continue;
      }
      Words words;
      const bool good = find(k, words);
      const std::uint32_t flags = good ? words[0] & known_flags : 0;
      simple &= (flags & (wide | has_runs | has_layers)) == 0;
      alike &= opened(k).predictor == total_.predictor;
      flags_ |= static_cast<std::uint8_t>(flags & (wide | large));
    }
    const bool narrow = fits_narrow(flags_, total_.addends);
    if (!narrow) flags_ |= wide;
    by_integers_ = !alike;
    may_be_empty_ = simple && alike && narrow && flags_ == 0;
  }

  template <class Int>
  TAUT_DEVICE void add() {
    using Bits = std::make_unsigned_t<Int>;
    Int sum[block_values] = {}, base = 0;
    bool good = true;
    for (unsigned k = 0; k < job_.sources_count; ++k) {
      RecordIn<T> r;
      if (!read(k, r)) good = false;
      if (!good) continue;
      if constexpr (sizeof(Int) == 4) {
        add_differences<std::int32_t>(r, sum);
        base = static_cast<Int>(static_cast<Bits>(base) + static_cast<Bits>(r.base));
        only_width_ = r.coded() ? r.width : only_width_;
        coded_ += r.coded();
      } else if (r.is_wide()) {
        add_differences<std::int64_t>(r, sum, opened(k).predictor);
      } else {
        add_differences<std::int32_t>(r, sum, opened(k).predictor);
      }
    }
    if (!good) {
      if (crew_.thread() == 0) crew_.simt().raise(&job_.sink.control->failure, code(Status::corrupt_frame));
      return finish({}, false);
    }
    if constexpr (sizeof(Int) == 8) {
      if ((flags_ & wide) == 0) {
        std::int32_t narrow[block_values];
        for (unsigned i = 0; i < block_values; ++i) narrow[i] = static_cast<std::int32_t>(sum[i]);
        const std::int32_t first = difference(crew_, total_.predictor, values_, narrow);
        return write(narrow, first);
      }
      base = difference(crew_, total_.predictor, values_, sum);
    }
    write(sum, base);
  }

  // All threads alike; false: malformed.
  TAUT_DEVICE bool read(unsigned k, RecordIn<T>& r) {
    if (opened(k).stored) {
      ++layers_;
      return true;
    }
    Words words;
    RecordReader<T, Simt, RunsCheck::lengths> reader(crew_, r);
    const bool good = find(k, words) && reader.read(words, n_, opened(k).predictor);
    runs_ += r.runs.count;
    layers_ += r.layers;
    return good;
  }

  // sum <- sum + the differences of a record, or, with its predictor, its integers. Those of a narrow one are
  // there modulo 2^32.
  template <class Int, class Sum>
  TAUT_DEVICE void add_differences(const RecordIn<T>& r, Sum (&sum)[block_values],
                                   Predictor undo = Predictor::none) {
    using Bits = std::make_unsigned_t<Sum>;
    Int d[block_values];
    r.differences(crew_.simt(), d);
    undo_difference(crew_, undo, static_cast<Int>(r.base), d);
    for (unsigned i = 0; i < block_values; ++i)
      sum[i] = static_cast<Sum>(static_cast<Bits>(sum[i]) + static_cast<Bits>(static_cast<Sum>(d[i])));
  }

  template <class Int>
  TAUT_DEVICE void write(const Int (&d)[block_values], Int base) {
    const bool is_wide = (flags_ & wide) != 0;
    const unsigned found = values_ == 0 ? 0u : coded_ == 1 ? only_width_ : width_of(crew_.simt(), d);
    const auto blocks = static_cast<std::uint32_t>(blocks_of(n_));
    const PlanesPlan plan = plan_planes(crew_, found, blocks, is_wide);
    const bool empty = may_be_empty_ && plan.sum == 0 && !crew_.any(crew_.thread() == 0 && base != 0);
    if (runs_ > 0) flags_ |= has_runs;
    if (layers_ > 0) flags_ |= has_layers;
    if (!empty) write_planes(crew_, shared_.planes, plan, flags_, base, blocks, d, shared_.record);
    finish(plan, !empty);
  }

  TAUT_DEVICE void finish(const PlanesPlan& plan, bool any) {
    const std::uint32_t plane_bytes = any ? plan.bytes() : 0;
    const std::uint32_t each = run_bytes_of<T>((flags_ & wide) != 0);
    const std::uint32_t run_bytes = any && runs_ > 0 ? 4 + runs_ * each : 0;
    const std::uint64_t layer_bytes = any && layers_ > 0 ? 4 + std::uint64_t{layers_} * n_ * sizeof(T) : 0;
    const auto words = static_cast<std::uint32_t>((plane_bytes + run_bytes + layer_bytes + 3) / 4);
    if (crew_.thread() == 0) announce(crew_.simt(), job_.sink, chunk_, words);
    if (crew_.thread() < warp_lanes) {
      const std::uint32_t at = place(crew_.simt(), job_.sink, chunk_, words);
      if (crew_.thread() == 0) shared_.at = at;
    }
    crew_.simt().barrier();
    if (!fits(job_.sink, shared_.at, words)) {
      if (crew_.thread() == 0)
        crew_.simt().raise(&job_.sink.control->failure, code(Status::buffer_too_small));
      return;
    }
    std::uint32_t* const to = job_.sink.records + shared_.at;
    copy_words(crew_, shared_.record, plane_bytes / 4, to);
    if (crew_.thread() == 0 && words > plane_bytes / 4)
      job_.left[crew_.simt().add(&job_.sink.control->left, 1)].left = {chunk_, shared_.at + plane_bytes / 4};
  }

  Crew<Simt> crew_;
  SumShared<T>& shared_;
  const SumJob<T>& job_;
  const OpenFrame& total_;
  std::uint32_t chunk_ = 0, n_ = 0, runs_ = 0, layers_ = 0;
  unsigned values_ = 0, coded_ = 0, only_width_ = 0;
  std::uint8_t flags_ = 0;
  bool by_integers_ = false, may_be_empty_ = false;
};

template <class T>
struct SumKernel {
  using Job = SumJob<T>;
  using Shared = SumShared<T>;
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkAdder<T, Simt>(simt, shared, job).run();
  }
};

}  // namespace taut::planes::cuda
