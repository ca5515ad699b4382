#include "support/loopback.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace taut::test {
namespace {

constexpr std::uint64_t receive_bit = std::uint64_t{1} << 63;

template <class Slot>
std::size_t free_slot(std::vector<std::unique_ptr<Slot>>& slots) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!slots[i]->used) return i;
  slots.push_back(std::make_unique<Slot>());
  return slots.size() - 1;
}

void copy_on_host(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace

struct LoopbackHub::Message {
  bool used = false;  // in flight, or its send has not been polled yet
  bool delivered = false;
  bool awaited = false;  // the sender has not seen its send complete
  bool eager = true;     // the send completes at once
  int step = 0, from = 0, to = 0, late = 0;
  Lane lane = 0;
  std::uint64_t order = 0;
  std::vector<std::byte> bytes;
  ConstBytes source;  // memory of a send that is not eager: must not change before delivery
};

struct LoopbackHub::Receive {
  bool used = false, finished = false;
  int rank = 0, from = 0;
  Lane lane = 0;
  std::uint64_t order = 0;
  Bytes capacity;
  Sized moved;
};

class LoopbackHub::Rank final : public Transport {
 public:
  Rank(LoopbackHub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return hub_.size(); }

 private:
  std::uint64_t start_send(ConstBytes bytes, int to, Lane lane) override {
    return hub_.send(rank_, bytes, to, lane);
  }
  std::uint64_t start_recv(Bytes capacity, int from, Lane lane) override {
    return hub_.recv(rank_, capacity, from, lane);
  }
  bool poll(std::uint64_t& operation, Sized& moved) override { return hub_.poll(operation, moved); }
  void abandon(std::uint64_t operation) noexcept override { hub_.abandon(operation); }

  LoopbackHub& hub_;
  int rank_;
};

LoopbackHub::LoopbackHub(int size, Options options)
    : options_(options), random_(options.seed), steps_(static_cast<std::size_t>(size)) {
  for (int r = 0; r < size; ++r) ranks_.push_back(std::make_unique<Rank>(*this, r));
}

LoopbackHub::~LoopbackHub() = default;

Transport& LoopbackHub::transport(int rank) noexcept { return *ranks_[static_cast<std::size_t>(rank)]; }

// ---- The end of a job

void LoopbackHub::kill(int rank, std::uint64_t operations) {
  const std::lock_guard lock(mutex_);
  doomed_ = rank;
  left_ = operations;
  if (operations == 0) dead_ = rank;
  ++progress_;
}

bool LoopbackHub::ended() const {
  const std::lock_guard lock(mutex_);
  return dead_ >= 0;
}

void LoopbackHub::check_alive() const {
  if (dead_ >= 0) throw Error(Status::transport_failed, "rank " + std::to_string(dead_) + " is dead");
}

// ---- Operations

void LoopbackHub::start_operation(int rank, int other, Lane lane) {
  if (other < 0 || other >= size() || lane < 0 || lane >= lanes)
    throw Error(Status::transport_failed, "no such rank or lane");
  if (rank == doomed_ && left_ > 0 && --left_ == 0) dead_ = rank;
  check_alive();
}

std::uint64_t LoopbackHub::send(int from, ConstBytes bytes, int to, Lane lane) {
  const std::lock_guard lock(mutex_);
  start_operation(from, to, lane);
  const std::size_t slot = free_slot(messages_);
  Message& m = *messages_[slot];
  m.bytes.resize(bytes.size());
  copy(m.bytes.data(), bytes);
  const Record record{++steps_[static_cast<std::size_t>(from)], from, to, lane, bytes.size()};
  if (options_.record) records_.push_back(record);
  if (damage_) damage_(record, m.bytes);
  m.used = m.awaited = true;
  m.delivered = false;
  m.step = record.step;
  m.from = from;
  m.to = to;
  m.lane = lane;
  m.order = ++clock_;
  m.late = options_.random_order ? static_cast<int>(random_() % 4) * static_cast<int>(random_() % 8) : 0;
  if (from == options_.slow) m.late += static_cast<int>(random_() % 500);
  m.eager = !options_.random_order || random_() % 2 == 0;
  m.source = damage_ ? ConstBytes{} : bytes;
  ++progress_;
  return slot + 1;
}

std::uint64_t LoopbackHub::recv(int rank, Bytes capacity, int from, Lane lane) {
  const std::lock_guard lock(mutex_);
  start_operation(rank, from, lane);
  const std::size_t slot = free_slot(receives_);
  Receive& r = *receives_[slot];
  r.used = true;
  r.finished = false;
  r.rank = rank;
  r.from = from;
  r.lane = lane;
  r.order = ++clock_;
  r.capacity = capacity;
  ++progress_;
  return (slot + 1) | receive_bit;
}

// Returns the oldest message of a receive's lane that is not delivered; null if there is none or it is still
// late.
LoopbackHub::Message* LoopbackHub::oldest_message(const Receive& lane) noexcept {
  Message* found = nullptr;
  for (const auto& m : messages_) {
    const bool same =
        m->used && !m->delivered && m->to == lane.rank && m->from == lane.from && m->lane == lane.lane;
    if (same && (found == nullptr || m->order < found->order)) found = m.get();
  }
  return found != nullptr && found->late == 0 ? found : nullptr;
}

// Returns the oldest receive of a receive's lane that has no message yet.
LoopbackHub::Receive& LoopbackHub::oldest_receive(Receive& lane) noexcept {
  Receive* found = &lane;
  for (const auto& r : receives_) {
    const bool same =
        r->used && !r->finished && r->rank == lane.rank && r->from == lane.from && r->lane == lane.lane;
    if (same && r->order < found->order) found = r.get();
  }
  return *found;
}

void LoopbackHub::copy(std::byte* to, ConstBytes from) const {
  if (!from.empty()) (options_.copy != nullptr ? options_.copy : copy_on_host)(to, from.data(), from.size());
}

// Returns true if the memory of a send has changed since the send.
bool LoopbackHub::changed(const Message& m) const {
  if (m.eager || !m.awaited) return false;
  std::vector<std::byte> now(m.source.size());
  copy(now.data(), m.source);
  return !std::equal(now.begin(), now.end(), m.bytes.begin());
}

void LoopbackHub::deliver(Message& m, Receive& r) {
  const bool changed = this->changed(m);
  const bool fits = m.bytes.size() <= r.capacity.size();
  if (fits) copy(r.capacity.data(), m.bytes);
  r.moved = {fits ? Status::ok : Status::frame_mismatch, fits ? m.bytes.size() : r.capacity.size()};
  r.finished = true;
  int& step = steps_[static_cast<std::size_t>(r.rank)];
  step = std::max(step, m.step);
  m.delivered = true;
  m.used = m.awaited;
  ++progress_;
  if (changed) throw Error(Status::internal, "a buffer was changed while it was being sent");
}

bool LoopbackHub::poll(std::uint64_t operation, Sized& moved) {
  const std::lock_guard lock(mutex_);
  check_alive();
  if ((operation & receive_bit) == 0) {
    Message& m = *messages_[operation - 1];
    if (!m.eager && !m.delivered) return false;
    m.awaited = false;
    m.used = !m.delivered;
    moved = {Status::ok, m.bytes.size()};
    ++progress_;
    return true;
  }
  Receive& r = *receives_[(operation & ~receive_bit) - 1];
  while (!r.finished) {
    Message* const m = oldest_message(r);
    if (m == nullptr) return false;
    deliver(*m, oldest_receive(r));
  }
  moved = r.moved;
  r.used = false;
  ++progress_;
  return true;
}

void LoopbackHub::abandon(std::uint64_t operation) noexcept {
  const std::lock_guard lock(mutex_);
  if ((operation & receive_bit) != 0) {
    receives_[(operation & ~receive_bit) - 1]->used = false;
    return;
  }
  Message& m = *messages_[operation - 1];
  m.awaited = false;
  m.used = !m.delivered;
}

// ---- Drivers

// Advances the delays of late messages. Returns true if some message was late, so that the receivable
// messages may change.
bool LoopbackHub::let_time_pass() noexcept {
  bool late = false;
  for (const auto& m : messages_) {
    if (!m->used || m->late == 0) continue;
    --m->late;
    late = true;
  }
  return late;
}

std::string LoopbackHub::waiting() const {
  std::string text;
  auto add = [&](const char* what, int rank, const char* preposition, int other, Lane lane) {
    text += std::string("\n  rank ") + std::to_string(rank) + what + preposition + std::to_string(other) +
            " on lane " + std::to_string(lane);
  };
  for (const auto& r : receives_)
    if (r->used && !r->finished) add(" receives", r->rank, " from ", r->from, r->lane);
  for (const auto& m : messages_)
    if (m->used && !m->delivered) add(" sends", m->from, " to ", m->to, m->lane);
  return text;
}

void LoopbackHub::run(std::span<Task<>> tasks) {
  std::vector<Task<>*> open;
  for (Task<>& task : tasks) open.push_back(&task);
  constexpr std::size_t most_idle = 64;  // a rank that waits for something outside asks now and then
  const auto progress = [&] { return progress_ + (outside != nullptr ? outside() : 0); };
  std::size_t idle = 0;                         // number of advances in a row that changed nothing
  std::chrono::steady_clock::time_point since;  // the first of them
  while (!open.empty()) {
    const std::size_t pick =
        idle < open.size() ? random_() % open.size() : (idle - open.size()) % open.size();
    const std::uint64_t before = progress();
    if (open[pick]->advance()) {
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
      ++progress_;
    }
    idle = progress() != before || let_time_pass() ? 0 : idle + 1;
    if (idle == 1) since = std::chrono::steady_clock::now();
    if (!open.empty() && idle > most_idle * open.size() &&
        std::chrono::steady_clock::now() - since >= patience)
      throw Error(Status::internal, "deadlock:" + waiting());
  }
}

void LoopbackHub::run_threads(std::span<Task<>> tasks) {
  std::vector<std::thread> threads;
  for (Task<>& task : tasks)
    threads.emplace_back([&task] {
      for (Backoff backoff; !task.advance();) backoff.pause();
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace taut::test
