#include "communication/p2p/send.hpp"

#include <algorithm>
#include <atomic>
#include <list>

#include "communication/comm/agree.hpp"
#include "communication/mpi/lasting.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/p2p/receive.hpp"

namespace taut::p2p {
namespace {

// Time for which a send waits for the receiver to take one more segment. A receiver that has matched the
// message and waits in some other MPI call, a barrier for example, must not hold the sender up. Longer than a
// segment takes at 100 Mbit/s, and than a turn of another process.
constexpr std::uint64_t patience = 100'000'000;

// Longest time between two looks that counts. The program may have computed in between.
constexpr std::uint64_t longest_look = 1'000'000;

// Memory of messages that may wait to be received after their send is complete, in bytes. Beyond it no
// message is sent in segments.
constexpr std::size_t most_pending_bytes = std::size_t{256} << 20;

// Time for which segments may wait once every rank is in MPI_Finalize. Their receives are posted by then, if
// they ever were.
constexpr std::uint64_t last_patience = 1'000'000'000;

struct Pending {
  std::shared_ptr<const void> memory;
  std::size_t bytes;
  std::vector<MPI_Request> sends;
  bool arrives;  // some rank receives the message, perhaps late

  bool sent() noexcept {
    int done = 0;
    PMPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }
};

struct PendingSends {
  std::mutex mutex;
  std::list<Pending> pending;
};

constexpr auto pending_sends = lasting<PendingSends>;

std::atomic<std::size_t> bytes_kept{0};

// Frees the messages that are sent. Returns true if none is left.
bool clear_sent() noexcept {
  const BypassScope scope;
  PendingSends& here = pending_sends();
  const std::lock_guard lock(here.mutex);
  here.pending.remove_if([](Pending& one) { return one.sent(); });
  std::size_t bytes = 0;
  for (const Pending& one : here.pending) bytes += one.bytes;
  bytes_kept = bytes;
  return here.pending.empty();
}

// Leaves messages to MPI that no rank receives. MPI may still read their memory.
void give_up() noexcept {
  for (Pending& one : pending_sends().pending) {
    for (MPI_Request& send : one.sends)
      if (send != MPI_REQUEST_NULL) PMPI_Request_free(&send);
    new std::shared_ptr<const void>(std::move(one.memory));
  }
  pending_sends().pending.clear();
  bytes_kept = 0;
}

// Keeps memory until MPI has sent what is in it.
void keep_pending(std::shared_ptr<const void> memory, std::size_t bytes, std::vector<MPI_Request> sends,
                  bool arrives) noexcept {
  bytes_kept += bytes;
  {
    const std::lock_guard lock(pending_sends().mutex);
    pending_sends().pending.push_back({std::move(memory), bytes, std::move(sends), arrives});
  }
  clear_sent();
}

// Returns the size of the memory that is kept.
std::size_t pending_bytes() noexcept {
  if (bytes_kept != 0) clear_sent();
  return bytes_kept;
}

}  // namespace

void Send::encode(SharedMessageCoder& coder, SegmentComm* segments, std::uint64_t stream) noexcept {
  coder_ = &coder;
  segments_ = segments;
  FollowingSegments following;
  const std::size_t bytes = bytes_of_values(arguments_, *layout_);
  const bool is_long = segments_of(bytes) > 1;
  const bool may_stay = segments != nullptr && segments->has_nodes() && coder.stays_plain_on_a_node(bytes);
  if (segments != nullptr && (is_long || coder.uses_history() || may_stay))
    dest_ = segments->rank_of(arguments_.comm, arguments_.peer);
  if (may_stay && segments->shares_node(dest_)) {
    message_.fallback = Fallback::slower;
    return;
  }
  if (segments != nullptr && is_long) {
    if (pending_bytes() <= most_pending_bytes) following = segments->divide(bytes, dest_);
  }
  try {
    if (!layout_->dense && api::on_device(arguments_.buf, arguments_.type)) {
      message_.fallback = Fallback::device;
    } else {
      values_ = coder.values_in_a_row(arguments_, *layout_, packed_);
      message_ = coder.encode(values_, stream, following, history());
    }
  } catch (const Error& error) {  // thrown before any value is coded
    message_.fallback = error.status() == Status::out_of_memory ? Fallback::memory : Fallback::type;
  } catch (...) {
    message_.fallback = Fallback::memory;
  }
  if (!coded()) message_.following = {};
  if (!in_segments()) packed_ = {};
}

// Returns the history of the message; it has none if the policy has none, or if the receiver has no rank in
// the private communicator. Takes the credits that have arrived.
MessageHistory Send::history() noexcept {
  if (segments_ == nullptr || dest_ < 0 || !coder_->uses_history()) return {};
  segments_->credits().receive();
  std::uint64_t kind = hash(std::as_bytes(std::span(&coder_, 1)));
  mix(kind, arguments_.comm);
  mix(kind, dest_);
  mix(kind, arguments_.tag);
  mix(kind, values_.type);
  std::uint64_t key = kind;
  mix(key, values_.count);
  return {&segments_->sent(), {key, static_cast<std::uint32_t>(dest_), kind}};
}

Send& Send::operator=(Send&& other) noexcept {
  release();
  arguments_ = other.arguments_;
  layout_ = std::move(other.layout_);
  message_ = std::move(other.message_);
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

Send::~Send() { release(); }

void Send::release() noexcept {
  if (std::exchange(left_, 0) == 0) return;
  const std::size_t bytes = message_.buffer.capacity();
  keep_pending(std::make_shared<const Message>(std::move(message_)), bytes, std::move(sends_), false);
}

void Send::shrink() {
  if (coded() && !in_segments()) coder_->shrink(message_);
}

MpiMessage Send::arguments() const {
  MpiMessage sent = arguments_;
  if (!coded()) return sent;
  const bool predefined = api::known_datatype(sent.type).has_value();
  const MPI_Count size = predefined ? api::bytes_of(1, sent.type) : 1;
  sent.buf = message_.memory().data();
  sent.count = static_cast<MPI_Count>(message_.coded_bytes) / size;
  if (!predefined) sent.type = MPI_BYTE;
  return sent;
}

int Send::start(StartFunction function, MPI_Request* request) {
  const MpiMessage sent = arguments();
  if (!in_segments()) return p2p::start(function, sent, request);
  const BypassScope scope;
  const int code = p2p::start(TAUT_PMPI(Issend), sent, request);
  return code == MPI_SUCCESS ? start_segments() : code;
}

// Encodes and sends the segments behind the first. MPI sends those before while one is encoded, and gets its
// turn between them.
int Send::start_segments() noexcept {
  const FollowingSegments& following = message_.following;
  sends_.reserve(following.segments);
  int code = MPI_SUCCESS;
  for (std::size_t i = 1; i <= following.segments && code == MPI_SUCCESS; ++i) {
    const ConstBytes segment = coder_->encode_segment(values_, i, message_);
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

// Returns true if all segments are sent. Lets MPI make progress. After an error MPI may still read segments,
// unless it says that all are complete.
bool Send::all_sent() noexcept {
  int done = 0;
  PMPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &done, MPI_STATUSES_IGNORE);
  if (done != 0) left_ = 0;
  return done != 0;
}

bool Send::ready(MPI_Request request) {
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

int send_detached(const MpiMessage& values) {
  const auto bytes = std::make_shared<const std::vector<std::byte>>(packed(values));
  if (!api::pmpi::fits(static_cast<MPI_Count>(bytes->size())))
    throw Error(Status::invalid_count, "a count that needs MPI 4");
  std::vector<MPI_Request> request{MPI_REQUEST_NULL};
  const int code = TAUT_PMPI(Isend)(bytes->data(), static_cast<api::pmpi::Count>(bytes->size()), MPI_PACKED,
                                    values.peer, values.tag, values.comm, request.data());
  if (code == MPI_SUCCESS) keep_pending(bytes, bytes->size(), std::move(request), true);
  return code;
}

void finish_sends() noexcept {
  const BypassScope scope;
  finish_credits(advance_receives);
  for (Pending& one : pending_sends().pending)
    if (one.arrives) PMPI_Waitall(static_cast<int>(one.sends.size()), one.sends.data(), MPI_STATUSES_IGNORE);
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
