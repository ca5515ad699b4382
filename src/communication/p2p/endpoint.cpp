#include "communication/p2p/endpoint.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <list>

#include "communication/mpi/errors.hpp"
#include "communication/mpi/lasting.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/team/task.hpp"
#include "communication/transports/mpi.hpp"
#include "compressor/base/options.hpp"

namespace taut::p2p {
namespace {

std::atomic<Endpoint*> of_the_program{nullptr};

// Tags of one message and the next differ. A tag is used again after that many long messages of this process.
constexpr std::uint32_t tags = credit_tag;

// Greatest size of the values that are divided. A segment is one frame, of at most 512 MiB.
constexpr std::size_t most_bytes = most_segments * (std::size_t{512} << 20);

std::mutex registering;

// Communicators that the program has freed, and on which credits may be underway.
struct EndingComms {
  struct One {
    MPI_Comm comm;
    std::unique_ptr<CreditChannel> credits;
  };
  std::mutex mutex;
  std::list<One> all;
};

constexpr auto ending_comms = lasting<EndingComms>;

// Frees the communicators on which no credits are left. Returns true if none remains.
bool free_ended() noexcept {
  const std::lock_guard lock(ending_comms().mutex);
  ending_comms().all.remove_if(
      [](EndingComms::One& one) { return one.credits->ended() && PMPI_Comm_free(&one.comm) == MPI_SUCCESS; });
  return ending_comms().all.empty();
}

}  // namespace

SharedMessageCoder::SharedMessageCoder(const Policy& policy, const MessageFormat& format, int threads)
    : policy_(policy), coder_(policy_, format, *place_, options().kernels, std::max(threads, 1)) {}

// Sums and blocks by nodes follow the same rule. A copy in memory is faster than encoding and decoding,
// unless both overlap in segments (docs/adr/0133).
bool SharedMessageCoder::stays_plain_on_a_node(std::size_t bytes) const noexcept {
  const bool by_nodes = policy_.always_by_nodes() ||
                        (policy_.by_nodes == Policy::ByNodes::automatic && policy_.only_if_profitable());
  return by_nodes && early_fallback(policy_, bytes, 2) == Fallback::none && segments_of(bytes) == 1;
}

ConstSlice SharedMessageCoder::values_in_a_row(const MpiMessage& message, const api::DatatypeLayout& kind,
                                               Buffer& memory) {
  const std::size_t bytes = bytes_of_values(message, kind), n = bytes / size_of(kind.type());
  if (kind.dense) return {{message.buf, n, kind.type()}};
  memory = scratch(bytes);
  api::pack_values(message.buf, message.count, message.type, memory.bytes().first(bytes));
  return {{memory.data(), n, kind.type()}};
}

Message SharedMessageCoder::encode(ConstSlice values, std::uint64_t stream,
                                   const FollowingSegments& following,
                                   const MessageHistory& history) noexcept {
  const std::lock_guard lock(mutex_);
  Message message = coder_.encode(values, stream, following, history);
  if (!api::pmpi::fits(static_cast<MPI_Count>(message.coded_bytes)))
    message = {.fallback = Fallback::unsupported};
  return message;
}

ConstBytes SharedMessageCoder::encode_segment(ConstSlice values, std::size_t i, Message& message) noexcept {
  const std::lock_guard lock(mutex_);
  return coder_.encode_segment(values, i, message);
}

void SharedMessageCoder::shrink(Message& message) {
  const std::size_t bytes = message.coded_bytes;
  if (!message.coded() || bytes > message.buffer.capacity() / 2) return;
  Buffer smaller = scratch(message_padding + bytes, message.device.get());
  std::memcpy(smaller.data() + (message.memory().data() - message.buffer.data()), message.memory().data(),
              bytes);
  message.buffer = std::move(smaller);
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

Status SharedMessageCoder::decode(ConstBytes frames, std::uint8_t type, Bytes values,
                                  const WholeMessage& whole) noexcept {
  const std::lock_guard lock(mutex_);
  return coder_.decode(frames, type, values, whole);
}

// ---- Communicator of segments

std::vector<SegmentComm*>& segment_comms() noexcept {
  static auto* const all = new std::vector<SegmentComm*>;
  return *all;
}

std::shared_ptr<SegmentComm> SegmentComm::make(MPI_Comm parent) {
  free_ended();
  return std::shared_ptr<SegmentComm>(new SegmentComm(parent));
}

// Splits `parent`, since MPI_Comm_dup would run the callbacks of its attributes.
SegmentComm::SegmentComm(MPI_Comm parent) {
  const BypassScope scope;
  PMPI_Comm_rank(parent, &rank_);
  check(PMPI_Comm_split(parent, 0, rank_, &comm_), "MPI_Comm_split");
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  PMPI_Comm_size(comm_, &size_);
  PMPI_Comm_group(comm_, &group_);
  nodes_ = find_nodes(comm_, options().ranks_per_node);
  sent_ = std::make_shared<SentStates>(static_cast<std::uint32_t>(rank_));
  const auto take = [sent = sent_](const Credit& credit) { sent->give_credit(credit.name); };
  credits_ = std::make_unique<CreditChannel>(comm_, take);
  const std::lock_guard lock(registering);
  segment_comms().push_back(this);
}

SegmentComm::~SegmentComm() {
  {
    const std::lock_guard lock(registering);
    std::erase(segment_comms(), this);
  }
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (uses_credits_ && comm_ != MPI_COMM_NULL) {
    credits_->close();
    const std::lock_guard lock(ending_comms().mutex);
    ending_comms().all.push_back({std::exchange(comm_, MPI_COMM_NULL), std::move(credits_)});
  }
  free_ended();
  free();
}

void finish_credits(void (*progress)()) {
  const auto ended = [] {
    bool all = free_ended();
    for (SegmentComm* const comm : segment_comms())
      if (comm->uses_credits() && comm->handle() != MPI_COMM_NULL) all = comm->credits().ended() && all;
    return all;
  };
  for (SegmentComm* const comm : segment_comms()) comm->credits().close();
  for (Backoff backoff; !ended(); backoff.pause()) progress();
}

void SegmentComm::free() noexcept {
  const BypassScope scope;
  if (group_ != MPI_GROUP_NULL) PMPI_Group_free(&group_);
  if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
}

int SegmentComm::rank_of(MPI_Comm comm, int rank) const {
  const BypassScope scope;
  MPI_Group group = MPI_GROUP_NULL;
  int found = MPI_UNDEFINED;
  int size = 0;
  if (comm_ == MPI_COMM_NULL || PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return found;
  PMPI_Group_size(group, &size);
  if (rank >= size)  // MPI reports the error in the send
    found = MPI_UNDEFINED;
  else if (PMPI_Group_translate_ranks(group, 1, &rank, group_, &found) != MPI_SUCCESS)
    found = MPI_UNDEFINED;
  PMPI_Group_free(&group);
  return found;
}

FollowingSegments SegmentComm::divide(std::size_t bytes, int dest) noexcept {
  const std::size_t segments = segments_of(bytes);
  if (dest < 0 || segments < 2 || bytes > most_bytes) return {};
  const std::lock_guard lock(mutex_);
  const auto known = backoffs_.find(dest);
  if (known != backoffs_.end() && !known->second.has()) return {};
  return {static_cast<std::uint8_t>(segments - 1), static_cast<std::uint32_t>(rank_), messages_++ % tags};
}

void SegmentComm::note(int dest, std::size_t bytes, bool received) noexcept {
  const std::lock_guard lock(mutex_);
  if (received && !backoffs_.contains(dest)) return;
  try {
    backoffs_[dest].tried(received, bytes);
  } catch (const std::bad_alloc&) {  // the next message is divided
  }
}

// ---- Endpoint of the program

Endpoint* program_endpoint() noexcept { return of_the_program; }
void set_program_endpoint(Endpoint* endpoint) noexcept { of_the_program = endpoint; }

}  // namespace taut::p2p
