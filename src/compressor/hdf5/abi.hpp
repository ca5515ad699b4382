// The part of HDF5's binary interface that a filter plugin needs: H5Zpublic.h, H5PLextern.h and the functions
// that the filter calls. The interface has been the same since HDF5 1.10. Taut therefore builds without HDF5.
#pragma once

#include <cstddef>
#include <cstdint>

namespace taut::hdf5 {

using Id = std::int64_t;  // hid_t
using Status = int;       // herr_t: negative in case of an error
using FilterId = int;     // H5Z_filter_t

inline constexpr unsigned reading = 0x0100;  // H5Z_FLAG_REVERSE

// H5T_class_t and H5T_order_t
enum TypeClass : int { integer_class = 0, float_class = 1, compound_class = 6, complex_class = 11 };
inline constexpr int little_endian = 0;

using CanApply = int (*)(Id list, Id type, Id space);
using SetLocal = Status (*)(Id list, Id type, Id space);
using Filter = std::size_t (*)(unsigned flags, std::size_t count, const unsigned words[], std::size_t bytes,
                               std::size_t* capacity, void** buffer);

// H5Z_class2_t
struct FilterClass {
  int version;
  FilterId id;
  unsigned encoder_present;
  unsigned decoder_present;
  const char* name;
  CanApply can_apply;
  SetLocal set_local;
  Filter filter;
};
inline constexpr int filter_class_version = 1;  // H5Z_CLASS_T_VERS
inline constexpr int filter_plugin = 0;         // H5PL_TYPE_FILTER

// Functions of HDF5, by their names without "H5".
using TypeNumber = int (*)(Id type);        // Tget_class, Tget_order, Tget_sign, Tget_nmembers
using TypeSize = std::size_t (*)(Id type);  // Tget_size
using TypeFields = Status (*)(Id type, std::size_t* sign, std::size_t* exponent, std::size_t* exponent_bits,
                              std::size_t* mantissa, std::size_t* mantissa_bits);  // Tget_fields
using TypePart = Id (*)(Id type);                                                  // Tget_super
using TypeMember = Id (*)(Id type, unsigned index);                                // Tget_member_type
using TypeClose = Status (*)(Id type);                                             // Tclose
using GetChunk = int (*)(Id list, int most, std::uint64_t extents[]);              // Pget_chunk
using GetFilter = FilterId (*)(Id list, unsigned index, unsigned* flags, std::size_t* count, unsigned words[],
                               std::size_t name_bytes, char name[], unsigned* config);  // Pget_filter2
using ModifyFilter = Status (*)(Id list, FilterId filter, unsigned flags, std::size_t count,
                                const unsigned words[]);  // Pmodify_filter
using PushError = Status (*)(Id stack, const char* file, const char* function, unsigned line, Id error_class,
                             Id major, Id minor, const char* format, ...);  // Epush2

}  // namespace taut::hdf5
