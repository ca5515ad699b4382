#include "compressor/gpu/device_services.hpp"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "compressor/base/status.hpp"

namespace taut::gpu {
namespace {

constexpr const char* library = "libtaut_cuda.so.0";

// Returns the folder of the shared object that contains this code, with a trailing slash; empty if the
// object's path is unknown or names no folder.
std::string own_folder() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &where) == 0 || where.dli_fname == nullptr) return "";
  const std::string path = where.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

// Opens the library beside libtaut, one or two folders above (MPI layers are in a folder of their own, in the
// Python package in lib/taut), or where the loader looks.
void* open_library() {
  if (const std::string folder = own_folder(); !folder.empty())
    for (const char* const place : {"", "../", "../../"})
      if (void* const found = dlopen((folder + place + library).c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  return dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

[[noreturn]] void refuse(const std::string& what, const std::string& why, const std::string& remedy) {
  throw Error(Status::invalid_argument,
              what + " is memory of a GPU, and " + why + ": " + remedy + ", or copy it to the host");
}

const DeviceServices& opened(const std::string& what) {
  void* const handle = open_library();
  if (handle == nullptr) {
    const char* const why = dlerror();
    refuse(what,
           std::string(library) + " could not be opened (" + (why != nullptr ? why : "unknown reason") + ")",
           "build Taut with -DTAUT_CUDA=ON and have that library beside libtaut or in LD_LIBRARY_PATH");
  }
  decltype(&TAUT_Cuda_services) services = nullptr;
  *reinterpret_cast<void**>(&services) = dlsym(handle, "TAUT_Cuda_services");
  if (services == nullptr || services()->version != device_services_version)
    refuse(what, std::string(library) + " is of another version", "build libtaut and libtaut_cuda together");
  const char* why = "";
  if (services()->available(&why) == 0)
    refuse(what, std::string("CUDA cannot be used (") + why + ")", "see to the driver");
  return *services();
}

}  // namespace

// A failed search is not cached: the program may correct the error, and the next call searches again.
const DeviceServices& device_services(std::string_view what) {
  static std::atomic<const DeviceServices*> known{nullptr};
  if (const auto* const services = known.load(std::memory_order_acquire)) return *services;
  const DeviceServices* const services = &opened(std::string(what));
  known.store(services, std::memory_order_release);
  return *services;
}

}  // namespace taut::gpu
