#include "communication/nccl/transport.hpp"

#include <algorithm>
#include <cstring>

#include "communication/team/phase_times.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::nccl {

void WaitLimits::allow(int seconds, const char* why) noexcept {
  constexpr std::uint64_t nanoseconds = 1'000'000'000;
  why_late = why;
  deadline = seconds == 0 ? 0 : clock_now() + static_cast<std::uint64_t>(seconds) * nanoseconds;
}

bool WaitLimits::late(std::uint64_t grace) const noexcept {
  const std::uint64_t until = deadline;
  return until != 0 && clock_now() > until + grace;
}

void WaitLimits::check() const {
  if (stopped) throw Error(Status::transport_failed, "the communicator is aborted");
  if (late()) throw Error(Status::transport_failed, why_late.load());
}

NcclTransport::NcclTransport(const Library& nccl, const api::DeviceServices& services, ncclComm* comm,
                             const WaitLimits* limits)
    : nccl_(nccl),
      services_(services),
      comm_(comm),
      limits_(limits),
      memory_(std::make_shared<Memory>(services)) {
  check(nccl.CommCount(comm, &size_), "ncclCommCount");
  check(nccl.CommUserRank(comm, &rank_), "ncclCommUserRank");
  check(nccl.CommCuDevice(comm, &device_), "ncclCommCuDevice");
}

// Messages of a call that has failed are forgotten.
void NcclTransport::begin_call(void* stream) noexcept {
  stream_ = stream;
  used_ = awaited_ = false;
  sends_.clear();
  recvs_.clear();
  memory_->early.clear();
}

// ---- Messages

std::uint64_t NcclTransport::start_send(ConstBytes bytes, int to, Lane lane) {
  used_ = true;
  if (to == rank_) throw Error(Status::internal, "a message from a rank to itself");
  sends_.push_back({++last_, to, lane, const_cast<std::byte*>(bytes.data()), bytes.size()});
  return last_;
}

std::uint64_t NcclTransport::start_recv(Bytes capacity, int from, Lane lane) {
  used_ = true;
  recvs_.push_back({++last_, from, lane, capacity.data(), capacity.size()});
  const auto found = std::ranges::find_if(
      memory_->early, [&](const Early& early) { return early.from == from && early.lane == lane; });
  if (found != memory_->early.end()) {
    const std::byte* const content = found->memory != nullptr ? found->memory->data() : found->content.data();
    deliver(recvs_.back(), content, found->bytes);
    memory_->early.erase(found);
  }
  return last_;
}

bool NcclTransport::poll(std::uint64_t& operation, Sized& moved) {
  for (std::deque<Message>* const all : {&sends_, &recvs_}) {
    const auto found = std::ranges::find(*all, operation, &Message::id);
    if (found == all->end()) continue;
    if (!found->done) {
      awaited_ = true;
      return false;
    }
    moved = found->moved;
    all->erase(found);
    return true;
  }
  throw Error(Status::transport_failed, "a message of a call that has failed");
}

void NcclTransport::abandon(std::uint64_t operation) noexcept {
  for (std::deque<Message>* const all : {&sends_, &recvs_})
    std::erase_if(*all, [&](const Message& message) { return message.id == operation; });
}

// Copies between any kinds of memory, and waits.
void NcclTransport::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (!on_device(to) && !on_device(from)) {
    std::memcpy(to, from, bytes);
    return;
  }
  gpu::check(services_, services_.copy_on(to, from, bytes, stream_));
  wait();
}

void NcclTransport::deliver(Message& recv, const std::byte* from, std::size_t bytes) {
  const bool fits = bytes <= recv.bytes;
  if (fits) copy(recv.data, from, bytes);
  recv.moved = fits ? Sized{Status::ok, bytes} : Sized{Status::frame_mismatch};
  recv.done = true;
}

NcclTransport::Message* NcclTransport::posted(int from, Lane lane) noexcept {
  const auto found = std::ranges::find_if(
      recvs_, [&](const Message& recv) { return !recv.done && recv.other == from && recv.lane == lane; });
  return found == recvs_.end() ? nullptr : &*found;
}

// ---- Rounds

template <class Work>
auto NcclTransport::with_memory(const Work& work) {
  const gpu::CurrentDevice current(services_, device_);
  try {
    return work();
  } catch (...) {
    gpu::free_after(services_, stream_, memory_);
    memory_ = std::make_shared<Memory>(services_);
    throw;
  }
}

bool NcclTransport::exchange(bool complete) {
  return with_memory([&] { return exchange_now(complete); });
}

bool NcclTransport::exchange_now(bool complete) {
  awaited_ = false;
  memory_->pinned.of(2 * announced_bytes());
  memory_->there.of(2 * announced_bytes());
  const std::vector<Message*> sends = announce(complete);
  swap_announcements();
  move(sends);
  const Announcement* const theirs = announcements(memory_->pinned.data() + announced_bytes());
  for (int r = 0; r < size_; ++r)
    if (r != rank_) complete = complete && theirs[r].complete != 0;
  return complete;
}

// Writes what this rank tells the others. Returns the announced messages that are not in it.
std::vector<NcclTransport::Message*> NcclTransport::announce(bool complete) {
  Announcement* const mine = announcements(memory_->pinned.data());
  for (int r = 0; r < size_; ++r) mine[r].complete = complete, mine[r].offers = 0;
  std::vector<Message*> apart;
  for (Message& send : sends_) {
    Announcement& to = mine[send.other];
    if (send.done || to.offers == most_offers) continue;
    Offer& offer = to.offer[to.offers++];
    offer.lane = send.lane;
    offer.bytes = send.bytes;
    offer.inlined = send.bytes <= inline_bytes && !on_device(send.data);
    if (offer.inlined == 0)
      apart.push_back(&send);
    else if (send.bytes > 0)
      std::memcpy(offer.content, send.data, send.bytes);
    send.done = true;
    send.moved = {Status::ok, send.bytes};
  }
  return apart;
}

