// What is handed to MPI as a message: memory, and a datatype that is freed with it.
#pragma once

#include <mpi.h>

#include <utility>

#include "api/plain.hpp"
#include "core/slice.hpp"

namespace taut::api {

class Wire {
 public:
  Wire() = default;
  Wire(const void* at, MPI_Count count, MPI_Datatype type) noexcept  // that the user knows
      : at_(const_cast<void*>(at)), count_(plain::count(count)), type_(type) {}
  Wire(Wire&& other) noexcept { swap(other); }
  Wire& operator=(Wire&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Wire() {
    if (owned_) PMPI_Type_free(&type_);
  }

  // `bytes` of memory, any number. Throws Error, as do the next two.
  static Wire of(const void* at, std::size_t bytes);

  // `head`, then `count` elements as they lie at `at`: one message, none of it copied by us.
  static Wire joined(ConstBytes head, const void* at, MPI_Count count, MPI_Datatype type);

  // The same with values that lie together. As bytes, so that a message may end anywhere: MPICH takes none
  // that ends within a number.
  static Wire joined(ConstBytes head, const void* at, std::size_t bytes);

  void* at() const noexcept { return at_; }
  plain::Count count() const noexcept { return count_; }
  MPI_Datatype type() const noexcept { return type_; }

 private:
  class Pieces;

  void swap(Wire& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(count_, other.count_);
    std::swap(type_, other.type_);
    std::swap(owned_, other.owned_);
  }

  void* at_ = nullptr;
  plain::Count count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  bool owned_ = false;
};

// Bytes of `count` elements; less than 0: the arguments are for MPI to complain about.
MPI_Count bytes_of(MPI_Count count, MPI_Datatype type) noexcept;

// Bytes of a message that has come, or is there.
std::size_t bytes_of(const MPI_Status& status) noexcept;
void set_bytes(MPI_Status& status, std::size_t bytes) noexcept;

}  // namespace taut::api
