#include "communication/dropin/nonblocking.hpp"

#include <atomic>
#include <cstdio>

#include "communication/api/state/comm_registry.hpp"
#include "communication/dropin/persistent.hpp"
#include "communication/mpi/errors.hpp"
#include "compressor/base/options.hpp"

namespace taut::dropin {
namespace {

std::atomic<bool> on{false}, counts{false};

bool has_threads() noexcept {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  return level >= MPI_THREAD_MULTIPLE;
}

void explain_plain_calls(bool threads) noexcept {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  const char* const why =
      threads ? "TAUT_NONBLOCKING is not the same on all ranks" : "this MPI gives no MPI_THREAD_MULTIPLE";
  std::fprintf(stderr, "taut: nonblocking calls are plain MPI's: %s\n", why);
}

void end_calls() noexcept {
  end_thread();
  end_persistent();
}

}  // namespace

bool wants_nonblocking() noexcept { return options().nonblocking; }

bool begin_nonblocking() noexcept {
  const bool threads = has_threads();
  const bool able = wants_nonblocking() && threads && begin_persistent() && start_thread();
  const int mine[] = {able, !options().observe()};
  int all[] = {0, 0};
  PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  on = all[0] != 0;
  counts = all[1] == 0;
  api::driven_by_thread(on);
  if (!on) end_calls();
  if (!on && options().nonblocking) explain_plain_calls(threads);
  return on;
}

void leave_calls_to_program() noexcept {
  end_thread();
  api::driven_by_thread(false);
}

void end_nonblocking() noexcept {
  on = false;
  leave_calls_to_program();
  end_persistent();
}

bool intercepts_nonblocking(MPI_Comm comm) {
  if (!on || !intercepts(comm)) return false;
  const api::CommState* const comm_state = api::find_comm_state(comm);
  return comm_state != nullptr && comm_state->connected();
}

bool intercepts_persistent(MPI_Comm comm) { return on && intercepts(comm); }

bool counts_all_calls() noexcept { return counts; }

int launch(MPI_Comm comm, MPI_Request* request, CallMaker make) {
  return api::guard(comm, [&]() -> int {
    std::list<StartedCall> one(1);
    TAUT_Request call = TAUT_REQUEST_NULL;
    if (const int code = api::begin(make(one.front().copies), &call); code != MPI_SUCCESS) return code;
    one.front().call.reset(call);
    const MPI_Request plain = static_cast<api::CollectiveRequest*>(call)->give_plain();
    if (plain == MPI_REQUEST_NULL) {
      note_nonblocking_use(comm);
      return hand_over(std::move(one), request);
    }
    *request = plain;
    return MPI_SUCCESS;
  });
}

}  // namespace taut::dropin
