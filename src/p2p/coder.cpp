#include "p2p/coder.hpp"

#include <cstring>

#include "api/args/pmpi_counts.hpp"
#include "policy/text/options.hpp"

namespace taut::p2p {

std::size_t bytes_of_values(const SendArguments& message, const api::DatatypeLayout& kind) noexcept {
  return static_cast<std::size_t>(message.count) * kind.values_per_element * size_of(kind.type());
}

Coder::Coder(const Policy& policy, const MessageFormat& format, int threads)
    : policy_(policy), coder_(policy_, format, *place_, options().kernels, std::max(threads, 1)) {}

ConstSlice Coder::values_in_a_row(const SendArguments& message, const api::DatatypeLayout& kind,
                                  Buffer& memory) {
  const std::size_t bytes = bytes_of_values(message, kind), n = bytes / size_of(kind.type());
  if (kind.dense) return {{message.buf, n, kind.type()}};
  memory = scratch(bytes);
  api::pack_values(message.buf, message.count, message.type, memory.bytes().first(bytes));
  return {{memory.data(), n, kind.type()}};
}

EncodedMessage Coder::encode(ConstSlice values, std::uint64_t stream, const Following& following) noexcept {
  const std::lock_guard lock(mutex_);
  EncodedMessage made = coder_.encode(values, stream, following);
  if (!api::pmpi::fits(static_cast<MPI_Count>(made.bytes))) made = {.plain = Fallback::unsupported};
  return made;
}

ConstBytes Coder::encode_segment(ConstSlice values, std::size_t i, EncodedMessage& made) noexcept {
  const std::lock_guard lock(mutex_);
  return coder_.encode_segment(values, i, made);
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
