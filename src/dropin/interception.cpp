#include "dropin/interception.hpp"

#include <atomic>
#include <cstdio>
#include <memory>
#include <utility>

#include "api/state/comm_registry.hpp"
#include "dropin/handshake.hpp"
#include "policy/text/options.hpp"

namespace taut::dropin {
namespace {

std::atomic<bool> switched_on{true}, all_here{false};

// Handshake that has given up, until MPI_Finalize receives what comes too late. Never destroyed at exit: a child
// process that the program has forked exits too, and must make no call of MPI.
Handshake* given_up = nullptr;

constexpr const char* not_all_here =
    "taut: the program runs without Taut: some ranks were started without it, or came to MPI_Init later "
    "than TAUT_HANDSHAKE seconds after this one\n";

}  // namespace

bool intercepts(MPI_Comm comm) {
  if (BypassScope::active() || !all_here || !switched_on || comm == MPI_COMM_NULL) return false;
  const api::CommRecord* const record = api::find_record(comm);
  if (record != nullptr && record->members != api::CommRecord::unknown)
    return record->members == api::CommRecord::in_world;
  try {
    return api::ranks_in_world(comm);
  } catch (...) {  // out of memory, for a few bytes a rank; the other ranks learn of it in the agreement
    return true;
  }
}

void switch_on(bool yes) noexcept { switched_on = yes; }

bool begin_interception() noexcept {
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2 || all_here || given_up != nullptr) return false;
  auto handshake = std::make_unique<Handshake>(MPI_COMM_WORLD);
  all_here = handshake->all_have_taut(std::chrono::seconds(options().handshake));
  if (all_here) return true;
  std::fputs(not_all_here, stderr);
  given_up = handshake.release();
  return false;
}

void stop_serving() noexcept { all_here = false; }

void end_interception() noexcept {
  stop_serving();
  delete std::exchange(given_up, nullptr);
}

}  // namespace taut::dropin
