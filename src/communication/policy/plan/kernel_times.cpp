#include "communication/policy/plan/kernel_times.hpp"

#include <algorithm>
#include <span>

namespace taut {
namespace {

constexpr KernelTimes table[] = {
#include "communication/policy/plan/kernel_times.inc"
};

constexpr KernelTime KernelTimes::*all_kernels[] = {&KernelTimes::encode,        &KernelTimes::decode,
                                                    &KernelTimes::decode_add,    &KernelTimes::add,
                                                    &KernelTimes::further_frame, &KernelTimes::accumulate};

// Returns the rows of the card that begin at `first`. They follow each other by descending ratio.
std::span<const KernelTimes> rows_from(const KernelTimes* first) noexcept {
  const auto other = [&](const KernelTimes& row) { return std::string_view(row.card) != first->card; };
  return {first, std::find_if(first, std::end(table), other)};
}

// Returns the time at the part t of the way from a to b.
KernelTime interpolated(KernelTime a, KernelTime b, double t) noexcept {
  return {a.fixed + t * (b.fixed - a.fixed), a.per_byte + t * (b.per_byte - a.per_byte)};
}

// Returns the times of a card for values of a ratio, from its rows.
KernelTimes times_of(std::span<const KernelTimes> rows, double ratio) noexcept {
  const auto below = std::ranges::find_if(rows, [&](const KernelTimes& row) { return row.ratio <= ratio; });
  if (below == rows.begin()) return rows.front();
  if (below == rows.end()) return rows.back();
  const KernelTimes &high = *(below - 1), &low = *below;  // rows of the next higher and lower ratio
  const double t = (1 / ratio - 1 / high.ratio) / (1 / low.ratio - 1 / high.ratio);
  KernelTimes times = high;
  times.ratio = ratio;
  for (const auto kernel : all_kernels) times.*kernel = interpolated(high.*kernel, low.*kernel, t);
  return times;
}

}  // namespace

KernelTimes kernel_times(std::string_view card, double ratio) noexcept {
  KernelTimes longest{"", ratio, {}, {}, {}, {}, {}, {}};
  for (const KernelTimes* row = table; row != std::end(table);) {
    const std::span<const KernelTimes> rows = rows_from(row);
    const KernelTimes times = times_of(rows, ratio);
    if (card.find(row->card) != std::string_view::npos) return times;
    for (const auto kernel : all_kernels) {
      KernelTime& max = longest.*kernel;
      max = {std::max(max.fixed, (times.*kernel).fixed), std::max(max.per_byte, (times.*kernel).per_byte)};
    }
    row += rows.size();
  }
  return longest;
}

}  // namespace taut
