#include "compressor/hdf5/library.hpp"

#include <dlfcn.h>

namespace taut::hdf5 {
namespace {

void* open_library_of(const void* code) noexcept {
  Dl_info about{};
  if (dladdr(code, &about) == 0 || about.dli_fname == nullptr) return nullptr;
  return dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace

Library::Library(const void* caller) noexcept : handle_(open_library_of(caller)) {}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* Library::find(const char* name) const noexcept {
  return dlsym(handle_ != nullptr ? handle_ : RTLD_DEFAULT, name);
}

void Library::report(const char* message) const noexcept {
  const auto push = reinterpret_cast<PushError>(find("H5Epush2"));
  const auto* const error_class = static_cast<const Id*>(find("H5E_ERR_CLS_g"));
  const auto* const major = static_cast<const Id*>(find("H5E_PLINE_g"));
  const auto* const minor = static_cast<const Id*>(find("H5E_CALLBACK_g"));
  if (push == nullptr || error_class == nullptr || major == nullptr || minor == nullptr) return;
  constexpr Id current_stack = 0;  // H5E_DEFAULT
  push(current_stack, "libtaut_hdf5", "taut", 0, *error_class, *major, *minor, "taut: %s", message);
}

}  // namespace taut::hdf5
