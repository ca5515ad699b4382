// Blocks of floats, each with a datatype of its own shape, as arguments of the calls that take a datatype for
// each block.
#pragma once

#include "mpi/api/shapes.hpp"

namespace taut::test {

class TypedArea {
 public:
  // Block i has values_of(i) values (a multiple of values_of_shapes) in the shape first_shape + 5 i. Memory
  // around the values is untouched. `salt`: begins a smooth row of values.
  TypedArea(int blocks, int first_shape, const std::function<int(int)>& values_of, int salt = -1) {
    std::size_t next = 2;
    for (int i = 0; i < blocks; ++i) {
      const Shape& shape = shapes_.emplace_back(first_shape + 5 * i);
      const int elements = values_of(i) / shape.values();
      counts.push_back(elements);
      int_counts.push_back(elements);
      displacements.push_back(static_cast<MPI_Aint>(4 * (next + shape.before())));
      int_displacements.push_back(static_cast<int>(displacements.back()));
      types.push_back(elements == 0 && i % 2 == 0 ? MPI_CHAR : shape.type());  // does not matter
      values.push_back(values_of(i));
      next += shape.before() + (static_cast<std::size_t>(elements) + 3) * shape.floats() + 8;
    }
    floats = salt >= 0 ? wave(next, salt) : std::vector<float>(next, untouched);
  }

  void* at() { return floats.data(); }
  void free_types() {
    for (Shape& shape : shapes_) shape.free();
  }

  // Returns the values of all blocks, packed; unpack() is the inverse, for the values from `first` on.
  std::vector<float> packed() const {
    std::vector<float> all;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      std::vector<float> block(static_cast<std::size_t>(values[i]) + 1);
      int position = 0;
      MPI_Pack(address(i), int_counts[i], shapes_[i].type(), block.data(), values[i] * 4, &position,
               MPI_COMM_SELF);
      all.insert(all.end(), block.begin(), block.end() - 1);
    }
    return all;
  }
  void unpack(std::size_t i, const float* from) {
    int position = 0;
    MPI_Unpack(from, values[i] * 4, &position, const_cast<char*>(address(i)), int_counts[i],
               shapes_[i].type(), MPI_COMM_SELF);
  }

  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements;
  std::vector<int> int_counts, int_displacements, values;
  std::vector<MPI_Datatype> types;
  std::vector<float> floats;

 private:
  const char* address(std::size_t i) const {
    return reinterpret_cast<const char*>(floats.data()) + displacements[i];
  }

  std::vector<Shape> shapes_;
};

// Compares results: within `bound`, and the same bits where nothing is received.
inline void expect_alike(const TypedArea& got, const TypedArea& want, double bound) {
  expect_alike(got.floats, want.floats, bound);
}

}  // namespace taut::test
