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
inline void set_ierror(MPI_Fint* ierror, int code) noexcept {
  if (ierror != nullptr) *ierror = code;
}

// ---- C arguments that stand for Fortran arguments; their destructors write the values back

struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;
};

// One output argument. `to_fortran` converts its C value to the Fortran value.
template <class Value, auto to_fortran>
class OutputAt : NotCopied {
 public:
  explicit OutputAt(MPI_Fint* at, Value value = {}) noexcept : at_(at), value_(value) {}
  ~OutputAt() { *at_ = to_fortran(value_); }
  operator Value*() noexcept { return &value_; }

 private:
  MPI_Fint* at_;
  Value value_;
};

// Fortran's values of C's values. An index counts from 1 in Fortran.
inline MPI_Fint fortran_request(MPI_Request request) noexcept { return PMPI_Request_c2f(request); }
inline MPI_Fint fortran_message(MPI_Message message) noexcept { return PMPI_Message_c2f(message); }
inline MPI_Fint fortran_index(int index) noexcept { return index == MPI_UNDEFINED ? index : index + 1; }
MPI_Fint fortran_logical(int flag) noexcept;

using RequestAt = OutputAt<MPI_Request, fortran_request>;
using MessageAt = OutputAt<MPI_Message, fortran_message>;
using IndexAt = OutputAt<int, fortran_index>;
using LogicalAt = OutputAt<int, fortran_logical>;

class RequestsAt : NotCopied {
 public:
  RequestsAt(MPI_Fint* at, MPI_Fint count);
  ~RequestsAt();
  operator MPI_Request*() noexcept { return requests_.data(); }

 private:
  MPI_Fint* at_;
  std::vector<MPI_Request> requests_;
};

// One status, or an array of statuses. A status that the call does not set keeps its value.
class StatusesAt : NotCopied {
 public:
  explicit StatusesAt(MPI_Fint* at, MPI_Fint count = 1);
  ~StatusesAt();
  operator MPI_Status*() noexcept { return ignored_ ? MPI_STATUSES_IGNORE : statuses_.data(); }

 private:
  MPI_Fint* at_;
  bool ignored_;
  std::vector<MPI_Status> statuses_;
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
