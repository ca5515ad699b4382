#include "communication/dropin/fortran.hpp"

#include <taut/taut.h>

#include "communication/dropin/init_finalize.hpp"

#ifndef MPI_ABI
#include <algorithm>

namespace taut::dropin {
namespace {

// Returns the value of .TRUE. in the Fortran compiler of this MPI; compilers differ in it.
MPI_Fint true_value() noexcept {
  static const MPI_Fint value = [] {
    MPI_Fint flag = 1, ierror = MPI_SUCCESS;
    call_fortran({"mpi_initialized_", "mpi_initialized", "mpi_initialized__", "MPI_INITIALIZED"}, &flag,
                 &ierror);
    return flag;
  }();
  return value;
}

constexpr std::size_t status_size = sizeof(MPI_Status) / sizeof(MPI_Fint);

std::size_t positive(MPI_Fint count) noexcept { return static_cast<std::size_t>(std::max(count, 0)); }

}  // namespace

RequestsAt::RequestsAt(MPI_Fint* at, MPI_Fint count) : at_(at), requests_(positive(count)) {
  std::transform(at, at + requests_.size(), requests_.begin(),
                 [](MPI_Fint one) { return PMPI_Request_f2c(one); });
}

RequestsAt::~RequestsAt() {
  std::ranges::transform(requests_, at_, [](MPI_Request one) { return PMPI_Request_c2f(one); });
}

StatusesAt::StatusesAt(MPI_Fint* at, MPI_Fint count)
    : at_(at), ignored_(api::is_status_ignore(at)), statuses_(ignored_ ? 0 : positive(count)) {
  for (std::size_t i = 0; i < statuses_.size(); ++i) PMPI_Status_f2c(at + i * status_size, &statuses_[i]);
}

StatusesAt::~StatusesAt() {
  for (std::size_t i = 0; i < statuses_.size(); ++i) PMPI_Status_c2f(&statuses_[i], at_ + i * status_size);
}

MPI_Fint fortran_logical(int flag) noexcept { return flag != 0 ? true_value() : 0; }

}  // namespace taut::dropin
#endif

#ifdef OPEN_MPI
extern "C" {

int taut_dropin_MPI_Init(int* argc, char*** argv);
int taut_dropin_MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int taut_dropin_MPI_Finalize();

TAUT_API void taut_fortran_MPI_Init(MPI_Fint* ierror) { *ierror = taut_dropin_MPI_Init(nullptr, nullptr); }

TAUT_API void taut_fortran_MPI_Init_thread(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
  *ierror = taut_dropin_MPI_Init_thread(nullptr, nullptr, *required, provided);
}

TAUT_API void taut_fortran_MPI_Finalize(MPI_Fint* ierror) { *ierror = taut_dropin_MPI_Finalize(); }

TAUT_API void taut_fortran_MPI_Pcontrol(MPI_Fint* level) {
  taut::dropin::control(*level);
  taut::dropin::next_as<int (*)(int, ...)>(taut::dropin::Wrapped::MPI_Pcontrol)(*level);
}

}  // extern "C"
#else
#include "communication/dropin/nonblocking.hpp"

using taut::dropin::call_fortran;

// MPICH's module mpi_f08 initialises and finalises MPI without a call of the C functions. `ierror` may be
// absent.
extern "C" {

TAUT_API void taut_f08_MPI_Init_thread(int* required, int* provided, int* ierror) {
  int level = taut::dropin::wants_nonblocking() ? MPI_THREAD_MULTIPLE : *required;
  call_fortran({"mpi_init_thread_f08_"}, &level, provided, ierror);
  taut::dropin::after_init();
}

TAUT_API void taut_f08_MPI_Init(int* ierror) {
  int provided = MPI_THREAD_SINGLE, level = MPI_THREAD_MULTIPLE;
  if (taut::dropin::wants_nonblocking()) return taut_f08_MPI_Init_thread(&level, &provided, ierror);
  call_fortran({"mpi_init_f08_"}, ierror);
  taut::dropin::after_init();
}

TAUT_API void taut_f08_MPI_Finalize(int* ierror) {
  taut::dropin::before_finalize();
  call_fortran({"mpi_finalize_f08_"}, ierror);
}

}  // extern "C"
#endif
