// Collective calls of plain MPI, made from an MpiCall.
#pragma once

#include "api/args/group.hpp"
#include "api/args/mpi_call.hpp"
#include "api/args/pmpi_counts.hpp"

namespace taut::api {

// Counts and displacements of one buffer as plain MPI takes them: 0 and null where they do not matter on this
// rank. Refers to `buffer`.
class PmpiBuffer {
 public:
#if MPI_VERSION >= 4
  PmpiBuffer(const BufferArg& buffer, int, bool matters) noexcept : buffer_(buffer), matters_(matters) {}
  MPI_Count count() const noexcept { return matters_ ? buffer_.count : 0; }
  const MPI_Count* counts() const noexcept { return matters_ ? buffer_.counts : nullptr; }
  const MPI_Aint* displs() const noexcept { return matters_ ? buffer_.displs : nullptr; }
  bool fits() const noexcept { return true; }

 private:
  const BufferArg& buffer_;
  bool matters_;
#else
  PmpiBuffer(const BufferArg& buffer, int blocks, bool matters)
      : count_(pmpi::count(buffer.count, matters)),
        counts_(matters ? buffer.counts : nullptr, blocks),
        displs_(matters ? buffer.displs : nullptr, blocks),
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

// What plain MPI reads until a call is complete, the call besides.
struct PmpiArgs {
  PmpiArgs(const MpiCall& call, MPI_Comm on);

  MPI_Op op;  // the call's, but for TAUT_Avg()
  PmpiBuffer send, recv;

 private:
  PmpiArgs(const MpiCall& call, const Significance& matters, int blocks);
};

// MPI's blocking call on the communicator of the call. An MPI code, raised.
int run_plain(const MpiCall& call);

// MPI's nonblocking call on a communicator of the same ranks, which keeps `args`, made for it. An MPI code,
// raised.
int start_plain(const MpiCall& call, const PmpiArgs& args, MPI_Comm on, MPI_Request* request);

// MPI's persistent call on the communicator of the call, where plain::has_persistent. An MPI code, raised.
int init_plain(const MpiCall& call, const PmpiArgs& args, MPI_Info info, MPI_Request* request);

// What is left to do when plain MPI has come to its end: to divide the sum of TAUT_Avg(). An MPI code,
// raised.
int settle(const MpiCall& call, const Group& group) noexcept;

}  // namespace taut::api
