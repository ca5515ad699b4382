#include "communication/mpi/from_fortran.hpp"

#ifndef MPI_ABI
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <string>

namespace taut::api {
namespace {

template <std::size_t n>
using Spellings = std::array<const char*, n>;

// Compilers' spellings of the variables' names. MPICH's variables are those of the module mpi_f08.
#ifdef OPEN_MPI
constexpr Spellings<4> in_place{"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                                "MPI_FORTRAN_IN_PLACE"};
constexpr Spellings<4> bottom{"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__",
                              "MPI_FORTRAN_BOTTOM"};
constexpr Spellings<4> status_ignore{"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore",
                                     "mpi_fortran_status_ignore__", "MPI_FORTRAN_STATUS_IGNORE"};
constexpr Spellings<4> statuses_ignore{"mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore",
                                       "mpi_fortran_statuses_ignore__", "MPI_FORTRAN_STATUSES_IGNORE"};
#else
constexpr Spellings<1> in_place{"MPIR_F08_MPI_IN_PLACE"};
constexpr Spellings<1> bottom{"MPIR_F08_MPI_BOTTOM"};
constexpr Spellings<1> status_ignore{"MPIR_F08_MPI_STATUS_IGNORE_OBJ"};
constexpr Spellings<1> statuses_ignore{"MPIR_F08_MPI_STATUSES_IGNORE_OBJ"};
#endif

int note_library(dl_phdr_info* library, std::size_t, void* paths) {
  const std::string path = library->dlpi_name != nullptr ? library->dlpi_name : "";
  if (!path.empty()) static_cast<std::vector<std::string>*>(paths)->push_back(path);
  return 0;
}

// Returns the addresses of a variable. Several libraries of Open MPI define it, and so does each library that
// is compiled with its mpif.h. Which one the program and MPI use depends on the order in which they were
// loaded, and a library may be private (RTLD_LOCAL).
template <std::size_t n>
std::vector<void*> addresses(const Spellings<n>& names) {
  std::vector<std::string> paths;
  dl_iterate_phdr(note_library, &paths);
  std::vector<void*> found;
  const auto note = [&](void* library) {
    for (const char* const name : names) found.push_back(dlsym(library, name));
  };
  note(RTLD_DEFAULT);
  for (const std::string& path : paths) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    note(library);
    dlclose(library);
  }
  return found;
}

bool is_one_of(const std::vector<void*>& known, const void* address) noexcept {
  return address != nullptr && std::ranges::find(known, address) != known.end();
}

}  // namespace

void* c_buffer(const void* address) noexcept {
  static const auto known_in_place = addresses(in_place);
  static const auto known_bottom = addresses(bottom);
  if (is_one_of(known_in_place, address)) return MPI_IN_PLACE;
  return is_one_of(known_bottom, address) ? MPI_BOTTOM : const_cast<void*>(address);
}

bool is_status_ignore(const void* address) noexcept {
  static const auto one = addresses(status_ignore);
  static const auto several = addresses(statuses_ignore);
  return is_one_of(one, address) || is_one_of(several, address);
}

TypesFrom::TypesFrom(const MPI_Fint* types, int n, bool lasts)
    : own_(static_cast<std::size_t>(std::max(n, 0))) {
  std::transform(types, types + own_.size(), own_.begin(), [](MPI_Fint one) { return PMPI_Type_f2c(one); });
  if (!lasts) return;
  static std::mutex mutex;
  static auto* const all = new std::set<std::vector<MPI_Datatype>>;
  const std::lock_guard lock(mutex);
  lasting_ = all->insert(std::move(own_)).first->data();
}

}  // namespace taut::api
#endif
