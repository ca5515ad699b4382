// Messages from rank to rank at the same time as the calls of a communicator. Some are streams of messages
// that are alike, whose frames may refer to earlier ones.
#pragma once

#include <memory>
#include <vector>

#include "communication/comm/message_coder.hpp"
#include "robustness/random/policies.hpp"
#include "support/loopback.hpp"

namespace taut::test {

inline constexpr MessageFormat message_format{.mark = 0x8000A1B2C3D4E5F6};

class Messages {
 public:
  Messages(Draw& draw, int P, const std::string& policy, double scale);

  bool any() const noexcept { return !messages_.empty(); }
  std::string text() const;

  // Runs all sends and receives of `rank` concurrently. Messages between two ranks arrive in order.
  Task<> of_rank(LoopbackHub& hub, int rank);

  // Returns the first message that arrived wrong; "" when there is none.
  std::string wrong(Errors& errors) const;

 private:
  struct Message {
    Message(int sender, int receiver, Call of)
        : from(sender), to(receiver), call(std::move(of)), memory(call) {}
    int from, to;
    Call call;
    Memory memory;  // memory of a broadcast by two ranks, with rank 0 as the sender
    std::uint64_t stream = 0;
    bool keeps = true, gives_credit = true;  // its receiver
    bool coded = false;
    Status status = Status::ok;
  };
  struct Rank {
    Rank(const Policy& of, int rank)
        : policy(of),
          coder(policy, message_format, place, "", policy.coding.threads),
          sent(static_cast<std::uint32_t>(rank)) {}
    const Policy& policy;
    HostPlace place;
    MessageCoder coder;
    SentStates sent;
    ReceivedStates received;
  };

  Task<> send_all(Transport& transport, int from, int to);
  static Task<> send(Transport& transport, Rank& rank, Message& message);
  Task<> receive(Transport& transport, Rank& rank, Message& message);

  Policy policy_;
  std::vector<std::unique_ptr<Message>> messages_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace taut::test
