// Rules choose the policy of a call if neither the call nor its communicator has one. Pure functions. The
// grammar is in docs/configuration.md.
#pragma once

#include <bit>

#include "communication/policy/plan/plan.hpp"
#include "communication/policy/plan/source_text.hpp"

namespace taut {

// Conditions of a rule on a call. A condition that is not stated holds for every call.
struct Conditions {
  enum class Scope : std::uint8_t { any, inter, intra };
  static constexpr std::uint32_t any = ~std::uint32_t{0};

  std::uint32_t calls = any, types = any, ops = any;  // bit v: the value v of the enumeration is named
  std::size_t min_bytes = 0, max_bytes = SIZE_MAX;    // bytes of the whole message
  std::string name;                                   // name of the communicator; "": any
  bool world = false;                                 // only communicators of all ranks of the program
  int min_ranks = 0, max_ranks = INT32_MAX;
  Scope scope = Scope::any;  // ranks of the communicator: on several nodes, or on one
  std::string callsite;      // "": any

  template <class Value>
  static constexpr std::uint32_t bit(Value value) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(value);
  }
};

// Conditions, and the policy of the calls that meet them.
struct Rule {
  Conditions when;
  Policy policy;
  bool operators_named = false;  // in `when.ops`; all of them in a policy

  // Returns true if the rule names this collective, and is not one for all calls.
  bool names(Collective call) const noexcept {
    return when.calls != Conditions::any && (when.calls & Conditions::bit(call)) != 0;
  }

  // Returns true if the rule covers a call with this operator. A rule that names operators covers reductions
  // by them. A rule that names none covers SUM and data movement: a lossy minimum may be a value that no rank
  // has. A rule that switches compression off covers all operators.
  bool covers(Collective call, Reduction op) const noexcept {
    if (when.ops == Conditions::any && operators_named) return true;
    if (!reduces(call)) return !operators_named;
    return operators_named ? (when.ops & Conditions::bit(op)) != 0 : op == Reduction::sum || policy.off;
  }
};

// Returns a rule as TAUT_RULES writes it. The text reads back as the same rule.
std::string text_of(const Rule& rule);

// Properties of a communicator on which rules depend; the same on every rank of it.
struct CommFacts {
  std::string name = {};
  int ranks = 1;
  bool world = false;  // all ranks of the program
  bool several_nodes = false;
};

// First rule that matches a call.
struct Match {
  const Rule* rule = nullptr;  // null: no rule matches; plain MPI serves the call
  // True if ranks may differ in the data that decided. `rule` is then that of this rank only.
  bool rank_dependent = false;
  bool off = true;  // plain MPI serves the call, whatever the other ranks find
};

// The rules of the environment, or the policy of one communicator as a rule for all its calls.
class Rules {
 public:
  static constexpr std::size_t max_count = 64;  // rules in a text

  Rules() = default;
  Rules(Policy policy);  // for all calls of a communicator
  explicit Rules(std::vector<Rule> rules) noexcept;

  bool empty() const noexcept { return rules_.empty(); }
  bool off() const noexcept { return min_bytes_ == SIZE_MAX; }  // no collective call is ever compressed
  const std::vector<Rule>& all() const noexcept { return rules_; }

  // Returns the policy of the communicator; null if these are rules of the environment.
  const Policy* single_policy() const noexcept { return is_single_policy_ ? &rules_[0].policy : nullptr; }

  // Returns the size below which plain MPI serves all collective calls.
  std::size_t min_bytes() const noexcept { return min_bytes_; }

  // Returns the hash of the rules; the same for the same rules.
  std::uint64_t hash() const noexcept { return hash_; }
  bool need_callsites() const noexcept;

  // Returns the rules whose conditions on the communicator hold for `comm`, without these conditions.
  Rules for_comm(const CommFacts& comm) const;

  // Returns the rules with another min_bytes where the user has given none.
  Rules with_min_bytes(std::size_t bytes) const;

  Match match(const Call& call) const noexcept;

 private:
  void summarize();

  std::vector<Rule> rules_;
  bool is_single_policy_ = false;
  std::size_t min_bytes_ = SIZE_MAX;
  std::uint64_t hash_ = 0;
};

// Returns the policy for a call whose data the ranks have agreed on; null if plain MPI serves it.
const Policy* match(const Rules& rules, const Call& call) noexcept;

// Reads the rules of a line, then those of a file, if `file` is not empty. `kernels`: as in parse_policy().
// Throws Error: invalid_policy that points at the fault, invalid_argument if the file cannot be read.
Rules read_rules(const std::string& line, const std::string& file, const std::string& kernels);

// Parse rules in one line, and rules in TOML. Throw Error(invalid_policy) that points at the fault.
std::vector<Rule> parse_rules_line(const SourceText& source, const std::string& kernels = "");
std::vector<Rule> parse_rules_toml(const SourceText& source, const std::string& kernels = "");

}  // namespace taut
