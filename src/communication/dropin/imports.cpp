#include "communication/dropin/program_endpoint.hpp"

#include <elf.h>
#include <link.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>

namespace taut::dropin {
namespace {

using namespace std::string_view_literals;

bool has(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

std::string lower(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Returns true for a name in C's spelling: "MPI_Recv", but not "MPI_RECV" or "mpi_recv_".
bool in_c(std::string_view name) noexcept {
  return name.size() > 5 && name.starts_with("MPI_") &&
         std::islower(static_cast<unsigned char>(name[5])) != 0;
}

// State of the search: the function found, and the properties of the process that decide if a name counts.
struct Search {
  std::string unserved;
  // True if the Fortran library receives by the C functions; for MPICH, in the module mpi_f08. The standard
  // ABI has several Fortran libraries, and one that is not known may receive in any way.
#ifdef MPI_ABI
  bool fortran_receives_in_c = false;
#else
  bool fortran_receives_in_c = true;
#endif
};

// Returns true if the drop-in sees calls of this Fortran function. MPICH's Fortran functions call the C
// functions, except for functions without a buffer in the module mpi_f08, which the drop-in wraps separately.
bool in_fortran([[maybe_unused]] std::string_view name, [[maybe_unused]] const Search& search) noexcept {
#if defined(OPEN_MPI)
  return true;
#elif defined(MPI_ABI)
  return search.fortran_receives_in_c && !has(name, "_f08");
#else
  return search.fortran_receives_in_c || !has(name, "_f08");
#endif
}

bool is_unserved(std::string_view name, const Search& search) {
  const std::string text = lower(name);
  const bool called = has(text, "recv") || has(text, "probe") || has(text, "_wait") || has(text, "pi_test");
  return called && (text.starts_with("pmpi_") ||
                    (text.starts_with("mpi_") && !in_c(name) && !in_fortran(text, search)));
}

struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::size_t n = 0;  // number of leading symbols that include all imports
};

Tables tables_of(const dl_phdr_info& object) {
  Tables found;
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // glibc has turned these offsets into addresses, but not in the kernel's object.
    const auto at =
        entry->d_un.d_ptr < object.dlpi_addr ? entry->d_un.d_ptr + object.dlpi_addr : entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) found.symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) found.names = reinterpret_cast<const char*>(at);
    // The GNU hash table covers the symbols defined in the object, which come last.
    if (entry->d_tag == DT_GNU_HASH)
      found.n = std::max<std::size_t>(found.n, reinterpret_cast<const std::uint32_t*>(at)[1]);
    if (entry->d_tag == DT_HASH)
      found.n = std::max<std::size_t>(found.n, reinterpret_cast<const std::uint32_t*>(at)[1]);
  }
  return found;
}

std::string_view file_of(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

// Returns true for MPI's libraries and components, and for Taut's.
bool is_of_mpi(std::string_view path) noexcept {
  constexpr std::array parts{"libtaut_"sv,      "mca_"sv,          "libmpi.so"sv,   "libmpich.so"sv,
                             "libmpi_abi.so"sv, "libmpichfort."sv, "libmpifort."sv, "libmpifort_abi."sv,
                             "libmpi_mpifh"sv,  "libmpi_usempi"sv};
  return std::ranges::any_of(parts, [&](std::string_view part) { return file_of(path).starts_with(part); });
}

// Returns the first imported name that `wanted` accepts, or "" if there is none.
template <class Wanted>
const char* find_import(const dl_phdr_info& object, Wanted wanted) {
  const Tables tables = tables_of(object);
  if (tables.symbols == nullptr || tables.names == nullptr) return "";
  for (std::size_t i = 1; i < tables.n; ++i) {
    const ElfW(Sym)& symbol = tables.symbols[i];
    const char* const name = tables.names + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF && wanted(name)) return name;
  }
  return "";
}

int look_at_fortran(dl_phdr_info* object, std::size_t, void* result) {
  const std::string_view file = file_of(object->dlpi_name);
  if (!file.starts_with("libmpichfort.") && !file.starts_with("libmpifort.") &&
      !file.starts_with("libmpifort_abi."))
    return 0;
  const auto imports = [&](std::string_view wanted) {
    return *find_import(*object, [&](std::string_view name) { return name == wanted; }) != '\0';
  };
#ifdef MPI_ABI  // Intel MPI's library has both, PMPI_Recv for pmpi_recv_
  static_cast<Search*>(result)->fortran_receives_in_c = imports("MPI_Recv");
#else
  static_cast<Search*>(result)->fortran_receives_in_c = !imports("PMPI_Recv");
#endif
  return 0;
}

int look(dl_phdr_info* object, std::size_t, void* result) {
  auto& search = *static_cast<Search*>(result);
  if (is_of_mpi(object->dlpi_name) || has(object->dlpi_name, "linux-vdso")) return 0;
  search.unserved = find_import(*object, [&](const char* name) { return is_unserved(name, search); });
  return !search.unserved.empty();
}

}  // namespace

std::string unserved_receive() {
  Search search;
  dl_iterate_phdr(look_at_fortran, &search);
  dl_iterate_phdr(look, &search);
  return search.unserved;
}

}  // namespace taut::dropin
