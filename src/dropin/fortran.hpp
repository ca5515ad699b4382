// Calls of Fortran: what it passes where C has special addresses, and its next functions.
#pragma once

#include <mpi.h>

#include <initializer_list>
#include <vector>

#include "dropin/next_symbol.hpp"

namespace taut::dropin {

// Calls the next function of the first of these names that there is. Arguments are addresses.
template <class... Arguments>
void call_fortran(std::initializer_list<const char*> names, Arguments*... arguments) noexcept {
  for (const char* const name : names)
    if (void* const next = next_of(name))
      return reinterpret_cast<void (*)(Arguments * ...)>(next)(arguments...);
}

#ifndef MPI_ABI  // which knows no Fortran
static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of integers are handed on as they are");

#ifdef OPEN_MPI
// The buffer that C passes for one of Fortran, whose special addresses are those of variables in common
// blocks.
void* c_buffer(void* address) noexcept;
#endif

// Where Fortran is told the code; the module mpi_f08 passes null for what the program leaves out.
inline void tell(MPI_Fint* ierror, int code) noexcept {
  if (ierror != nullptr) *ierror = code;
}

// ---- Arguments of C for those of Fortran, which get their values at the end

class RequestAt {
 public:
  RequestAt(MPI_Fint* at, MPI_Request is) noexcept : at_(at), is_(is) {}
  ~RequestAt() { *at_ = PMPI_Request_c2f(is_); }
  RequestAt(const RequestAt&) = delete;
  RequestAt& operator=(const RequestAt&) = delete;
  operator MPI_Request*() noexcept { return &is_; }

 private:
  MPI_Fint* at_;
  MPI_Request is_;
};

class RequestsAt {
 public:
  RequestsAt(MPI_Fint* at, MPI_Fint count);
  ~RequestsAt();
  RequestsAt(const RequestsAt&) = delete;
  RequestsAt& operator=(const RequestsAt&) = delete;
  operator MPI_Request*() noexcept { return are_.data(); }

 private:
  MPI_Fint* at_;
  std::vector<MPI_Request> are_;
};

class MessageAt {
 public:
  MessageAt(MPI_Fint* at, MPI_Message is) noexcept : at_(at), is_(is) {}
  ~MessageAt() { *at_ = PMPI_Message_c2f(is_); }
  MessageAt(const MessageAt&) = delete;
  MessageAt& operator=(const MessageAt&) = delete;
  operator MPI_Message*() noexcept { return &is_; }

 private:
  MPI_Fint* at_;
  MPI_Message is_;
};

// One status, or an array of them. What a call leaves alone stays as it was.
class StatusesAt {
 public:
  explicit StatusesAt(MPI_Fint* at, MPI_Fint count = 1);
  ~StatusesAt();
  StatusesAt(const StatusesAt&) = delete;
  StatusesAt& operator=(const StatusesAt&) = delete;
  operator MPI_Status*() noexcept { return ignored_ ? MPI_STATUSES_IGNORE : are_.data(); }

 private:
  MPI_Fint* at_;
  bool ignored_;
  std::vector<MPI_Status> are_;
};

class LogicalAt {
 public:
  explicit LogicalAt(MPI_Fint* at) noexcept : at_(at) {}
  ~LogicalAt();
  LogicalAt(const LogicalAt&) = delete;
  LogicalAt& operator=(const LogicalAt&) = delete;
  operator int*() noexcept { return &is_; }

 private:
  MPI_Fint* at_;
  int is_ = 0;
};

// From 1 on.
class IndexAt {
 public:
  explicit IndexAt(MPI_Fint* at) noexcept : at_(at) {}
  ~IndexAt() { *at_ = is_ == MPI_UNDEFINED ? is_ : is_ + 1; }
  IndexAt(const IndexAt&) = delete;
  IndexAt& operator=(const IndexAt&) = delete;
  operator int*() noexcept { return &is_; }

 private:
  MPI_Fint* at_;
  int is_ = MPI_UNDEFINED;
};

class IndicesAt {
 public:
  IndicesAt(MPI_Fint* at, const MPI_Fint* count) noexcept : at_(at), count_(count) {}
  ~IndicesAt() {
    for (MPI_Fint i = 0; i < *count_; ++i) ++at_[i];
  }
  IndicesAt(const IndicesAt&) = delete;
  IndicesAt& operator=(const IndicesAt&) = delete;
  operator int*() noexcept { return at_; }

 private:
  MPI_Fint* at_;
  const MPI_Fint* count_;  // MPI_UNDEFINED is negative
};
#endif

}  // namespace taut::dropin
