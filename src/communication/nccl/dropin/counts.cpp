#include "communication/nccl/dropin/counts.hpp"

#include <atomic>
#include <cstdint>
#include <iterator>

namespace taut::nccl::dropin {
namespace {

// Names by Function, without destroy_operator, which is not counted.
constexpr const char* names[] = {"ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclBroadcast",
                                 "ncclBcast",     "ncclReduce",        "ncclAlltoAll",  "ncclGather",
                                 "ncclScatter",   "ncclSend",          "ncclRecv"};

struct Count {
  std::atomic<std::uint64_t> calls{0}, bytes{0};
};
Count counts[std::size(names)][2];

std::atomic<std::uint64_t> nonblocking{0};

}  // namespace

void count_nonblocking() noexcept { nonblocking.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t nonblocking_count() noexcept { return nonblocking; }

void count(Function function, Service service, std::size_t bytes) noexcept {
  if (function == Function::destroy_operator) return;
  Count& one = counts[static_cast<std::size_t>(function)][static_cast<std::size_t>(service)];
  one.calls.fetch_add(1, std::memory_order_relaxed);
  one.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

std::vector<NcclCalls> function_counts() {
  std::vector<NcclCalls> all;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const auto& [served, left] = counts[i];
    if (served.calls != 0 || left.calls != 0)
      all.push_back({names[i], served.calls, served.bytes, left.calls, left.bytes});
  }
  return all;
}

}  // namespace taut::nccl::dropin
