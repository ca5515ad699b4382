#include "communication/nccl/transport.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "communication/team/frames.hpp"
#include "communication/team/recorder.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::nccl {

void WaitLimits::set_timeout(int seconds, const char* error_text) noexcept {
  constexpr std::uint64_t ns_per_second = 1'000'000'000;
  timeout_text = error_text;
  deadline_ns = seconds == 0 ? 0 : clock_now() + static_cast<std::uint64_t>(seconds) * ns_per_second;
}

bool WaitLimits::expired(std::uint64_t grace_ns) const noexcept {
  const std::uint64_t deadline = deadline_ns;
  return deadline != 0 && clock_now() > deadline + grace_ns;
}

void WaitLimits::check() const {
  if (aborted) throw Error(Status::transport_failed, "the communicator is aborted");
  if (expired()) throw Error(Status::transport_failed, timeout_text.load());
}

NcclTransport::NcclTransport(const Library& nccl, const gpu::DeviceServices& services, ncclComm* comm,
                             const WaitLimits* limits)
    : Transport(true),
      nccl_(nccl),
      services_(services),
      comm_(comm),
      limits_(limits),
      node_(nccl),
      memory_(std::make_shared<Memory>(services)) {
  check(nccl.CommCount(comm, &size_), "ncclCommCount");
  check(nccl.CommUserRank(comm, &rank_), "ncclCommUserRank");
  check(nccl.CommCuDevice(comm, &device_), "ncclCommCuDevice");
}

// Drops the messages and work of an earlier call that has failed.
void NcclTransport::begin_call(void* stream) noexcept {
  stream_ = stream;
  has_messages_ = needs_round_ = false;
  sends_.clear();
  recvs_.clear();
  node_works_.clear();
  memory_->unexpected.clear();
}

void NcclTransport::abort_node_after_error() noexcept {
  int error = success;
  if (!node_.is_open()) return;
  if (nccl_.CommGetAsyncError(comm_, &error) != success || (error != success && error != in_progress))
    node_.abort();
}

// ---- Messages

std::uint64_t NcclTransport::start_send(ConstBytes bytes, int to, Lane lane) {
  has_messages_ = true;
  if (to == rank_) throw Error(Status::internal, "a message from a rank to itself");
  sends_.push_back({++last_id_, to, lane, const_cast<std::byte*>(bytes.data()), bytes.size()});
  return last_id_;
}

std::uint64_t NcclTransport::start_recv(Bytes capacity, int from, Lane lane) {
  has_messages_ = true;
  recvs_.push_back({++last_id_, from, lane, capacity.data(), capacity.size()});
  const auto found = std::ranges::find_if(memory_->unexpected, [&](const UnexpectedMessage& unexpected) {
    return unexpected.from == from && unexpected.lane == lane;
  });
  if (found != memory_->unexpected.end()) {
    const std::byte* const content = found->memory != nullptr ? found->memory->data() : found->content.data();
    deliver(recvs_.back(), content, found->bytes);
    if (recvs_.back().outcome.status == Status::ok) read_frame_headers(recvs_.back().data, found->header);
    memory_->unexpected.erase(found);
  }
  return last_id_;
}

std::uint64_t NcclTransport::start_node_work(NodeWork work) {
  has_messages_ = true;
  node_works_.push_back({++last_id_, std::move(work)});
  return last_id_;
}

bool NcclTransport::poll(std::uint64_t& operation, SizeOrStatus& outcome) {
  const auto poll_in = [&](auto& started) -> std::optional<bool> {
    const auto found = std::ranges::find_if(started, [&](const auto& one) { return one.id == operation; });
    if (found == started.end()) return {};
    needs_round_ = needs_round_ || !found->done;
    if (!found->done) return false;
    outcome = found->outcome;
    started.erase(found);
    return true;
  };
  for (std::deque<Message>* const messages : {&sends_, &recvs_})
    if (const auto done = poll_in(*messages)) return *done;
  if (const auto done = poll_in(node_works_)) return *done;
  throw Error(Status::transport_failed, "a message of a call that has failed");
}

void NcclTransport::abandon(std::uint64_t operation) noexcept {
  for (std::deque<Message>* const messages : {&sends_, &recvs_})
    std::erase_if(*messages, [&](const Message& message) { return message.id == operation; });
  std::erase_if(node_works_, [&](const StartedWork& started) { return started.id == operation; });
}

