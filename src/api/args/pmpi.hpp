// Collective calls of plain MPI, made from an MpiCall.
#pragma once

#include "api/args/group.hpp"
#include "api/args/mpi_call.hpp"
#include "api/plain.hpp"

namespace taut::api {

// Counts and displacements of one buffer as plain MPI takes them: 0 and null where they do not matter on this
// rank.
struct PmpiBuffer {
  PmpiBuffer(const BufferArg& buffer, int blocks, bool matters)
      : count(plain::count(buffer.count, matters)),
        counts(matters ? buffer.counts : nullptr, blocks),
        displs(matters ? buffer.displs : nullptr, blocks),
        fits((!matters || plain::fits(buffer.count)) && counts.fit() && displs.fit()) {}

  plain::Count count;
  plain::Numbers<MPI_Count> counts;
  plain::Numbers<MPI_Aint> displs;
  bool fits;
};

// What plain MPI reads until a call is complete.
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

// The calls themselves: generated from core/collectives.txt.
int pmpi_blocking(const MpiCall& c, const PmpiArgs& a, MPI_Comm on);
int pmpi_nonblocking(const MpiCall& c, const PmpiArgs& a, MPI_Comm on, MPI_Request* request);
int pmpi_init(const MpiCall& c, const PmpiArgs& a, MPI_Comm on, MPI_Info info, MPI_Request* request);

}  // namespace taut::api
