#include "api/receiving.hpp"

#include <bit>
#include <cstring>

#include "api/all_attached.hpp"
#include "api/elements.hpp"
#include "api/errors.hpp"

namespace taut::api {
namespace {

constexpr const char* no_envelope =
    "a message without a header of Taut's, or with a damaged one: was it sent by MPI_Send?";

// For values of any type.
bool aligned(const void* at) noexcept { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; }

Bytes memory(void* at, std::size_t bytes) noexcept { return {static_cast<std::byte*>(at), bytes}; }

void check_types(std::uint8_t sent, std::uint8_t expected) {
  if (sent == 0 || expected == 0 || sent == expected) return;
  throw Error(Status::frame_mismatch, std::string("a message of type ") + name_of(static_cast<DType>(sent)) +
                                          ", received as " + name_of(static_cast<DType>(expected)));
}

}  // namespace

InMessage::~InMessage() {
  if (kept_type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&kept_type_);
}

// ---- Before it comes

// False: what was given goes to MPI as it is.
bool InMessage::describe() noexcept {
  if (attached_ == nullptr) return false;
  const auto known = known_datatype(arguments_.type);
  const MPI_Count bytes = known && arguments_.count >= 0
                              ? arguments_.count * static_cast<MPI_Count>(size_of(known->type))
                              : bytes_of(arguments_.count, arguments_.type);
  const bool missing = known && bytes > 0 && arguments_.buf == nullptr;
  if (bytes < 0 || missing || arguments_.source == MPI_PROC_NULL) return false;
  contiguous_ = known.has_value();
  if (known && known->computes) type_ = static_cast<std::uint8_t>(known->type);
  capacity_ = static_cast<std::size_t>(bytes);
  return attached_->messages() != nullptr;
}

void InMessage::prepare() {
  ours_ = describe();
  if (!ours_) {
    if (!plain::fits(arguments_.count)) throw Error(Status::invalid_count, "a count that needs MPI 4");
    wire_ = Wire(arguments_.buf, arguments_.count, arguments_.type);
    return;
  }
  if (on_device(arguments_.buf, arguments_.type)) throw Error(Status::invalid_argument, on_device_text);
  if (!contiguous_ && !plain::fits(static_cast<MPI_Count>(capacity_)))
    throw Error(Status::invalid_count, "2 GiB and more of values that lie apart need MPI 4");
  probed_ = messages().take(arguments_.comm, arguments_.source, arguments_.tag);
  if (probed_ != nullptr) return;
  if (!contiguous_ || capacity_ <= most_copied_to_receive) return receive_to_scratch();
  wire_ = Wire::joined({inline_, envelope_bytes}, arguments_.buf, capacity_);
}

std::byte* InMessage::room(std::size_t bytes) {
  if (bytes <= sizeof inline_) return inline_;
  buffer_ = messages().place().scratch(bytes);
  return buffer_.data();
}

void InMessage::receive_to_scratch() {
  if (receives_apart && capacity_ > most_copied_to_receive) {
    buffer_ = messages().place().scratch(capacity_);
    payload_ = buffer_.data();
    wire_ = Wire::joined({inline_, envelope_bytes}, payload_, capacity_);
  } else if (receives_apart) {  // longer messages that have room here are found too long in time
    const Slot& slot = messages().slot(capacity_);
    head_ = room(slot.bytes());
    payload_ = head_ + Slot::payload_at;
    wire_ = Wire(head_, 1, slot.type);
  } else {
    head_ = room(envelope_bytes + capacity_);
    payload_ = head_ + envelope_bytes;
    wire_ = Wire::of(head_, envelope_bytes + capacity_);
  }
}

int InMessage::start(MPI_Request* request) {
  prepare();
  if (ours_ && !contiguous_ && is_derived(arguments_.type)) {
    if (PMPI_Type_dup(arguments_.type, &kept_type_) != MPI_SUCCESS) throw std::bad_alloc();
    arguments_.type = kept_type_;
  }
  if (probed_ != nullptr) {
    *request = probed_->request;
    return MPI_SUCCESS;
  }
  return TAUT_PMPI(Irecv)(wire_.at(), wire_.count(), wire_.type(), arguments_.source, arguments_.tag,
                          arguments_.comm, request);
}

int InMessage::receive(MPI_Status* status) {
  prepare();
  if (ours_ && attached_->times(capacity_)) began_ = clock_now();
  MPI_Status came{};
  int code = MPI_SUCCESS;
  if (probed_ != nullptr) {
    code = wait_for(probed_->request, &came);
  } else if (!calls_in_flight()) {
    code = TAUT_PMPI(Recv)(wire_.at(), wire_.count(), wire_.type(), arguments_.source, arguments_.tag,
                           arguments_.comm, &came);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    code = TAUT_PMPI(Irecv)(wire_.at(), wire_.count(), wire_.type(), arguments_.source, arguments_.tag,
                            arguments_.comm, &request);
    if (code == MPI_SUCCESS) code = wait_for(request, &came);
  }
  if (code == MPI_SUCCESS) return finish(came, arguments_.comm, status);
  if (status != MPI_STATUS_IGNORE) *status = came;
  return code;
}

void InMessage::abandon(MPI_Request& request) noexcept {
  if (probed_ == nullptr) PMPI_Cancel(&request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

// ---- Once it is here

int InMessage::finish(const MPI_Status& came, MPI_Comm raise_on, MPI_Status* status) noexcept {
  if (!ours_) {
    if (status != MPI_STATUS_IGNORE) *status = came;
    return MPI_SUCCESS;
  }
  Opened opened;
  const int code = guard(raise_on, [&] { return unpack(came, raise_on, status, opened); });
  account(opened, code != MPI_SUCCESS);
  return code;
}

int InMessage::unpack(const MPI_Status& came, MPI_Comm raise_on, MPI_Status* status, Opened& opened) {
  const std::size_t bytes = probed_ != nullptr ? probed_->bytes : bytes_of(came);
  if (status != MPI_STATUS_IGNORE) {
    *status = came;
    if (probed_ != nullptr) status->MPI_SOURCE = probed_->source;
    if (probed_ != nullptr) status->MPI_TAG = probed_->tag;
    set_bytes(*status, 0);
  }
  if (probed_ != nullptr) {
    head_ = probed_->buffer.data();
    payload_ = head_ + envelope_bytes;
  }
  open(bytes, opened);
  const Envelope& envelope = opened.envelope;
  check_types(envelope.type, type_);
  if (envelope.bytes > capacity_) return raise(raise_on, MPI_ERR_TRUNCATE);
  if (status != MPI_STATUS_IGNORE) set_bytes(*status, static_cast<std::size_t>(envelope.bytes));
  if (envelope.has(Envelope::coded)) {
    decode(opened);
  } else if (payload_ != nullptr) {
    put(opened.payload);
  }
  return MPI_SUCCESS;
}

void InMessage::open(std::size_t bytes, Opened& opened) {
  if (bytes < envelope_bytes) throw Error(Status::corrupt_frame, no_envelope);
  opened.payload = memory(payload_ != nullptr ? payload_ : arguments_.buf, bytes - envelope_bytes);
  const Status status = read_envelope({head_, envelope_bytes}, opened.payload, opened.envelope);
  if (status != Status::ok)
    throw Error(status, status == Status::corrupt_frame ? no_envelope : taut::describe(status));
}

// Frames that came to the user's memory make room first: they are shorter than the values.
void InMessage::decode(Opened& opened) {
  opened.begin = clock_now();
  const auto bytes = static_cast<std::size_t>(opened.envelope.bytes);
  const bool direct = contiguous_ && (type_ != 0 || aligned(arguments_.buf));
  if (direct && payload_ == nullptr) {
    buffer_ = messages().place().scratch(opened.payload.size());
    std::memcpy(buffer_.data(), opened.payload.data(), opened.payload.size());
    opened.payload = buffer_.bytes().first(opened.payload.size());
  }
  FrameHeader header;
  if (read_header(opened.payload, header) == Status::ok) {
    opened.codec = find_codec(header.codec);
    opened.bound = header.bound;
  }
  const Buffer scratch = direct ? Buffer() : messages().place().scratch(bytes);
  const Bytes values = direct ? memory(arguments_.buf, bytes) : scratch.bytes().first(bytes);
  const Status status = messages().coder().decode(opened.payload, opened.envelope.type, values);
  if (status != Status::ok) throw Error(status, taut::describe(status));
  if (!direct) put(values);
  opened.end = clock_now();
}

void InMessage::put(ConstBytes values) {
  if (values.empty()) return;
  if (contiguous_)
    std::memcpy(arguments_.buf, values.data(), values.size());
  else
    unpack_layout(values);
}

// All of the user's memory, as bytes in a row.
Buffer InMessage::packed() {
  Buffer all = messages().place().scratch(capacity_);
  pack_values(arguments_.buf, arguments_.count, arguments_.type, all.bytes().first(capacity_));
  return all;
}

// Values that end within an element would not be taken by MPI_Unpack: so what stands behind them is written
// as it was.
void InMessage::unpack_layout(ConstBytes values) {
  const Buffer all = values.size() < capacity_ ? packed() : messages().place().scratch(capacity_);
  std::memcpy(all.data(), values.data(), values.size());
  unpack_values(all.bytes().first(capacity_), arguments_.buf, arguments_.count, arguments_.type);
}

// ---- Statistics

void InMessage::account(const Opened& opened, bool failed) noexcept {
  const Envelope& envelope = opened.envelope;
  const auto bytes = static_cast<std::size_t>(envelope.bytes);
  Call call{.collective = Collective::recv, .type = DType(envelope.type), .bytes = bytes};
  call.site = site_;
  const bool coded = opened.codec != nullptr;
  const std::uint64_t end = began_ != 0 ? clock_now() : 0;
  const std::uint64_t decoding = opened.end > opened.begin ? opened.end - opened.begin : 0;
  attached_->account([&](CallTable& calls) {
    CallRow& row = calls.count(call.key(), bytes);
    row.sum.failed_calls += failed;
    Times& times = row.sum.times;
    const std::uint64_t all = began_ != 0 ? end - began_ : decoding;
    times[Verb::decode] += decoding;
    times[coded ? Verb::wait : Verb::plain] += all - decoding;
    times[Verb::call] += all;
    if (coded) {
      ++row.sum.compressed_calls;
      row.decision = {opened.codec->name, {}, "one_message", Arithmetic::values, 1, opened.bound};
    } else if (!failed) {
      row.note_plain(bytes < attached_->policy().min_bytes ? Plain::small : Plain::sender);
    }
  });
  Recorder* const events = began_ != 0 ? recorder() : nullptr;
  if (events == nullptr) return;
  const CallTag tag = events->open(call.kind());
  tag.add(coded ? Verb::wait : Verb::plain, 0, began_, end - decoding, bytes);
  if (coded) tag.add(Verb::decode, 0, opened.begin, opened.end, bytes);
  tag.add(Verb::call, 0, began_, end, bytes);
  events->close(tag);
}

}  // namespace taut::api
