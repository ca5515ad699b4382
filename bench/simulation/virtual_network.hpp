// Virtual network: a transport for virtual ranks on hosts. Hosts are joined by one switch that never blocks.
// A link carries one message at a time in each direction, at its full rate. A message occupies one of the
// sender's outgoing and one of the receiver's incoming links for bytes / rate seconds, and arrives one
// latency later. The ranks of a host share its links. A message between two ranks of a host is a copy, which
// passes the memory of the host instead.
//
// Messages above `eager_bytes` start when both the send and the receive are posted; others start when they
// are sent. A transfer needs no processor: overlap with computation is ideal, as with hardware that moves
// data by itself. A real MPI over TCP overlaps less.
#pragma once

#include <deque>
#include <span>
#include <unordered_map>

#include "communication/team/transport.hpp"
#include "core_cache.hpp"
#include "hosts.hpp"
#include "virtual_ranks.hpp"

namespace simulation {

struct Link {
  double bytes_a_second = 12.5e9;  // of one link
  double latency = 1.5e-6;         // seconds
  double overhead = 0.4e-6;        // seconds of the processor for each send, and for each receive
  std::size_t eager_bytes = std::size_t{64} << 10;
  int links = 1;  // of each host
  Hosts hosts = {};
};

class VirtualNetwork {
 public:
  // `caches`: of the ranks' cores.
  VirtualNetwork(VirtualRanks& ranks, const Link& link, std::span<const CoreCache> caches);
  ~VirtualNetwork();
  VirtualNetwork(const VirtualNetwork&) = delete;

  taut::Transport& transport(int rank) noexcept;

  // Returns the bytes that left the host from which most bytes left.
  double most_link_bytes() const noexcept;

  // Returns the time at which so many more bytes will have passed the memory of the rank's host.
  double passed_memory(int rank, double bytes);

 private:
  class Port;
  // The content of a message that a receiver may read: all of a short message, otherwise the headers of the
  // frames. Payloads are not stored, because the modelled codec neither writes nor reads them.
  struct Content {
    std::vector<std::byte> bytes;
    std::vector<std::size_t> offsets;  // of each header in the message
    void read(taut::ConstBytes message);
    void write(taut::Bytes message) const;
  };
  struct Operation {
    enum class Progress : std::uint8_t { posted, queued, moving, done } progress;
    bool is_send, eager;
    int holders;  // who still uses the operation: its rank and, for an eager send, the delivery
    int rank, other;
    taut::Bytes capacity;   // of a receive
    const std::byte* data;  // of a send
    std::size_t bytes;      // of the message
    Content content;        // of a send
    std::size_t partner;    // number of the matching operation; none: not matched yet
  };
  struct Queue {  // operations of one receiver, sender and lane that wait for their partners
    std::deque<std::size_t> sends, receives;
  };
  using Queues = std::unordered_map<std::uint64_t, Queue>;  // of a receiver, by sender and lane
  struct Host {
    std::deque<std::size_t> out;  // messages that are ready to move, in this order
    std::deque<int> waiting;      // hosts that wait for a link in
    int sends = 0, receives = 0;  // links in use
    double sent_bytes = 0;
    double memory_free_at = 0;  // time
  };
  static constexpr std::size_t none = ~std::size_t{0};

  std::size_t post(Operation operation);
  std::size_t send(int rank, taut::ConstBytes bytes, int to, taut::Lane lane);
  std::size_t recv(int rank, taut::Bytes capacity, int from, taut::Lane lane);
  bool poll(std::size_t number, taut::SizeOrStatus& moved);
  void match(std::size_t send, std::size_t receive);
  void release(std::size_t number);
  void enqueue(std::size_t send);
  void start_next(int from_host);
  void start(std::size_t send);
  void start_on_host(std::size_t send);
  double written(std::size_t receive) const noexcept;
  void left(std::size_t send);
  void complete(std::size_t send);
  void arrived(std::size_t send);
  Queue& queue(int to, int from, taut::Lane lane);
  int number(int rank) const noexcept { return link_.hosts.of(rank); }
  Host& host(int number) { return hosts_[static_cast<std::size_t>(number)]; }

  VirtualRanks& ranks_;
  Link link_;
  std::span<const CoreCache> caches_;
  std::vector<Host> hosts_;         // by number
  std::vector<Queues> queues_;      // by receiver
  std::vector<double> copies_end_;  // times, by receiver
  std::deque<Operation> operations_;
  std::vector<std::size_t> free_;
  std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace simulation
