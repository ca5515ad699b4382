// Calls of taut.h that set the policy of a communicator.
#include <taut/taut.h>

#include <cstring>
#include <map>

#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/rule_binding.hpp"
#include "communication/mpi/errors.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {
namespace {

// Throws unless MPI_Init was called: MPI_Finalize frees the data that is attached to communicators.
void expect_mpi_init() {
  int initialized = 0;
  PMPI_Initialized(&initialized);
  if (initialized == 0)
    throw Error(Status::invalid_argument,
                "communicators of sessions are served only where MPI_Init was called; call it as well");
}

// Returns the communicator of the segments of long messages on `comm`: the program's, if the drop-in serves
// its messages. Collective over `comm`.
std::shared_ptr<p2p::SegmentComm> segments_for(MPI_Comm comm) {
  const p2p::Endpoint* const program = p2p::program_endpoint();
  return program != nullptr ? program->segments() : p2p::SegmentComm::make(comm);
}

// Sets the policy of a communicator; an empty one leaves it to the rules. Collective.
int set_policy(MPI_Comm comm, RankRules mine) {
  int rank = 0, size = 0, inter = 0;
  expect_mpi_init();
  if (const int code = PMPI_Comm_rank(comm, &rank); code != MPI_SUCCESS) return code;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_test_inter(comm, &inter);
  print_warnings_once(rank);

  const p2p::Endpoint* const program = p2p::program_endpoint();
  Settings agreed(mine, rank);
  agreed.mark = program != nullptr ? program->format().mark : random_mark();
  if (const int code = agree_on(comm, agreed); code != MPI_SUCCESS) return code;

  if (!agreed.rules.same()) throw Error(Status::rank_mismatch, "the ranks set different policies");
  if (agreed.readable == 0)
    throw mine.fault.value_or(Error(Status::peer_failed, describe(Status::peer_failed)));
  if (mine.rules.single_policy()->text.empty()) {
    attach(comm, bind_rules(comm));
    return MPI_SUCCESS;
  }
  const bool has_messages = agreed.enabled != 0 && inter == 0 && size > 1 && !mine.rules.off();
  auto comm_state =
      std::make_shared<CommState>(AgreedRules(std::move(mine.rules), agreed.enabled != 0, inter != 0,
                                              RankAndSize{rank, size}, check_of(agreed, rank)),
                                  agreed.mark, has_messages ? segments_for(comm) : nullptr);
  comm_state->read_identity(comm);
  comm_state->set_freed_flag(record_of(comm).freed);
  comm_state->connect(comm);
  attach(comm, std::move(comm_state));
  return MPI_SUCCESS;
}

// ---- Policies in info objects

std::string value_of(MPI_Info info, const char* key) {
  int length = 0, found = 0;
#if MPI_VERSION >= 4
  PMPI_Info_get_string(info, key, &length, nullptr, &found);
  std::string value(static_cast<std::size_t>(length), '\0');
  PMPI_Info_get_string(info, key, &length, value.data(), &found);
#else
  PMPI_Info_get_valuelen(info, key, &length, &found);
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  PMPI_Info_get(info, key, length, value.data(), &found);
#endif
  value.resize(std::strlen(value.c_str()));
  return value;
}

// Returns the policy string that an info object describes. Its options are sorted, so that all ranks get the
// same string.
std::string policy_in(MPI_Info info) {
  constexpr std::string_view prefix = "taut_";
  if (info == MPI_INFO_NULL) return {};
  std::map<std::string, std::string, std::less<>> options;
  int keys = 0;
  PMPI_Info_get_nkeys(info, &keys);
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "";
    PMPI_Info_get_nthkey(info, i, key);
    if (std::string_view(key).starts_with(prefix)) options[key + prefix.size()] = value_of(info, key);
  }
  if (options.empty()) return {};
  const auto bound = options.extract("bound");
  if (bound.empty())
    throw Error(Status::invalid_policy, "the info object has taut_" + options.begin()->first +
                                            ", and no bound: add taut_bound, as \"abs:1e-4\"");
  std::string text = bound.mapped();
  for (const auto& [name, value] : options) text += "," + name + "=" + value;
  return text;
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

extern "C" {

int TAUT_Comm_set_policy(MPI_Comm comm, const char* policy) {
  return guard(comm, [&] {
    return set_policy(comm, taut::read_policy([&] { return std::string(policy != nullptr ? policy : ""); }));
  });
}

int TAUT_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  return guard(comm, [&] { return set_policy(comm, taut::read_policy([&] { return policy_in(info); })); });
}

int TAUT_Cuda_comm_set_stream(MPI_Comm comm, void* stream) {
  return guard(comm, [&] {
    expect_mpi_init();
    CommRecord& record = record_of(comm);
    record.stream = stream;
    if (record.comm_state != nullptr) record.comm_state->set_stream(stream);
    return MPI_SUCCESS;
  });
}

}  // extern "C"
