#include "dropin/held.hpp"

#include <atomic>
#include <list>
#include <unordered_map>

#include "api/errors.hpp"
#include "api/plain.hpp"
#include "api/wire.hpp"
#include "dropin/coded_message.hpp"
#include "dropin/gate.hpp"
#include "dropin/messages.hpp"

namespace taut::dropin {
namespace {

// Its status is that of the message as it came, or of its values once they are known.
struct Held {
  MPI_Message message;
  MPI_Status status;
  std::size_t bytes;
  Posted reading;  // once a probe has asked for it and its length is like a coded one's
  bool known = false;

  bool matches(const Wanted& wanted) const noexcept {
    return (wanted.source == MPI_ANY_SOURCE || wanted.source == status.MPI_SOURCE) &&
           (wanted.tag == MPI_ANY_TAG || wanted.tag == status.MPI_TAG);
  }
};

// Of one communicator, whose attribute it is, in the order in which they were taken. Those of one source are
// all that it has sent before any that MPI still has: so a receive that matches one of them gets it in its
// turn.
using Queue = std::list<Held>;

std::mutex holding;
std::atomic<std::size_t> held{0};
std::atomic<bool> threads{false};
MPI_Comm self = MPI_COMM_NULL;  // of handles for the program, where the message's own is spent
std::atomic<std::size_t> taken_apart{0};

// By such handles.
std::unordered_map<MPI_Message, Taken>& taken() {
  static auto* const one = new std::unordered_map<MPI_Message, Taken>;
  return *one;
}

// What never came of a message that is being received stays for MPI to write to.
int end_queue(MPI_Comm, int, void* value, void*) noexcept {
  auto* const queue = static_cast<Queue*>(value);
  for (Held& one : *queue)
    if (one.reading.request != MPI_REQUEST_NULL) one.reading.apart.memory.release();
  held -= queue->size();
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
  if (held != 0) PMPI_Comm_get_attr(comm, keyval(), &value, &found);
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
  Queue::iterator at;

  explicit operator bool() const noexcept { return queue != nullptr; }
};

Found find(const Wanted& wanted) noexcept {
  Queue* const queue = find_queue(wanted.comm);
  if (queue == nullptr) return {};
  for (auto at = queue->begin(); at != queue->end(); ++at)
    if (at->matches(wanted)) return {queue, at};
  return {};
}

Held remove(const Found& found) noexcept {
  Held one = std::move(*found.at);
  found.queue->erase(found.at);
  --held;
  return one;
}

bool may_be_coded(std::size_t bytes) noexcept {
  return is_coded_length(bytes) && api::plain::fits(static_cast<MPI_Count>(bytes));
}

// Takes the first message of this source with this tag, and all that it has sent before.
int hold(int source, int tag, MPI_Comm comm) {
  Queue& queue = queue_of(comm);
  for (bool last = false; !last;) {
    queue.emplace_back();
    Held& one = queue.back();
    int there = 0;
    const int code = PMPI_Improbe(source, MPI_ANY_TAG, comm, &there, &one.message, &one.status);
    if (code != MPI_SUCCESS || there == 0) return queue.pop_back(), code;
    ++held;
    one.bytes = api::bytes_of(one.status);
    last = one.status.MPI_TAG == tag;
  }
  return MPI_SUCCESS;
}

int begin_to_read(Held& one) {
  Apart& apart = one.reading.apart;
  apart.memory = std::make_unique_for_overwrite<std::byte[]>(one.bytes);
  apart.bytes = one.bytes;
  return TAUT_PMPI(Imrecv)(apart.memory.get(), static_cast<api::plain::Count>(one.bytes), MPI_BYTE,
                           &one.message, &one.reading.request);
}

// Whether the status is what the program is to see.
int know(Held& one, int* known) {
  *known = 1;
  if (one.known || !may_be_coded(one.bytes)) return MPI_SUCCESS;
  if (!one.reading.apart)
    if (const int code = begin_to_read(one); code != MPI_SUCCESS) return code;
  MPI_Status status;
  const int code = PMPI_Request_get_status(one.reading.request, known, &status);
  if (code != MPI_SUCCESS || *known == 0) return code;
  set_bytes(one.status, bytes_of_values(one.reading.apart));
  one.known = true;
  return MPI_SUCCESS;
}

// A message of this rank to itself is to be received in the place of one that has been read.
int hand_out(Held one, MPI_Comm comm, MPI_Message* message) {
  if (!one.reading.apart) return *message = one.message, MPI_SUCCESS;
  Taken made{std::move(one.reading), comm, MPI_REQUEST_NULL};
  int code = PMPI_Isend(nullptr, 0, MPI_BYTE, 0, 0, self, &made.sent);
  if (code == MPI_SUCCESS) code = PMPI_Mprobe(0, 0, self, message, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  taken().insert_or_assign(*message, std::move(made));
  ++taken_apart;
  return MPI_SUCCESS;
}

}  // namespace

void begin_holding() noexcept {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  threads = level == MPI_THREAD_MULTIPLE;
  const Inside inside;
  PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &self);
}

void end_holding() noexcept {
  const Inside inside;
  if (self != MPI_COMM_NULL) PMPI_Comm_free(&self);
}

bool may_be_held() noexcept { return messages_may_be_coded() && (threads || held != 0); }

Holding::Holding() : lock_(holding) {}

bool Holding::receive(const Wanted& wanted, const Expected& expected, Posted& posted, int& code) noexcept {
  const Found found = find(wanted);
  if (!found) return false;
  const Inside inside;
  Held one = remove(found);
  code = MPI_SUCCESS;
  if (one.reading.apart)
    posted = std::move(one.reading);
  else
    code = TAUT_PMPI(Imrecv)(expected.buf, static_cast<api::plain::Count>(expected.count), expected.type,
                             &one.message, &posted.request);
  return true;
}

int Holding::probe(const Wanted& wanted, int* there, MPI_Status& status) noexcept {
  const Inside inside;
  return api::guard(wanted.comm, [&]() -> int {
    *there = 0;
    Found found = find(wanted);
    if (!found) {
      const int code = PMPI_Iprobe(wanted.source, wanted.tag, wanted.comm, there, &status);
      if (code != MPI_SUCCESS || *there == 0 || !may_be_coded(api::bytes_of(status))) return code;
      *there = 0;
      if (const int held = hold(status.MPI_SOURCE, status.MPI_TAG, wanted.comm)) return held;
      found = find(wanted);
    }
    if (!found) return MPI_SUCCESS;
    const int code = know(*found.at, there);
    if (code == MPI_SUCCESS && *there != 0) status = found.at->status;
    return code;
  });
}

int Holding::take(const Wanted& wanted, int* there, MPI_Message* message, MPI_Status& status) noexcept {
  const int code = probe(wanted, there, status);
  if (code != MPI_SUCCESS || *there == 0) return code;
  const Inside inside;
  if (const Found found = find(wanted))
    return api::guard(wanted.comm, [&]() -> int { return hand_out(remove(found), wanted.comm, message); });
  return PMPI_Improbe(status.MPI_SOURCE, status.MPI_TAG, wanted.comm, there, message, &status);
}

int post(const Wanted& wanted, const Expected& expected, Posted& posted) noexcept {
  return post(wanted, expected, posted, [&](MPI_Request* request) {
    return TAUT_PMPI(Irecv)(expected.buf, static_cast<api::plain::Count>(expected.count), expected.type,
                            wanted.source, wanted.tag, wanted.comm, request);
  });
}

std::optional<Taken> receive_taken(MPI_Message* message) noexcept {
  if (taken_apart == 0) return {};
  std::unique_lock lock(holding);
  const auto found = taken().find(*message);
  if (found == taken().end()) return {};
  Taken one = std::move(found->second);
  taken().erase(found);
  --taken_apart;
  lock.unlock();
  PMPI_Mrecv(nullptr, 0, MPI_BYTE, message, MPI_STATUS_IGNORE);
  PMPI_Wait(&one.sent, MPI_STATUS_IGNORE);
  return one;
}

}  // namespace taut::dropin
