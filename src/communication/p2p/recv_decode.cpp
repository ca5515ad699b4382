#include "communication/p2p/recv_decode.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "communication/mpi/errors.hpp"
#include "communication/mpi/pmpi_counts.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/p2p/segmented_message.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/frame/frame.hpp"

namespace taut::p2p {

using api::Failure;

std::optional<std::shared_ptr<MessageDevice>> array_of(const RecvBuffer& at) {
  const auto elements = api::datatype_layout_of(at.type);
  if (!elements || !elements->dense) return {};
  return at.endpoint->coder().devices().of(at.buf);
}

std::shared_ptr<MessageDevice> bounce_device(const RecvBuffer& at) {
  if (!may_be_coded(at) || !on_device(at.buf)) return nullptr;
  if (!api::pmpi::fits(static_cast<MPI_Count>(room(at)))) return nullptr;
  return array_of(at).value_or(nullptr);
}

Detached bounce_buffer(const RecvBuffer& at, MessageDevice& device) {
  const auto memory = std::make_shared<Buffer>(at.endpoint->coder().scratch(room(at), &device));
  return {{memory, memory->data()}, room(at)};
}

void place(ConstBytes values, const RecvBuffer& at) {
  if (values.empty()) return;
  if (const auto device = array_of(at))
    return at.endpoint->coder().copy(at.buf, values.data(), values.size(), device->get());
  std::vector<std::byte> all = packed(at);
  std::memcpy(all.data(), values.data(), values.size());
  api::unpack_values(all, at.buf, at.count, at.type);
}

namespace {

// Returns true if the received data begins with the mark of coded messages. Reads only the elements that hold
// the mark.
bool begins_with_mark(const RecvBuffer& at) {
  const MessageFormat& format = at.endpoint->format();
  if (const auto device = array_of(at)) {
    std::array<std::byte, sizeof format.mark> begin;
    at.endpoint->coder().copy(begin.data(), at.buf, begin.size(), device->get());
    return has_mark(format, begin);
  }
  const MPI_Count element = std::max<MPI_Count>(api::bytes_of(1, at.type), 1);
  return has_mark(format, packed({at.buf, std::min(at.count, 8 / element + 1), at.type, at.comm}));
}

void check_decoded(Status status) {
  if (status != Status::ok) throw Error(status, describe(status));
}

void check_types(DType sent, const RecvBuffer& at) {
  const auto expected = api::known_datatype(at.type);
  if (!at.endpoint->checks_types() || !expected || !expected->computes || expected->type == sent) return;
  throw Error(Status::frame_mismatch,
              std::string("a message of type ") + name_of(sent) + ", received as " + name_of(expected->type));
}

// Decodes a message to the receive buffer. Its frames are stored elsewhere.
void decode_to(const RecvBuffer& at, const Envelope& message) {
  SharedMessageCoder& coder = at.endpoint->coder();
  if (is_decoded_in_place(at))
    return check_decoded(
        coder.decode(message.frames, message.type, {static_cast<std::byte*>(at.buf), message.bytes}));
  const Buffer memory = coder.scratch(message.bytes);
  const Bytes values = memory.bytes().first(message.bytes);
  check_decoded(coder.decode(message.frames, message.type, values));
  place(values, at);
}

// Decodes a message that is stored outside the receive buffer.
Failure decode_message(ConstBytes message, const RecvBuffer& at, MPI_Status& status, Received& received) {
  const auto envelope = open_message(at.endpoint->format(), message);
  if (!envelope) throw Error(Status::corrupt_frame, "a coded message came damaged");
  describe_coded(*envelope, at, received);
  if (envelope->bytes > room(at)) return {MPI_ERR_TRUNCATE};
  received.begin = clock_now();
  decode_to(at, *envelope);
  received.end = clock_now();
  set_received_bytes(status, envelope->bytes);
  return {};
}

// Returns a copy of the received message in memory of its own.
Buffer moved_away(const RecvBuffer& at, std::size_t bytes) {
  if (const auto device = array_of(at)) {
    Buffer copy = at.endpoint->coder().scratch(bytes, device->get());
    at.endpoint->coder().copy(copy.data(), at.buf, bytes, device->get());
    return copy;
  }
  Buffer copy = at.endpoint->coder().scratch(room(at));
  api::pack_values(at.buf, at.count, at.type, copy.bytes().first(room(at)));
  return copy;
}

// Runs `action(received)`, which returns a failure, and counts the message.
template <class Action>
Failure counted(const RecvBuffer& at, const MPI_Status& status, std::size_t bytes, Action action) {
  Received received{.source = status.MPI_SOURCE, .tag = status.MPI_TAG, .bytes = bytes};
  const Failure failure = api::attempt([&] { return action(received); });
  received.failed = static_cast<bool>(failure);
  at.endpoint->count(at, received);
  return failure;
}

// Returns the bytes of a message that has arrived; 0 if its receive was cancelled.
std::size_t arrived_bytes(const MPI_Status& status) noexcept {
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  return cancelled == 0 ? received_bytes(status) : 0;
}

}  // namespace

std::size_t room(const RecvBuffer& at) {
  return static_cast<std::size_t>(std::max<MPI_Count>(api::bytes_of(at.count, at.type), 0));
}

std::vector<std::byte> packed(const RecvBuffer& at) {
  std::vector<std::byte> all(room(at));
  const auto device = at.endpoint != nullptr ? array_of(at) : std::nullopt;
  if (device)
    at.endpoint->coder().copy(all.data(), at.buf, all.size(), device->get());
  else
    api::pack_values(at.buf, at.count, at.type, all);
  return all;
}

bool is_decoded_in_place(const RecvBuffer& at) {
  const auto device = array_of(at);
  return device && (*device != nullptr || reinterpret_cast<std::uintptr_t>(at.buf) % 16 == 0);
}

bool may_be_coded(const RecvBuffer& at) {
  return at.endpoint != nullptr && room(at) >= at.endpoint->format().least_bytes;
}

void describe_coded(const Envelope& message, const RecvBuffer& at, Received& received) {
  received.type = static_cast<DType>(message.type);
  received.bytes = message.bytes;
  FrameHeader header;
  if (read_header(message.frames, header) == Status::ok) {
    received.codec = find_codec(header.codec);
    received.bound = header.bound;
  }
  check_types(*received.type, at);
}

api::Failure finish_recv(const RecvBuffer& at, MPI_Status& status) {
  const BypassScope scope;
  if (const auto message = segmented_message(at, nullptr, status)) return message->receive(status);
  const std::size_t bytes = arrived_bytes(status);
  return counted(at, status, bytes, [&](Received& received) -> Failure {
    if (!at.endpoint->format().may_have(bytes) || !begins_with_mark(at)) return {};
    set_received_bytes(status, 0);
    const Buffer message = moved_away(at, bytes);
    return decode_message(ConstBytes(message.bytes()).first(bytes), at, status, received);
  });
}

std::size_t bytes_of_values(const Detached& message, const MessageFormat& format) noexcept {
  const auto envelope = open_message(format, {message.memory.get(), message.bytes});
  return envelope ? envelope->bytes : message.bytes;
}

api::Failure deliver(const Detached& message, const RecvBuffer& at, MPI_Status& status) {
  const BypassScope scope;
  if (const auto long_one = segmented_message(at, &message, status)) return long_one->receive(status);
  const ConstBytes all{message.memory.get(), arrived_bytes(status)};
  return counted(at, status, all.size(), [&](Received& received) -> Failure {
    if (has_mark(at.endpoint->format(), all)) return decode_message(all, at, status, received);
    if (all.size() > room(at)) return {MPI_ERR_TRUNCATE};
    place(all, at);
    return {};
  });
}

std::unique_ptr<SegmentedMessage> segmented_message(const RecvBuffer& at, const Detached* detached,
                                                    const MPI_Status& status) noexcept {
  const BypassScope scope;
  try {
    const std::size_t bytes = arrived_bytes(status);
    if (at.endpoint == nullptr || at.endpoint->segments() == nullptr) return {};
    if (!at.endpoint->format().may_have(bytes)) return {};
    if (detached == nullptr && !begins_with_mark(at)) return {};
    Buffer memory = detached == nullptr ? moved_away(at, bytes) : Buffer{};
    const ConstBytes all = detached != nullptr ? ConstBytes{detached->memory.get(), bytes}
                                               : ConstBytes(memory.bytes()).first(bytes);
    const auto first = open_message(at.endpoint->format(), all);
    if (!first || first->following.segments == 0) return {};
    return std::make_unique<SegmentedMessage>(at, *first);
  } catch (...) {  // decode_message() reports the same error
    return {};
  }
}

}  // namespace taut::p2p
