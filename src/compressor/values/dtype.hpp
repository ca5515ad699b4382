// Value types. Their numbers are stored in frames, so they are fixed and independent of any MPI.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "compressor/values/half.hpp"

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

// Value type of the C++ type T.
template <class T>
constexpr DType dtype_of = DType{};
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<f16> = DType::f16;
template <>
inline constexpr DType dtype_of<bf16> = DType::bf16;
template <>
inline constexpr DType dtype_of<std::complex<float>> = DType::c64;
template <>
inline constexpr DType dtype_of<std::complex<double>> = DType::c128;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::i8;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::u8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::i16;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::u16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::u32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::u64;

// Calls action.operator()<T>() with the C++ type of a component of `type`, which is a number.
template <class Action>
decltype(auto) with_component(DType type, Action action) {
  switch (component_of(type)) {
    case DType::f32: return action.template operator()<float>();
    case DType::f64: return action.template operator()<double>();
    case DType::f16: return action.template operator()<f16>();
    case DType::bf16: return action.template operator()<bf16>();
    case DType::i8: return action.template operator()<std::int8_t>();
    case DType::u8: return action.template operator()<std::uint8_t>();
    case DType::i16: return action.template operator()<std::int16_t>();
    case DType::u16: return action.template operator()<std::uint16_t>();
    case DType::i32: return action.template operator()<std::int32_t>();
    case DType::u32: return action.template operator()<std::uint32_t>();
    case DType::i64: return action.template operator()<std::int64_t>();
    default: return action.template operator()<std::uint64_t>();
  }
}

// Calls action.operator()<T>() with the C++ type that `type` stands for.
template <class Action>
decltype(auto) with_dtype(DType type, Action action) {
  if (type == DType::c64) return action.template operator()<std::complex<float>>();
  if (type == DType::c128) return action.template operator()<std::complex<double>>();
  return with_component(type, action);
}

}  // namespace taut
