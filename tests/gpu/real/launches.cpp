#include "gpu/real/launches.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace taut::test {
namespace {

std::atomic<unsigned long> launched{0};

// The part of CUPTI's interface that is called (cupti_callbacks.h, cupti_driver_cbid.h), found at run time.
using Callback = void (*)(void* of, int domain, std::uint32_t call, const int* site);
using Subscribe = int (*)(void** subscriber, Callback, void* of);
using Enable = int (*)(std::uint32_t enable, void* subscriber, int domain, std::uint32_t call);
constexpr int driver_api = 1, entered = 0;
// cuLaunchKernel and cuLaunchKernelEx, for the legacy default stream and for that of threads.
constexpr std::uint32_t launching_calls[] = {307, 442, 652, 653};

void count(void*, int, std::uint32_t call, const int* site) {
  if (*site == entered && std::ranges::count(launching_calls, call) != 0) ++launched;
}

bool subscribe() {
  if (std::getenv("TAUT_TEST_NO_CUPTI") != nullptr) return false;
  void* cupti = nullptr;
  for (const char* const name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
    if (cupti == nullptr) cupti = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (cupti == nullptr) return false;
  Subscribe begin = nullptr;
  Enable enable = nullptr;
  *reinterpret_cast<void**>(&begin) = dlsym(cupti, "cuptiSubscribe");
  *reinterpret_cast<void**>(&enable) = dlsym(cupti, "cuptiEnableCallback");
  void* subscriber = nullptr;
  if (begin == nullptr || enable == nullptr || begin(&subscriber, count, nullptr) != 0) return false;
  return std::ranges::all_of(
      launching_calls, [&](std::uint32_t call) { return enable(1, subscriber, driver_api, call) == 0; });
}

}  // namespace

bool counts_launches() {
  static const bool known = [] {
    const bool counts = subscribe();
    if (!counts) std::fprintf(stderr, "real GPU: kernels are not counted: there is no CUPTI\n");
    return counts;
  }();
  return known;
}

unsigned long launches() {
  counts_launches();
  return launched;
}

}  // namespace taut::test
