// Rules: which policy serves which call, where neither the call nor its communicator has one of its own.
// Pure functions; grammar: docs/configuration.md.
#pragma once

#include <bit>

#include "policy/plan/plan.hpp"
#include "policy/text/source_text.hpp"

namespace taut {

// What a rule asks of a call. A condition that was not stated holds for every call.
struct Conditions {
  enum class Scope : std::uint8_t { any, inter, intra };
  static constexpr std::uint32_t any = ~std::uint32_t{0};

  std::uint32_t calls = any, types = any, ops = any;  // bit v: of value v
  std::size_t min_bytes = 0, max_bytes = SIZE_MAX;    // of the whole message
  std::string name;                                   // of the communicator; "": any
  bool world = false;                                 // only communicators of all ranks of the program
  int min_ranks = 0, max_ranks = INT32_MAX;
  Scope scope = Scope::any;  // of the communicator's ranks: on several nodes, or on one
  std::string callsite;      // "": any

  template <class Value>
  static constexpr std::uint32_t bit(Value value) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(value);
  }
};

struct Rule {
  Conditions when;
  Policy policy;
  bool operators_named = false;

  // Whether it is for such calls by their name, not as one of all.
  bool names(Collective call) const noexcept {
    return when.calls != Conditions::any && (when.calls & Conditions::bit(call)) != 0;
  }

  // One that names operators is for reductions by these. One that names none covers SUM and what moves data:
  // a lossy minimum may be a value that no rank has. What is off is off for all.
  bool covers(Collective call, Reduction op) const noexcept {
    if (when.ops == Conditions::any && operators_named) return true;
    if (!reduces(call)) return !operators_named;
    return operators_named ? (when.ops & Conditions::bit(op)) != 0 : op == Reduction::sum || policy.off;
  }
};

// As the environment writes it; reads back as the same rule.
std::string text_of(const Rule& rule);

// A communicator as rules see it; the same on every rank of it.
struct CommFacts {
  std::string name = {};
  int ranks = 1;
  bool world = false;
  bool several_nodes = false;
};

// The first rule that fits.
struct Match {
  const Rule* rule = nullptr;  // null: none; the call is plain MPI's
  bool open = false;  // it follows from more than every rank knows; `rule` is then for this rank only
  bool off = true;    // whatever ranks find, it is plain MPI
};

class Rules {
 public:
  static constexpr std::size_t most = 64;

  Rules() = default;
  Rules(Policy policy);  // one that every call is under: that of a communicator
  explicit Rules(std::vector<Rule> rules) noexcept;

  bool empty() const noexcept { return rules_.empty(); }
  bool off() const noexcept { return least_bytes_ == SIZE_MAX; }  // no collective call is ever compressed
  const std::vector<Rule>& all() const noexcept { return rules_; }

  // The policy that every call is under; null: these are rules.
  const Policy* only() const noexcept { return only_ ? &rules_[0].policy : nullptr; }

  // Smaller messages of collective calls are plain MPI's whatever they are.
  std::size_t least_bytes() const noexcept { return least_bytes_; }

  // Of what they say; the same for the same rules.
  std::uint64_t hash() const noexcept { return hash_; }
  bool ask_for_sites() const noexcept;

  // Those that can hold on such a communicator, without their conditions on it.
  Rules on(const CommFacts& comm) const;

  Match match(const Call& call) const noexcept;

 private:
  void summarize();

  std::vector<Rule> rules_;
  bool only_ = false;
  std::size_t least_bytes_ = SIZE_MAX;
  std::uint64_t hash_ = 0;
};

// The policy for a call that the ranks agree on, null where it is plain MPI's.
const Policy* match(const Rules& rules, const Call& call) noexcept;

// Rules of a line, then those of a file, if it has a name. Throws Error: invalid_policy that points at the
// fault, invalid_argument where the file cannot be read.
Rules read_rules(const std::string& line, const std::string& file, const std::string& kernels);

// Throw Error(invalid_policy) that points at the fault.
std::vector<Rule> parse_rules_line(const SourceText& source, const std::string& kernels = "");
std::vector<Rule> parse_rules_toml(const SourceText& source, const std::string& kernels = "");

}  // namespace taut
