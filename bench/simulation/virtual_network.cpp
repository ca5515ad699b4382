#include "virtual_network.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "communication/team/frames.hpp"

namespace simulation {

using taut::frame_header_bytes;

// ---- Content of messages

void VirtualNetwork::Content::read(taut::ConstBytes message) {
  constexpr std::size_t all = 256;  // a message of up to this size is stored whole
  constexpr std::size_t most_frame = std::size_t{1} << 40;
  bytes.clear();
  offsets.clear();
  if (message.size() <= all) {
    bytes.assign(message.begin(), message.end());
    return;
  }
  for (std::size_t at = 0; at < message.size();) {
    const taut::ConstBytes rest = message.subspan(at);
    taut::FrameHeader header;
    // A frame may go on in the next message. No header: values or the rest of a frame, which are not stored.
    if (taut::read_header({rest.data(), most_frame}, header) != taut::Status::ok) return;
    offsets.push_back(at);
    bytes.insert(bytes.end(), rest.begin(), rest.begin() + frame_header_bytes);
    at += frame_header_bytes + header.payload_bytes;
  }
}

void VirtualNetwork::Content::write(taut::Bytes message) const {
  if (offsets.empty() && !bytes.empty()) std::memcpy(message.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < offsets.size(); ++i)
    std::memcpy(message.data() + offsets[i], bytes.data() + i * frame_header_bytes, frame_header_bytes);
}

// ---- Transport of one rank

class VirtualNetwork::Port final : public taut::Transport {
 public:
  Port(VirtualNetwork& network, int rank) noexcept : network_(network), rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return network_.ranks_.size(); }

 private:
  std::uint64_t start_send(taut::ConstBytes bytes, int to, taut::Lane lane) override {
    return network_.send(rank_, bytes, to, lane);
  }
  std::uint64_t start_recv(taut::Bytes capacity, int from, taut::Lane lane) override {
    return network_.recv(rank_, capacity, from, lane);
  }
  bool poll(std::uint64_t& operation, taut::SizeOrStatus& moved) override {
    return network_.poll(operation, moved);
  }
  void abandon(std::uint64_t) noexcept override {}

  VirtualNetwork& network_;
  int rank_;
};

VirtualNetwork::VirtualNetwork(VirtualRanks& ranks, const Link& link, std::span<const CoreCache> caches)
    : ranks_(ranks),
      link_(link),
      caches_(caches),
      hosts_(static_cast<std::size_t>(link.hosts.count(ranks.size()))),
      queues_(static_cast<std::size_t>(ranks.size())),
      copies_end_(static_cast<std::size_t>(ranks.size())) {
  for (int rank = 0; rank < ranks.size(); ++rank) ports_.push_back(std::make_unique<Port>(*this, rank));
}

VirtualNetwork::~VirtualNetwork() = default;

taut::Transport& VirtualNetwork::transport(int rank) noexcept {
  return *ports_[static_cast<std::size_t>(rank)];
}

double VirtualNetwork::most_link_bytes() const noexcept {
  return std::ranges::max_element(hosts_, {}, &Host::sent_bytes)->sent_bytes;
}

// ---- Operations

std::size_t VirtualNetwork::post(Operation operation) {
  ranks_.compute(link_.overhead);
  if (free_.empty()) {
    operations_.push_back(std::move(operation));
    return operations_.size() - 1;
  }
  const std::size_t number = free_.back();
  free_.pop_back();
  operations_[number] = std::move(operation);
  return number;
}

VirtualNetwork::Queue& VirtualNetwork::queue(int to, int from, taut::Lane lane) {
  return queues_[static_cast<std::size_t>(to)]
                [static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(lane)];
}

std::size_t VirtualNetwork::send(int rank, taut::ConstBytes bytes, int to, taut::Lane lane) {
  const bool eager = bytes.size() <= link_.eager_bytes;
  const std::size_t number = post({.progress = Operation::Progress::posted,
                                   .is_send = true,
                                   .eager = eager,
                                   .holders = eager ? 2 : 1,
                                   .rank = rank,
                                   .other = to,
                                   .capacity = {},
                                   .data = bytes.data(),
                                   .bytes = bytes.size(),
                                   .content = {},
                                   .partner = none});
  operations_[number].content.read(bytes);
  Queue& waiting = queue(to, rank, lane);
  if (!waiting.receives.empty()) {
    const std::size_t receive = waiting.receives.front();
    waiting.receives.pop_front();
    match(number, receive);
  } else {
    waiting.sends.push_back(number);
  }
  if (eager) enqueue(number);
  return number;
}

std::size_t VirtualNetwork::recv(int rank, taut::Bytes capacity, int from, taut::Lane lane) {
  const std::size_t number = post({.progress = Operation::Progress::posted,
                                   .is_send = false,
                                   .eager = false,
                                   .holders = 1,
                                   .rank = rank,
                                   .other = from,
                                   .capacity = capacity,
                                   .data = nullptr,
                                   .bytes = 0,
                                   .content = {},
                                   .partner = none});
  Queue& waiting = queue(rank, from, lane);
  if (!waiting.sends.empty()) {
    const std::size_t send = waiting.sends.front();
    waiting.sends.pop_front();
    match(send, number);
  } else {
    waiting.receives.push_back(number);
  }
  return number;
}

