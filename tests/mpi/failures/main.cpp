// Ranks that die in collective calls, under an MPI that goes on without them (ULFM):
//
//   taut_failures SET    for each call of a set (calls.hpp), a rank starts the call and kills itself
//
// All others get an error of MPI, shrink the communicator, set the policy again and add up on it. The memory
// of C++ may not grow from one failure to the next.
#include "mpi/failures/calls.hpp"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <vector>

#include <unistd.h>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include "support/replace_new.hpp"

#ifndef MPIX_ERR_PROC_FAILED
int main() {
  std::puts("skipped: this MPI does not report failed processes");
  return 77;
}
#else
namespace {

using namespace taut::test;

constexpr double most_seconds = 5;
constexpr long few = 20;  // allocations that may be added: tables that have grown
constexpr const char* policy = "abs:1e-3,min_bytes=0,when=always";

int faults = 0;

void expect(bool holds, const char* call, const char* what) {
  if (holds) return;
  std::printf("not so: %s: %s\n", call, what);
  ++faults;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

// Returns a communicator of the ranks that are alive, with the policy.
MPI_Comm survivors(MPI_Comm comm, const char* name) {
  MPI_Comm made = MPI_COMM_NULL;
  MPIX_Comm_revoke(comm);
  expect(MPIX_Comm_shrink(comm, &made) == MPI_SUCCESS, name, "shrinking succeeds");
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  expect(TAUT_Comm_set_policy(made, policy) == MPI_SUCCESS, name, "the policy can be set again");
  int agreed = 1;
  expect(MPIX_Comm_agree(made, &agreed) == MPI_SUCCESS && agreed == 1, name, "the survivors agree");
  MPI_Comm_free(&comm);
  return made;
}

void add_up(MPI_Comm comm, const char* name) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  Buffers b(1);
  expect(TAUT_Allreduce(b.in.data(), b.out.data(), count, MPI_FLOAT, MPI_SUM, comm) == MPI_SUCCESS, name,
         "a sum of the survivors succeeds");
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(b.out[i]) - ranks * static_cast<double>(b.in[i])));
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  TAUT_Comm_get_stats(comm, &stats);
  expect(worst <= 1.01e-3 && stats.compressed_calls > 0, name, "it is compressed and within the bound");
}

// Returns a communicator whose ranks form a ring, with the policy.
MPI_Comm ring_of(MPI_Comm comm, const char* name) {
  int ranks = 0, periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Comm_size(comm, &ranks);
  expect(MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &ring) == MPI_SUCCESS, name, "a ring can be made");
  expect(TAUT_Comm_set_policy(ring, policy) == MPI_SUCCESS, name, "its policy can be set");
  return ring;
}

// Lets the last rank die in a call, and returns a communicator of the others.
MPI_Comm lose_one(const Call& call, MPI_Comm comm, int steps) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  Buffers b(ranks);
  const MPI_Comm on = call.on_ring ? ring_of(comm, call.name) : comm;
  TAUT_Request request = TAUT_REQUEST_NULL;
  const double begin = now();
  int code = call.start(b, on, &request);
  if (rank == ranks - 1) {
    for (int step = 0, flag = 0; step < steps; ++step) TAUT_Test(&request, &flag, MPI_STATUS_IGNORE);
    std::raise(SIGKILL);
  }
  if (code == MPI_SUCCESS) code = TAUT_Wait(&request, MPI_STATUS_IGNORE);
  // A rank that needs nothing of the dead one succeeds; the next call on the communicator then fails.
  if (code == MPI_SUCCESS) code = TAUT_Allreduce(b.in.data(), b.out.data(), count, MPI_FLOAT, MPI_SUM, comm);
  const double seconds = now() - begin;
  const int error_class = class_of(code);
  expect(error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_REVOKED, call.name,
         "the error is MPI's");
  expect(TAUT_Error_status(code) == TAUT_ERR_TRANSPORT, call.name, "its status is that of the transport");
  expect(seconds < most_seconds, call.name, "the error comes in time");
  std::printf("%s: rank %d of %d: error class %d after %.2f s\n", call.name, rank, ranks, error_class,
              seconds);
  if (MPI_Comm made = on; call.on_ring) MPI_Comm_free(&made);
  return survivors(comm, call.name);
}

// Returns how many allocations of C++ exist.
long held() { return static_cast<long>(allocations.made - allocations.given_back); }

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Call>& calls = calls_of(argc > 1 ? argv[1] : "");
  expect(!calls.empty(), "arguments", "the set is known");
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  expect(TAUT_Comm_set_policy(comm, policy) == MPI_SUCCESS, "policy", "it can be set");
  add_up(comm, "all ranks");
  int steps = 0;
  long first = 0;
  for (const Call& call : calls) {
    comm = lose_one(call, comm, steps);
    add_up(comm, call.name);
    steps = 3 * steps + 1;
    if (&call == &calls.front()) first = held();
    std::printf("%s: %ld allocations\n", call.name, held());
    expect(held() <= first + few, call.name, "memory is freed");
  }
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_free(&comm);
  if (rank == 0 && faults == 0) std::puts("survived");
  std::fflush(stdout);
  alarm(10);  // Open MPI 5.0.11 may wait for ever in MPI_Finalize after failures, also without Taut
  MPI_Finalize();
  return faults == 0 ? 0 : 1;
}
#endif
