// Calls of an unchanged program on one communicator, which a thread makes in the order of the program.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gpu/stream_order.hpp"
#include "nccl/comm_state.hpp"
#include "nccl/dropin/operation.hpp"

namespace taut::nccl::dropin {

// A call with exact sizes of frames waits on the host, and a call of NCCL must not. So a call that the rules
// select is put in a queue, and its stream waits for a word of pinned memory. A thread makes the calls of the
// queue, on a stream of its own, and increments the word at the end of each. While the queue is not empty,
// the calls that are left to NCCL go through it as well: NCCL thus sees one order of calls on all ranks. A
// failure leaves the streams waiting, as failures of NCCL do, until the program aborts or destroys the
// communicator.
//
// All functions are called by threads of the program, one at a time, as NCCL demands of its calls.
class OrderedCalls {
 public:
  // Starts the thread, which agrees with the other ranks on the rules. `policy`: as of CommState. Throws
  // Error.
  OrderedCalls(ncclComm* comm, std::optional<std::string> policy);
  OrderedCalls(const OrderedCalls&) = delete;
  // Lets the waiting streams go on. Calls in the queue are dropped.
  ~OrderedCalls();

  // Waits until the ranks have agreed. Returns false if that failed, so that the communicator cannot be used.
  bool begun();

  // Returns true if the calls, a group of the program, are to be put in the queue, and false if the caller
  // has to make them by NCCL now. Throws Error after a failure.
  bool takes(std::span<const Operation> group);

  // Puts the calls of a group in the queue. The caller must call await_first() when all its groups are there.
  void put(std::vector<Operation> group);

  // Waits until the queue is empty if it has the first call of some kind and size. Such a call makes memory,
  // kernels and connections, for which CUDA may wait for all streams: none must wait for the call then.
  void await_first();

  // Waits until the queue is empty, or there was a failure.
  void finish();

  // Leaves all later calls to NCCL, once the queue is empty. All ranks do so at the same call.
  void leave_to_nccl();

  // Ends the thread without waiting for other ranks. Returns false if it does not end, because NCCL does not
  // return: the object must then live on.
  bool stop();

  // Returns true after a failure, and sets the reason.
  bool failed(std::string* why = nullptr);

  bool is_captured(void* stream) const;
  int ranks() const noexcept { return ranks_; }

  // Returns the report on the calls so far; null if there is none. The queue is empty.
  std::unique_ptr<CommReport> report() const;
  // Returns the report at the end of the process; null if a call is still being made. The thread ends.
  std::unique_ptr<CommReport> last_report();

 private:
  struct Group {
    std::vector<Operation> calls;
    std::vector<std::unique_ptr<gpu::StreamPoint>> begins;
  };
  using Kind = std::pair<Function, int>;  // and type

  void run();
  void agree();
  void make(Group& group);
  void serve(Operation& operation, bool& compressed);
  void fail(const std::string& why);
  bool is_first(const Operation& operation);

  ncclComm* comm_;
  std::optional<std::string> policy_;
  const api::DeviceServices& services_;
  int ranks_ = 0, device_ = 0;
  WaitLimits limits_;
  std::optional<gpu::HostCounter> done_;  // of groups
  std::uint32_t last_ = 0;                // value of `done_` after the last group
  std::optional<OwnStream> stream_;
  std::unique_ptr<CommState> state_;
  bool plain_ = false;                // NCCL serves all calls
  bool first_ = false;                // await_first() has to wait
  std::map<Kind, std::size_t> made_;  // greatest size in the queue so far

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Group> queue_;
  std::size_t open_ = 0;  // groups in the queue, and the one that is made
  bool begun_ = false, ended_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace taut::nccl::dropin
