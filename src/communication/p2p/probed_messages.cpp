#include "communication/p2p/probed_messages.hpp"

#include <atomic>
#include <list>
#include <unordered_map>

#include "communication/p2p/bypass.hpp"

namespace taut::p2p {
namespace {

// A message that a probe has taken, with the status that MPI returned or, once known, that of the values.
struct Probed {
  MPI_Message message;
  MPI_Status status;
  std::size_t bytes;
  PostedReceive reading;  // started by a probe if the length may be that of a coded message
  bool known = false;     // true: the status is that of the values

  bool matches(const MatchKey& key) const noexcept {
    return (key.source == MPI_ANY_SOURCE || key.source == status.MPI_SOURCE) &&
           (key.tag == MPI_ANY_TAG || key.tag == status.MPI_TAG);
  }
};

// Queue of the probed messages of one communicator, in the order in which they were taken; an attribute of
// the communicator. From each source, the queue holds messages that were sent before any that MPI still has.
// A receive that matches one of these therefore gets it in its turn.
using Queue = std::list<Probed>;

std::mutex probing;
std::atomic<std::size_t> probed{0};
std::atomic<bool> threads{false};
MPI_Comm self = MPI_COMM_NULL;  // makes new handles for messages that are already received
std::atomic<std::size_t> taken_messages{0};

// Messages that matched probes have taken and that are not too short to be coded, by the handles that the
// program got.
std::unordered_map<MPI_Message, MatchedReceive>& taken() {
  static auto* const one = new std::unordered_map<MPI_Message, MatchedReceive>;
  return *one;
}

// Frees the queue. The memory of a message that is still being received is not freed, because MPI may write
// to it.
int end_queue(MPI_Comm, int, void* value, void*) noexcept {
  auto* const queue = static_cast<Queue*>(value);
  for (Probed& one : *queue)
    if (one.reading.request != MPI_REQUEST_NULL) new Detached(std::move(one.reading.detached));
  probed -= queue->size();
  delete queue;
  return MPI_SUCCESS;
}

int keyval() noexcept {
  static const int ours = [] {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_queue, &key, nullptr);
    return key;
  }();
  return ours;
}

Queue* find_queue(MPI_Comm comm) noexcept {
  void* value = nullptr;
  int found = 0;
  if (probed != 0) PMPI_Comm_get_attr(comm, keyval(), &value, &found);
  return found != 0 ? static_cast<Queue*>(value) : nullptr;
}

Queue& queue_of(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, keyval(), &value, &found);
  if (found != 0) return *static_cast<Queue*>(value);
  auto queue = std::make_unique<Queue>();
  if (PMPI_Comm_set_attr(comm, keyval(), queue.get()) != MPI_SUCCESS) throw std::bad_alloc();
  return *queue.release();
}

struct Found {
  Queue* queue = nullptr;
  Queue::iterator position;

  explicit operator bool() const noexcept { return queue != nullptr; }
};

Found find(const MatchKey& key) noexcept {
  Queue* const queue = find_queue(key.comm);
  if (queue == nullptr) return {};
  for (auto position = queue->begin(); position != queue->end(); ++position)
    if (position->matches(key)) return {queue, position};
  return {};
}

Probed remove(const Found& found) noexcept {
  Probed one = std::move(*found.position);
  found.queue->erase(found.position);
  --probed;
  return one;
}

bool may_be_coded(const MessageFormat& format, std::size_t bytes) noexcept {
  return format.may_have(bytes) && api::pmpi::fits(static_cast<MPI_Count>(bytes));
}

// Takes the first message of this source with this tag, and all messages that the source has sent before.
int take_up_to(int source, int tag, MPI_Comm comm) {
  Queue& queue = queue_of(comm);
  for (bool last = false; !last;) {
    queue.emplace_back();
    Probed& one = queue.back();
    int there = 0;
    const int code = PMPI_Improbe(source, MPI_ANY_TAG, comm, &there, &one.message, &one.status);
    if (code != MPI_SUCCESS || there == 0) return queue.pop_back(), code;
    ++probed;
    one.bytes = received_bytes(one.status);
    last = one.status.MPI_TAG == tag;
  }
  return MPI_SUCCESS;
}

