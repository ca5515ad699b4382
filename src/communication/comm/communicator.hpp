// Communicator: Taut's facade on top of a user's communicator. It combines policy, codecs, algorithms and
// transport.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "communication/comm/agree.hpp"
#include "communication/comm/call_record.hpp"
#include "communication/comm/collective_call.hpp"
#include "communication/comm/history.hpp"
#include "communication/comm/tuner.hpp"
#include "communication/gpu/device.hpp"
#include "communication/team/nodes.hpp"

namespace taut {

// Verdict: the outcome of a call, either compressed (with a status) or left to plain MPI, for the same reason
// on every rank. A call that is left to plain MPI has not changed the user's memory.
struct Verdict {
  Fallback fallback = Fallback::none;
  Status status = Status::ok;
  RecentTimes* plain_times = nullptr;  // records the time of plain MPI; null: nothing does
  const char* problem = nullptr;       // what is wrong with the arguments of this rank; null: nothing is
  Promise promise = {};                // of a compressed call

  const char* text() const noexcept { return problem != nullptr ? problem : describe(status); }

  // Returns true if nothing keeps the call from being compressed so far.
  bool good() const noexcept { return fallback == Fallback::none && status == Status::ok; }
};

class Communicator {
 public:
  // `rules`: a policy, or the rules for this communicator, the same on every rank. Throws Error if they
  // cannot be served here. `place`: provides scratch memory. `nodes`: nodes of the ranks.
  Communicator(Transport& transport, Place& place, Rules rules, const std::string& kernels = "",
               Observer observer = {}, Nodes nodes = {});
  Communicator(const Communicator&) = delete;

  const CallTable& calls() const noexcept { return *observer_.table; }

  // Sets the stream of later calls whose values are on a GPU; null: the legacy default stream.
  void set_stream(void* stream) noexcept { devices_.set_stream(stream); }

  // Keeps frames of values on a GPU there. The transport must be able to access memory of GPUs.
  void keep_frames_on_devices() noexcept { devices_.keep_frames(); }
  const gpu::Devices& devices() const noexcept { return devices_; }
  const Nodes& nodes() const noexcept { return nodes_; }
  // States that NCCL makes the plain calls, on GPUs of this name (empty: the names differ). `on_one_node`:
  // all ranks share a node. Plans of calls choose algorithms by this.
  void set_gpus_of_nccl(std::string card, bool on_one_node) noexcept {
    over_nccl_ = true;
    card_ = std::move(card);
    on_one_node_ = on_one_node;
  }

  // Fills in what a call has from the communicator: its ranks, their nodes and their GPUs.
  void complete(Call& call) const noexcept;

  // Decides on a call, without communication. Every rank must ask once for each call, in the order of the
  // calls. `overlaps`: other calls may be in flight at the same time.
  EarlyDecision decide(const CollectiveCall& call, bool overlaps = false) {
    return tuner_.decide(call, overlaps, call.begins == nullptr);
  }

  // Runs a call. Every rank of the transport must run an equivalent call. Several calls may be in flight:
  // they are told apart by the order in which they are first advanced, the same on every rank. `early`: the
  // result of decide(), which is asked if it is missing. `compressed` is for calls in flight: it becomes true
  // once the ranks have agreed to compress the call.
  Task<Verdict> run(CollectiveCall call, std::optional<EarlyDecision> early = {}, bool* compressed = nullptr);

 private:
  class Lanes;
  class ActiveCall;
  static constexpr std::size_t calls_at_a_time = 128;

  Transport& transport_;
  Place& place_;
  Tuner tuner_;
  Nodes nodes_;
  gpu::Devices devices_;
  std::string card_;
  bool over_nccl_ = false, on_one_node_ = false;
  Histories histories_;
  std::uint64_t calls_ = 0;                             // number of calls that have asked for lanes
  std::array<std::uint64_t, calls_at_a_time> ended_{};  // number of completed calls that had the same lanes
  CallTable own_table_;
  Observer observer_;
};

}  // namespace taut
