// CheckedCall: repeats a collective call of Taut by plain MPI on private copies, and compares both results
// (TAUT_CHECK). All ranks check the same calls.
#pragma once

#include "communication/api/state/plain_call.hpp"
#include "communication/comm/result_check.hpp"
#include "communication/mpi/result_copy.hpp"

namespace taut::api {

class CheckedCall {
 public:
  // Copies the inputs that Taut's call will overwrite. The arguments must outlive the object. Throws Error,
  // std::bad_alloc.
  CheckedCall(const MpiCall& call, const CollectiveCall& described, const RankAndSize& group,
              const Topology* topology);
  CheckedCall(const CheckedCall&) = delete;

  // Makes the plain call on the user's communicator, after Taut's call. Returns an MPI error code, already
  // passed to the error handler.
  int run();

  // Starts the plain call on a communicator of the same ranks, before Taut's call is started. `topology`:
  // that of the user's communicator, if `comm` lacks it. Returns an MPI error code, already passed to the
  // error handler.
  int start(MPI_Comm comm, const Topology* topology);
  bool ready();  // returns true if the started call is complete

  // Compares the results of both calls, and adds the outcome to `checks`. Throws Error, std::bad_alloc.
  void compare(const Promise& promise, ResultChecks& checks);

 private:
  std::uint64_t construction_began_ = clock_now();
  RankAndSize group_;
  bool started_ = false;
  bool is_sum_ = false;  // the results are sums of values of type_
  DType type_{};
  double magnitude_ = 0;          // greatest |value| of this rank
  double sum_of_magnitudes_ = 0;  // of all ranks
  std::uint64_t elapsed_ns_ = 0;  // time that the check has taken
  ResultCopy copy_;
  PlainCall plain_;
  MPI_Request magnitude_request_ = MPI_REQUEST_NULL;  // of the reduction of magnitude_
};

}  // namespace taut::api
