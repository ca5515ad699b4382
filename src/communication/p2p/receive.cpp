#include "communication/p2p/receive.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include "communication/mpi/errors.hpp"
#include "communication/mpi/lasting.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/team/task.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/frame/coding.hpp"

namespace taut::p2p {

using api::Failure;

namespace {

// Returns the GPU that has the buffer, or null for host memory, if Taut reads and writes the values there as
// an array. Returns nothing if MPI has to pack and unpack them: values with gaps, or on a GPU without usable
// kernels.
std::optional<std::shared_ptr<MessageDevice>> array_of(const MpiMessage& recv) {
  const auto elements = api::datatype_layout_of(recv.type);
  if (!elements || !elements->dense) return {};
  return recv.endpoint->coder().devices().of(recv.buf);
}

// Writes values to the receive buffer. Data behind the values is written back unchanged, because MPI_Unpack
// cannot end within an element. Throws Error.
void place(ConstBytes values, const MpiMessage& recv) {
  if (values.empty()) return;
  if (const auto device = array_of(recv))
    return recv.endpoint->coder().copy(recv.to(), values.data(), values.size(), device->get());
  std::vector<std::byte> all = packed(recv);
  std::memcpy(all.data(), values.data(), values.size());
  api::unpack_values(all, recv.to(), recv.count, recv.type);
}

// Returns true if the received data begins with the mark of coded messages. Reads only the elements that hold
// the mark.
bool begins_with_mark(const MpiMessage& recv) {
  const MessageFormat& format = recv.endpoint->format();
  if (const auto device = array_of(recv)) {
    std::array<std::byte, sizeof format.mark> begin;
    recv.endpoint->coder().copy(begin.data(), recv.buf, begin.size(), device->get());
    return has_mark(format, begin);
  }
  const MPI_Count element = std::max<MPI_Count>(api::bytes_of(1, recv.type), 1);
  MpiMessage begin = recv;
  begin.count = std::min(recv.count, 8 / element + 1);
  begin.endpoint = nullptr;
  return has_mark(format, packed(begin));
}

void check_decoded(Status status) {
  if (status != Status::ok) throw Error(status, describe(status));
}

void check_types(DType sent, const MpiMessage& recv) {
  const auto expected = api::known_datatype(recv.type);
  if (!recv.endpoint->checks_types() || !expected || !expected->computes || expected->type == sent) return;
  throw Error(Status::frame_mismatch,
              std::string("a message of type ") + name_of(sent) + ", received as " + name_of(expected->type));
}

// Returns true if frames are decoded into the buffer itself.
bool is_decoded_in_place(const MpiMessage& recv) {
  const auto device = array_of(recv);
  return device && (*device != nullptr || reinterpret_cast<std::uintptr_t>(recv.buf) % 16 == 0);
}

// Reads codec and bound of a coded message from its first frame, and forgets the states that its sender gives
// up. Throws Error if the type of the values is not that of the receive.
void describe_coded(const Envelope& envelope, const MpiMessage& recv, Message& message) {
  message.type = static_cast<DType>(envelope.type);
  message.bytes = envelope.bytes;
  FrameHeader header;
  if (read_header(envelope.frames, header) == Status::ok) {
    message.codec = find_codec(header.codec);
    message.bound = header.bound;
    message.refers = state_numbers_in(header, envelope.frames).any();
  }
  if (SegmentComm* const comm = recv.endpoint->segments().get()) comm->received().forget(envelope.state);
  check_types(*message.type, recv);
}

// Returns the message for frames at an offset, in bytes. They may refer to earlier messages.
WholeMessage whole(const MpiMessage& recv, const Envelope& envelope, std::size_t offset = 0) noexcept {
  SegmentComm* const comm = recv.endpoint->segments().get();
  return {comm != nullptr ? &comm->received() : nullptr, nullptr, envelope.bytes, offset};
}

// Keeps the decoded values of a message as its state, and gives its sender credit. `values`: empty if they
// are on a GPU.
void keep_state(const MpiMessage& recv, const Envelope& envelope, ConstBytes values) noexcept {
  SegmentComm* const comm = recv.endpoint->segments().get();
  const StateNotice& notice = envelope.state;
  if (notice.number == 0 || comm == nullptr || notice.source >= static_cast<unsigned>(comm->size())) return;
  if (values.empty() || !comm->credits().open()) return;
  const auto type = static_cast<DType>(envelope.type);
  const ConstSlice kept{{values.data(), values.size() / size_of(type), type}};
  if (comm->received().keep(notice.number, kept, recv.endpoint->history_bytes()))
    comm->credits().send(static_cast<int>(notice.source), {notice.number, Credit::of_state});
}

// Decodes a message to the receive buffer. Its frames are stored elsewhere.
void decode_to(const MpiMessage& recv, const Envelope& envelope) {
  SharedMessageCoder& coder = recv.endpoint->coder();
  const bool in_place = is_decoded_in_place(recv);
  const Buffer memory = in_place ? Buffer{} : coder.scratch(envelope.bytes);
  const Bytes values{in_place ? static_cast<std::byte*>(recv.to()) : memory.data(), envelope.bytes};
  check_decoded(coder.decode(envelope.frames, envelope.type, values, whole(recv, envelope)));
  keep_state(recv, envelope, in_place && *array_of(recv) != nullptr ? ConstBytes{} : values);
  if (!in_place) place(values, recv);
}

// Decodes a message that is stored outside the receive buffer.
Failure decode_message(ConstBytes whole, const MpiMessage& recv, MPI_Status& status, Message& message) {
  const auto envelope = open_message(recv.endpoint->format(), whole);
  if (!envelope) throw Error(Status::corrupt_frame, "a coded message came damaged");
  describe_coded(*envelope, recv, message);
  if (envelope->bytes > room(recv)) return {MPI_ERR_TRUNCATE};
  message.begin = clock_now();
  decode_to(recv, *envelope);
  message.end = clock_now();
  set_received_bytes(status, envelope->bytes);
  return {};
}

// Returns a copy of the received message in memory of its own.
Buffer moved_away(const MpiMessage& recv, std::size_t bytes) {
  if (const auto device = array_of(recv)) {
    Buffer copy = recv.endpoint->coder().scratch(bytes, device->get());
    recv.endpoint->coder().copy(copy.data(), recv.buf, bytes, device->get());
    return copy;
  }
  Buffer copy = recv.endpoint->coder().scratch(room(recv));
  api::pack_values(recv.buf, recv.count, recv.type, copy.bytes().first(room(recv)));
  return copy;
}

// Counts a message that the receive has got, with this outcome.
void count(MpiMessage recv, const MPI_Status& status, Message& message, const Failure& failure) {
  recv.peer = status.MPI_SOURCE;
  recv.tag = status.MPI_TAG;
  message.failed = static_cast<bool>(failure);
  recv.endpoint->count(recv, message);
}

// Runs `action(message)`, which returns a failure, and counts the message.
template <class Action>
Failure counted(const MpiMessage& recv, const MPI_Status& status, std::size_t bytes, Action action) {
  Message message{.bytes = bytes};
  const Failure failure = api::attempt([&] { return action(message); });
  count(recv, status, message, failure);
  return failure;
}

// Returns the bytes of a message that has arrived; 0 if its receive was cancelled.
std::size_t arrived_bytes(const MPI_Status& status) noexcept {
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  return cancelled == 0 ? received_bytes(status) : 0;
}

// Returns the long message whose first segment MPI has received into `recv`, or into `detached` unless it is
// null; null if the message is none. Receives of its other segments are then posted.
std::unique_ptr<SegmentedReceive> segmented_receive(const MpiMessage& recv, const Detached* detached,
                                                    const MPI_Status& status) noexcept {
  const BypassScope scope;
  try {
    const std::size_t bytes = arrived_bytes(status);
    if (recv.endpoint == nullptr || recv.endpoint->segments() == nullptr) return {};
    if (!recv.endpoint->format().may_have(bytes)) return {};
    if (detached == nullptr && !begins_with_mark(recv)) return {};
    Buffer memory = detached == nullptr ? moved_away(recv, bytes) : Buffer{};
    const ConstBytes all = detached != nullptr ? ConstBytes{detached->memory.get(), bytes}
                                               : ConstBytes(memory.bytes()).first(bytes);
    const auto first = open_message(recv.endpoint->format(), all);
    if (!first || first->following.segments == 0) return {};
    return std::make_unique<SegmentedReceive>(recv, *first);
  } catch (...) {  // decode_message() reports the same error
    return {};
  }
}

}  // namespace

std::shared_ptr<MessageDevice> bounce_device(const MpiMessage& recv) {
  if (!may_be_coded(recv) || !on_device(recv.buf)) return nullptr;
  if (!api::pmpi::fits(static_cast<MPI_Count>(room(recv)))) return nullptr;
  return array_of(recv).value_or(nullptr);
}

Detached bounce_buffer(const MpiMessage& recv, MessageDevice& device) {
  const auto memory = std::make_shared<Buffer>(recv.endpoint->coder().scratch(room(recv), &device));
  return {{memory, memory->data()}, room(recv)};
}

std::vector<std::byte> packed(const MpiMessage& recv) {
  std::vector<std::byte> all(room(recv));
  const auto device = recv.endpoint != nullptr ? array_of(recv) : std::nullopt;
  if (device)
    recv.endpoint->coder().copy(all.data(), recv.buf, all.size(), device->get());
  else
    api::pack_values(recv.buf, recv.count, recv.type, all);
  return all;
}

bool may_be_coded(const MpiMessage& recv) {
  return recv.endpoint != nullptr && room(recv) >= recv.endpoint->format().least_bytes;
}

api::Failure finish_recv(const MpiMessage& recv, MPI_Status& status) {
  const BypassScope scope;
  if (const auto message = segmented_receive(recv, nullptr, status)) return message->receive(status);
  const std::size_t bytes = arrived_bytes(status);
  return counted(recv, status, bytes, [&](Message& message) -> Failure {
    if (!recv.endpoint->format().may_have(bytes) || !begins_with_mark(recv)) return {};
    set_received_bytes(status, 0);
    const Buffer whole = moved_away(recv, bytes);
    return decode_message(ConstBytes(whole.bytes()).first(bytes), recv, status, message);
  });
}

std::size_t bytes_of_values(const Detached& message, const MessageFormat& format) noexcept {
  const auto envelope = open_message(format, {message.memory.get(), message.bytes});
  return envelope ? envelope->bytes : message.bytes;
}

api::Failure deliver(const Detached& detached, const MpiMessage& recv, MPI_Status& status) {
  const BypassScope scope;
  if (const auto long_one = segmented_receive(recv, &detached, status)) return long_one->receive(status);
  const ConstBytes all{detached.memory.get(), arrived_bytes(status)};
  return counted(recv, status, all.size(), [&](Message& message) -> Failure {
    if (has_mark(recv.endpoint->format(), all)) return decode_message(all, recv, status, message);
    if (all.size() > room(recv)) return {MPI_ERR_TRUNCATE};
    place(all, recv);
    return {};
  });
}

api::Failure finish_recv(const MpiMessage& recv, const Detached& detached, SegmentedReceive* segmented,
                         MPI_Status& status) {
  if (segmented != nullptr) return segmented->finish(status);
  return detached ? deliver(detached, recv, status) : finish_recv(recv, status);
}

// ---- Long messages

SegmentedReceive::SegmentedReceive(const MpiMessage& recv, const Envelope& first)
    : recv_(recv), comm_(recv.endpoint->segments()), first_(first), segments_(first.following.segments + 1u) {
  if (first.following.source >= static_cast<std::uint32_t>(comm_->size()))
    throw Error(Status::corrupt_frame, "a segmented message names a rank that is not there");
  SharedMessageCoder& coder = recv.endpoint->coder();
  const bool in_place = is_decoded_in_place(recv);
  if (in_place) device_ = *array_of(recv);
  // A message that is too long is received in part, and reported: its header alone asks for no memory.
  const std::size_t most = std::min(segment(0).size(), std::max<std::size_t>(room(recv), 1));
  for (std::size_t i = 0; i < std::min(window, segments_ - 1); ++i)
    slots_[i].memory = coder.scratch(most, device_.get());
  message_.bytes = first.bytes;
  try {
    describe_coded(first, recv, message_);
    truncated_ = first.bytes > room(recv);
    if (!truncated_ && !in_place) memory_ = coder.scratch(first.bytes);
    if (!truncated_) values_ = {in_place ? static_cast<std::byte*>(recv.to()) : memory_.data(), first.bytes};
  } catch (const Error& error) {
    failure_ = error;
  }
  for (std::size_t i = 1; i <= std::min(window, segments_ - 1); ++i) post(i);
  decode_frames(0, first.frames);
}

// A message that is given up has receives posted only if the process ends. MPI may write to their memory.
SegmentedReceive::~SegmentedReceive() {
  for (Slot& slot : slots_)
    if (slot.request != MPI_REQUEST_NULL) new Buffer(std::move(slot.memory));
}

// Returns the memory of the values of segment `i`, within values_ if they are decoded.
Bytes SegmentedReceive::segment(std::size_t i) const noexcept {
  const std::size_t size = size_of(static_cast<DType>(first_.type));
  const Range range = part_range(first_.bytes / size, i, segments_);
  return {values_.data() + (values_.empty() ? 0 : range.first * size), range.count * size};
}

void SegmentedReceive::post(std::size_t i) noexcept {
  Slot& slot = slots_[(i - 1) % window];
  const auto bytes = static_cast<api::pmpi::Count>(std::min(segment(i).size(), slot.memory.bytes().size()));
  const auto& [segments, source, tag] = first_.following;
  if (TAUT_PMPI(Irecv)(slot.memory.data(), bytes, MPI_BYTE, static_cast<int>(source), static_cast<int>(tag),
                       comm_->handle(), &slot.request) != MPI_SUCCESS)
    fail(Status::transport_failed);
}

void SegmentedReceive::fail(Status status) noexcept {
  if (!failure_) failure_.emplace(status, describe(status));
  values_ = {};
}

void SegmentedReceive::decode_frames(std::size_t i, ConstBytes frames) noexcept {
  if (values_.empty() || failure_) return;
  const std::uint64_t begin = clock_now();
  const Bytes values = segment(i);
  const auto offset = static_cast<std::size_t>(values.data() - values_.data());
  const Status status =
      recv_.endpoint->coder().decode(frames, first_.type, values, whole(recv_, first_, offset));
  message_.end = clock_now();
  decoding_ += message_.end - begin;
  if (status != Status::ok) fail(status);
}

void SegmentedReceive::copy(ConstBytes message, Bytes values) noexcept {
  try {
    recv_.endpoint->coder().copy(values.data(), message.data(), values.size(), device_.get());
  } catch (const Error& error) {
    fail(error.status());
  }
}

// Decodes the message of a segment: values as they are, or a coded message.
void SegmentedReceive::decode(std::size_t i, ConstBytes message) noexcept {
  if (values_.empty() || failure_) return;
  const Bytes values = segment(i);
  if (message.size() == values.size()) return copy(message, values);
  const auto coded = open_message({.mark = recv_.endpoint->format().mark}, message);
  if (!coded || coded->type != first_.type || coded->bytes != values.size() || coded->following.segments != 0)
    return fail(Status::corrupt_frame);
  decode_frames(i, coded->frames);
}

bool SegmentedReceive::advance() noexcept {
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

api::Failure SegmentedReceive::finish(MPI_Status& status) {
  message_.begin = message_.end - decoding_;
  set_received_bytes(status, 0);
  const api::Failure failure = api::attempt([&]() -> api::Failure {
    if (failure_) throw Error(*failure_);
    if (truncated_) return {MPI_ERR_TRUNCATE};
    keep_state(recv_, first_, device_ != nullptr ? Bytes{} : values_);
    if (memory_.data() != nullptr) place(values_, recv_);
    set_received_bytes(status, first_.bytes);
    return {};
  });
  count(recv_, status, message_, failure);
  return failure;
}

api::Failure SegmentedReceive::receive(MPI_Status& status) {
  for (Backoff backoff; !advance(); backoff.pause()) advance_receives();
  return finish(status);
}

// ---- Open receives

namespace {

// The open receives of this process. The mutex also guards their state.
struct OpenReceives {
  std::mutex mutex;
  std::vector<OpenReceive*> receives;
};

constexpr auto all_receives = lasting<OpenReceives>;

std::atomic<std::size_t> open_receives{0};

// Scope in which the functions of MPI on requests return their errors. Of a receive that is truncated,
// MPICH's MPI_Request_get_status calls the error handler of MPI_COMM_SELF or MPI_COMM_WORLD. The program's
// handler must not run before the program completes the receive, nor while Taut holds a lock.
class QuietErrors {
 public:
  QuietErrors() {
    for (std::size_t i = 0; i < comms_.size(); ++i) {
      PMPI_Comm_get_errhandler(comms_[i], &handlers_[i]);
      if (changes(i)) PMPI_Comm_set_errhandler(comms_[i], MPI_ERRORS_RETURN);
    }
  }
  ~QuietErrors() {
    for (std::size_t i = 0; i < comms_.size(); ++i) {
      if (changes(i)) PMPI_Comm_set_errhandler(comms_[i], handlers_[i]);
      PMPI_Errhandler_free(&handlers_[i]);
    }
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  // MPICH 5 takes the handler of MPI_COMM_WORLD while MPI_COMM_SELF has none. It names the missing handler
  // MPI_ERRORS_ARE_FATAL, which must not be set then.
  bool changes([[maybe_unused]] std::size_t i) const noexcept {
#ifdef OPEN_MPI
    return true;
#else
    return comms_[i] != MPI_COMM_SELF || handlers_[i] != MPI_ERRORS_ARE_FATAL;
#endif
  }

  const std::array<MPI_Comm, 2> comms_{MPI_COMM_SELF, MPI_COMM_WORLD};
  std::array<MPI_Errhandler, 2> handlers_{};
};

}  // namespace

bool may_be_segmented(const MpiMessage& recv) {
  return recv.endpoint != nullptr && recv.endpoint->segments() != nullptr && segments_of(room(recv)) > 1;
}

OpenReceive::OpenReceive(const MpiMessage& recv, const Detached* detached, MPI_Request request)
    : recv_(recv), detached_(detached), request_(request) {
  const std::lock_guard lock(all_receives().mutex);
  all_receives().receives.push_back(this);
  ++open_receives;
}

OpenReceive::~OpenReceive() {
  const std::lock_guard lock(all_receives().mutex);
  std::erase(all_receives().receives, this);
  --open_receives;
}

void OpenReceive::look() noexcept {
  if (arrived_) return;
  int there = 0;
  failed_ = PMPI_Request_get_status(request_, &there, &status_) != MPI_SUCCESS;
  arrived_ = failed_ || there != 0;
}

bool OpenReceive::step() {
  if (ready_ || !arrived_) return ready_;
  if (!segmented_ && !failed_) segmented_ = segmented_receive(recv_, detached_, status_);
  ready_ = !segmented_ || segmented_->advance();
  if (ready_ && forgotten_) finish();
  return ready_;
}

void OpenReceive::finish() {
  if (forgotten_ && failed_) return;  // the program has freed the request: nobody reads the error
  MPI_Status status{};
  if (PMPI_Wait(&request_, &status) != MPI_SUCCESS) return;
  finish_recv(recv_, detached_ != nullptr ? *detached_ : Detached{}, segmented_.get(), status);
}

void OpenReceive::forget() noexcept {
  const std::lock_guard lock(all_receives().mutex);
  forgotten_ = true;
}

bool OpenReceive::ready() {
  const BypassScope scope;
  const std::lock_guard lock(all_receives().mutex);
  if (!arrived_) {
    const QuietErrors quiet;
    look();
  }
  return step();
}

void advance_receives() {
  if (open_receives == 0) return;
  const BypassScope scope;
  const std::unique_lock lock(all_receives().mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  {
    const QuietErrors quiet;
    for (OpenReceive* const one : all_receives().receives) one->look();
  }
  for (OpenReceive* const one : all_receives().receives) one->step();
}

}  // namespace taut::p2p
