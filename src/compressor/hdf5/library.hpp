// Interface to HDF5: the part of its binary interface that a filter plugin needs, and the library that called
// the filter. Taut builds without HDF5.
#pragma once

#include <cstdint>
#include <string>

#include "compressor/file/failure.hpp"
#include "compressor/values/dtype.hpp"

namespace taut::hdf5 {

// ---- Declarations of H5Zpublic.h and H5PLextern.h, the same since HDF5 1.10

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

// ---- The library

// The HDF5 library that called the filter. A process may have several, for example those of the wheels of
// h5py and netCDF4, whose names are not visible to a plugin. The address to which the filter returns
// identifies the library.
class Library {
 public:
  // `caller` is an address in the library's code.
  explicit Library(const void* caller) noexcept;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  // Returns the library's function of this name; throws Failure if it has none, as where HDF5 is linked
  // statically.
  template <class Function>
  Function function(const char* name) const {
    void* const found = find(name);
    if (found == nullptr)
      file::fail(std::string("this program does not export ") + name +
                 ", which the filter needs; link the program with a shared libhdf5");
    return reinterpret_cast<Function>(found);
  }

  // Puts a message on HDF5's error stack.
  void report(const char* message) const noexcept;

 private:
  void* find(const char* name) const noexcept;

  void* handle_;
};

// Returns the type of a dataset's values. Complex numbers are HDF5's own (since HDF5 2.0), or h5py's
// compounds of two floats. Throws Failure if values of the type are not coded.
DType value_type(const Library& hdf5, Id type);

}  // namespace taut::hdf5
