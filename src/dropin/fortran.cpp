#include "dropin/fortran.hpp"

#include <taut/taut.h>

#ifndef MPI_ABI
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

namespace taut::dropin {
namespace {

template <std::size_t n>
using Spellings = std::array<const char*, n>;

template <std::size_t n>
std::array<void*, n> addresses(const Spellings<n>& names) noexcept {
  std::array<void*, n> found{};
  std::ranges::transform(names, found.begin(), [](const char* name) { return dlsym(RTLD_DEFAULT, name); });
  return found;
}

template <std::size_t n>
bool is_one_of(const std::array<void*, n>& known, const void* address) noexcept {
  return address != nullptr && std::ranges::find(known, address) != known.end();
}

#ifdef OPEN_MPI  // compilers' spellings of the variable's name
constexpr Spellings<4> status_ignore{"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore",
                                     "mpi_fortran_status_ignore__", "MPI_FORTRAN_STATUS_IGNORE"};
constexpr Spellings<4> statuses_ignore{"mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore",
                                       "mpi_fortran_statuses_ignore__", "MPI_FORTRAN_STATUSES_IGNORE"};
#else  // only the module mpi_f08 has these variables
constexpr Spellings<1> status_ignore{"MPIR_F08_MPI_STATUS_IGNORE_OBJ"};
constexpr Spellings<1> statuses_ignore{"MPIR_F08_MPI_STATUSES_IGNORE_OBJ"};
#endif

bool is_status_ignore(const void* address) noexcept {
  static const auto one = addresses(status_ignore);
  static const auto several = addresses(statuses_ignore);
  return is_one_of(one, address) || is_one_of(several, address);
}

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

RequestsAt::RequestsAt(MPI_Fint* at, MPI_Fint count) : at_(at), are_(positive(count)) {
  std::transform(at, at + are_.size(), are_.begin(), [](MPI_Fint one) { return PMPI_Request_f2c(one); });
}

RequestsAt::~RequestsAt() {
  std::ranges::transform(are_, at_, [](MPI_Request one) { return PMPI_Request_c2f(one); });
}

StatusesAt::StatusesAt(MPI_Fint* at, MPI_Fint count)
    : at_(at), ignored_(is_status_ignore(at)), are_(ignored_ ? 0 : positive(count)) {
  for (std::size_t i = 0; i < are_.size(); ++i) PMPI_Status_f2c(at + i * status_size, &are_[i]);
}

StatusesAt::~StatusesAt() {
  for (std::size_t i = 0; i < are_.size(); ++i) PMPI_Status_c2f(&are_[i], at_ + i * status_size);
}

LogicalAt::~LogicalAt() { *at_ = is_ != 0 ? true_value() : 0; }

#ifdef OPEN_MPI
void* c_buffer(void* address) noexcept {
  static const auto in_place = addresses<4>(
      {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"});
  static const auto bottom = addresses<4>(
      {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"});
  if (is_one_of(in_place, address)) return MPI_IN_PLACE;
  return is_one_of(bottom, address) ? MPI_BOTTOM : address;
}

TypesFrom::TypesFrom(const MPI_Fint* types, int n, bool lasts) : own_(positive(n)) {
  std::transform(types, types + own_.size(), own_.begin(), [](MPI_Fint one) { return PMPI_Type_f2c(one); });
  if (!lasts) return;
  static std::mutex mutex;
  static auto* const all = new std::set<std::vector<MPI_Datatype>>;
  const std::lock_guard lock(mutex);
  lasting_ = all->insert(std::move(own_)).first->data();
}
#endif

}  // namespace taut::dropin
#endif

#ifdef OPEN_MPI
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
#include "dropin/init_finalize.hpp"
#include "dropin/nonblocking.hpp"

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
