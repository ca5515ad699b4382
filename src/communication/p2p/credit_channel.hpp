// Channel of credits between the ranks of a private communicator. A credit is a notice of a receiver to a
// sender: messages of a key may be coded (docs/adr/0086), or the receiver holds a state that later messages
// may use as a reference (docs/adr/0110).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>

namespace taut::p2p {

// Tag of credits on the private communicator. Every MPI allows it.
inline constexpr int credit_tag = 32767;

// Message with one credit. For a key: the name of the communicator, the receiver's rank there, and the tag.
// For a state: the state's number, and of_state in place of the rank.
struct Credit {
  static constexpr std::int32_t of_state = -1;

  std::uint64_t name = 0;
  std::int32_t rank = 0, tag = 0;
};

class CreditChannel {
 public:
  using Handler = std::function<void(const Credit&)>;

  // `comm`: the private communicator. `handler`: called with each received credit for a state.
  CreditChannel(MPI_Comm comm, Handler handler) : comm_(comm), handle_state_(std::move(handler)) {}
  CreditChannel(const CreditChannel&) = delete;

  // Sets the function that is called with each received credit for a key.
  void set_key_handler(Handler handler) noexcept { handle_key_ = std::move(handler); }

  // Returns true if a further credit may be sent now.
  bool open() noexcept;

  // Sends a credit synchronously: its send is complete once it is received. Never waits. Returns false if the
  // channel is not open or memory is short.
  bool send(int dest, const Credit& credit) noexcept;

  // Receives the credits that have arrived, and calls their handlers.
  void receive() noexcept;

  // Sends no more credits.
  void close() noexcept;

  // Advances the end of a closed channel: a barrier that a rank enters once its own credits are received.
  // Returns true after it, when no rank has any to receive.
  bool ended() noexcept;

 private:
  struct SentCredit {
    Credit credit;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  bool all_received() noexcept;

  const MPI_Comm comm_;
  const Handler handle_state_;
  Handler handle_key_;
  std::mutex mutex_;            // of the members below; not held during calls of MPI
  std::list<SentCredit> sent_;  // those that their destination has not received yet
  bool closed_ = false;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  bool ended_ = false;
};

}  // namespace taut::p2p
