#include "comm/call_site.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace taut {
namespace {

std::string hexadecimal(std::uintptr_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%jx", static_cast<std::uintmax_t>(number));
  return text;
}

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

std::string call_site_name(const void* address) {
  if (address == nullptr) return "";
  Dl_info found{};
  if (dladdr(address, &found) == 0) return hexadecimal(number_of(address));
  const bool named = found.dli_sname != nullptr;
  const std::string_view path = named ? found.dli_sname : found.dli_fname;
  const void* const start = named ? found.dli_saddr : found.dli_fbase;
  return std::string(path.substr(named ? 0 : path.rfind('/') + 1)) + "+" +
         hexadecimal(number_of(address) - number_of(start));
}

bool is_call_site(const void* address, std::string_view wanted) {
  if (wanted.empty()) return true;
  Dl_info found{};
  if (address == nullptr || dladdr(address, &found) == 0) return false;
  const std::string_view file = found.dli_fname;
  const bool of_module = file.substr(file.rfind('/') + 1) == wanted;
  const bool of_function = found.dli_sname != nullptr && found.dli_sname == wanted;
  return of_module || of_function || call_site_name(address) == wanted;
}

}  // namespace taut
