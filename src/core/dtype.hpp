// Value types. Their numbers are stored in frames, so they are fixed and independent of any MPI.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/half.hpp"

namespace taut {

enum class DType : std::uint8_t {
  f32 = 1,
  f64 = 2,
  f16 = 3,   // IEEE 754 binary16
  bf16 = 4,  // the upper half of a binary32
  c64 = 5,   // two f32: real and imaginary part
  c128 = 6,  // two f64
  i8 = 7,
  u8 = 8,
  i16 = 9,
  u16 = 10,
  i32 = 11,
  u32 = 12,
  i64 = 13,
  u64 = 14
};

enum class Family : std::uint8_t { real, complex, integer };

struct DTypeInfo {
  const char* name;
  std::uint8_t bytes;
  Family family;
  DType component;  // type of the parts of a complex value; else the type itself
};

inline constexpr DTypeInfo dtype_table[] = {
    {"f32", 4, Family::real, DType::f32},    {"f64", 8, Family::real, DType::f64},
    {"f16", 2, Family::real, DType::f16},    {"bf16", 2, Family::real, DType::bf16},
    {"c64", 8, Family::complex, DType::f32}, {"c128", 16, Family::complex, DType::f64},
    {"i8", 1, Family::integer, DType::i8},   {"u8", 1, Family::integer, DType::u8},
    {"i16", 2, Family::integer, DType::i16}, {"u16", 2, Family::integer, DType::u16},
    {"i32", 4, Family::integer, DType::i32}, {"u32", 4, Family::integer, DType::u32},
    {"i64", 8, Family::integer, DType::i64}, {"u64", 8, Family::integer, DType::u64},
};
inline constexpr std::uint8_t dtypes = sizeof dtype_table / sizeof *dtype_table;

constexpr bool is_dtype(std::uint8_t code) noexcept { return code >= 1 && code <= dtypes; }
constexpr const DTypeInfo& info_of(DType type) noexcept {
  return dtype_table[static_cast<std::uint8_t>(type) - 1];
}
constexpr std::size_t size_of(DType type) noexcept { return info_of(type).bytes; }
constexpr const char* name_of(DType type) noexcept { return info_of(type).name; }
constexpr DType component_of(DType type) noexcept { return info_of(type).component; }
constexpr std::size_t components_of(DType type) noexcept {
  return info_of(type).family == Family::complex ? 2 : 1;
}

// C++ types of the value types, by number.
template <class... Types>
struct TypeList {};
using ValueTypes =
    TypeList<float, double, f16, bf16, std::complex<float>, std::complex<double>, std::int8_t, std::uint8_t,
             std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;

// Returns the number of T in a list, from 1 on; 0 if the list lacks it.
template <class T, class... Types>
constexpr std::uint8_t number_in(TypeList<Types...>) noexcept {
  std::uint8_t number = 0, found = 0;
  ((++number, found = std::is_same_v<T, Types> ? number : found), ...);
  return found;
}

template <class T>
inline constexpr DType dtype_of{number_in<T>(ValueTypes{})};

// Calls action.operator()<T>() with the C++ type that `type` stands for.
template <class Action, class First, class... Rest>
decltype(auto) with_type_among(TypeList<First, Rest...>, DType type, Action& action) {
  if constexpr (sizeof...(Rest) != 0) {
    if (type != dtype_of<First>) return with_type_among(TypeList<Rest...>{}, type, action);
  }
  return action.template operator()<First>();
}
template <class Action>
decltype(auto) with_dtype(DType type, Action action) {
  return with_type_among(ValueTypes{}, type, action);
}

}  // namespace taut
