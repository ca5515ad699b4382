#include "communication/p2p/endpoint.hpp"

#include <atomic>
#include <cstring>

#include "compressor/base/options.hpp"

namespace taut::p2p {
namespace {

std::atomic<Endpoint*> of_the_program{nullptr};

}  // namespace

SharedMessageCoder::SharedMessageCoder(const Policy& policy, const MessageFormat& format, int threads)
    : policy_(policy), coder_(policy_, format, *place_, options().kernels, std::max(threads, 1)) {}

ConstSlice SharedMessageCoder::values_in_a_row(const MpiMessage& message, const api::DatatypeLayout& kind,
                                               Buffer& memory) {
  const std::size_t bytes = bytes_of_values(message, kind), n = bytes / size_of(kind.type());
  if (kind.dense) return {{message.buf, n, kind.type()}};
  memory = scratch(bytes);
  api::pack_values(message.buf, message.count, message.type, memory.bytes().first(bytes));
  return {{memory.data(), n, kind.type()}};
}

EncodedMessage SharedMessageCoder::encode(ConstSlice values, std::uint64_t stream,
                                          const FollowingSegments& following) noexcept {
  const std::lock_guard lock(mutex_);
  EncodedMessage made = coder_.encode(values, stream, following);
  if (!api::pmpi::fits(static_cast<MPI_Count>(made.bytes))) made = {.fallback = Fallback::unsupported};
  return made;
}

ConstBytes SharedMessageCoder::encode_segment(ConstSlice values, std::size_t i,
                                              EncodedMessage& made) noexcept {
  const std::lock_guard lock(mutex_);
  return coder_.encode_segment(values, i, made);
}

void SharedMessageCoder::shrink(EncodedMessage& made) {
  if (made.bytes == 0 || made.bytes > made.buffer.capacity() / 2) return;
  Buffer smaller = scratch(before_message + made.bytes, made.device.get());
  std::memcpy(smaller.data() + (made.message().data() - made.buffer.data()), made.message().data(),
              made.bytes);
  made.buffer = std::move(smaller);
}

Buffer SharedMessageCoder::scratch(std::size_t bytes, MessageDevice* device) {
  if (device == nullptr) return place_->scratch(bytes);
  const std::lock_guard lock(mutex_);  // the pool may wait for the device
  return device->frames().scratch(bytes);
}

void SharedMessageCoder::copy(void* to, const void* from, std::size_t bytes, MessageDevice* device) {
  if (bytes == 0) return;
  if (device == nullptr) return void(std::memcpy(to, from, bytes));
  const std::lock_guard lock(mutex_);
  const Status status =
      device->values().copy(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  if (status != Status::ok) throw Error(status, describe(status));
}

Status SharedMessageCoder::decode(ConstBytes frames, std::uint8_t type, Bytes values) noexcept {
  const std::lock_guard lock(mutex_);
  return coder_.decode(frames, type, values);
}

Endpoint* program_endpoint() noexcept { return of_the_program; }
void set_program_endpoint(Endpoint* endpoint) noexcept { of_the_program = endpoint; }

}  // namespace taut::p2p
