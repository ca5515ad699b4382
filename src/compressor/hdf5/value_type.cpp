#include "compressor/hdf5/library.hpp"

#include "compressor/file/array.hpp"

namespace taut::hdf5 {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  file::fail(
      what +
      " are not coded; use little-endian floats of 16, 32 or 64 bits, complex numbers of such, or integers");
}

// Handle of a type of HDF5, which the destructor closes.
class OpenType {
 public:
  OpenType(const Library& hdf5, Id id) : close_(hdf5.function<TypeClose>("H5Tclose")), id_(id) {
    if (id < 0) refuse("values of this type");
  }
  OpenType(const OpenType&) = delete;
  OpenType& operator=(const OpenType&) = delete;
  ~OpenType() { close_(id_); }
  Id id() const noexcept { return id_; }

 private:
  TypeClose close_;
  Id id_;
};

int number(const Library& hdf5, const char* function, Id type) {
  return hdf5.function<TypeNumber>(function)(type);
}

void check_order(const Library& hdf5, Id type, std::size_t bytes) {
  if (bytes > 1 && number(hdf5, "H5Tget_order", type) != little_endian)
    refuse("values in big-endian byte order");
}

// Returns the type of a kind (i, u or c) and a number of bits: i16 and so on.
DType named(char kind, std::size_t bits) {
  std::string name(1, kind);
  name += std::to_string(bits);
  const auto found = file::find_dtype(name);
  if (!found) refuse("values of this type");
  return *found;
}

DType float_type(const Library& hdf5, Id type, std::size_t bytes) {
  check_order(hdf5, type, bytes);
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  hdf5.function<TypeFields>("H5Tget_fields")(type, &sign, &exponent, &exponent_bits, &mantissa,
                                             &mantissa_bits);
  constexpr struct {
    DType type;
    std::size_t exponent_bits, mantissa_bits;
  } formats[] = {{DType::f16, 5, 10}, {DType::bf16, 8, 7}, {DType::f32, 8, 23}, {DType::f64, 11, 52}};
  for (const auto& format : formats)
    if (size_of(format.type) == bytes && format.exponent_bits == exponent_bits &&
        format.mantissa_bits == mantissa_bits)
      return format.type;
  refuse("floats of this format");
}

DType complex_of(DType part) { return named('c', 16 * size_of(part)); }

DType compound_type(const Library& hdf5, Id type, std::size_t bytes) {
  if (number(hdf5, "H5Tget_nmembers", type) != 2) refuse("compound values");
  const auto member = hdf5.function<TypeMember>("H5Tget_member_type");
  const OpenType real(hdf5, member(type, 0)), imaginary(hdf5, member(type, 1));
  for (const Id part : {real.id(), imaginary.id()})
    if (number(hdf5, "H5Tget_class", part) != float_class) refuse("compound values");
  const DType found = value_type(hdf5, real.id());
  if (found != value_type(hdf5, imaginary.id()) || bytes != 2 * size_of(found)) refuse("compound values");
  return complex_of(found);
}

}  // namespace

DType value_type(const Library& hdf5, Id type) {
  const std::size_t bytes = hdf5.function<TypeSize>("H5Tget_size")(type);
  switch (number(hdf5, "H5Tget_class", type)) {
    case integer_class:
      check_order(hdf5, type, bytes);
      return named(number(hdf5, "H5Tget_sign", type) == 0 ? 'u' : 'i', 8 * bytes);
    case float_class: return float_type(hdf5, type, bytes);
    case compound_class: return compound_type(hdf5, type, bytes);
    case complex_class:
      return complex_of(value_type(hdf5, OpenType(hdf5, hdf5.function<TypePart>("H5Tget_super")(type)).id()));
    default: refuse("values of this type");
  }
}

}  // namespace taut::hdf5
