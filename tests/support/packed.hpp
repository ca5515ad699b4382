// Buffers as programs send them: records of numbers with integers packed among them, bit by bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace taut::test {

template <class T>
struct PackedBuffer {
  const char* like;  // program whose messages look like this
  std::vector<T> values;
  std::vector<bool> is_integer;

  void number(double x) {
    values.push_back(static_cast<T>(x));
    is_integer.push_back(false);
  }
  template <class Int>
  void integer(Int i) {
    static_assert(sizeof(Int) == sizeof(T));
    values.push_back(std::bit_cast<T>(i));
    is_integer.push_back(true);
  }
};

inline double coordinate(std::size_t i, int axis) {
  return 16.8 + 16.8 * std::sin(0.013 * static_cast<double>(i) + axis);
}

// Returns atoms: x, y, z, then tag, type and mask as int64 (a union in LAMMPS). Negative numbers mark some of
// them.
inline PackedBuffer<double> lammps(std::size_t atoms) {
  PackedBuffer<double> b{"LAMMPS", {}, {}};
  for (std::size_t i = 0; i < atoms; ++i) {
    for (int axis = 0; axis < 3; ++axis) b.number(coordinate(i, axis));
    b.integer(static_cast<std::int64_t>(i * 7 % 32000 + 1));
    b.integer(std::int64_t{1} + static_cast<std::int64_t>(i % 3));
    b.integer(i % 11 == 0 ? std::int64_t{-1} : std::int64_t{537395712});  // image flags
  }
  return b;
}

// Returns records of x, y, z and an index of 32 bits; -1 stands for none.
inline PackedBuffer<float> gromacs(std::size_t atoms) {
  PackedBuffer<float> b{"GROMACS", {}, {}};
  for (std::size_t i = 0; i < atoms; ++i) {
    for (int axis = 0; axis < 3; ++axis) b.number(coordinate(i, axis));
    b.integer(i % 13 == 0 ? std::int32_t{-1} : static_cast<std::int32_t>(i * 131 % 100'000'000));
  }
  return b;
}

// Returns records of position and weight, an identity of 39 bits beside the processor's number of 24 bits,
// and a pair of int32.
inline PackedBuffer<double> amrex(std::size_t particles) {
  PackedBuffer<double> b{"AMReX", {}, {}};
  for (std::size_t i = 0; i < particles; ++i) {
    for (int axis = 0; axis < 3; ++axis) b.number(coordinate(i, axis));
    b.number(1e-3);
    b.integer(std::uint64_t{1} << 63 | std::uint64_t{i + 1} << 24 | i % 64);
    const std::int32_t cell[] = {static_cast<std::int32_t>(i % 128) - 64,
                                 static_cast<std::int32_t>(i % 96) - 4};
    b.integer(std::bit_cast<std::int64_t>(cell));
  }
  return b;
}

template <class T>
bool same_bits_at(const std::vector<T>& a, const std::vector<T>& b, std::size_t i) {
  return std::memcmp(&a[i], &b[i], sizeof(T)) == 0;
}

// Number of a buffer's integers that differ in `values`, and greatest error of its numbers.
struct Damage {
  std::size_t integers = 0;
  double numbers = 0;
};
template <class T>
Damage damage(const PackedBuffer<T>& before, const std::vector<T>& values) {
  Damage found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (before.is_integer[i])
      found.integers += !same_bits_at(before.values, values, i);
    else
      found.numbers = std::max(found.numbers, std::abs(double(before.values[i]) - double(values[i])));
  }
  return found;
}

}  // namespace taut::test