// Copies between memory of any kinds, and waits for the copy.
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
  recv.outcome = fits ? SizeOrStatus{Status::ok, bytes} : SizeOrStatus{Status::frame_mismatch};
  recv.done = true;
}

NcclTransport::Message* NcclTransport::find_receive(int from, Lane lane) noexcept {
  const auto found = std::ranges::find_if(
      recvs_, [&](const Message& recv) { return !recv.done && recv.peer == from && recv.lane == lane; });
  return found == recvs_.end() ? nullptr : &*found;
}

// ---- Rounds

template <class Work>
auto NcclTransport::with_memory(const Work& work) {
  const gpu::CurrentDevice current(services_, device_);
  try {
    return work();
  } catch (...) {
    node_.abort();
    gpu::free_after(services_, stream_, memory_);
    memory_ = std::make_shared<Memory>(services_);
    throw;
  }
}

bool NcclTransport::run_round(bool complete) {
  return with_memory([&] { return run_round_now(complete); });
}

bool NcclTransport::run_round_now(bool complete) {
  needs_round_ = false;
  memory_->pinned.reserve(2 * control_bytes());
  memory_->device.reserve(2 * control_bytes());
  const std::vector<Message*> sends = write_control_messages(complete);
  exchange_control_messages();
  const bool worked = run_node_work();
  if (move_rendezvous(sends) || worked) wait();
  memory_->truncated.clear();
  const ControlMessage* const control = control_messages(memory_->pinned.data() + control_bytes());
  for (int r = 0; r < size_; ++r)
    if (r != rank_) complete = complete && control[r].complete != 0;
  return complete;
}

// Writes the control messages to the other ranks, and in the place of this rank the work on the node that it
// has started, for run_node_work(). Returns the rendezvous messages that the control messages announce.
std::vector<NcclTransport::Message*> NcclTransport::write_control_messages(bool complete) {
  ControlMessage* const control = control_messages(memory_->pinned.data());
  control[0] = {complete, 0, 0, 0, {}};
  for (const StartedWork& started : node_works_) {
    const std::uint64_t bit = started.done ? 0 : std::uint64_t{1} << started.work.segment;
    control[0].node_work |= bit;
    if (started.work.failed) control[0].failed |= bit;
  }
  for (int r = 1; r < size_; ++r) {
    control[r].complete = complete, control[r].headers = 0;
    control[r].node_work = control[0].node_work, control[r].failed = control[0].failed;
  }
  std::vector<Message*> rendezvous;
  for (Message& send : sends_) {
    ControlMessage& to = control[send.peer];
    if (send.done || to.headers == max_headers) continue;
    MessageHeader& header = to.header[to.headers++];
    header.lane = send.lane;
    header.bytes = send.bytes;
    header.eager = send.bytes <= max_eager_bytes && !on_device(send.data);
    header.frames = 0;
    if (header.eager == 0) {
      write_frame_headers(send, header);
      rendezvous.push_back(&send);
    } else if (send.bytes > 0) {
      std::memcpy(header.content, send.data, send.bytes);
    }
    send.done = true;
    send.outcome = {Status::ok, send.bytes};
  }
  return rendezvous;
}

void NcclTransport::exchange_control_messages() {
  const std::size_t all = control_bytes();
  gpu::check(services_, services_.copy_on(memory_->device.data(), memory_->pinned.data(), all, stream_));
  check(nccl_.GroupStart(), "ncclGroupStart");
  int failed = success;
  for (int d = 1; d < size_ && failed == success; ++d) {
    const int to = (rank_ + d) % size_, from = (rank_ - d + size_) % size_;
    failed = nccl_.Send(&control_messages(memory_->device.data())[to], sizeof(ControlMessage), uint8, to,
                        comm_, stream_);
    if (failed == success)
      failed = nccl_.Recv(&control_messages(memory_->device.data() + all)[from], sizeof(ControlMessage),
                          uint8, from, comm_, stream_);
  }
  const int ended = nccl_.GroupEnd();
  check(failed, "ncclSend");
  check(ended, "ncclGroupEnd");
  gpu::check(services_,
             services_.copy_on(memory_->pinned.data() + all, memory_->device.data() + all, all, stream_));
  wait();
}

