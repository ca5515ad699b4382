// Support for Fortran: conversion of arguments where Fortran passes special addresses, and calls of the next
// Fortran functions.
#pragma once

#include <mpi.h>

#include <initializer_list>
#include <vector>

#include "communication/dropin/next_symbol.hpp"
#include "communication/mpi/from_fortran.hpp"

namespace taut::dropin {

// Calls the next function of the first of these names that exists. All arguments are addresses.
template <class... Arguments>
void call_fortran(std::initializer_list<const char*> names, Arguments*... arguments) {
  for (const char* const name : names)
    if (void* const next = next_of(name))
      return reinterpret_cast<void (*)(Arguments * ...)>(next)(arguments...);
}

#ifndef MPI_ABI  // the standard ABI has no Fortran
static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of integers are handed on as they are");

// Stores the code in `ierror`. The module mpi_f08 passes null for an argument that the program leaves out.
inline void tell(MPI_Fint* ierror, int code) noexcept {
  if (ierror != nullptr) *ierror = code;
}

// ---- C arguments that stand for Fortran arguments; their destructors write the values back

struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;
};

class RequestAt : NotCopied {
 public:
  RequestAt(MPI_Fint* at, MPI_Request is) noexcept : at_(at), is_(is) {}
  ~RequestAt() { *at_ = PMPI_Request_c2f(is_); }
  operator MPI_Request*() noexcept { return &is_; }

 private:
  MPI_Fint* at_;
  MPI_Request is_;
};

class MessageAt : NotCopied {
 public:
  MessageAt(MPI_Fint* at, MPI_Message is) noexcept : at_(at), is_(is) {}
  ~MessageAt() { *at_ = PMPI_Message_c2f(is_); }
  operator MPI_Message*() noexcept { return &is_; }

 private:
  MPI_Fint* at_;
  MPI_Message is_;
};

class RequestsAt : NotCopied {
 public:
  RequestsAt(MPI_Fint* at, MPI_Fint count);
  ~RequestsAt();
  operator MPI_Request*() noexcept { return are_.data(); }

 private:
  MPI_Fint* at_;
  std::vector<MPI_Request> are_;
};

// One status, or an array of statuses. A status that the call does not set keeps its value.
class StatusesAt : NotCopied {
 public:
  explicit StatusesAt(MPI_Fint* at, MPI_Fint count = 1);
  ~StatusesAt();
  operator MPI_Status*() noexcept { return ignored_ ? MPI_STATUSES_IGNORE : are_.data(); }

 private:
  MPI_Fint* at_;
  bool ignored_;
  std::vector<MPI_Status> are_;
};

class LogicalAt : NotCopied {
 public:
  explicit LogicalAt(MPI_Fint* at) noexcept : at_(at) {}
  ~LogicalAt();
  operator int*() noexcept { return &is_; }

 private:
  MPI_Fint* at_;
  int is_ = 0;
};

// Index that counts from 1 in Fortran.
class IndexAt : NotCopied {
 public:
  explicit IndexAt(MPI_Fint* at) noexcept : at_(at) {}
  ~IndexAt() { *at_ = is_ == MPI_UNDEFINED ? is_ : is_ + 1; }
  operator int*() noexcept { return &is_; }

 private:
  MPI_Fint* at_;
  int is_ = MPI_UNDEFINED;
};

class IndicesAt : NotCopied {
 public:
  IndicesAt(MPI_Fint* at, const MPI_Fint* count) noexcept : at_(at), count_(count) {}
  ~IndicesAt() {
    for (MPI_Fint i = 0; i < *count_; ++i) ++at_[i];
  }
  operator int*() noexcept { return at_; }

 private:
  MPI_Fint* at_;
  const MPI_Fint* count_;  // may be MPI_UNDEFINED, which is negative
};
#endif

}  // namespace taut::dropin
