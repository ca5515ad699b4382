#include "p2p/coder.hpp"

#include <cstring>

#include "api/args/pmpi_counts.hpp"
#include "policy/text/options.hpp"

namespace taut::p2p {
namespace {

// Returns the values of a message as contiguous values, packed into `memory` if they have gaps. Throws Error.
ConstSlice values_in_a_row(const SendArguments& message, const api::DatatypeLayout& kind, Place& place,
                           Buffer& memory) {
  const std::size_t bytes = bytes_of_values(message, kind), n = bytes / size_of(kind.type());
  if (kind.dense) return {{message.buf, n, kind.type()}};
  memory = place.scratch(bytes);
  api::pack_values(message.buf, message.count, message.type, memory.bytes().first(bytes));
  return {{memory.data(), n, kind.type()}};
}

}  // namespace

std::size_t bytes_of_values(const SendArguments& message, const api::DatatypeLayout& kind) noexcept {
  return static_cast<std::size_t>(message.count) * kind.values * size_of(kind.type());
}

Coder::Coder(const Policy& policy, const MessageFormat& format, int threads)
    : policy_(policy), coder_(policy_, format, place_, options().kernels, std::max(threads, 1)) {}

EncodedMessage Coder::encode(const SendArguments& message, const api::DatatypeLayout& kind,
                             std::uint64_t stream) noexcept {
  try {
    Buffer packed;
    const ConstSlice values = values_in_a_row(message, kind, place_, packed);
    const std::lock_guard lock(mutex_);
    EncodedMessage made = coder_.encode(values, stream);
    if (!api::pmpi::fits(static_cast<MPI_Count>(made.bytes))) made = {.plain = Fallback::unsupported};
    return made;
  } catch (const Error& error) {  // thrown before any value is coded
    return {.plain = error.status() == Status::out_of_memory ? Fallback::memory : Fallback::type};
  } catch (...) {
    return {.plain = Fallback::memory};
  }
}

void Coder::shrink(EncodedMessage& made) {
  if (made.bytes == 0 || made.bytes > made.buffer.capacity() / 2) return;
  Buffer smaller = scratch(made.bytes);
  std::memcpy(smaller.data(), made.buffer.data(), made.bytes);
  made.buffer = std::move(smaller);
}

Status Coder::decode(ConstBytes frames, std::uint8_t type, Bytes values) noexcept {
  const std::lock_guard lock(mutex_);
  return coder_.decode(frames, type, values);
}

}  // namespace taut::p2p
