#include "dropin/fortran.hpp"

#include <taut/taut.h>

#ifdef OPEN_MPI
#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace taut::dropin {
namespace {

// As compilers spell the variable's name.
std::array<void*, 4> addresses(const char* const (&names)[4]) noexcept {
  std::array<void*, 4> found{};
  std::ranges::transform(names, found.begin(), [](const char* name) { return dlsym(RTLD_DEFAULT, name); });
  return found;
}

bool is_one_of(const std::array<void*, 4>& known, const void* address) noexcept {
  return address != nullptr && std::ranges::find(known, address) != known.end();
}

}  // namespace

void* c_buffer(void* address) noexcept {
  static const auto in_place = addresses(
      {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"});
  static const auto bottom =
      addresses({"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"});
  if (is_one_of(in_place, address)) return MPI_IN_PLACE;
  return is_one_of(bottom, address) ? MPI_BOTTOM : address;
}

}  // namespace taut::dropin

extern "C" {

int taut_dropin_MPI_Init(int* argc, char*** argv);
int taut_dropin_MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int taut_dropin_MPI_Finalize();
int taut_dropin_MPI_Pcontrol(int level, ...);

TAUT_API void taut_fortran_MPI_Init(MPI_Fint* ierror) { *ierror = taut_dropin_MPI_Init(nullptr, nullptr); }

TAUT_API void taut_fortran_MPI_Init_thread(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
  *ierror = taut_dropin_MPI_Init_thread(nullptr, nullptr, *required, provided);
}

TAUT_API void taut_fortran_MPI_Finalize(MPI_Fint* ierror) { *ierror = taut_dropin_MPI_Finalize(); }

TAUT_API void taut_fortran_MPI_Pcontrol(MPI_Fint* level) { taut_dropin_MPI_Pcontrol(*level); }

}  // extern "C"
#else
#include "dropin/gate.hpp"
#include "dropin/nonblocking.hpp"

using taut::dropin::call_fortran;

// The module mpi_f08 of MPICH begins, waits and ends below the names of C; `ierror` may be absent. Where it
// waits, MPICH 4.0.2 fails an assertion of its own now and then if a request is a generalized one.
extern "C" {

TAUT_API void taut_f08_MPI_Init(int* ierror) {
  taut::dropin::leave_nonblocking_to_mpi();
  call_fortran({"mpi_init_f08_"}, ierror);
  taut::dropin::meet_others();
}

TAUT_API void taut_f08_MPI_Init_thread(int* required, int* provided, int* ierror) {
  taut::dropin::leave_nonblocking_to_mpi();
  call_fortran({"mpi_init_thread_f08_"}, required, provided, ierror);
  taut::dropin::meet_others();
}

TAUT_API void taut_f08_MPI_Finalize(int* ierror) {
  taut::dropin::part();
  call_fortran({"mpi_finalize_f08_"}, ierror);
}

}  // extern "C"
#endif
