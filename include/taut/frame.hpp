// frame.hpp -- the codec calls of taut.h for C++17: arrays as compressed bytes; exceptions instead of codes.
//
// An array is any object that std::data and std::size accept: std::vector, std::array, std::span, a view of a
// field. Its values are floating-point numbers, complex numbers or integers. taut.h documents what the calls
// do and promise. Define TAUT_NO_MPI before including this file in a program without MPI.
#ifndef TAUT_FRAME_HPP
#define TAUT_FRAME_HPP

#include <taut/taut.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace taut {
inline namespace cxx {  // keeps these names apart from the names in the library itself

// Error of a call of taut.h: an enum TAUT_Status, with the reason and the remedy in words.
class Error : public std::runtime_error {
 public:
  Error(int status, const std::string& text) : std::runtime_error(text), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

// Type of an array's values; ill-formed if `Array` is not an array.
template <class Array>
using Value = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(std::declval<Array&>()))>>;

// Returns the number of the type T in frames.
template <class T>
constexpr TAUT_Type type_of() noexcept {
  if constexpr (std::is_same_v<T, float>)
    return TAUT_FLOAT32;
  else if constexpr (std::is_same_v<T, double>)
    return TAUT_FLOAT64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return TAUT_COMPLEX64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return TAUT_COMPLEX128;
  else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "no type of values that Taut codes");
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return is_signed ? TAUT_INT8 : TAUT_UINT8;
    else if constexpr (sizeof(T) == 2)
      return is_signed ? TAUT_INT16 : TAUT_UINT16;
    else if constexpr (sizeof(T) == 4)
      return is_signed ? TAUT_INT32 : TAUT_UINT32;
    else
      return is_signed ? TAUT_INT64 : TAUT_UINT64;
  }
}
template <class Array>
inline constexpr TAUT_Type type_of_values = type_of<Value<Array>>();

// ---- Frames: arrays as compressed bytes

using Frame = std::vector<std::byte>;

namespace detail {
inline void check(int status) {
  if (status != TAUT_SUCCESS) throw Error(status, TAUT_Last_error());
}

// Returns the room for a frame that is computed from frames of so many bytes. These limit it, whatever number
// of addends their headers name: the exact values in them at most double, and the integers are added up.
inline std::size_t room_for(const TAUT_Frame_info& of, unsigned addends, std::size_t bytes) {
  const auto type = static_cast<TAUT_Type>(of.type);
  const auto count = static_cast<std::size_t>(of.count);
  return (std::min)(TAUT_Max_bytes(type, count, addends), 2 * bytes + TAUT_Max_bytes(type, count, 2));
}

// Returns the frame that `write` writes into that much room.
template <class Write>
Frame written(std::size_t room, Write write) {
  Frame frame(room);
  std::size_t bytes = 0;
  check(write(frame.data(), frame.size(), &bytes));
  frame.resize(bytes);
  return frame;
}
}  // namespace detail

// Encodes an array. `coding` is as in TAUT_Encode: "abs:1e-3", "lossless,codec=mpc".
template <class Array>
Frame encode(const Array& values, const std::string& coding) {
  constexpr TAUT_Type type = type_of_values<const Array>;
  const std::size_t most = TAUT_Max_bytes(type, std::size(values), 1);
  return detail::written(most, [&](void* frame, std::size_t room, std::size_t* bytes) {
    return TAUT_Encode(std::data(values), std::size(values), type, coding.c_str(), frame, room, bytes);
  });
}

// Encodes a field of these extents, slowest first; their product is the number of values.
template <class Array>
Frame encode(const Array& values, const std::vector<std::size_t>& extents, const std::string& coding) {
  constexpr TAUT_Type type = type_of_values<const Array>;
  std::size_t count = 1;
  for (const std::size_t extent : extents) count *= extent;
  if (count != std::size(values))
    throw Error(TAUT_ERR_COUNT, "extents: their product is not the number of values");
  return detail::written(TAUT_Max_bytes(type, count, 1),
                         [&](void* frame, std::size_t room, std::size_t* bytes) {
                           return TAUT_Encode_nd(std::data(values), static_cast<int>(extents.size()),
                                                 extents.data(), type, coding.c_str(), frame, room, bytes);
                         });
}

