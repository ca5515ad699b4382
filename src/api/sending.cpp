#include "api/sending.hpp"

#include <bit>
#include <cstring>

#include "api/all_attached.hpp"
#include "api/errors.hpp"

namespace taut::api {

// ---- What the message is

// False: what was given goes to MPI as it is.
bool OutMessage::describe() noexcept {
  if (attached_ == nullptr) return false;
  const auto known = elements_of(arguments_.type);
  const MPI_Count bytes =
      known && arguments_.count >= 0
          ? arguments_.count * static_cast<MPI_Count>(known->values * size_of(known->type()))
          : bytes_of(arguments_.count, arguments_.type);
  const bool missing = known && known->dense && bytes > 0 && arguments_.buf == nullptr;
  if (bytes < 0 || missing || arguments_.dest == MPI_PROC_NULL) return false;
  call_.collective = Collective::send;
  call_.type = known ? known->type() : DType{};
  call_.bytes = static_cast<std::size_t>(bytes);
  call_.site = site_;
  envelope_.bytes = static_cast<std::uint64_t>(bytes);
  elements_ = known;
  if (known && known->is.computes) envelope_.type = static_cast<std::uint8_t>(known->type());
  return attached_->messages() != nullptr;
}

// ---- How it travels

// Memory for all of a message.
Bytes OutMessage::room(std::size_t bytes) {
  if (bytes <= sizeof inline_) return {inline_, bytes};
  buffer_ = attached_->messages()->place().scratch(bytes);
  return buffer_.bytes().first(bytes);
}

void OutMessage::prepare_plain() {
  const auto bytes = static_cast<std::size_t>(envelope_.bytes);
  const ConstBytes values = contiguous() && bytes != 0
                                ? ConstBytes{static_cast<const std::byte*>(arguments_.buf), bytes}
                                : ConstBytes{};
  if (contiguous() && attached_->policy().coding.checksum) envelope_.flags = Envelope::checksummed;
  if (bytes == 0 || (contiguous() && bytes <= most_copied_to_send)) {
    try {
      const Bytes whole = room(envelope_bytes + bytes);
      write_envelope(envelope_, values, whole);
      if (!values.empty()) std::memcpy(whole.data() + envelope_bytes, values.data(), bytes);
      wire_ = Wire::of(whole.data(), whole.size());
      return;
    } catch (const Error&) {  // no memory for a copy: then without
    }
  }
  const Bytes head{inline_, envelope_bytes};
  write_envelope(envelope_, values, head);
  wire_ = contiguous() ? Wire::joined(head, arguments_.buf, bytes)
                       : Wire::joined(head, arguments_.buf, arguments_.count, arguments_.type);
}

// `keep`: for some time. Then memory that could hold the values as they are is too much for the frames.
void OutMessage::keep_coded(EncodedMessage& made, bool keep) {
  write_envelope(envelope_, {}, made.buffer.bytes());
  buffer_ = std::move(made.buffer);
  if (keep && made.bytes <= buffer_.capacity() / 2) {
    Buffer smaller = attached_->messages()->place().scratch(made.bytes);
    std::memcpy(smaller.data(), buffer_.data(), made.bytes);
    buffer_ = std::move(smaller);
  }
  wire_ = Wire::of(buffer_.data(), made.bytes);
}

// All of the message's; throws Error.
ConstSlice OutMessage::values_in_a_row(Buffer& memory) {
  const DType type = elements_->type();
  const auto bytes = static_cast<std::size_t>(envelope_.bytes);
  if (contiguous()) return {{arguments_.buf, bytes / size_of(type), type}};
  memory = attached_->messages()->place().scratch(bytes);
  pack_values(arguments_.buf, arguments_.count, arguments_.type, memory.bytes().first(bytes));
  return {{memory.data(), bytes / size_of(type), type}};
}

EncodedMessage OutMessage::prepare(bool keep) {
  if (on_device(arguments_.buf, arguments_.type)) throw Error(Status::invalid_argument, on_device_text);
  EncodedMessage made;
  const auto bytes = static_cast<std::size_t>(envelope_.bytes);
  envelope_.sequence = attached_->messages()->next_sequence();
  made.plain = !elements_ ? Plain::type : plain_at_once(attached_->policy(), bytes, 2);
  if (made.plain == Plain::no && bytes != 0) {
    const auto stream = reinterpret_cast<std::uintptr_t>(site_) + static_cast<unsigned>(arguments_.tag);
    try {
      Buffer packed;
      made = attached_->messages()->coder().encode(values_in_a_row(packed), stream);
    } catch (const Error& error) {  // before a value is coded
      made.plain = error.status() == Status::out_of_memory ? Plain::memory : Plain::type;
    }
  } else if (bytes == 0) {
    made.plain = Plain::small;
  }
  if (made.plain == Plain::no) {
    envelope_.flags = Envelope::coded;
    keep_coded(made, keep);
  } else {
    prepare_plain();
  }
  return made;
}

// ---- Statistics

void OutMessage::account(const EncodedMessage& made, std::uint64_t begin, std::uint64_t prepared) noexcept {
  const auto bytes = static_cast<std::size_t>(envelope_.bytes);
  const bool coded = made.plain == Plain::no && attached_->messages() != nullptr;
  const std::uint64_t end = begin != 0 ? clock_now() : 0;
  attached_->account([&](CallTable& calls) {
    CallRow& row = calls.count(call_.key(), bytes);
    note_sent(made, bytes, coded ? made.bytes : 0, row);
    row.sum.times[coded ? Verb::wait : Verb::plain] += end - begin - (made.end - made.begin);
    row.sum.times[Verb::call] += end - begin;
  });
  Recorder* const events = begin != 0 ? recorder() : nullptr;
  if (events == nullptr) return;
  const CallTag tag = events->open(call_.kind());
  if (made.begin != 0) tag.add(Verb::agree, 0, made.begin, made.decided, 0);
  if (coded) tag.add(Verb::encode, 0, made.decided, made.end, bytes);
  tag.add(coded ? Verb::wait : Verb::plain, 0, prepared, end, coded ? made.bytes : bytes);
  tag.add(Verb::call, 0, begin, end, bytes);
  events->close(tag);
}

// ---- Sending

template <class HandOver>
int OutMessage::run(bool keep, HandOver hand_over) {
  const bool ours = describe();
  const auto bytes = static_cast<std::size_t>(envelope_.bytes);
  const bool counted = ours || (attached_ != nullptr && call_.collective != Collective{});
  const std::uint64_t begin = counted && attached_->times(bytes) ? clock_now() : 0;
  EncodedMessage made;
  if (ours) {
    made = prepare(keep);
  } else {
    if (!plain::fits(arguments_.count)) return raise(arguments_.comm, MPI_ERR_COUNT);
    wire_ = Wire(arguments_.buf, arguments_.count, arguments_.type);
    if (counted) made.plain = attached_->why_plain();
  }
  const std::uint64_t prepared = made.end != 0 ? made.end : begin;
  const int code = hand_over();
  if (counted) account(made, begin, prepared);
  return code;
}

int OutMessage::start(MPI_Request* request) {
  return run(true, [&] {
    return TAUT_PMPI(Isend)(wire_.at(), wire_.count(), wire_.type(), arguments_.dest, arguments_.tag,
                            arguments_.comm, request);
  });
}

int OutMessage::send() {
  return run(false, [&] {
    const bool alone = !calls_in_flight();
    if (alone)
      return TAUT_PMPI(Send)(wire_.at(), wire_.count(), wire_.type(), arguments_.dest, arguments_.tag,
                             arguments_.comm);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = TAUT_PMPI(Isend)(wire_.at(), wire_.count(), wire_.type(), arguments_.dest,
                                      arguments_.tag, arguments_.comm, &request);
    return code != MPI_SUCCESS ? code : wait_for(request, MPI_STATUS_IGNORE);
  });
}

}  // namespace taut::api