void VirtualNetwork::match(std::size_t send, std::size_t receive) {
  operations_[send].partner = receive;
  operations_[receive].partner = send;
  if (operations_[send].progress == Operation::Progress::done) arrived(send);
  if (!operations_[send].eager) enqueue(send);
}

void VirtualNetwork::release(std::size_t number) {
  if (--operations_[number].holders == 0) free_.push_back(number);
}

// Returns true if an operation has completed. An eager send completes at once; its message lives on until it
// has arrived.
bool VirtualNetwork::poll(std::size_t number, taut::SizeOrStatus& moved) {
  Operation& operation = operations_[number];
  const bool complete = operation.is_send ? operation.eager || operation.progress == Operation::Progress::done
                                          : operation.progress == Operation::Progress::done;
  if (!complete) return false;
  moved = {operation.is_send || operation.bytes <= operation.capacity.size() ? taut::Status::ok
                                                                             : taut::Status::frame_mismatch,
           operation.bytes};
  release(number);
  return true;
}

// ---- Movement

void VirtualNetwork::enqueue(std::size_t send) {
  operations_[send].progress = Operation::Progress::queued;
  const int from = number(operations_[send].rank);
  if (from == number(operations_[send].other)) return start_on_host(send);
  host(from).out.push_back(send);
  start_next(from);
}

double VirtualNetwork::passed_memory(int rank, double bytes) {
  double& free_at = host(number(rank)).memory_free_at;
  free_at = std::max(free_at, ranks_.now()) + bytes / link_.hosts.memory;
  return free_at;
}

// Returns the bytes that pass memory for each byte of a message that a rank of the host receives. A message
// without a receive waits in memory.
double VirtualNetwork::written(std::size_t receive) const noexcept {
  if (receive == none) return CoreCache().write(nullptr);
  const Operation& operation = operations_[receive];
  return caches_[static_cast<std::size_t>(operation.rank)].write(operation.capacity.data());
}

// Copies a message from one rank of a host to another: as fast as the receiver's core copies, one message at
// a time, and as the memory allows.
void VirtualNetwork::start_on_host(std::size_t send) {
  Operation& message = operations_[send];
  const Hosts& hosts = link_.hosts;
  message.progress = Operation::Progress::moving;
  const auto bytes = static_cast<double>(message.bytes);
  double& copied = copies_end_[static_cast<std::size_t>(message.other)];
  copied = std::max(copied, ranks_.now()) + bytes / hosts.copy;
  const double traffic =
      caches_[static_cast<std::size_t>(message.rank)].read(message.data) + written(message.partner);
  const double end = std::max(copied, passed_memory(message.rank, traffic * bytes));
  const double further = message.content.offsets.empty() ? 0 : hosts.frames_latency;
  ranks_.at(end + hosts.latency + further, [this, send] { complete(send); });
}

// Starts the first message of a host whose receiver has a free link.
void VirtualNetwork::start_next(int from_host) {
  Host& sender = host(from_host);
  if (sender.sends == link_.links) return;
  for (auto next = sender.out.begin(); next != sender.out.end(); ++next) {
    const std::size_t send = *next;
    Host& receiver = host(number(operations_[send].other));
    if (receiver.receives < link_.links) {
      sender.out.erase(next);
      start(send);
      return;
    }
    if (std::ranges::find(receiver.waiting, from_host) == receiver.waiting.end())
      receiver.waiting.push_back(from_host);
  }
}

void VirtualNetwork::start(std::size_t send) {
  Operation& message = operations_[send];
  message.progress = Operation::Progress::moving;
  Host& sender = host(number(message.rank));
  ++sender.sends;
  sender.sent_bytes += static_cast<double>(message.bytes);
  ++host(number(message.other)).receives;
  const double end = ranks_.now() + static_cast<double>(message.bytes) / link_.bytes_a_second;
  ranks_.at(end, [this, send] { left(send); });
  ranks_.at(end + link_.latency, [this, send] { complete(send); });
}

void VirtualNetwork::complete(std::size_t send) {
  operations_[send].progress = Operation::Progress::done;
  if (operations_[send].partner != none) arrived(send);
}

// Frees both links after the last byte of a message, and starts the next messages on them.
void VirtualNetwork::left(std::size_t send) {
  const int from = number(operations_[send].rank), to = number(operations_[send].other);
  --host(from).sends;
  --host(to).receives;
  for (std::deque<int> waiting = std::exchange(host(to).waiting, {}); !waiting.empty(); waiting.pop_front())
    start_next(waiting.front());
  start_next(from);
}

// Completes a message that has arrived, and its receive.
void VirtualNetwork::arrived(std::size_t send) {
  Operation& message = operations_[send];
  Operation& receive = operations_[message.partner];
  receive.bytes = message.bytes;
  if (message.bytes <= receive.capacity.size()) message.content.write(receive.capacity);
  receive.progress = Operation::Progress::done;
  ranks_.wake(receive.rank);
  if (message.eager)
    release(send);
  else
    ranks_.wake(message.rank);
}

}  // namespace simulation
