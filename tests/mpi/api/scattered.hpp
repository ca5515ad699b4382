// Values as elements of derived datatypes: consecutive, or with gaps that must stay untouched.
#pragma once

#include <algorithm>

#include "mpi/api/world.hpp"

namespace taut::test {

class Scattered {
 public:
  static constexpr int kinds = 5;

  // Copies `values`, which stay unchanged until collect(). The number of values in an element divides `unit`,
  // the unit of the counts of calls.
  Scattered(Values& values, int kind, std::size_t unit)
      : values_(values), size_(size_of(values.type())), type_(MPI_DATATYPE_NULL) {
    const MPI_Datatype base = mpi_type(values.type());
    const auto size = static_cast<MPI_Aint>(size_);
    if ((kind == 4 && unit % 3 != 0) || (kind != 4 && unit % 2 != 0)) kind = 1;
    switch (kind) {
      case 0: MPI_Type_contiguous(2, base, &type_), places_ = {0, 1}; break;
      case 1: MPI_Type_create_resized(base, 0, 2 * size, &type_), places_ = {0}; break;
      case 2: MPI_Type_vector(2, 1, 2, base, &type_), places_ = {0, 2}; break;
      case 3: {  // no gaps, but another order
        const int displacements[] = {1, 0};
        MPI_Type_create_indexed_block(2, 1, displacements, base, &type_), places_ = {1, 0};
        break;
      }
      default: {
        const int lengths[] = {1, 2}, displacements[] = {1, 4};
        MPI_Datatype inner;
        MPI_Type_indexed(2, lengths, displacements, base, &inner);
        MPI_Type_create_resized(inner, 0, 7 * size, &type_), places_ = {1, 4, 5};
        MPI_Type_free(&inner);
        break;
      }
    }
    MPI_Type_commit(&type_);
    MPI_Aint least = 0, extent = 0;
    MPI_Type_get_extent(type_, &least, &extent);
    extent_ = static_cast<std::size_t>(extent);
    memory_.assign((values.count() / places_.size() + 1) * extent_, std::byte{0xA5});
    for (std::size_t i = 0; i < values.count(); ++i) std::memcpy(place(memory_, i), value(i), size_);
    before_ = memory_;
  }
  Scattered(const Scattered&) = delete;
  ~Scattered() { MPI_Type_free(&type_); }

  MPI_Datatype type() const { return type_; }
  MPI_Count elements(std::size_t values) const { return static_cast<MPI_Count>(values / places_.size()); }
  bool has(const void* at) const {
    const auto* const first = static_cast<const std::byte*>(values_.slice().data);
    return first != nullptr && at >= first && at < first + values_.slice().bytes();
  }
  // Returns the address here of a value, the first of an element, whose address in the values' own memory is
  // `there`.
  void* at(const void* there) {
    const auto i = static_cast<std::size_t>(static_cast<const std::byte*>(there) -
                                            static_cast<const std::byte*>(values_.slice().data)) /
                   size_;
    return memory_.data() + i / places_.size() * extent_;
  }
  void* data() { return memory_.data(); }

  // Copies the values back. Returns false if a byte between them has changed.
  bool collect() {
    for (std::size_t i = 0; i < values_.count(); ++i) {
      std::memcpy(value(i), place(memory_, i), size_);
      std::memcpy(place(before_, i), value(i), size_);
    }
    return before_ == memory_;
  }

 private:
  std::byte* value(std::size_t i) { return static_cast<std::byte*>(values_.slice().data) + i * size_; }
  std::byte* place(std::vector<std::byte>& memory, std::size_t i) const {
    return memory.data() + i / places_.size() * extent_ + places_[i % places_.size()] * size_;
  }

  Values& values_;
  std::size_t size_, extent_ = 0;
  MPI_Datatype type_;
  std::vector<std::size_t> places_;  // positions of an element's values, in values
  std::vector<std::byte> memory_, before_;
};

// One rank's memory of a job that only moves values, as arguments of MPI's calls.
struct ScatteredJob {
  ScatteredJob(Job& job, int rank, int P, int kind_in, int kind_out)
      : in(job.inputs[static_cast<std::size_t>(rank)], kind_in, job.count() / static_cast<std::size_t>(P)),
        out(job.outputs[static_cast<std::size_t>(rank)], kind_out,
            job.count() / static_cast<std::size_t>(P)) {}
  bool collect() { return in.collect() && out.collect(); }

  Argument operator()(const void* at, MPI_Count values, MPI_Datatype type) const {
    for (Scattered* side : {&in, &out})
      if (side->has(at))
        return {side->at(at), side->elements(static_cast<std::size_t>(values)), side->type()};
    return InARow()(at, values, type);
  }

  mutable Scattered in, out;
};

}  // namespace taut::test