int begin_to_read(Probed& one) {
  Detached& detached = one.reading.detached;
  detached.memory.reset(new std::byte[one.bytes]);
  detached.bytes = one.bytes;
  detached.matched = true;
  return TAUT_PMPI(Imrecv)(detached.memory.get(), static_cast<api::pmpi::Count>(one.bytes), MPI_BYTE,
                           &one.message, &one.reading.request);
}

// Finds the status for the program. Sets `known` to 0 if the message has not arrived yet.
int know(Probed& one, const MessageFormat& format, int* known) {
  *known = 1;
  if (one.known || !may_be_coded(format, one.bytes)) return MPI_SUCCESS;
  if (!one.reading.detached)
    if (const int code = begin_to_read(one); code != MPI_SUCCESS) return code;
  MPI_Status status;
  const int code = PMPI_Request_get_status(one.reading.request, known, &status);
  if (code != MPI_SUCCESS || *known == 0) return code;
  set_received_bytes(one.status, bytes_of_values(one.reading.detached, format));
  one.known = true;
  return MPI_SUCCESS;
}

void keep_taken(MPI_Message handle, MatchedReceive message) {
  taken().insert_or_assign(handle, std::move(message));
  taken_messages = taken().size();
}

// Keeps the communicator of a message behind MPI's handle, unless the message is too short to be coded.
void keep_plain(MPI_Message handle, MPI_Comm comm, const MessageFormat& format, std::size_t bytes) {
  if (bytes >= format.least_bytes) return keep_taken(handle, {{}, comm});
  taken().erase(handle);  // of a message that was received past Taut
  taken_messages = taken().size();
}

// Makes the program's handle of a message. If the message is already received, the handle is that of a
// message from this rank to itself.
int make_handle(Probed one, MPI_Comm comm, const MessageFormat& format, MPI_Message* message) {
  if (!one.reading.detached) {
    *message = one.message;
    return keep_plain(*message, comm, format, one.bytes), MPI_SUCCESS;
  }
  MatchedReceive made{std::move(one.reading), comm};
  int code = PMPI_Isend(nullptr, 0, MPI_BYTE, 0, 0, self, &made.sent);
  if (code == MPI_SUCCESS) code = PMPI_Mprobe(0, 0, self, message, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  keep_taken(*message, std::move(made));
  return MPI_SUCCESS;
}

// Runs start(memory, bytes), which starts a receive into memory of Taut and returns an MPI error code.
template <class Start>
api::Failure receive_bounced(const MpiMessage& recv, MessageDevice& device, PostedReceive& posted,
                             Start start) {
  return api::attempt([&]() -> api::Failure {
    posted.detached = bounce_buffer(recv, device);
    return {start(posted.detached.memory.get(), static_cast<api::pmpi::Count>(posted.detached.bytes)), true};
  });
}

}  // namespace

void begin_matched_probes() noexcept {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  threads = level == MPI_THREAD_MULTIPLE;
  const BypassScope scope;
  PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &self);
}

void end_matched_probes() noexcept {
  const BypassScope scope;
  threads = false;
  if (self != MPI_COMM_NULL) PMPI_Comm_free(&self);
}

bool may_be_probed() noexcept { return threads || probed != 0; }

ProbeQueue::ProbeQueue() : lock_(probing) {}

bool ProbeQueue::receive(const MpiMessage& recv, PostedReceive& posted, api::Failure& failure) {
  const Found found = find(recv.key());
  if (!found) return false;
  const BypassScope scope;
  Probed one = remove(found);
  if (one.reading.detached)
    posted = std::move(one.reading);
  else if (const auto device = bounce_device(recv))
    failure = receive_bounced(recv, *device, posted, [&](void* to, api::pmpi::Count bytes) {
      posted.detached.matched = true;
      return TAUT_PMPI(Imrecv)(to, bytes, MPI_BYTE, &one.message, &posted.request);
    });
  else
    failure = {TAUT_PMPI(Imrecv)(recv.to(), static_cast<api::pmpi::Count>(recv.count), recv.type,
                                 &one.message, &posted.request),
               true};
  return true;
}

