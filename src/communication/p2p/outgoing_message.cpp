#include "communication/p2p/outgoing_message.hpp"

#include <algorithm>
#include <atomic>
#include <list>

#include "communication/p2p/bypass.hpp"
#include "communication/p2p/incoming_message.hpp"

namespace taut::p2p {
namespace {

// Time for which a send waits for the receiver to take one more segment. A receiver that has matched the
// message and waits in some other MPI call, a barrier for example, must not hold the sender up. Longer than a
// segment takes at 100 Mbit/s, and than a turn of another process.
constexpr std::uint64_t patience = 100'000'000;

// Longest time between two looks that counts. The program may have computed in between.
constexpr std::uint64_t longest_look = 1'000'000;

// Values of messages whose segments may wait to be received after their send is complete, in bytes.
constexpr std::size_t most_pending_bytes = std::size_t{256} << 20;

// Time for which segments may wait once every rank is in MPI_Finalize. Their receives are posted by then, if
// they ever were.
constexpr std::uint64_t last_patience = 1'000'000'000;

struct Pending {
  EncodedMessage made;
  std::vector<MPI_Request> sends;

  bool sent() noexcept {
    int done = 0;
    PMPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }
};

struct PendingSegments {
  std::mutex mutex;
  std::list<Pending> pending;
};

PendingSegments& pending_segments() {
  static auto* const one = new PendingSegments;
  return *one;
}

std::atomic<std::size_t> bytes_kept{0};

// Frees the messages that are sent. Returns true if none is left.
bool clear_sent() noexcept {
  const BypassScope scope;
  PendingSegments& here = pending_segments();
  const std::lock_guard lock(here.mutex);
  here.pending.remove_if([](Pending& one) { return one.sent(); });
  std::size_t bytes = 0;
  for (const Pending& one : here.pending) bytes += one.made.buffer.capacity();
  bytes_kept = bytes;
  return here.pending.empty();
}

// Leaves segments to MPI that no rank receives. MPI may still read their memory.
void give_up() noexcept {
  for (Pending& one : pending_segments().pending) {
    for (MPI_Request& send : one.sends)
      if (send != MPI_REQUEST_NULL) PMPI_Request_free(&send);
    new Buffer(std::move(one.made.buffer));
  }
  pending_segments().pending.clear();
  bytes_kept = 0;
}

// Keeps a message until MPI has sent its segments.
void keep_pending(EncodedMessage made, std::vector<MPI_Request> sends) noexcept {
  bytes_kept += made.buffer.capacity();
  {
    const std::lock_guard lock(pending_segments().mutex);
    pending_segments().pending.push_back({std::move(made), std::move(sends)});
  }
  clear_sent();
}

// Returns the size of the values whose messages are kept.
std::size_t pending_bytes() noexcept {
  if (bytes_kept != 0) clear_sent();
  return bytes_kept;
}

}  // namespace

OutgoingMessage::OutgoingMessage(SharedMessageCoder& coder, SegmentComm* segments, const MpiMessage& message,
                                 const api::DatatypeLayout& kind, std::uint64_t stream) noexcept
    : coder_(&coder), segments_(segments) {
  FollowingSegments following;
  const std::size_t bytes = bytes_of_values(message, kind);
  if (segments != nullptr && segments_of(bytes) > 1) {
    dest_ = segments->rank_of(message.comm, message.peer);
    if (pending_bytes() <= most_pending_bytes) following = segments->divide(bytes, dest_);
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

MpiMessage OutgoingMessage::in_place_of(const MpiMessage& message) const {
  if (!coded()) return message;
  const bool predefined = api::known_datatype(message.type).has_value();
  const MPI_Count size = predefined ? api::bytes_of(1, message.type) : 1;
  MpiMessage sent = message;
  sent.buf = made_.message().data();
  sent.count = static_cast<MPI_Count>(made_.bytes) / size;
  if (!predefined) sent.type = MPI_BYTE;
  return sent;
}

int OutgoingMessage::start(StartFunction function, const MpiMessage& message, MPI_Request* request) {
  const MpiMessage coded = in_place_of(message);
  if (!in_segments()) return p2p::start(function, coded, request);
  const BypassScope scope;
  const int code = p2p::start(TAUT_PMPI(Issend), coded, request);
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

void finish_segments() noexcept {
  const BypassScope scope;
  std::vector<MPI_Request> barriers;
  for (const SegmentComm* const comm : segment_comms())
    if (comm->handle() != MPI_COMM_NULL)
      PMPI_Ibarrier(comm->handle(), &barriers.emplace_back(MPI_REQUEST_NULL));
  int all_here = 0;
  std::uint64_t since = clock_now();
  for (Backoff backoff; !clear_sent() || all_here == 0; backoff.pause()) {
    advance_receives();
    if (all_here != 0 && clock_now() - since > last_patience) break;
    if (all_here != 0) continue;
    PMPI_Testall(static_cast<int>(barriers.size()), barriers.data(), &all_here, MPI_STATUSES_IGNORE);
    since = clock_now();
  }
  give_up();
  for (SegmentComm* const comm : segment_comms()) comm->free();
}

}  // namespace taut::p2p
