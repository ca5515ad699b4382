// Messages from rank to rank beside the calls of a communicator.
#pragma once

#include <memory>
#include <vector>

#include "comm/message_coder.hpp"
#include "robustness/random/policies.hpp"
#include "transports/loopback.hpp"

namespace taut::test {

inline constexpr MessageFormat message_format{.mark = 0x8000A1B2C3D4E5F6};

class Messages {
 public:
  Messages(Draw& draw, int P, const std::string& policy, double scale);

  bool any() const noexcept { return !messages_.empty(); }
  std::string text() const;

  // All that `rank` sends and receives, side by side. Those of two ranks arrive in their order.
  Task<> of_rank(LoopbackHub& hub, int rank);

  // The first message that did not arrive as it should have; "" when there is none.
  std::string wrong(Errors& errors) const;

 private:
  struct Message {
    Message(int sender, int receiver, Call of)
        : from(sender), to(receiver), call(std::move(of)), memory(call) {}
    int from, to;
    Call call;
    Memory memory;  // of a broadcast by two ranks, the sender being rank 0
    bool coded = false;
    Status status = Status::ok;
  };
  struct Rank {
    explicit Rank(const Policy& of)
        : policy(of), coder(policy, message_format, place, "", policy.coding.threads) {}
    const Policy& policy;
    HostPlace place;
    MessageCoder coder;
  };

  static Task<> send(Transport& transport, Rank& rank, Message& message);
  static Task<> receive(Transport& transport, Rank& rank, Message& message);

  Policy policy_;
  std::vector<std::unique_ptr<Message>> messages_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace taut::test
