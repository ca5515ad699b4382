#include "communication/dropin/interception.hpp"

#include <taut/taut.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdio>
#include <memory>
#include <utility>

#include "communication/api/state/comm_registry.hpp"
#include "communication/dropin/handshake.hpp"
#include "compressor/base/options.hpp"

namespace taut::dropin {
namespace {

std::atomic<bool> switched_on{true}, all_here{false};

// Handshake whose answer was no. MPI_Finalize cancels its receives. The pointer is plain, because a
// destructor of a static object would call MPI in child processes that the program forks.
Handshake* given_up = nullptr;

constexpr const char* not_all_here =
    "taut: the program runs without Taut: some ranks were started without it or with another version, or "
    "came to MPI_Init later than TAUT_HANDSHAKE seconds after this one\n";
constexpr const char* other_version =
    "taut: the program runs without Taut: its ranks have different versions of Taut\n";

// Returns a number that versions of Taut do not share: their ranks might plan a call differently.
int version_word() noexcept {
  constexpr std::array version{TAUT_VERSION_MAJOR, TAUT_VERSION_MINOR, TAUT_VERSION_PATCH};
  const std::uint64_t all = hash(std::as_bytes(std::span(version)), AgreementMessage::tag);
  return static_cast<int>(all % INT_MAX) + 1;
}

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
  auto handshake = std::make_unique<Handshake>(MPI_COMM_WORLD, version_word());
  const Handshake::Outcome found = handshake->find_out(std::chrono::seconds(options().handshake));
  all_here = found == Handshake::Outcome::all_here;
  if (all_here) return true;
  std::fputs(found == Handshake::Outcome::other_version ? other_version : not_all_here, stderr);
  given_up = handshake.release();
  return false;
}

void stop_serving() noexcept { all_here = false; }

void end_interception() noexcept {
  stop_serving();
  delete std::exchange(given_up, nullptr);
}

}  // namespace taut::dropin
