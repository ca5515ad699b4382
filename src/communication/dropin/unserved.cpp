#include "communication/dropin/unserved.hpp"

#include <atomic>

#include "communication/api/state/finalize_reports.hpp"

namespace taut::dropin {
namespace {

std::array<std::atomic<std::uint64_t>, std::size(wrapped_names)> calls{};

std::vector<UnservedCalls> counted() {
  std::vector<UnservedCalls> all;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (calls[i] != 0) all.push_back({wrapped_names[i], calls[i]});
  return all;
}

}  // namespace

void count_unserved(Wrapped function) noexcept {
  calls[static_cast<std::size_t>(function)].fetch_add(1, std::memory_order_relaxed);
}

void begin_counting_unserved() noexcept { api::tell_unserved(counted); }

}  // namespace taut::dropin
