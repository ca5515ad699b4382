#include "support/loopback.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace taut::test {
namespace {

constexpr std::uint64_t receive_bit = std::uint64_t{1} << 63;

void copy_on_host(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace

struct LoopbackHub::Message {
  std::uint64_t operation = 0;
  bool used = false;  // in flight, or its send has not been polled yet
  bool delivered = false;
  bool awaited = false;  // the sender has not seen its send complete
  bool eager = true;     // the send completes at once
  int step = 0, from = 0, to = 0;
  Lane lane = 0;
  std::uint64_t due = 0;  // time of delivery at the earliest
  std::vector<std::byte> bytes;
  ConstBytes source;  // memory of a send that is not eager: must not change before delivery
  Message* next = nullptr;
};

struct LoopbackHub::Receive {
  bool used = false, finished = false;
  int rank = 0, from = 0;
  Lane lane = 0;
  Bytes capacity;
  SizeOrStatus moved;
  Receive* next = nullptr;
};

template <class Operation>
void LoopbackHub::Queue<Operation>::append(Operation& operation) noexcept {
  operation.next = nullptr;
  (first == nullptr ? first : last->next) = &operation;
  last = &operation;
}

template <class Operation>
Operation* LoopbackHub::Queue<Operation>::oldest(Lane lane) const noexcept {
  Operation* found = first;
  while (found != nullptr && found->lane != lane) found = found->next;
  return found;
}

template <class Operation>
void LoopbackHub::Queue<Operation>::remove(Operation& operation) noexcept {
  Operation* before = nullptr;
  for (Operation* at = first; at != &operation; at = at->next) before = at;
  (before == nullptr ? first : before->next) = operation.next;
  if (last == &operation) last = before;
}

template <class Slot>
std::uint64_t LoopbackHub::Slots<Slot>::take() {
  if (unused.empty()) {
    all.push_back(std::make_unique<Slot>());
    unused.reserve(all.capacity());
    unused.push_back(all.size());
  }
  std::ranges::pop_heap(unused, std::greater());
  const std::uint64_t operation = unused.back();
  unused.pop_back();
  of(operation).used = true;
  return operation;
}

template <class Slot>
Slot& LoopbackHub::Slots<Slot>::of(std::uint64_t operation) const noexcept {
  return *all[(operation & ~receive_bit) - 1];
}

template <class Slot>
void LoopbackHub::Slots<Slot>::release(std::uint64_t operation) noexcept {
  of(operation).used = false;
  unused.push_back(operation & ~receive_bit);
  std::ranges::push_heap(unused, std::greater());
}

class LoopbackHub::Rank final : public Transport {
 public:
  Rank(LoopbackHub& hub, int rank) : Transport(hub.options_.at_once), hub_(hub), rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return hub_.size(); }

 private:
  std::uint64_t start_send(ConstBytes bytes, int to, Lane lane) override {
    return hub_.send(rank_, bytes, to, lane);
  }
  std::uint64_t start_recv(Bytes capacity, int from, Lane lane) override {
    return hub_.recv(rank_, capacity, from, lane);
  }
  bool poll(std::uint64_t& operation, SizeOrStatus& moved) override { return hub_.poll(operation, moved); }
  void abandon(std::uint64_t operation) noexcept override { hub_.abandon(operation); }

  LoopbackHub& hub_;
  int rank_;
};

LoopbackHub::LoopbackHub(int size, Options options)
    : options_(options), random_(options.seed), steps_(static_cast<std::size_t>(size)) {
  channels_.resize(steps_.size() * steps_.size());
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
  const std::uint64_t operation = messages_.take();
  Message& m = messages_.of(operation);
  m.bytes.resize(bytes.size());
  copy(m.bytes.data(), bytes);
  const Record record{++steps_[static_cast<std::size_t>(from)], from, to, lane, bytes.size()};
  if (options_.record) records_.push_back(record);
  if (damage_) damage_(record, m.bytes);
  m.operation = operation;
  m.awaited = true;
  m.delivered = false;
  m.step = record.step;
  m.from = from;
  m.to = to;
  m.lane = lane;
  m.due = now_ + (options_.random_order ? random_() % 4 * (random_() % 8) : 0);
  if (from == options_.slow) m.due += random_() % 500;
  last_due_ = std::max(last_due_, m.due);
  m.eager = !options_.random_order || random_() % 2 == 0;
  m.source = damage_ ? ConstBytes{} : bytes;
  channel(to, from).messages.append(m);
  ++progress_;
  return operation;
}

std::uint64_t LoopbackHub::recv(int rank, Bytes capacity, int from, Lane lane) {
  const std::lock_guard lock(mutex_);
  start_operation(rank, from, lane);
  const std::uint64_t operation = receives_.take();
  Receive& r = receives_.of(operation);
  r.finished = false;
  r.rank = rank;
  r.from = from;
  r.lane = lane;
  r.capacity = capacity;
  channel(rank, from).receives.append(r);
  ++progress_;
  return operation | receive_bit;
}

LoopbackHub::Channel& LoopbackHub::channel(int to, int from) noexcept {
  return channels_[static_cast<std::size_t>(to) * ranks_.size() + static_cast<std::size_t>(from)];
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
  if (!m.awaited) messages_.release(m.operation);
  ++progress_;
  if (changed) throw Error(Status::internal, "a buffer was changed while it was being sent");
}

bool LoopbackHub::poll(std::uint64_t operation, SizeOrStatus& moved) {
  const std::lock_guard lock(mutex_);
  check_alive();
  if ((operation & receive_bit) == 0) {
    Message& m = messages_.of(operation);
    if (!m.eager && !m.delivered) return false;
    moved = {Status::ok, m.bytes.size()};
    stop_awaiting(m);
    ++progress_;
    return true;
  }
  Receive& r = receives_.of(operation);
  while (!r.finished) {
    auto& [messages, receives] = channel(r.rank, r.from);
    Message* const message = messages.oldest(r.lane);
    if (message == nullptr || message->due > now_) return false;
    Receive& receive = *receives.oldest(r.lane);
    messages.remove(*message);
    receives.remove(receive);
    deliver(*message, receive);
  }
  moved = r.moved;
  receives_.release(operation);
  ++progress_;
  return true;
}

void LoopbackHub::abandon(std::uint64_t operation) noexcept {
  const std::lock_guard lock(mutex_);
  if ((operation & receive_bit) == 0) return stop_awaiting(messages_.of(operation));
  Receive& r = receives_.of(operation);
  if (!r.finished) channel(r.rank, r.from).receives.remove(r);
  receives_.release(operation);
}

// Notes that the sender no longer waits for a message. A message in flight keeps its slot until its delivery.
void LoopbackHub::stop_awaiting(Message& m) noexcept {
  m.awaited = false;
  if (m.delivered) messages_.release(m.operation);
}

// ---- Drivers

// Advances the time. Returns true if some message may have been late, so that the receivable messages may
// change.
bool LoopbackHub::let_time_pass() noexcept {
  if (now_ >= last_due_) return false;
  ++now_;
  return true;
}

std::string LoopbackHub::waiting() const {
  std::string text;
  auto add = [&](const char* what, int rank, const char* preposition, int other, Lane lane) {
    text += std::string("\n  rank ") + std::to_string(rank) + what + preposition + std::to_string(other) +
            " on lane " + std::to_string(lane);
  };
  for (const auto& r : receives_.all)
    if (r->used && !r->finished) add(" receives", r->rank, " from ", r->from, r->lane);
  for (const auto& m : messages_.all)
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
