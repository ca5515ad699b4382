#include "compressor/base/device_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>

namespace taut {
namespace {

// Type of cuPointerGetAttributes (CUDA driver API, "Unified Addressing"). For an address that is not CUDA's
// the function succeeds and sets the attributes to 0.
using PointerGetAttributes = int (*)(unsigned count, const int* attributes, void** values,
                                     unsigned long long address);
constexpr int memory_type = 2, is_managed = 8;  // CU_POINTER_ATTRIBUTE_
constexpr unsigned type_device = 2;             // CU_MEMORYTYPE_DEVICE

// Returns the number of shared objects loaded so far in the life of this process.
unsigned long long loaded_objects() noexcept {
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* to) {
        *static_cast<unsigned long long*>(to) = object->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded;
}

// Finds the driver's function if the process has already loaded the driver. This library never loads the
// driver itself. Once found, the driver stays loaded, because its handle is never closed.
PointerGetAttributes find_driver() noexcept {
  PointerGetAttributes found = nullptr;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver != nullptr) *reinterpret_cast<void**>(&found) = dlsym(driver, "cuPointerGetAttributes");
  return found;
}

// Returns the driver's function, or null. Searches again only if a shared object was loaded since the last
// search.
PointerGetAttributes driver() noexcept {
  static std::atomic<PointerGetAttributes> known{nullptr};
  static std::atomic<unsigned long long> searched_objects{0};  // loaded_objects() at the last search
  if (const auto found = known.load(std::memory_order_relaxed)) return found;
  const unsigned long long now = loaded_objects();
  // Another thread may have found the function since.
  if (searched_objects.load(std::memory_order_acquire) == now) return known.load(std::memory_order_relaxed);
  const auto found = find_driver();
  if (found != nullptr) known.store(found, std::memory_order_relaxed);
  searched_objects.store(now, std::memory_order_release);
  return found;
}

}  // namespace

bool on_device(const void* address) noexcept {
  const auto get_attributes = address != nullptr ? driver() : nullptr;
  if (get_attributes == nullptr) return false;
  constexpr int asked[] = {memory_type, is_managed};
  unsigned type = 0;
  int managed = 0;
  void* answers[] = {&type, &managed};
  return get_attributes(2, asked, answers, reinterpret_cast<std::uintptr_t>(address)) == 0 &&
         type == type_device && managed == 0;
}

}  // namespace taut
