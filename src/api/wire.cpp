#include "api/wire.hpp"

#include "api/errors.hpp"

namespace taut::api {
namespace {

#if MPI_VERSION >= 4
using Address = MPI_Count;
#else
using Address = MPI_Aint;
#endif

void check(int code) {
  if (code != MPI_SUCCESS) throw Error(Status::transport_failed, "MPI made no datatype for a message");
}

}  // namespace

// What a datatype joins.
class Wire::Pieces {
 public:
  Pieces() = default;
  Pieces(const Pieces&) = delete;
  ~Pieces() {
    if (unit_ != MPI_DATATYPE_NULL) PMPI_Type_free(&unit_);
  }

  void add(const void* at, MPI_Count count, MPI_Datatype type) {
    if (!plain::fits(count)) throw Error(Status::invalid_count, "a count beyond 2^31 - 1 needs MPI 4");
    counts_[n_] = plain::count(count);
    places_[n_] = static_cast<Address>(reinterpret_cast<MPI_Aint>(at));
    types_[n_++] = type;
  }

  // More bytes than an int counts: as many whole MiB, and the rest.
  void add(const void* at, std::size_t bytes) {
    constexpr std::size_t MiB = std::size_t{1} << 20;
    const auto count = static_cast<MPI_Count>(bytes);
    if (plain::fits(count)) return add(at, count, MPI_BYTE);
    check(PMPI_Type_contiguous(static_cast<int>(MiB), MPI_BYTE, &unit_));
    add(at, static_cast<MPI_Count>(bytes / MiB), unit_);
    add(static_cast<const std::byte*>(at) + bytes / MiB * MiB, static_cast<MPI_Count>(bytes % MiB), MPI_BYTE);
  }

  Wire join() const {
    Wire wire(MPI_BOTTOM, 1, MPI_DATATYPE_NULL);
    check(TAUT_PMPI(Type_create_struct)(n_, counts_, places_, types_, &wire.type_));
    wire.owned_ = true;
    check(PMPI_Type_commit(&wire.type_));
    return wire;
  }

 private:
  static constexpr int most = 3;
  int n_ = 0;
  plain::Count counts_[most];
  Address places_[most];
  MPI_Datatype types_[most];
  MPI_Datatype unit_ = MPI_DATATYPE_NULL;
};

Wire Wire::of(const void* at, std::size_t bytes) {
  if (plain::fits(static_cast<MPI_Count>(bytes))) return Wire(at, static_cast<MPI_Count>(bytes), MPI_BYTE);
  Pieces pieces;
  pieces.add(at, bytes);
  return pieces.join();
}

Wire Wire::joined(ConstBytes head, const void* at, MPI_Count count, MPI_Datatype type) {
  Pieces pieces;
  pieces.add(head.data(), head.size());
  pieces.add(at, count, type);
  return pieces.join();
}

Wire Wire::joined(ConstBytes head, const void* at, std::size_t bytes) {
  Pieces pieces;
  pieces.add(head.data(), head.size());
  pieces.add(at, bytes);
  return pieces.join();
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
