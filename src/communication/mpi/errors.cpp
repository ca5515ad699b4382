#include "communication/mpi/errors.hpp"

#include <taut/taut.h>

#include <array>
#include <mutex>

#include "compressor/base/guarded.hpp"

namespace taut::api {
namespace {

constexpr std::array statuses{
    Status::invalid_argument, Status::invalid_count, Status::invalid_type,        Status::invalid_policy,
    Status::buffer_too_small, Status::corrupt_frame, Status::unsupported_version, Status::frame_mismatch,
    Status::rank_mismatch,    Status::peer_failed,   Status::out_of_memory,       Status::transport_failed,
    Status::internal,         Status::device_failed};

// MPI error class of a status, and an error code in it whose text changes with each message.
struct Entry {
  int error_class = MPI_SUCCESS, code = MPI_SUCCESS;
};
std::array<Entry, statuses.size()> entries;
std::once_flag once;

// Adds all error classes at once, so that they have the same numbers on all ranks.
void add_entries() noexcept {
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    PMPI_Add_error_class(&entries[i].error_class);
    PMPI_Add_error_code(entries[i].error_class, &entries[i].code);
  }
}

void set_text(const Entry& entry, const char* message) noexcept {
  char text[MPI_MAX_ERROR_STRING] = "Taut: ";
  std::string_view(message).copy(text + 6, sizeof text - 7);
  PMPI_Add_error_string(entry.code, text);
}

}  // namespace

Status status_of(int code) noexcept {
  if (code == MPI_SUCCESS) return Status::ok;
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(code, &error_class);
  for (std::size_t i = 0; i < statuses.size(); ++i)
    if (entries[i].error_class == error_class) return statuses[i];
  return Status::transport_failed;
}

Failure failure_of(Status status, const char* message) noexcept {
  std::call_once(once, add_entries);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (statuses[i] != status) continue;
    set_text(entries[i], message != nullptr ? message : describe(status));
    return {entries[i].code};
  }
  return {MPI_ERR_INTERN};
}

Failure caught_failure() {
  const auto again = []() -> Failure {
    try {
      throw;
    } catch (const MpiError& error) {
      return {error.code()};
    }
  };
  return taut::attempt(again, failure_of);
}

int raise(MPI_Comm comm, Failure failure) {
  if (failure && !failure.raised && comm != MPI_COMM_NULL) PMPI_Comm_call_errhandler(comm, failure.code);
  return failure.code;
}

int raise(MPI_Comm comm, Status status, const char* message) {
  return raise(comm, failure_of(status, message));
}

}  // namespace taut::api

extern "C" int TAUT_Error_status(int mpi_error_code) {
  return static_cast<int>(taut::api::status_of(mpi_error_code));
}
