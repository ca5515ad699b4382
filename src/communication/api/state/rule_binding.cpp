#include "communication/api/state/rule_binding.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "communication/p2p/bypass.hpp"
#include "communication/policy/text/wrong_launcher.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {
namespace {

std::string name_of(MPI_Comm comm) {
  char text[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  PMPI_Comm_get_name(comm, text, &length);
  return text;
}

bool is_world(MPI_Comm comm) noexcept {
  int result = MPI_UNEQUAL;
  return PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) == MPI_SUCCESS && result != MPI_UNEQUAL;
}

std::optional<Settings> world_settings;  // merged settings of the ranks of MPI_COMM_WORLD, once known

// Merges the settings of all ranks of a communicator for the rules of the process.
Settings settings_on(MPI_Comm comm) {
  Settings agreed(process_rules(), rank_and_size_of(comm).rank);
  const std::string name = process_rules().rules.empty() ? "" : name_of(comm);
  agreed.name = Settings::Shared(hash(std::as_bytes(std::span(name))));
  if (agree_on(comm, agreed) != MPI_SUCCESS) throw Error(Status::transport_failed, "MPI_Allreduce");
  return agreed;
}

// Returns true if rules depend on names or nodes, which differ between communicators.
bool rules_differ_by_communicator() {
  return std::ranges::any_of(process_rules().rules.all(), [](const Rule& rule) {
    return !rule.when.name.empty() || rule.when.scope != Conditions::Scope::any;
  });
}

void print_once(int rank, const char* text) noexcept {
  static std::atomic_flag printed;
  if (!printed.test_and_set() && rank == 0) std::fprintf(stderr, "taut: %s\n", text);
}

// Returns the rules for a communicator. If the ranks have different rules, there are none, and the program
// continues with plain MPI.
Rules rules_on(MPI_Comm comm, const RankAndSize& group, const Settings& agreed) {
  if (agreed.readable == 0) {
    const std::optional<Error>& fault = process_rules().fault;
    print_once(group.rank, fault ? fault->what() : "a rank cannot read its rules; all go without");
    return {};
  }
  if (!agreed.rules.same()) {
    print_once(group.rank, "the ranks have different rules (TAUT_RULES, TAUT_CONFIG); all go without");
    return {};
  }
  if (process_rules().rules.empty()) return {};
  return process_rules().rules.for_comm({.name = agreed.name.same() ? name_of(comm) : "",
                                         .ranks = group.size,
                                         .world = is_world(comm),
                                         .several_nodes = !agreed.node.same()});
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
  print_wrong_launcher();
}

void print_wrong_launcher() noexcept {
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  guarded([&] {
    const std::string text = wrong_launcher_text(environment(), ranks);
    if (!text.empty()) std::fprintf(stderr, "taut: %s\n", text.c_str());
  });
}

void tell_of_mismatch(const char* call, int rank) noexcept {
  static std::atomic_flag printed;
  if (rank != 0 || printed.test_and_set()) return;
  std::fprintf(
      stderr,
      "taut: the ranks of an MPI_%s name different counts, types or operators: plain MPI serves such "
      "calls\n",
      call);
}

int agree_on(MPI_Comm comm, Settings& settings) {
  const Settings own = settings;
  finish_calls();
  const int code = PMPI_Allreduce(&own, &settings, Settings::words, MPI_UINT64_T, MPI_MIN, comm);
  settings.merge(own);  // on an intercommunicator the result has the settings of the other group only
  return code;
}

int check_of(const Settings& agreed, int rank) noexcept {
  if (agreed.checks.same()) return options().check;
  print_once(rank, "the ranks have different values of TAUT_CHECK; no call is checked");
  return 0;
}

std::shared_ptr<CommState> bind_rules(MPI_Comm comm) {
  if (!may_have_rules(comm)) return nullptr;
  const RankAndSize group = rank_and_size_of(comm);
  print_warnings_once(group.rank);
  const Settings agreed = world_settings && ranks_in_world(comm) ? *world_settings : settings_on(comm);
  Rules rules = rules_on(comm, group, agreed);
  if (rules.off() && !options().observe()) return nullptr;
  auto state = std::make_shared<CommState>(
      AgreedRules(std::move(rules), agreed.enabled != 0, false, group, check_of(agreed, group.rank)));
  state->read_identity(comm);
  return state;
}

bool compare_rules_in_world() {
  print_warnings_once(rank_and_size_of(MPI_COMM_WORLD).rank);
  const Settings agreed = settings_on(MPI_COMM_WORLD);
  const bool same = agreed.rules.same() && agreed.readable != 0 && agreed.enabled != 0;
  if (same && !rules_differ_by_communicator()) world_settings = agreed;
  return same;
}

const Rules& local_rules(MPI_Comm comm) {
  std::atomic<const Rules*>& bound = record_of(comm).local_rules;
  if (const Rules* const known = bound) return *known;
  std::vector<Rule> rules = process_rules().rules.all();
  std::erase_if(rules, [](const Rule& rule) { return rule.when.scope != Conditions::Scope::any; });
  auto created = std::make_unique<const Rules>(
      Rules(std::move(rules))
          .for_comm({.name = name_of(comm), .ranks = rank_and_size_of(comm).size, .world = is_world(comm)}));
  const Rules* other = nullptr;  // rules that another thread has bound meanwhile
  return bound.compare_exchange_strong(other, created.get()) ? *created.release() : *other;
}

bool rules_match_names() {
  return std::ranges::any_of(process_rules().rules.all(),
                             [](const Rule& rule) { return !rule.when.name.empty(); });
}

bool rules_name_messages() {
  return std::ranges::any_of(process_rules().rules.all(),
                             [](const Rule& rule) { return rule.names(Collective::send); });
}

std::size_t history_bytes_of_messages() {
  std::size_t most = 0;
  for (const Rule& rule : process_rules().rules.all())
    if ((rule.when.calls & Conditions::bit(Collective::send)) != 0 && rule.policy.history > 0)
      most = std::max(most, rule.policy.history_bytes);
  return most;
}

void attach_rules(MPI_Comm comm) {
  const p2p::BypassScope bypass;
  if (may_have_rules(comm)) attach(comm, bind_rules(comm));
}

}  // namespace taut::api
