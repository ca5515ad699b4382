#include "communication/p2p/segmented_message.hpp"

#include <algorithm>
#include <cstring>

#include "communication/mpi/errors.hpp"
#include "communication/mpi/pmpi_counts.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/p2p/open_receive.hpp"
#include "communication/team/task.hpp"

namespace taut::p2p {

SegmentedMessage::SegmentedMessage(const RecvBuffer& at, const Envelope& first)
    : at_(at), comm_(at.endpoint->segments()), first_(first), segments_(first.following.segments + 1u) {
  if (first.following.source >= static_cast<std::uint32_t>(comm_->size()))
    throw Error(Status::corrupt_frame, "a segmented message names a rank that is not there");
  SharedMessageCoder& coder = at.endpoint->coder();
  const bool in_place = is_decoded_in_place(at);
  if (in_place) device_ = *array_of(at);
  // A message that is too long is received in part, and reported: its header alone asks for no memory.
  const std::size_t most = std::min(segment(0).size(), std::max<std::size_t>(room(at), 1));
  for (std::size_t i = 0; i < std::min(window, segments_ - 1); ++i)
    slots_[i].memory = coder.scratch(most, device_.get());
  received_.bytes = first.bytes;
  try {
    describe_coded(first, at, received_);
    truncated_ = first.bytes > room(at);
    if (!truncated_ && !in_place) memory_ = coder.scratch(first.bytes);
    if (!truncated_) values_ = {in_place ? static_cast<std::byte*>(at.buf) : memory_.data(), first.bytes};
  } catch (const Error& error) {
    failure_ = error;
  }
  for (std::size_t i = 1; i <= std::min(window, segments_ - 1); ++i) post(i);
  decode_frames(0, first.frames);
}

// A message that is given up has receives posted only if the process ends. MPI may write to their memory.
SegmentedMessage::~SegmentedMessage() {
  for (Slot& slot : slots_)
    if (slot.request != MPI_REQUEST_NULL) new Buffer(std::move(slot.memory));
}

// Returns the memory of the values of segment `i`, within values_ if they are decoded.
Bytes SegmentedMessage::segment(std::size_t i) const noexcept {
  const std::size_t size = size_of(static_cast<DType>(first_.type));
  const Range range = part_range(first_.bytes / size, i, segments_);
  return {values_.data() + (values_.empty() ? 0 : range.first * size), range.count * size};
}

void SegmentedMessage::post(std::size_t i) noexcept {
  Slot& slot = slots_[(i - 1) % window];
  const auto bytes = static_cast<api::pmpi::Count>(std::min(segment(i).size(), slot.memory.bytes().size()));
  const auto& [segments, source, tag] = first_.following;
  if (TAUT_PMPI(Irecv)(slot.memory.data(), bytes, MPI_BYTE, static_cast<int>(source), static_cast<int>(tag),
                       comm_->handle(), &slot.request) != MPI_SUCCESS)
    fail(Status::transport_failed);
}

void SegmentedMessage::fail(Status status) noexcept {
  if (!failure_) failure_.emplace(status, describe(status));
  values_ = {};
}

void SegmentedMessage::decode_frames(std::size_t i, ConstBytes frames) noexcept {
  if (values_.empty() || failure_) return;
  const std::uint64_t begin = clock_now();
  const Status status = at_.endpoint->coder().decode(frames, first_.type, segment(i));
  received_.end = clock_now();
  decoding_ += received_.end - begin;
  if (status != Status::ok) fail(status);
}

void SegmentedMessage::copy(ConstBytes message, Bytes values) noexcept {
  try {
    at_.endpoint->coder().copy(values.data(), message.data(), values.size(), device_.get());
  } catch (const Error& error) {
    fail(error.status());
  }
}

// Decodes the message of a segment: values as they are, or a coded message.
void SegmentedMessage::decode(std::size_t i, ConstBytes message) noexcept {
  if (values_.empty() || failure_) return;
  const Bytes values = segment(i);
  if (message.size() == values.size()) return copy(message, values);
  const auto coded = open_message({.mark = at_.endpoint->format().mark}, message);
  if (!coded || coded->type != first_.type || coded->bytes != values.size() || coded->following.segments != 0)
    return fail(Status::corrupt_frame);
  decode_frames(i, coded->frames);
}

bool SegmentedMessage::advance() noexcept {
  const BypassScope scope;
  for (; arrived_ < segments_; ++arrived_) {
    Slot& slot = slots_[(arrived_ - 1) % window];
    MPI_Status status{};
    int done = 0;
    if (PMPI_Test(&slot.request, &done, &status) != MPI_SUCCESS) {
      if (!truncated_) fail(Status::transport_failed);
      slot.request = MPI_REQUEST_NULL;
    } else if (done == 0) {
      return false;
    } else {
      decode(arrived_, ConstBytes(slot.memory.bytes()).first(received_bytes(status)));
    }
    if (arrived_ + window < segments_) post(arrived_ + window);
  }
  return true;
}

api::Failure SegmentedMessage::finish(MPI_Status& status) {
  received_.begin = received_.end - decoding_;
  set_received_bytes(status, 0);
  const api::Failure failure = api::attempt([&]() -> api::Failure {
    if (failure_) throw Error(*failure_);
    if (truncated_) return {MPI_ERR_TRUNCATE};
    if (memory_.data() != nullptr) place(values_, at_);
    set_received_bytes(status, first_.bytes);
    return {};
  });
  received_.failed = static_cast<bool>(failure);
  received_.source = status.MPI_SOURCE;
  received_.tag = status.MPI_TAG;
  at_.endpoint->count(at_, received_);
  return failure;
}

api::Failure SegmentedMessage::receive(MPI_Status& status) {
  for (Backoff backoff; !advance(); backoff.pause()) advance_receives();
  return finish(status);
}

}  // namespace taut::p2p
