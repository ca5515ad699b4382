#include "communication/comm/call_site.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <new>
#include <unordered_map>

namespace taut {
namespace {

std::string hexadecimal(std::uintptr_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%jx", static_cast<std::uintmax_t>(number));
  return text;
}

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Kind of the module that an address lies in: the program with its libraries, a library that hands calls on,
// or an extension of Python.
enum class Module : std::uint8_t { program, hands_on, python };

Module module_named(std::string_view name) noexcept {
  constexpr std::string_view extensions[] = {".cpython-", ".abi3.so"};
  constexpr std::string_view prefixes[] = {"libtaut", "libmpi", "libffi"};
  const auto is_in_name = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (std::ranges::any_of(extensions, is_in_name)) return Module::python;
  const auto begins_name = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return std::ranges::any_of(prefixes, begins_name) ? Module::hands_on : Module::program;
}

// Kinds of the modules of return addresses that were seen. Programs call from few places.
struct SeenAddresses {
  std::mutex mutex;
  std::unordered_map<const void*, Module> modules;
};

Module look_up_module(const void* address) noexcept {
  Dl_info found{};
  const bool known = dladdr(address, &found) != 0 && found.dli_fname != nullptr;
  return known ? module_named(base_name(found.dli_fname)) : Module::program;
}

Module module_of(const void* address) noexcept {
  constexpr std::size_t most = 65536;
  static auto* const seen = new SeenAddresses;  // outlives static destructors, as the program's calls may
  const std::lock_guard lock(seen->mutex);
  if (const auto known = seen->modules.find(address); known != seen->modules.end()) return known->second;
  const Module module = look_up_module(address);
  try {
    if (seen->modules.size() < most) seen->modules.emplace(address, module);
  } catch (const std::bad_alloc&) {  // the next call looks it up again
  }
  return module;
}

struct Walk {
  const void* from;  // return address at which the search begins
  bool begun = false;
  const void* found = nullptr;
};

_Unwind_Reason_Code visit(_Unwind_Context* frame, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  walk.begun |= address == walk.from;
  if (!walk.begun || module_of(address) == Module::hands_on) return _URC_NO_REASON;
  walk.found = address;
  return _URC_END_OF_STACK;
}

// Returns the return address of the nearest frame outside of libraries that hand calls on, from the call with
// this return address on.
const void* outside(const void* return_address) noexcept {
  Walk walk{return_address};
  _Unwind_Backtrace(visit, &walk);
  return walk.found != nullptr ? walk.found : return_address;
}

// Returns the folder of the file that contains the address.
std::string_view folder_of(const void* address) noexcept {
  Dl_info found{};
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) return {};
  const std::string_view path = found.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

std::string file_and_line(const PythonLine& line) {
  return std::string(base_name(line.file)) + ":" + std::to_string(line.line);
}

}  // namespace

const void* program_site(const void* return_address) noexcept {
  if (return_address == nullptr) return nullptr;
  const void* site = return_address;
  if (module_of(site) == Module::hands_on) site = outside(site);
  if (module_of(site) != Module::python) return site;
  const PythonLine* const line = current_python_line(folder_of(site));
  return line != nullptr ? line : site;
}

std::string call_site_name(const void* site) {
  if (site == nullptr) return "";
  if (const PythonLine* const line = python_line_at(site)) return file_and_line(*line);
  Dl_info found{};
  if (dladdr(site, &found) == 0) return hexadecimal(number_of(site));
  const bool named = found.dli_sname != nullptr;
  const void* const start = named ? found.dli_saddr : found.dli_fbase;
  return std::string(named ? found.dli_sname : base_name(found.dli_fname)) + "+" +
         hexadecimal(number_of(site) - number_of(start));
}

bool is_call_site(const void* site, std::string_view wanted) {
  if (wanted.empty()) return true;
  if (site == nullptr) return false;
  if (const PythonLine* const line = python_line_at(site))
    return base_name(line->file) == wanted || line->function == wanted || file_and_line(*line) == wanted;
  Dl_info found{};
  if (dladdr(site, &found) == 0) return false;
  const bool of_module = base_name(found.dli_fname) == wanted;
  const bool of_function = found.dli_sname != nullptr && found.dli_sname == wanted;
  return of_module || of_function || call_site_name(site) == wanted;
}

}  // namespace taut
