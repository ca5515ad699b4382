// The call of taut.h that gives a communicator its policy.
#include <taut/taut.h>

#include "api/attached.hpp"
#include "api/errors.hpp"
#include "api/ruled.hpp"
#include "policy/options.hpp"

namespace taut::api {
namespace {

// What the ranks compare when a policy is set; combined by minimum.
struct Vote {
  std::uint64_t hash, not_hash, good, enabled;
};

// What the policy string says, or why it cannot be served here.
std::optional<Error> read_policy(const char* text, Policy& policy) noexcept {
  try {
    policy = parse_policy(text == nullptr ? "" : text, options().kernels);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (...) {
    return Error(Status::out_of_memory, describe(Status::out_of_memory));
  }
}

// What hangs on communicators is freed in MPI_Finalize.
void expect_mpi_init() {
  int initialized = 0;
  PMPI_Initialized(&initialized);
  if (initialized == 0)
    throw Error(Status::invalid_argument,
                "communicators of sessions are served only where MPI_Init was called; call it as well");
}

int set_policy(MPI_Comm comm, const char* text) {
  int rank = 0, size = 0, inter = 0;
  expect_mpi_init();
  if (const int code = PMPI_Comm_rank(comm, &rank); code != MPI_SUCCESS) return code;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_test_inter(comm, &inter);
  print_warnings_once(rank);
  finish_calls();

  Policy policy;
  const std::optional<Error> unreadable = read_policy(text, policy);
  const std::string_view given = text == nullptr ? "" : text;
  const std::uint64_t hashed = hash(std::as_bytes(std::span(given)), Facts::tag);
  Vote vote{hashed, ~hashed, !unreadable, options().enabled}, agreed = vote;
  if (const int code = PMPI_Allreduce(&vote, &agreed, 4, MPI_UINT64_T, MPI_MIN, comm); code != MPI_SUCCESS)
    return code;

  if (agreed.hash != hashed || agreed.not_hash != ~hashed)
    throw Error(Status::rank_mismatch, "the ranks set different policies");
  if (agreed.good == 0) throw unreadable.value_or(Error(Status::peer_failed, describe(Status::peer_failed)));
  if (given.empty()) {
    attach(comm, ruled(comm));
    return MPI_SUCCESS;
  }
  auto attached =
      std::make_shared<Attached>(std::move(policy), agreed.enabled != 0, inter != 0, Group{rank, size});
  attached->name_after(comm);
  attached->connect(comm);
  attach(comm, std::move(attached));
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

extern "C" {

int TAUT_Comm_set_policy(MPI_Comm comm, const char* policy) {
  return guard(comm, [&] { return set_policy(comm, policy); });
}

}  // extern "C"