// Returns the memory into which a rendezvous message moves: that of its receive if it is started and large
// enough, and else newly allocated memory.
std::byte* NcclTransport::receive_buffer(int from, const MessageHeader& header,
                                         std::vector<Message*>& received) {
  const auto bytes = static_cast<std::size_t>(header.bytes);
  Message* const recv = find_receive(from, header.lane);
  auto allocate = [&] {
    auto memory = std::make_unique<gpu::MemoryBlock>(services_, gpu::MemoryKind::plain);
    memory->reserve(std::max<std::size_t>(bytes, 1));
    return memory;
  };
  if (recv == nullptr) {
    memory_->unexpected.push_back({from, header.lane, bytes, {}, allocate(), header});
    return memory_->unexpected.back().memory->data();
  }
  recv->done = true;  // no other message of the round matches this receive
  received.push_back(recv);
  recv->outcome =
      bytes <= recv->bytes ? SizeOrStatus{Status::ok, bytes} : SizeOrStatus{Status::frame_mismatch};
  if (recv->outcome.status == Status::ok) {
    read_frame_headers(recv->data, header);
    return recv->data;
  }
  return memory_->truncated.emplace_back(allocate())->data();
}

void NcclTransport::receive_eager(int from, const MessageHeader& header) {
  const auto bytes = std::min<std::size_t>(header.bytes, max_eager_bytes);
  if (Message* const recv = find_receive(from, header.lane))
    deliver(*recv, header.content, bytes);
  else
    memory_->unexpected.push_back({from, header.lane, bytes, {header.content, header.content + bytes}});
}

// ---- Headers of frames on the GPU

// Copies the headers of the frames of a message into its header, if all of them fit.
void NcclTransport::write_frame_headers(const Message& send, MessageHeader& header) const noexcept {
  const gpu::DeviceFrames* const frames = devices_ == nullptr ? nullptr : devices_->frames_at(send.data);
  if (frames == nullptr) return;
  ConstBytes rest(frames->host_address(send.data), send.bytes);
  std::uint16_t n = 0;
  for (; !rest.empty(); ++n) {
    const std::size_t size = frame_size(rest);
    if (size == 0 || n == max_frame_headers) return;
    std::memcpy(header.content + n * frame_header_bytes, rest.data(), frame_header_bytes);
    rest = rest.subspan(size);
  }
  header.frames = n;
}

// Writes the frame headers of a control message to the host's copy of the headers of the received frames.
void NcclTransport::read_frame_headers(std::byte* message, const MessageHeader& header) const {
  gpu::DeviceFrames* const frames =
      devices_ == nullptr || header.frames == 0 ? nullptr : devices_->frames_at(message);
  if (frames == nullptr) return;
  std::byte* const host = frames->host_address(message);
  Bytes rest(host, static_cast<std::size_t>(header.bytes));
  for (std::size_t i = 0; i < std::min<std::size_t>(header.frames, max_frame_headers); ++i) {
    if (rest.size() < frame_header_bytes) return;
    std::memcpy(rest.data(), header.content + i * frame_header_bytes, frame_header_bytes);
    const std::size_t size = frame_size(rest);
    if (size == 0) return;
    rest = rest.subspan(size);
  }
  if (rest.empty()) frames->note_headers(host);
}

// Enqueues the work that all ranks of the node have started, in one group. Returns false if there is none.
bool NcclTransport::run_node_work() {
  if (!does_node_work()) return false;
  const ControlMessage* const sent = control_messages(memory_->pinned.data());
  const ControlMessage* const control = control_messages(memory_->pinned.data() + control_bytes());
  const auto from = [&](int r) -> const ControlMessage& { return r == rank_ ? sent[r] : control[r]; };
  std::uint64_t any = 0, all = ~std::uint64_t{0}, failed_anywhere = 0;
  for (int r = 0; r < size_; ++r) any |= from(r).node_work;
  if (any == 0) return false;
  node_.open(comm_, rank_);
  for (const int r : node_.same_node(rank_)) all &= from(r).node_work, failed_anywhere |= from(r).failed;
  std::ranges::sort(node_works_, {}, [](const StartedWork& started) { return started.work.segment; });
  check(nccl_.GroupStart(), "ncclGroupStart");
  int failed = success;
  for (StartedWork& started : node_works_) {
    const std::uint64_t bit = std::uint64_t{1} << started.work.segment;
    if (started.done || (all & bit) == 0) continue;
    started.done = true;
    if ((failed_anywhere & bit) != 0)
      started.outcome.status = Status::peer_failed;
    else if (failed == success)
      failed = node_.enqueue(started.work, stream_);
  }
  const int ended = nccl_.GroupEnd();
  check(failed, "the work on a node");
  check(ended, "ncclGroupEnd");
  return true;
}

