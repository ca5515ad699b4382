// Merge of the runs of several chunks into the runs of their sum.
#pragma once

#include "compressor/codecs/planes/record/record.hpp"

namespace taut::planes {

// A chunk that takes part in a sum.
template <class T>
struct Part {
  const Record<T>* record;
  Predictor predictor;
  const std::byte* raw;  // the values of a stored frame; else null
  // Integers of a chunk whose planes hold residuals of lags; else null.
  const std::int32_t* integers;

  std::size_t runs() const noexcept { return raw != nullptr ? 0 : record->run_count; }
  std::size_t layers() const noexcept { return raw != nullptr ? 1 : record->layer_count; }
  bool planes_of(Predictor p) const noexcept { return predictor == p && integers == nullptr; }
  bool is_wide() const noexcept { return raw == nullptr && record->header.has(wide); }
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
    // Equal masks are common: then each record has one run at this place, and the run of the other record is
    // next.
    if (x.place == y.place && a + size != a_end && b + size != b_end &&
        read_run<T>(a + size, Wide).place != x.place && read_run<T>(b + size, Wide).place != x.place) {
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
std::byte* merge_runs(std::span<const Part<T>> parts, bool is_wide, std::byte* out) noexcept {
  const auto fits = [=](const Part<T>& part) { return part.runs() > 0 && part.is_wide() == is_wide; };
  if (parts.size() == 2 && fits(parts[0]) && fits(parts[1]))
    return is_wide ? merge_two<T, true>(*parts[0].record, *parts[1].record, out)
                   : merge_two<T, false>(*parts[0].record, *parts[1].record, out);

  struct Source {
    Runs<T> runs;
    std::size_t next;
    Run<T> run;
  };
  Source sources[max_operands];
  std::size_t n = 0;
  for (const Part<T>& part : parts) {
    if (part.runs() == 0) continue;
    const Runs<T> runs = part.record->run_list();
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
