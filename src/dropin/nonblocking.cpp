#include "dropin/nonblocking.hpp"

#include <atomic>
#include <cstdio>

#include "api/ruled.hpp"
#include "dropin/persistent.hpp"
#include "policy/options.hpp"

namespace taut::dropin {
namespace {

std::atomic<bool> on{false}, prepares{false};

bool has_threads() noexcept {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  return level >= MPI_THREAD_MULTIPLE;
}

void explain(bool threads) noexcept {
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

void begin_nonblocking() noexcept {
  const bool threads = has_threads();
  const bool able = wants_nonblocking() && threads && begin_persistent() && start_thread();
  const int mine[] = {able, !api::rules_ask_for_names()};
  int all[] = {0, 0};
  PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  on = all[0] != 0;
  prepares = on && all[1] != 0;
  api::driven_by_thread(on);
  if (!on) end_calls();
  if (!on && options().nonblocking) explain(threads);
  prepare(MPI_COMM_WORLD);
}

void end_nonblocking() noexcept {
  on = prepares = false;
  end_calls();
  api::driven_by_thread(false);
}

bool serves_nonblocking(MPI_Comm comm) noexcept {
  return on && serves(comm) && api::find_attached(comm) != nullptr;
}

bool serves_persistent(MPI_Comm comm) noexcept { return on && serves(comm); }

void prepare(MPI_Comm comm) noexcept {
  if (!prepares || !serves(comm)) return;
  const Inside inside;
  try {
    api::Attached* const attached = api::attached_or_ruled(comm);
    if (attached != nullptr) attached->connect(comm);
  } catch (...) {  // the calls on it fail likewise, and say why
  }
}

}  // namespace taut::dropin
