// CheckedCall: a collective call that plain MPI makes beside Taut, on private copies, and the comparison of
// both results (TAUT_CHECK). All ranks check the same calls.
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

  // Makes the plain call on the user's communicator, after Taut's. Returns an MPI error code, already passed
  // to the error handler.
  int run();

  // Starts the plain call on a communicator of the same ranks, before Taut's call is started. Returns an MPI
  // error code, already passed to the error handler. `topology`: if that communicator lacks the one of the
  // user's.
  int start(MPI_Comm comm, const Topology* topology);
  bool ready();  // of a started call

  // Compares the results of both calls, and counts the check. Throws Error, std::bad_alloc.
  void compare(const Promise& promise, ResultChecks& sums);

 private:
  std::uint64_t began_ = clock_now();
  RankAndSize group_;
  bool started_ = false;
  bool sums_ = false;  // the results are sums, of values of type type_
  DType type_{};
  double magnitude_ = 0;       // greatest |value| of this rank
  double all_magnitudes_ = 0;  // sum over the ranks
  std::uint64_t nanoseconds_ = 0;
  ResultCopy copy_;
  PlainCall plain_;
  MPI_Request reduction_ = MPI_REQUEST_NULL;  // of the magnitudes
};

}  // namespace taut::api