// Moves the rendezvous messages, in one group. Messages between two ranks are in the order of their headers.
// Returns false if there are none.
bool NcclTransport::move_rendezvous(std::span<Message* const> sends) {
  const ControlMessage* const control = control_messages(memory_->pinned.data() + control_bytes());
  struct Arrival {
    std::byte* to;
    std::size_t bytes;
    int from;
  };
  std::vector<Arrival> arrivals;
  std::vector<Message*> received;
  for (int d = 1; d < size_; ++d) {
    const int from = (rank_ - d + size_) % size_;
    for (std::size_t i = 0; i < std::min<std::size_t>(control[from].headers, max_headers); ++i) {
      const MessageHeader& header = control[from].header[i];
      if (header.eager != 0)
        receive_eager(from, header);
      else
        arrivals.push_back(
            {receive_buffer(from, header, received), static_cast<std::size_t>(header.bytes), from});
    }
  }
  if (arrivals.empty() && sends.empty()) return false;
  check(nccl_.GroupStart(), "ncclGroupStart");
  int failed = success;
  for (const Message* const send : sends)
    if (failed == success && send->bytes > 0)
      failed = nccl_.Send(send->data, send->bytes, uint8, send->peer, comm_, stream_);
  for (const Arrival& arrival : arrivals)
    if (failed == success && arrival.bytes > 0)
      failed = nccl_.Recv(arrival.to, arrival.bytes, uint8, arrival.from, comm_, stream_);
  const int ended = nccl_.GroupEnd();
  check(failed, "ncclSend");
  check(ended, "ncclGroupEnd");
  return true;
}

// Polls, and asks NCCL for errors from time to time.
template <class IsDone>
void NcclTransport::poll_until(const IsDone& is_done) {
  constexpr unsigned polls_between_checks = 64;
  Backoff backoff;
  for (unsigned poll = 1;; ++poll, backoff.pause()) {
    int error = success;
    const bool done = is_done();
    if (done || poll % polls_between_checks == 0) {
      check(nccl_.CommGetAsyncError(comm_, &error), "ncclCommGetAsyncError");
      check(error, "the NCCL communicator");
      check(node_.error(), "the NCCL communicator of the node");
      if (limits_ != nullptr) limits_->check();
    }
    if (done) return;
  }
}

void NcclTransport::wait() {
  ++waits_;
  poll_until([&] {
    int idle = 0;
    gpu::check(services_, services_.query(stream_, &idle));
    return idle != 0;
  });
}

void NcclTransport::wait(gpu::StreamPoint& point) {
  poll_until([&] { return point.ready(); });
  gpu::check(services_, static_cast<int>(point.result()));
}

std::vector<std::byte> NcclTransport::allgather(ConstBytes bytes) {
  return with_memory([&] { return allgather_now(bytes); });
}

std::vector<std::byte> NcclTransport::allgather_now(ConstBytes bytes) {
  const std::size_t n = bytes.size(), all = n * static_cast<std::size_t>(size_);
  std::byte* const device_copy = memory_->device.reserve(all);
  std::byte* const host_copy = memory_->pinned.reserve(all);
  std::memcpy(host_copy, bytes.data(), n);
  std::byte* const own = device_copy + n * static_cast<std::size_t>(rank_);
  gpu::check(services_, services_.copy_on(own, host_copy, n, stream_));
  check(nccl_.AllGather(own, device_copy, n, uint8, comm_, stream_), "ncclAllGather");
  gpu::check(services_, services_.copy_on(host_copy, device_copy, all, stream_));
  wait();
  return {host_copy, host_copy + all};
}

}  // namespace taut::nccl