void NcclTransport::swap_announcements() {
  const std::size_t all = announced_bytes();
  gpu::check(services_, services_.copy_on(memory_->there.data(), memory_->pinned.data(), all, stream_));
  check(nccl_.GroupStart(), "ncclGroupStart");
  int failed = success;
  for (int d = 1; d < size_ && failed == success; ++d) {
    const int to = (rank_ + d) % size_, from = (rank_ - d + size_) % size_;
    failed = nccl_.Send(&announcements(memory_->there.data())[to], sizeof(Announcement), uint8, to, comm_,
                        stream_);
    if (failed == success)
      failed = nccl_.Recv(&announcements(memory_->there.data() + all)[from], sizeof(Announcement), uint8,
                          from, comm_, stream_);
  }
  const int ended = nccl_.GroupEnd();
  check(failed, "ncclSend");
  check(ended, "ncclGroupEnd");
  gpu::check(services_,
             services_.copy_on(memory_->pinned.data() + all, memory_->there.data() + all, all, stream_));
  wait();
}

// Returns the memory for a message that is announced: that of its receive, or memory of its own.
std::byte* NcclTransport::target(int from, const Offer& offer, std::vector<Message*>& received) {
  const auto bytes = static_cast<std::size_t>(offer.bytes);
  Message* const recv = posted(from, offer.lane);
  auto aside = [&] {
    auto memory = std::make_unique<gpu::MemoryBlock>(services_, gpu::MemoryKind::plain);
    memory->of(std::max<std::size_t>(bytes, 1));
    return memory;
  };
  if (recv == nullptr) {
    memory_->early.push_back({from, offer.lane, bytes, {}, aside()});
    return memory_->early.back().memory->data();
  }
  recv->done = true;  // no other message of the round is for it
  received.push_back(recv);
  recv->moved = bytes <= recv->bytes ? Sized{Status::ok, bytes} : Sized{Status::frame_mismatch};
  if (recv->moved.status == Status::ok) return recv->data;
  return memory_->dropped.emplace_back(aside())->data();
}

void NcclTransport::take_inlined(int from, const Offer& offer) {
  const auto bytes = std::min<std::size_t>(offer.bytes, inline_bytes);
  if (Message* const recv = posted(from, offer.lane))
    deliver(*recv, offer.content, bytes);
  else
    memory_->early.push_back({from, offer.lane, bytes, {offer.content, offer.content + bytes}});
}

// Moves the announced messages, in one group. Messages between two ranks are in the order of announcement.
void NcclTransport::move(std::span<Message* const> sends) {
  const Announcement* const theirs = announcements(memory_->pinned.data() + announced_bytes());
  struct Arrival {
    std::byte* to;
    std::size_t bytes;
    int from;
  };
  std::vector<Arrival> arrivals;
  std::vector<Message*> received;
  for (int d = 1; d < size_; ++d) {
    const int from = (rank_ - d + size_) % size_;
    for (std::size_t i = 0; i < std::min<std::size_t>(theirs[from].offers, most_offers); ++i) {
      const Offer& offer = theirs[from].offer[i];
      if (offer.inlined != 0)
        take_inlined(from, offer);
      else
        arrivals.push_back({target(from, offer, received), static_cast<std::size_t>(offer.bytes), from});
    }
  }
  if (arrivals.empty() && sends.empty()) return;
  check(nccl_.GroupStart(), "ncclGroupStart");
  int failed = success;
  for (const Message* const send : sends)
    if (failed == success && send->bytes > 0)
      failed = nccl_.Send(send->data, send->bytes, uint8, send->other, comm_, stream_);
  for (const Arrival& arrival : arrivals)
    if (failed == success && arrival.bytes > 0)
      failed = nccl_.Recv(arrival.to, arrival.bytes, uint8, arrival.from, comm_, stream_);
  const int ended = nccl_.GroupEnd();
  check(failed, "ncclSend");
  check(ended, "ncclGroupEnd");
  wait();
  memory_->dropped.clear();
}

void NcclTransport::wait() {
  constexpr unsigned turns_between_checks = 64;
  Backoff backoff;
  for (unsigned turn = 1;; ++turn, backoff.pause()) {
    int idle = 0, error = success;
    gpu::check(services_, services_.query(stream_, &idle));
    if (idle != 0 || turn % turns_between_checks == 0) {
      check(nccl_.CommGetAsyncError(comm_, &error), "ncclCommGetAsyncError");
      check(error, "the NCCL communicator");
      if (limits_ != nullptr) limits_->check();
    }
    if (idle != 0) return;
  }
}

std::vector<std::byte> NcclTransport::allgather(ConstBytes bytes) {
  return with_memory([&] { return allgather_now(bytes); });
}

std::vector<std::byte> NcclTransport::allgather_now(ConstBytes bytes) {
  const std::size_t n = bytes.size(), all = n * static_cast<std::size_t>(size_);
  std::byte* const there = memory_->there.of(all);
  std::byte* const here = memory_->pinned.of(all);
  std::memcpy(here, bytes.data(), n);
  std::byte* const own = there + n * static_cast<std::size_t>(rank_);
  gpu::check(services_, services_.copy_on(own, here, n, stream_));
  check(nccl_.AllGather(own, there, n, uint8, comm_, stream_), "ncclAllGather");
  gpu::check(services_, services_.copy_on(here, there, all, stream_));
  wait();
  return {here, here + all};
}

}  // namespace taut::nccl
