// Point-to-point messages of a communicator with a policy (docs/adr/0021).
#pragma once

#include "communication/p2p/endpoint.hpp"

namespace taut::api {

class CommState;

// Endpoint of the messages of one communicator. They are coded by the policy of the communicator, and counted
// in its statistics.
class CommEndpoint final : public p2p::Endpoint {
 public:
  // `comm_state` must outlive the object.
  CommEndpoint(CommState& comm_state, std::uint64_t mark, std::shared_ptr<p2p::SegmentComm> segments);

  std::size_t history_bytes() const noexcept override;
  p2p::SharedMessageCoder& coder() noexcept override { return coder_; }
  void count(const p2p::MpiMessage& recv, const Message& message) noexcept override;

 private:
  CommState& comm_state_;
  p2p::SharedMessageCoder coder_;
};

// Returns the endpoint of TAUT_ calls on a communicator; null if no coded message can arrive there.
p2p::Endpoint* endpoint_of(CommState* comm_state) noexcept;

}  // namespace taut::api
