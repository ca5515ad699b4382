// Datatypes of floats in many shapes, and memory for them.
#pragma once

#include "mpi/api/floats.hpp"
#include "mpi/api/gapped_blocks.hpp"

namespace taut::test {

inline constexpr int shapes = 12, values_of_shapes = 12;  // a multiple of the values of each shape

// A datatype for one element of a shape; the destructor frees it.
class Shape {
 public:
  explicit Shape(int kind) {
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    int lengths[] = {1, 1, 2}, places[] = {3, 1, 6};
    MPI_Aint bytes[] = {-8, 4, 20};
    switch (kind % shapes) {
      case 0: MPI_Type_contiguous(1, MPI_FLOAT, &type_); break;
      case 1: MPI_Type_contiguous(4, MPI_FLOAT, &type_); break;
      case 2:
        MPI_Type_vector(2, 3, 3, MPI_FLOAT, &inner);
        MPI_Type_dup(inner, &type_);
        break;
      case 3: MPI_Type_vector(3, 2, 4, MPI_FLOAT, &type_); break;
      case 4:
        MPI_Type_contiguous(3, MPI_FLOAT, &inner);
        MPI_Type_create_resized(inner, 0, 20, &type_);
        break;
      case 5: MPI_Type_indexed(3, lengths, places, MPI_FLOAT, &type_); break;  // not in order
      case 6: {
        int blocks[] = {1, 2};
        MPI_Type_create_hindexed(2, blocks, bytes, MPI_FLOAT, &type_);  // a negative lower bound
        break;
      }
      case 7: {
        const int sizes[] = {4, 5}, parts[] = {2, 3}, starts[] = {1, 1};
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_FLOAT, &type_);
        break;
      }
      case 8: {  // a struct of one type that begins at a later member
        int blocks[] = {2, 1};
        MPI_Datatype types[] = {MPI_FLOAT, MPI_FLOAT};
        MPI_Type_create_struct(2, blocks, bytes + 1, types, &type_);
        break;
      }
      case 9: {  // no gaps, but another order
        int swapped[] = {1, 0};
        MPI_Type_create_indexed_block(2, 1, swapped, MPI_FLOAT, &type_);
        break;
      }
      case 10:
        MPI_Type_create_resized(MPI_FLOAT, 0, 8, &inner);
        MPI_Type_vector(2, 1, 2, inner, &type_);
        break;
      default:
        MPI_Type_contiguous(2, MPI_FLOAT, &inner);
        MPI_Type_create_hvector(2, 1, 8, inner, &type_);  // dense
        break;
    }
    if (inner != MPI_DATATYPE_NULL) MPI_Type_free(&inner);
    MPI_Type_commit(&type_);
    int size = 0;
    MPI_Type_size(type_, &size);
    MPI_Type_get_extent(type_, &least_, &extent_);
    values_ = size / 4;
  }
  Shape(Shape&& other) noexcept
      : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)),
        least_(other.least_),
        extent_(other.extent_),
        values_(other.values_) {}
  ~Shape() { free(); }
  void free() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  MPI_Datatype type() const { return type_; }
  int values() const { return values_; }
  std::size_t floats() const { return static_cast<std::size_t>(extent_) / 4; }  // extent of an element
  std::size_t before() const { return least_ < 0 ? static_cast<std::size_t>(-least_) / 4 : 0; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Aint least_ = 0, extent_ = 0;
  int values_ = 0;
};

// Memory for some elements of a shape, with some floats before and after them.
struct Area {
  std::vector<float> floats;
  std::size_t first;

  Area(const Shape& shape, std::size_t elements)
      : floats(shape.before() + (elements + 3) * shape.floats() + 8, untouched), first(shape.before() + 2) {}
  // Fills the elements with smooth numbers.
  Area(const Shape& shape, std::size_t elements, int salt) : Area(shape, elements) {
    floats = wave(floats.size(), salt);
  }

  float* at() { return floats.data() + first; }
};

// Returns blocks of elements; the number of values of a block is a multiple of values_of_shapes.
inline GappedBlocks shaped_blocks(int n, const Shape& shape, const std::function<int(int)>& values_of) {
  return {n, [&](int i) { return values_of(i) / shape.values(); }};
}

}  // namespace taut::test
