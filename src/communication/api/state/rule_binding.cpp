#include "communication/api/state/rule_binding.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>

#include "communication/p2p/bypass.hpp"
#include "communication/policy/text/lone_ranks.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {
namespace {

struct ProcessRules {
  Rules rules;
  std::string fault;  // error text if the rules cannot be read
};

const ProcessRules& process_rules() {
  static const ProcessRules read = [] {
    ProcessRules made;
    try {
      made.rules = read_rules(options().rules, options().config, options().kernels);
    } catch (const Error& error) {
      made.fault = error.what();
    }
    return made;
  }();
  return read;
}

std::uint64_t hash_of(std::string_view text) noexcept { return hash(std::as_bytes(std::span(text))); }

std::string name_of(MPI_Comm comm) {
  char text[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  PMPI_Comm_get_name(comm, text, &length);
  return text;
}

std::uint64_t node_hash() noexcept {
  char text[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  PMPI_Get_processor_name(text, &length);
  return hash_of(text);
}

bool is_world(MPI_Comm comm) noexcept {
  int result = MPI_UNEQUAL;
  return PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) == MPI_SUCCESS && result != MPI_UNEQUAL;
}

// A value that ranks compare; combined by minimum.
struct Same {
  explicit Same(std::uint64_t mine) noexcept : value(mine), complement(~mine) {}
  bool on_all(const Same& agreed) const noexcept {
    return agreed.value == value && agreed.complement == complement;
  }
  std::uint64_t value, complement;
};

// Settings of a rank that the ranks compare; combined by minimum.
struct RankSettings {
  Same rules, name, node;
  std::uint64_t enabled, readable;
};
static_assert(sizeof(RankSettings) == 8 * sizeof(std::uint64_t));

std::optional<RankSettings> world_settings;  // agreed by the ranks of MPI_COMM_WORLD

RankSettings own_settings(MPI_Comm comm) {
  const bool has_rules = !process_rules().rules.empty();
  return {Same(process_rules().rules.hash() ^ AgreementRecord::tag),
          Same(has_rules ? hash_of(name_of(comm)) : 0), Same(has_rules ? node_hash() : 0), options().enabled,
          process_rules().fault.empty()};
}

RankSettings agree_on(MPI_Comm comm, const RankSettings& mine) {
  RankSettings agreed = mine;
  finish_calls();
  if (rank_and_size_of(comm).size > 1 &&
      PMPI_Allreduce(&mine, &agreed, sizeof mine / 8, MPI_UINT64_T, MPI_MIN, comm) != MPI_SUCCESS)
    throw Error(Status::transport_failed, "MPI_Allreduce");
  return agreed;
}

// Returns true if rules depend on names or nodes, which differ between communicators.
bool rules_differ_by_communicator() {
  return std::ranges::any_of(process_rules().rules.all(), [](const Rule& rule) {
    return !rule.when.name.empty() || rule.when.scope != Conditions::Scope::any;
  });
}

void say(int rank, const char* what) noexcept {
  static std::atomic_flag said;
  if (!said.test_and_set() && rank == 0) std::fprintf(stderr, "taut: %s\n", what);
}

// Returns the rules for this communicator. There are none if the rules of the ranks differ: a program that
// knows nothing of rules has to continue.
Rules rules_on(MPI_Comm comm, const RankAndSize& group, const RankSettings& mine,
               const RankSettings& agreed) {
  if (agreed.readable == 0) {
    const std::string& fault = process_rules().fault;
    say(group.rank, fault.empty() ? "a rank cannot read its rules; all go without" : fault.c_str());
    return {};
  }
  if (!mine.rules.on_all(agreed.rules)) {
    say(group.rank, "the ranks have different rules (TAUT_RULES, TAUT_CONFIG); all go without");
    return {};
  }
  if (process_rules().rules.empty()) return {};
  return process_rules().rules.on({.name = mine.name.on_all(agreed.name) ? name_of(comm) : "",
                                   .ranks = group.size,
                                   .world = is_world(comm),
                                   .several_nodes = !mine.node.on_all(agreed.node)});
}

// Returns true if rules can apply to a communicator, with the same result on all ranks. Plain MPI serves
// calls on other communicators.
bool may_have_rules(MPI_Comm comm) noexcept {
  int initialized = 0, inter = 0;
  PMPI_Initialized(&initialized);
  if (initialized == 0 || comm == MPI_COMM_NULL) return false;
  return PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0;
}

}  // namespace

void print_warnings_once(int rank) noexcept {
  static std::atomic_flag printed;
  if (printed.test_and_set() || rank != 0) return;
  for (const std::string& warning : options().warnings) std::fprintf(stderr, "taut: %s\n", warning.c_str());
  print_lone_ranks();
}

void print_lone_ranks() noexcept {
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    const std::string told = lone_ranks(environment(), ranks);
    if (!told.empty()) std::fprintf(stderr, "taut: %s\n", told.c_str());
  } catch (const std::bad_alloc&) {
  }
}

void tell_of_mismatch(const char* call, int rank) noexcept {
  static std::atomic_flag told;
  if (rank != 0 || told.test_and_set()) return;
  std::fprintf(
      stderr,
      "taut: the ranks of an MPI_%s name different counts, types or operators: plain MPI serves such "
      "calls\n",
      call);
}

std::shared_ptr<CommState> bind_rules(MPI_Comm comm) {
  if (!may_have_rules(comm)) return nullptr;
  const RankAndSize group = rank_and_size_of(comm);
  print_warnings_once(group.rank);
  const RankSettings mine = own_settings(comm);
  const RankSettings agreed = world_settings && ranks_in_world(comm) ? *world_settings : agree_on(comm, mine);
  Rules rules = rules_on(comm, group, mine, agreed);
  if (rules.off() && !options().observe()) return nullptr;
  auto made = std::make_shared<CommState>(std::move(rules), agreed.enabled != 0, false, group);
  made->read_identity(comm);
  return made;
}

bool compare_rules_in_world() {
  print_warnings_once(rank_and_size_of(MPI_COMM_WORLD).rank);
  const RankSettings mine = own_settings(MPI_COMM_WORLD), agreed = agree_on(MPI_COMM_WORLD, mine);
  const bool same = mine.rules.on_all(agreed.rules) && agreed.readable != 0 && agreed.enabled != 0;
  if (same && !rules_differ_by_communicator()) world_settings = agreed;
  return same;
}

const Rules& local_rules(MPI_Comm comm) {
  std::atomic<const Rules*>& bound = record_of(comm).local_rules;
  if (const Rules* const known = bound) return *known;
  std::vector<Rule> rules = process_rules().rules.all();
  std::erase_if(rules, [](const Rule& rule) { return rule.when.scope != Conditions::Scope::any; });
  auto made = std::make_unique<const Rules>(
      Rules(std::move(rules))
          .on({.name = name_of(comm), .ranks = rank_and_size_of(comm).size, .world = is_world(comm)}));
  const Rules* known = nullptr;  // set if another thread has bound them meanwhile
  return bound.compare_exchange_strong(known, made.get()) ? *made.release() : *known;
}

bool rules_match_names() {
  return std::ranges::any_of(process_rules().rules.all(),
                             [](const Rule& rule) { return !rule.when.name.empty(); });
}

bool rules_name_messages() {
  return std::ranges::any_of(process_rules().rules.all(),
                             [](const Rule& rule) { return rule.names(Collective::send); });
}

void attach_rules(MPI_Comm comm) {
  const p2p::BypassScope bypass;
  if (may_have_rules(comm)) attach(comm, bind_rules(comm));
}

}  // namespace taut::api
