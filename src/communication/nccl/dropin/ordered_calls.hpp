// OrderedCalls is the queue of the NCCL calls of an unchanged program on one communicator, with the thread
// that makes these calls in the program's order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "communication/gpu/stream_order.hpp"
#include "communication/nccl/comm_state.hpp"
#include "communication/nccl/dropin/coded_messages.hpp"
#include "communication/nccl/dropin/program_call.hpp"

namespace taut::nccl::dropin {

// The queue and the thread of one communicator. The thread works on a stream of its own. A call that the
// rules select enters the queue, and the program's thread waits until the call is complete.
//
// Under TAUT_NCCL_IN_FLIGHT=1 calls return at once, as NCCL's do. The stream of a call then waits for a
// counter in pinned memory, which the thread increments after each group. Calls that are left to NCCL enter
// the queue too unless it is empty, so that NCCL sees the same order of calls on all ranks. After a failure
// the streams wait, as after failures of NCCL, until the program aborts or destroys the communicator. It is
// not the default because it can deadlock: the driver may hold a lock in a call of the program that waits for
// the stream, and the thread needs that lock to complete the call that the stream waits for.
//
// Threads of the program call the public functions, one at a time, as NCCL demands of its calls.
class OrderedCalls {
 public:
  // Starts the thread, which agrees with the other ranks on the rules. `policy`: replaces the rules of the
  // environment. Throws Error.
  OrderedCalls(ncclComm* comm, std::optional<std::string> policy);
  OrderedCalls(const OrderedCalls&) = delete;
  // Drops the calls in the queue. The streams that wait for them continue.
  ~OrderedCalls();

  // Waits for the agreement of the ranks. Returns false if it failed: the communicator cannot be used then.
  bool await_agreement();

  // Returns true if a group of calls has to be put in the queue, and false if the caller has to make the
  // calls by NCCL now. Throws Error after a failure.
  bool must_queue(std::span<const ProgramCall> group);

  // Puts the calls of a group in the queue. The caller must call await_calls() when all its groups are there.
  void enqueue(std::vector<ProgramCall> group);

  // Waits until the queue is empty. Throws Error after a failure. Under TAUT_NCCL_IN_FLIGHT=1, waits only if
  // enqueue() has added the first call of a kind or one larger than all before. Such a call allocates memory,
  // loads kernels and opens connections. CUDA may wait for all streams meanwhile: a stream that waited for
  // the call would deadlock. Coded messages do none of this.
  void await_calls();

  // Waits until the queue is empty or a call has failed. A call fails if it waits for other ranks for longer
  // than TAUT_NCCL_TIMEOUT.
  void drain();

  // Notes a call in a captured stream, which is left to NCCL; waits until the queue is empty. After a
  // collective call, which all ranks capture, NCCL serves all collective calls. After any call, the host
  // waits for later ones, so that NCCL sees them in the program's order among launches of the graph. Throws
  // Error for a message that the other side would expect to be coded.
  void note_captured(const ProgramCall& call);

  // Ends the thread without waiting for other ranks. Returns false if a function of NCCL does not return, so
  // that the thread runs on: the object must not be destroyed then.
  bool stop();

  // Returns true after a failure, and sets the reason.
  bool failed(std::string* why = nullptr);

  bool is_captured(void* stream) const;
  int ranks() const noexcept { return ranks_; }

  // Returns the report on the calls so far; null if there is none. The queue is empty.
  std::unique_ptr<CommReport> report() const;
  // Stops the thread at the end of the process. Returns the report; null if a call is in progress.
  std::unique_ptr<CommReport> last_report();

 private:
  struct Group {
    std::vector<ProgramCall> calls;
    std::vector<std::unique_ptr<gpu::StreamPoint>> begins;  // the calls start after these points
  };
  using Kind = std::pair<Function, int>;  // function and datatype

  void wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done);
  void run();
  void agree();
  void run_group(Group& group);
  bool selects(const ProgramCall& call) const;
  void prepare(ProgramCall& call);
  void run_group_by_nccl(std::span<const ProgramCall> calls);
  void fail(const std::string& why);
  bool is_first(const ProgramCall& call);

  ncclComm* comm_;
  std::optional<std::string> policy_;
  const gpu::DeviceServices& services_;
  int ranks_ = 0, device_ = 0;
  WaitLimits limits_;
  std::optional<gpu::HostCounter> completed_groups_;  // streams wait for its values
  std::uint32_t enqueued_groups_ = 0;                 // value of the counter once all groups are complete
  std::optional<gpu::OwnStream> stream_;
  std::unique_ptr<CommState> state_;
  std::unique_ptr<CodedMessages> messages_;
  bool all_by_nccl_ = false;                   // NCCL serves all calls
  bool collectives_by_nccl_ = false;           // NCCL serves all collective calls
  bool captured_ = false;                      // a graph has calls of the communicator
  bool must_wait_ = false;                     // await_calls() has to wait
  std::map<Kind, std::size_t> largest_calls_;  // bytes of the largest call of each kind so far

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Group> queue_;
  std::size_t unfinished_ = 0;  // groups in the queue or in progress; at first, the agreement
  bool agreement_over_ = false, ended_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace taut::nccl::dropin
