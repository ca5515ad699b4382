#include "dropin/arriving.hpp"

#include <algorithm>
#include <cstring>

#include "api/elements.hpp"
#include "api/errors.hpp"
#include "api/wire.hpp"
#include "dropin/coded_message.hpp"
#include "dropin/gate.hpp"
#include "dropin/message_counts.hpp"
#include "dropin/messages.hpp"

namespace taut::dropin {
namespace {

// Where the host can touch it: MPI, which has received to a GPU, packs and unpacks there as well.
bool lies_together(const Expected& at) noexcept {
  const auto elements = api::elements_of(at.type);
  return elements && elements->dense && !api::on_device(at.buf, at.type);
}

std::size_t room(const Expected& at) noexcept {
  return static_cast<std::size_t>(std::max<MPI_Count>(api::bytes_of(at.count, at.type), 0));
}

// As many elements as hold the mark.
bool begins_with_mark(const Expected& at) {
  if (lies_together(at)) return has_mark({static_cast<const std::byte*>(at.buf), sizeof(std::uint64_t)});
  const MPI_Count element = std::max<MPI_Count>(api::bytes_of(1, at.type), 1);
  return has_mark(packed({at.buf, std::min(at.count, 8 / element + 1), at.type, at.comm}));
}

void check(Status status) {
  if (status != Status::ok) throw Error(status, describe(status));
}

// What stands behind the values is written as it was.
void place(ConstBytes values, const Expected& at) {
  if (lies_together(at)) return void(std::memcpy(at.buf, values.data(), values.size()));
  std::vector<std::byte> all = packed(at);
  std::memcpy(all.data(), values.data(), values.size());
  api::unpack_values(all, at.buf, at.count, at.type);
}

// The frames stand elsewhere.
void decode_to(const Expected& at, const Opened& opened) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(at.buf) % 16 == 0;
  if (aligned && lies_together(at))
    return check(decode(opened, {static_cast<std::byte*>(at.buf), opened.bytes}));
  const auto values = std::make_unique_for_overwrite<std::byte[]>(opened.bytes);
  check(decode(opened, {values.get(), opened.bytes}));
  place({values.get(), opened.bytes}, at);
}

// A coded message that stands elsewhere.
int put(ConstBytes message, const Expected& at, MPI_Status& status) {
  const auto opened = open(message);
  if (!opened) throw Error(Status::corrupt_frame, "a message that the drop-in has coded came damaged");
  if (opened->bytes > room(at)) return api::raise(at.comm, MPI_ERR_TRUNCATE);
  const std::uint64_t begin = clock_now();
  decode_to(at, *opened);
  count_decoded(opened->type, opened->bytes, clock_now() - begin);
  set_bytes(status, opened->bytes);
  return MPI_SUCCESS;
}

void count_plain(std::size_t bytes, const Expected& at) noexcept {
  if (bytes < least_value_bytes) return;
  const auto known = api::known_datatype(at.type);
  count_received_plain(known ? static_cast<std::uint8_t>(known->type) : 0, bytes);
}

std::vector<std::byte> copied(const Expected& at, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(at.buf);
  return lies_together(at) ? std::vector(begin, begin + bytes) : packed(at);
}

}  // namespace

std::vector<std::byte> packed(const Expected& at) {
  std::vector<std::byte> all(room(at));
  api::pack_values(at.buf, at.count, at.type, all);
  return all;
}

void set_bytes(MPI_Status& status, std::size_t bytes) noexcept {
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

bool may_be_coded(const Expected& expected) noexcept {
  return messages_may_be_coded() && room(expected) >= least_coded_bytes;
}

int settle(const Expected& expected, MPI_Status& status) noexcept {
  const Inside inside;
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  const std::size_t bytes = cancelled == 0 ? api::bytes_of(status) : 0;
  if (!is_coded_length(bytes)) return count_plain(bytes, expected), MPI_SUCCESS;
  return api::guard(expected.comm, [&]() -> int {
    if (!begins_with_mark(expected)) return count_plain(bytes, expected), MPI_SUCCESS;
    return put(ConstBytes(copied(expected, bytes)).first(bytes), expected, status);
  });
}

std::size_t bytes_of_values(const Apart& message) noexcept {
  const auto opened = open({message.memory.get(), message.bytes});
  return opened ? opened->bytes : message.bytes;
}

int deliver(const Apart& message, const Expected& expected, MPI_Status& status) noexcept {
  const Inside inside;
  const ConstBytes all{message.memory.get(), message.bytes};
  return api::guard(expected.comm, [&]() -> int {
    if (has_mark(all)) return put(all, expected, status);
    if (all.size() > room(expected)) return api::raise(expected.comm, MPI_ERR_TRUNCATE);
    place(all, expected);
    count_plain(all.size(), expected);
    return MPI_SUCCESS;
  });
}

}  // namespace taut::dropin
