// Collective calls of plain MPI (PMPI), made with the arguments in an MpiCall.
#pragma once

#include "communication/mpi/mpi_call.hpp"
#include "communication/mpi/pmpi_counts.hpp"
#include "communication/mpi/rank_and_size.hpp"

namespace taut::api {

// Number of blocks in the arrays of a call.
struct BlockCounts {
  int send = 0, recv = 0;
};
BlockCounts blocks_of(const MpiCall& call, MPI_Comm comm);

// Counts and displacements of one buffer in the types of plain MPI: 0 and null if the buffer is not
// significant on this rank. `int_displs`: the function has displacements of int before MPI 4. `buffer` must
// outlive the object.
class PmpiBuffer {
 public:
#if MPI_VERSION >= 4
  PmpiBuffer(const BufferArg& buffer, int, bool matters, bool) noexcept
      : buffer_(buffer), matters_(matters) {}
  MPI_Count count() const noexcept { return matters_ ? buffer_.count : 0; }
  const MPI_Count* counts() const noexcept { return matters_ ? buffer_.counts : nullptr; }
  const MPI_Aint* displs() const noexcept { return matters_ ? buffer_.displs : nullptr; }
  bool fits() const noexcept { return true; }

 private:
  const BufferArg& buffer_;
  bool matters_;
#else
  PmpiBuffer(const BufferArg& buffer, int blocks, bool matters, bool int_displs)
      : count_(pmpi::count(buffer.count, matters)),
        counts_(matters ? buffer.counts : nullptr, blocks),
        displs_(matters && int_displs ? buffer.displs : nullptr, blocks),
        fits_((!matters || pmpi::fits(buffer.count)) && counts_.fit() && displs_.fit()) {}
  int count() const noexcept { return count_; }
  const int* counts() const noexcept { return counts_.data(); }
  const int* displs() const noexcept { return displs_.data(); }
  bool fits() const noexcept { return fits_; }

 private:
  int count_;
  pmpi::Numbers<MPI_Count> counts_;
  pmpi::Numbers<MPI_Aint> displs_;
  bool fits_;
#endif
};

// Arguments that plain MPI reads until a call is complete, in addition to the MpiCall.
struct PmpiArgs {
  PmpiArgs(const MpiCall& call, MPI_Comm comm);

  MPI_Op op;  // the operator of the call; MPI_SUM for TAUT_Avg()
  PmpiBuffer send, recv;

 private:
  PmpiArgs(const MpiCall& call, const Significance& matters, BlockCounts blocks);
};

// Makes MPI's blocking call on the communicator of the call. Returns an MPI error code, already passed to the
// error handler.
int run_plain(const MpiCall& call);

// Starts MPI's nonblocking call on `comm`, a communicator of the same ranks. MPI reads `args`, which must be
// made for `comm`, until the call is complete. Returns an MPI error code, already passed to the error
// handler.
int start_plain(const MpiCall& call, const PmpiArgs& args, MPI_Comm comm, MPI_Request* request);

// Makes MPI's persistent request on `comm`, a communicator of the same ranks. MPI reads `args`, which must be
// made for `comm`, as long as the request exists. Requires pmpi::has_persistent. Returns an MPI error code,
// already passed to the error handler.
int init_plain(const MpiCall& call, const PmpiArgs& args, MPI_Comm comm, MPI_Info info, MPI_Request* request);

// Completes the results of a call that plain MPI has served: for TAUT_Avg(), divides the sums by the number
// of ranks.
Failure finish_plain(const MpiCall& call, const RankAndSize& group);

}  // namespace taut::api
