#include "communication/mpi/datatypes.hpp"

#include "communication/mpi/average.hpp"

#include <vector>

namespace taut::api {
namespace {

enum class Kind { real, complex, signed_integer, unsigned_integer, opaque };  // opaque: bytes, only moved

struct PredefinedType {
  MPI_Datatype type;
  Kind kind;
};

// Returns the predefined types that Taut knows. A type that this MPI lacks is MPI_DATATYPE_NULL, or its macro
// is missing.
std::vector<PredefinedType> predefined_types() {
  std::vector<PredefinedType> all;
  const auto add = [&](Kind kind, std::initializer_list<MPI_Datatype> types) {
    for (const MPI_Datatype type : types)
      if (type != MPI_DATATYPE_NULL) all.push_back({type, kind});
  };
  add(Kind::real, {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8});
  add(Kind::complex, {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX,
                      MPI_COMPLEX8, MPI_COMPLEX16});
#ifdef MPI_CXX_FLOAT_COMPLEX
  add(Kind::complex, {MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX});
#endif
#ifdef MPIX_C_FLOAT16
  add(Kind::real, {MPIX_C_FLOAT16});
#endif
  add(Kind::signed_integer, {MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_SHORT, MPI_SIGNED_CHAR, MPI_INT8_T,
                             MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_INTEGER});
  add(Kind::unsigned_integer, {MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UNSIGNED_SHORT,
                               MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
  add(Kind::opaque, {MPI_BYTE, MPI_CHAR});
  return all;
}

// Returns Taut's type for a kind and a size. Compiler options can change the size of a Fortran type.
std::optional<Datatype> datatype_of(Kind kind, int bytes) noexcept {
  const auto one_of = [=](std::initializer_list<DType> types) -> std::optional<Datatype> {
    for (const DType type : types)
      if (static_cast<int>(size_of(type)) == bytes) return Datatype{type, kind != Kind::opaque};
    return {};
  };
  switch (kind) {
    case Kind::real: return one_of({DType::f32, DType::f64, DType::f16});
    case Kind::complex: return one_of({DType::c64, DType::c128});
    case Kind::signed_integer: return one_of({DType::i32, DType::i64, DType::i16, DType::i8});
    default: return one_of({DType::u32, DType::u64, DType::u16, DType::u8});
  }
}

struct KnownDatatype {
  MPI_Datatype handle;
  Datatype datatype;
};

std::vector<KnownDatatype> known_datatypes() {
  std::vector<KnownDatatype> all;
  for (const PredefinedType& predefined : predefined_types()) {
    int bytes = 0;
    PMPI_Type_size(predefined.type, &bytes);
    if (const auto is = datatype_of(predefined.kind, bytes)) all.push_back({predefined.type, *is});
  }
#ifdef MPIX_BFLOAT16
  if (MPIX_BFLOAT16 != MPI_DATATYPE_NULL) all.push_back({MPIX_BFLOAT16, {DType::bf16, true}});
#endif
  return all;
}

std::optional<Reduction> reduction_of(MPI_Op op) noexcept {
  if (op == MPI_SUM) return Reduction::sum;
  if (op == MPI_MIN) return Reduction::min;
  if (op == MPI_MAX) return Reduction::max;
  return std::nullopt;
}

}  // namespace

std::optional<Datatype> known_datatype(MPI_Datatype type) noexcept {
  static const std::vector<KnownDatatype> table = known_datatypes();
  for (const KnownDatatype& entry : table)
    if (entry.handle == type) return entry.datatype;
  return std::nullopt;
}

bool is_predefined(MPI_Op op) noexcept {
  const MPI_Op all[] = {MPI_SUM,  MPI_MIN,  MPI_MAX, MPI_PROD, MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  return is_average(op) || std::ranges::find(all, op) != std::end(all);
}

std::optional<KnownReduction> known_reduction(MPI_Datatype type, MPI_Op op) noexcept {
  const auto known = known_datatype(type);
  auto reduction = reduction_of(op);
  const bool mean = !reduction && is_average(op);
  if (mean) reduction = Reduction::sum;
  if (!known || !known->computes || !reduction || !is_defined(*reduction, known->type)) return std::nullopt;
  if (mean && info_of(known->type).family == Family::integer) return std::nullopt;
  return KnownReduction{known->type, *reduction, mean};
}

}  // namespace taut::api