namespace detail {
// Returns pointers to the values of arrays that have `count` values.
template <class Array>
std::vector<const void*> pointers(const std::vector<Array>& arrays, std::size_t count) {
  std::vector<const void*> all;
  for (const Array& array : arrays) {
    if (std::size(array) != count) throw Error(TAUT_ERR_COUNT, "references: an array has another size");
    all.push_back(std::data(array));
  }
  return all;
}
}  // namespace detail

// Encodes an array that resembles one or two earlier ones, the newest first; see TAUT_Encode_with_references.
template <class Array, class Earlier>
Frame encode_with_references(const Array& values, const std::string& coding,
                             const std::vector<Earlier>& references) {
  constexpr TAUT_Type type = type_of_values<const Array>;
  static_assert(type == type_of_values<const Earlier>, "references have the type of the values");
  const std::vector<const void*> arrays = detail::pointers(references, std::size(values));
  const std::size_t most = TAUT_Max_bytes(type, std::size(values), 1);
  return detail::written(most, [&](void* frame, std::size_t room, std::size_t* bytes) {
    return TAUT_Encode_with_references(std::data(values), std::size(values), type, coding.c_str(),
                                       arrays.data(), static_cast<int>(arrays.size()), frame, room, bytes);
  });
}

inline TAUT_Frame_info info(const Frame& frame) {
  TAUT_Frame_info found{};
  found.struct_size = sizeof found;
  detail::check(TAUT_Frame_get_info(frame.data(), frame.size(), &found));
  return found;
}

// Decodes a frame into an array of the frame's type and count. The second form takes the count from the
// frame: at most 65,536 values for each 4 bytes. Check info(frame).count first where frames come from
// strangers.
template <class Array>
void decode(const Frame& frame, Array&& values) {
  detail::check(
      TAUT_Decode(frame.data(), frame.size(), std::data(values), std::size(values), type_of_values<Array>));
}

template <class T>
std::vector<T> decode(const Frame& frame) {
  std::vector<T> values(static_cast<std::size_t>(info(frame).count));
  decode(frame, values);
  return values;
}

// Decodes a frame that may have references; see TAUT_Decode_with_references.
template <class Array, class Earlier>
void decode_with_references(const Frame& frame, const std::vector<Earlier>& references, Array&& values) {
  static_assert(type_of_values<Array> == type_of_values<const Earlier>,
                "references have the type of the values");
  const std::vector<const void*> arrays = detail::pointers(references, std::size(values));
  detail::check(TAUT_Decode_with_references(frame.data(), frame.size(), arrays.data(),
                                            static_cast<int>(arrays.size()), std::data(values),
                                            std::size(values), type_of_values<Array>));
}

// Returns the frame of the sum, without decoding.
inline Frame add(const Frame& a, const Frame& b) {
  const TAUT_Frame_info of_a = info(a);
  const unsigned addends = of_a.addends + info(b).addends;
  const std::size_t most = detail::room_for(of_a, addends, a.size() + b.size());
  return detail::written(most, [&](void* sum, std::size_t room, std::size_t* bytes) {
    return TAUT_Frame_add(a.data(), a.size(), b.data(), b.size(), sum, room, bytes);
  });
}

// Returns the frame times a number, without decoding; see TAUT_Frame_scale.
inline Frame scale(const Frame& frame, double factor) {
  const TAUT_Frame_info of = info(frame);
  const std::size_t most = detail::room_for(of, of.addends, frame.size());
  return detail::written(most, [&](void* scaled, std::size_t room, std::size_t* bytes) {
    return TAUT_Frame_scale(frame.data(), frame.size(), factor, scaled, room, bytes);
  });
}

// Returns mean, minimum and maximum of the decoded values.
inline TAUT_Frame_statistics statistics(const Frame& frame) {
  TAUT_Frame_statistics found{};
  found.struct_size = sizeof found;
  detail::check(TAUT_Frame_get_statistics(frame.data(), frame.size(), &found));
  return found;
}

}  // namespace cxx
}  // namespace taut

#endif  // TAUT_FRAME_HPP