api::Failure ProbeQueue::probe(const MatchKey& key, const MessageFormat& format, int* there,
                               MPI_Status& status) {
  const BypassScope scope;
  return api::attempt([&]() -> api::Failure {
    *there = 0;
    Found found = find(key);
    if (!found) {
      const int code = PMPI_Iprobe(key.source, key.tag, key.comm, there, &status);
      if (code != MPI_SUCCESS || *there == 0 || !may_be_coded(format, received_bytes(status)))
        return {code, true};
      *there = 0;
      if (const int taken = take_up_to(status.MPI_SOURCE, status.MPI_TAG, key.comm)) return {taken, true};
      found = find(key);
    }
    if (!found) return {};
    const int code = know(*found.position, format, there);
    if (code == MPI_SUCCESS && *there != 0) status = found.position->status;
    return {code, true};
  });
}

api::Failure ProbeQueue::take(const MatchKey& key, const MessageFormat& format, int* there,
                              MPI_Message* message, MPI_Status& status) {
  const api::Failure failure = probe(key, format, there, status);
  if (failure || *there == 0) return failure;
  const BypassScope scope;
  return api::attempt([&]() -> api::Failure {
    if (const Found found = find(key)) return {make_handle(remove(found), key.comm, format, message), true};
    const int code = PMPI_Improbe(status.MPI_SOURCE, status.MPI_TAG, key.comm, there, message, &status);
    if (code == MPI_SUCCESS && *there != 0) keep_plain(*message, key.comm, format, received_bytes(status));
    return {code, true};
  });
}

int check_key(const MatchKey& key, int* there) {
  return PMPI_Iprobe(key.source, key.tag, key.comm, there, MPI_STATUS_IGNORE);
}

int probe(const MatchKey& key, const MessageFormat& format, int* there, MPI_Status& status) {
  advance_receives();  // the program may look for messages until a receive is complete that it has freed
  if (const int code = check_key(key, there); code != MPI_SUCCESS) return code;
  if (*there == 0 && probed == 0) return MPI_SUCCESS;
  const api::Failure failure = ProbeQueue().probe(key, format, there, status);
  return api::raise(key.comm, failure);
}

int take(const MatchKey& key, const MessageFormat& format, int* there, MPI_Message* message,
         MPI_Status& status) {
  advance_receives();
  if (const int code = check_key(key, there); code != MPI_SUCCESS) return code;
  if (*there == 0 && probed == 0) return MPI_SUCCESS;
  const api::Failure failure = ProbeQueue().take(key, format, there, message, status);
  return api::raise(key.comm, failure);
}

int post_bounced(const MpiMessage& recv, MessageDevice& device, PostedReceive& posted) {
  return api::raise(recv.comm, receive_bounced(recv, device, posted, [&](void* to, api::pmpi::Count bytes) {
                      return TAUT_PMPI(Irecv)(to, bytes, MPI_BYTE, recv.peer, recv.tag, recv.comm,
                                              &posted.request);
                    }));
}

int post(const MpiMessage& recv, PostedReceive& posted) {
  return post(recv, posted, [&](MPI_Request* request) {
    return TAUT_PMPI(Irecv)(recv.to(), static_cast<api::pmpi::Count>(recv.count), recv.type, recv.peer,
                            recv.tag, recv.comm, request);
  });
}

std::optional<MatchedReceive> receive_taken(MPI_Message* message) noexcept {
  if (taken_messages == 0) return {};
  std::unique_lock lock(probing);
  const auto found = taken().find(*message);
  if (found == taken().end()) return {};
  MatchedReceive one = std::move(found->second);
  taken().erase(found);
  taken_messages = taken().size();
  lock.unlock();
  if (one.is_of_mpi()) return one;
  PMPI_Mrecv(nullptr, 0, MPI_BYTE, message, MPI_STATUS_IGNORE);
  PMPI_Wait(&one.sent, MPI_STATUS_IGNORE);
  return one;
}

}  // namespace taut::p2p
