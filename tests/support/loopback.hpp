// Loopback transport: any number of ranks in one process. It can delay, reorder, record and damage
// messages.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "communication/team/transport.hpp"

namespace taut::test {

class LoopbackHub {
 public:
  // Function that copies bytes from or to the memory of ranks, which the host may be unable to access.
  using Copy = void (*)(void* to, const void* from, std::size_t bytes);

  struct Options {
    std::uint64_t seed = 1;
    bool random_order = false;  // delays messages at random; some sends complete only when received
    bool record = false;
    bool at_once = false;  // Transport::sends_to_all_at_once()
    int slow = -1;         // rank whose messages are delayed even more; -1: none
    Copy copy = nullptr;   // of messages; null: std::memcpy
  };

  // Record of one message, in the order of sending. `step`: the place of the message in the longest chain of
  // messages that it depends on, if a rank sends one message a step.
  struct Record {
    int step, from, to;
    Lane lane;
    std::size_t bytes;
  };

  // Function that may change a message when it is sent: shorten it, flip bits, make it longer.
  using Damage = std::function<void(const Record&, std::vector<std::byte>&)>;

  explicit LoopbackHub(int size) : LoopbackHub(size, Options{}) {}
  LoopbackHub(int size, Options options);
  ~LoopbackHub();
  LoopbackHub(const LoopbackHub&) = delete;
  LoopbackHub& operator=(const LoopbackHub&) = delete;

  int size() const noexcept { return static_cast<int>(ranks_.size()); }
  Transport& transport(int rank) noexcept;

  const std::vector<Record>& records() const noexcept { return records_; }
  void set_damage(Damage damage) { damage_ = std::move(damage); }

  // Makes a rank die once it has started `operations` more operations. Its job ends with it, as under an MPI
  // launcher: from then on all operations of all ranks, also those in flight, throw Error(transport_failed).
  void kill(int rank, std::uint64_t operations = 0);
  bool ended() const;  // true if a rank is dead

  // Counts progress outside the hub, for example on simulated GPUs, which ranks may wait for. Null: there is
  // none.
  static inline unsigned long (*outside)() = nullptr;

  // Time that nothing has to move in before run() reports a deadlock: a real GPU goes on by itself.
  static inline std::chrono::milliseconds patience{0};

  // Drives the tasks of all ranks in this thread, in a random order that the seed fixes. If no rank can ever
  // advance, throws Error(internal) with a list of the pending operations. Results and exceptions stay in the
  // tasks.
  void run(std::span<Task<>> tasks);

  // Drives each rank's task in a thread of its own; a deadlock hangs.
  void run_threads(std::span<Task<>> tasks);

 private:
  class Rank;
  struct Message;
  struct Receive;

  // A queue of operations, on all lanes, linked by their member `next`: it allocates nothing.
  template <class Operation>
  struct Queue {
    Operation *first = nullptr, *last = nullptr;

    void append(Operation& operation) noexcept;
    Operation* oldest(Lane lane) const noexcept;  // null: none
    void remove(Operation& operation) noexcept;
  };

  // The messages from one rank to another that are not delivered, and the receives that have no message.
  struct Channel {
    Queue<Message> messages;
    Queue<Receive> receives;
  };

  // Slots of operations; they are reused, so that nothing is allocated in the steady state. The index of the
  // slot, plus 1, identifies an operation; the top bit is set for a receive.
  template <class Slot>
  struct Slots {
    std::vector<std::unique_ptr<Slot>> all;
    // Operations of free slots, without the top bit: a heap, so that the first free slot is taken, which has
    // room for a message of the steady state.
    std::vector<std::uint64_t> unused;

    std::uint64_t take();
    Slot& of(std::uint64_t operation) const noexcept;
    void release(std::uint64_t operation) noexcept;
  };

  void start_operation(int rank, int other, Lane lane);
  void check_alive() const;
  std::uint64_t send(int from, ConstBytes bytes, int to, Lane lane);
  std::uint64_t recv(int rank, Bytes capacity, int from, Lane lane);
  bool poll(std::uint64_t operation, SizeOrStatus& moved);
  void abandon(std::uint64_t operation) noexcept;

  Channel& channel(int to, int from) noexcept;
  void copy(std::byte* to, ConstBytes from) const;
  bool changed(const Message& message) const;
  void deliver(Message& message, Receive& receive);
  void stop_awaiting(Message& message) noexcept;
  bool let_time_pass() noexcept;
  std::string waiting() const;

  Options options_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  Slots<Message> messages_;
  Slots<Receive> receives_;
  std::vector<Channel> channels_;  // of each pair of ranks
  std::vector<Record> records_;
  std::vector<int> steps_;  // number of steps so far, by rank
  Damage damage_;
  int doomed_ = -1, dead_ = -1;  // ranks; -1: none
  std::uint64_t left_ = 0;       // operations until the doomed rank dies
  std::uint64_t now_ = 0;        // number of times that let_time_pass() has advanced
  std::uint64_t last_due_ = 0;   // the latest time of delivery of any message
  std::uint64_t progress_ = 0;   // changes whenever something happens
};

inline Task<> in_turn(std::vector<Task<>> tasks) {
  for (Task<>& task : tasks) co_await std::move(task);
}
inline Task<> side_by_side(std::vector<Task<>> tasks) { co_await all(tasks); }

}  // namespace taut::test
