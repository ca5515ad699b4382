#include "communication/p2p/outgoing_message.hpp"

#include <algorithm>

#include "communication/p2p/bypass.hpp"
#include "communication/p2p/open_receive.hpp"
#include "communication/p2p/pending_segments.hpp"

namespace taut::p2p {
namespace {

// Time for which a send waits for the receiver to take one more segment. A receiver that has matched the
// message and waits in some other MPI call, a barrier for example, must not hold the sender up. Longer than a
// segment takes at 100 Mbit/s, and than a turn of another process.
constexpr std::uint64_t patience = 100'000'000;

// Longest time between two looks that counts. The program may have computed in between.
constexpr std::uint64_t longest_look = 1'000'000;

}  // namespace

OutgoingMessage::OutgoingMessage(SharedMessageCoder& coder, SegmentComm* segments,
                                 const SendArguments& message, const api::DatatypeLayout& kind,
                                 std::uint64_t stream) noexcept
    : coder_(&coder), segments_(segments) {
  FollowingSegments following;
  const std::size_t bytes = bytes_of_values(message, kind);
  if (segments != nullptr && segments_of(bytes) > 1) {
    dest_ = segments->rank_of(message.comm, message.dest);
    following = segments->divide(bytes, dest_);
  }
  try {
    if (!kind.dense && api::on_device(message.buf, message.type)) {
      made_.fallback = Fallback::device;
    } else {
      values_ = coder.values_in_a_row(message, kind, packed_);
      made_ = coder.encode(values_, stream, following);
    }
  } catch (const Error& error) {  // thrown before any value is coded
    made_.fallback = error.status() == Status::out_of_memory ? Fallback::memory : Fallback::type;
  } catch (...) {
    made_.fallback = Fallback::memory;
  }
  if (!coded()) made_.following = {};
  if (!in_segments()) packed_ = {};
}

OutgoingMessage& OutgoingMessage::operator=(OutgoingMessage&& other) noexcept {
  release();
  made_ = std::move(other.made_);
  coder_ = other.coder_;
  segments_ = other.segments_;
  dest_ = other.dest_;
  packed_ = std::move(other.packed_);
  values_ = other.values_;
  sends_ = std::move(other.sends_);
  left_ = std::exchange(other.left_, 0);
  last_ = other.last_;
  idle_ = other.idle_;
  gave_up_ = other.gave_up_;
  return *this;
}

OutgoingMessage::~OutgoingMessage() { release(); }

void OutgoingMessage::release() noexcept {
  if (left_ != 0) keep_pending(std::move(made_), std::move(sends_));
  left_ = 0;
}

void OutgoingMessage::shrink() {
  if (coded() && !in_segments()) coder_->shrink(made_);
}

int OutgoingMessage::start(StartFunction function, const SendArguments& message, MPI_Request* request) {
  const SendBuffer coded = buffer_of(made_, message.type);
  if (!in_segments()) return p2p::start(function, made_, message, request);
  const BypassScope scope;
  const int code =
      TAUT_PMPI(Issend)(coded.at, coded.count, coded.type, message.dest, message.tag, message.comm, request);
  return code == MPI_SUCCESS ? start_segments() : code;
}

// Encodes and sends the segments behind the first. MPI sends those before while one is encoded, and gets its
// turn between them.
int OutgoingMessage::start_segments() noexcept {
  const FollowingSegments& following = made_.following;
  sends_.reserve(following.segments);
  int code = MPI_SUCCESS;
  for (std::size_t i = 1; i <= following.segments && code == MPI_SUCCESS; ++i) {
    const ConstBytes segment = coder_->encode_segment(values_, i, made_);
    code = TAUT_PMPI(Isend)(segment.data(), static_cast<api::pmpi::Count>(segment.size()), MPI_BYTE, dest_,
                            static_cast<int>(following.tag), segments_->handle(),
                            &sends_.emplace_back(MPI_REQUEST_NULL));
    ++left_;
    all_sent();
    advance_receives();
  }
  packed_ = {};
  last_ = clock_now();
  return code;
}

// Returns true if all segments are sent. Lets MPI make progress.
bool OutgoingMessage::all_sent() noexcept {
  int done = 0;
  if (PMPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
    done = 1;
  if (done != 0) left_ = 0;
  return done != 0;
}

bool OutgoingMessage::ready(MPI_Request request) {
  if (left_ == 0 || gave_up_) return true;
  const BypassScope scope;
  int matched = 0;
  PMPI_Request_get_status(request, &matched, MPI_STATUS_IGNORE);
  const std::uint64_t now = clock_now();
  idle_ = matched != 0 ? idle_ + std::min(now - std::exchange(last_, now), longest_look) : 0;
  last_ = now;
  if (matched == 0) return false;
  std::size_t sent = 0;
  for (MPI_Request& send : sends_) {
    int done = 0;
    PMPI_Test(&send, &done, MPI_STATUS_IGNORE);
    if (done == 0) break;  // segments are received in order
    ++sent;
  }
  if (sends_.size() - sent < left_) idle_ = 0;
  left_ = sends_.size() - sent;
  gave_up_ = left_ != 0 && idle_ > patience;
  if (left_ == 0 || gave_up_) segments_->note(dest_, values_.bytes(), !gave_up_);
  return left_ == 0 || gave_up_;
}

}  // namespace taut::p2p
