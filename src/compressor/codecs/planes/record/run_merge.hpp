// Merge of the runs of several chunks into the runs of their sum.
#pragma once

#include "compressor/codecs/planes/record/record.hpp"

namespace taut::planes {

// Operand of a sum of chunks: a record, or the values of a chunk of a stored frame.
template <class T>
struct ChunkOperand {
  const Record<T>* record;
  Predictor predictor;
  const std::byte* stored_values;  // the values of a stored frame; else null
  // Integers of a chunk whose planes hold residuals or, of a wide record, what is to be added to these; else
  // null.
  const std::int32_t* integers;
  const std::int64_t* predicted;

  std::size_t runs() const noexcept { return stored_values != nullptr ? 0 : record->run_count; }
  std::size_t layers() const noexcept { return stored_values != nullptr ? 1 : record->layer_count; }
  // Returns true if the planes hold differences of the integers by this predictor.
  bool has_differences_of(Predictor p) const noexcept {
    return predictor == p && integers == nullptr && predicted == nullptr;
  }
  bool is_wide() const noexcept { return stored_values == nullptr && record->header.has(wide); }
};

// Merges the runs of two records, both as wide as the result: the runs are copied unchanged.
template <class T, bool Wide>
std::byte* merge_two(const Record<T>& left, const Record<T>& right, std::byte* out) noexcept {
  constexpr std::size_t size = run_bytes<T>(Wide);
  const std::byte *a = left.runs, *b = right.runs;
  const std::byte *const a_end = a + left.run_count * size, *const b_end = b + right.run_count * size;
  while (a != a_end && b != b_end) {
    const Run<T> x = read_run<T>(a, Wide), y = read_run<T>(b, Wide);
    const bool second = y < x;  // no branch: the order is hard to predict
    std::memcpy(out, second ? b : a, size);
    out += size;
    // Often both records have runs at the same positions. If each has one run there, the other run is next.
    if (x.start_and_length == y.start_and_length && a + size != a_end && b + size != b_end &&
        read_run<T>(a + size, Wide).start_and_length != x.start_and_length &&
        read_run<T>(b + size, Wide).start_and_length != x.start_and_length) {
      std::memcpy(out, second ? a : b, size);
      out += size;
      a += size;
      b += size;
      continue;
    }
    b += second ? size : 0;
    a += second ? 0 : size;
  }
  const auto rest = static_cast<std::size_t>(a_end - a), more = static_cast<std::size_t>(b_end - b);
  std::memcpy(out, rest > 0 ? a : b, rest + more);
  return out + rest + more;
}

// Merges the runs of up to max_operands records in their order; returns the end of the result.
template <class T>
std::byte* merge_runs(std::span<const ChunkOperand<T>> operands, bool is_wide, std::byte* out) noexcept {
  const auto fits = [=](const ChunkOperand<T>& operand) {
    return operand.runs() > 0 && operand.is_wide() == is_wide;
  };
  if (operands.size() == 2 && fits(operands[0]) && fits(operands[1]))
    return is_wide ? merge_two<T, true>(*operands[0].record, *operands[1].record, out)
                   : merge_two<T, false>(*operands[0].record, *operands[1].record, out);

  struct Source {
    Runs<T> runs;
    std::size_t next;
    Run<T> run;
  };
  Source sources[max_operands];
  std::size_t n = 0;
  for (const ChunkOperand<T>& operand : operands) {
    if (operand.runs() == 0) continue;
    const Runs<T> runs = operand.record->run_list();
    sources[n++] = {runs, 1, runs[0]};
  }
  while (n > 0) {
    Source* first = sources;
    for (std::size_t k = 1; k < n; ++k)
      if (sources[k].run < first->run) first = sources + k;
    out = write_run(out, first->run, is_wide);
    if (first->next < first->runs.size()) {
      first->run = first->runs[first->next++];
    } else {
      *first = sources[--n];
    }
  }
  return out;
}

}  // namespace taut::planes
