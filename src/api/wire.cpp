#include "api/wire.hpp"

#include "api/errors.hpp"

namespace taut::api {
namespace {

#if MPI_VERSION >= 4
using Address = MPI_Count;
#else
using Address = MPI_Aint;
#endif

Address address_of(const void* at) noexcept { return static_cast<Address>(reinterpret_cast<MPI_Aint>(at)); }

void check(int code) {
  if (code != MPI_SUCCESS) throw Error(Status::transport_failed, "MPI made no datatype for a message");
}

MPI_Datatype make_struct(const plain::Count counts[2], const Address at[2], const MPI_Datatype types[2]) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(TAUT_PMPI(Type_create_struct)(2, counts, at, types, &made));
  check(PMPI_Type_commit(&made));
  return made;
}

}  // namespace

Wire Wire::of(const void* at, std::size_t bytes) {
  const auto count = static_cast<MPI_Count>(bytes);
  if (plain::fits(count)) return Wire(at, count, MPI_BYTE);
  // More than an int counts: as many whole MiB, and the rest.
  constexpr std::size_t MiB = std::size_t{1} << 20;
  MPI_Datatype unit = MPI_DATATYPE_NULL;
  check(PMPI_Type_contiguous(static_cast<int>(MiB), MPI_BYTE, &unit));
  const std::size_t whole = bytes / MiB * MiB;
  const plain::Count counts[] = {static_cast<plain::Count>(whole / MiB),
                                 static_cast<plain::Count>(bytes - whole)};
  const Address places[] = {address_of(at), address_of(static_cast<const std::byte*>(at) + whole)};
  const MPI_Datatype types[] = {unit, MPI_BYTE};
  Wire wire(MPI_BOTTOM, 1, make_struct(counts, places, types));
  wire.owned_ = true;
  PMPI_Type_free(&unit);
  return wire;
}

Wire Wire::joined(ConstBytes head, const void* at, MPI_Count count, MPI_Datatype type) {
  if (!plain::fits(count)) throw Error(Status::invalid_count, "a count beyond 2^31 - 1 needs MPI 4");
  const plain::Count counts[] = {static_cast<plain::Count>(head.size()), plain::count(count)};
  const Address places[] = {address_of(head.data()), address_of(at)};
  const MPI_Datatype types[] = {MPI_BYTE, type};
  Wire wire(MPI_BOTTOM, 1, make_struct(counts, places, types));
  wire.owned_ = true;
  return wire;
}

Wire Wire::joined_bytes(ConstBytes head, const void* at, MPI_Count count, std::size_t element_bytes) {
  const MPI_Count bytes = count * static_cast<MPI_Count>(element_bytes);
  if (plain::fits(bytes)) return joined(head, at, bytes, MPI_BYTE);
  MPI_Datatype element = MPI_DATATYPE_NULL;
  check(PMPI_Type_contiguous(static_cast<int>(element_bytes), MPI_BYTE, &element));
  Wire wire = joined(head, at, count, element);
  PMPI_Type_free(&element);
  return wire;
}

MPI_Count bytes_of(MPI_Count count, MPI_Datatype type) noexcept {
  MPI_Count element = -1, bytes = -1;
  if (count < 0 || type == MPI_DATATYPE_NULL) return -1;
#if MPI_VERSION >= 4
  const int code = PMPI_Type_size_c(type, &element);
#else
  const int code = PMPI_Type_size_x(type, &element);
#endif
  if (code != MPI_SUCCESS || element < 0 || __builtin_mul_overflow(count, element, &bytes)) return -1;
  return bytes;
}

std::size_t bytes_of(const MPI_Status& status) noexcept {
  MPI_Count bytes = 0;
#if MPI_VERSION >= 4
  PMPI_Get_count_c(&status, MPI_BYTE, &bytes);
#else
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
#endif
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

void set_bytes(MPI_Status& status, std::size_t bytes) noexcept {
#if MPI_VERSION >= 4
  PMPI_Status_set_elements_c(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
#else
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
#endif
}

}  // namespace taut::api
