#include "communication/policy/plan/kernel_times.hpp"

#include <algorithm>
#include <span>

namespace taut {
namespace {

constexpr KernelTimes table[] = {
#include "communication/policy/plan/kernel_times.inc"
};

// Returns the rows of a card, which follow each other by descending ratio.
std::span<const KernelTimes> rows_of(std::string_view card) noexcept {
  const auto named = [&](const KernelTimes& row) { return card.find(row.card) != std::string_view::npos; };
  const KernelTimes* first = std::ranges::find_if(table, named);
  if (first == std::end(table)) first = table;
  const auto other = [&](const KernelTimes& row) { return std::string_view(row.card) != first->card; };
  return {first, std::find_if(first, std::end(table), other)};
}

KernelTime between(KernelTime a, KernelTime b, double t) noexcept {
  return {a.fixed + t * (b.fixed - a.fixed), a.a_byte + t * (b.a_byte - a.a_byte)};
}

}  // namespace

KernelTimes kernel_times(std::string_view card, double ratio) noexcept {
  const std::span<const KernelTimes> rows = rows_of(card);
  const auto below = std::ranges::find_if(rows, [&](const KernelTimes& row) { return row.ratio <= ratio; });
  if (below == rows.begin()) return rows.front();
  if (below == rows.end()) return rows.back();
  const KernelTimes &dense = *(below - 1), &sparse = *below;
  const double t = (1 / ratio - 1 / dense.ratio) / (1 / sparse.ratio - 1 / dense.ratio);
  KernelTimes times = dense;
  times.ratio = ratio;
  for (KernelTime KernelTimes::*const kernel :
       {&KernelTimes::encode, &KernelTimes::decode, &KernelTimes::decode_add, &KernelTimes::add,
        &KernelTimes::further_frame, &KernelTimes::accumulate})
    times.*kernel = between(dense.*kernel, sparse.*kernel, t);
  return times;
}

}  // namespace taut
