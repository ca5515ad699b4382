// Settings that the ranks of a communicator compare once, before Taut serves its calls; among them the rules.
#pragma once

#include <functional>
#include <optional>

#include "communication/comm/agree.hpp"
#include "communication/policy/plan/rules.hpp"
#include "compressor/base/status.hpp"

namespace taut {

// Rules of one rank.
struct RankRules {
  Rules rules = {};
  std::optional<Error> fault = {};  // why they cannot be read; then there are none
};

// Reads the policy of a communicator; text() returns it, or throws Error.
RankRules read_policy(const std::function<std::string()>& text);

// Returns the rules of this process (TAUT_RULES, TAUT_CONFIG), which are read once.
const RankRules& process_rules();

// Settings of a rank, or those of several ranks together: the minimum of each word.
struct Settings {
  static constexpr int words = 11;

  // A value that may be the same on all ranks.
  struct Shared {
    explicit Shared(std::uint64_t mine) noexcept : least(mine), least_complement(~mine) {}
    bool same() const noexcept { return least == ~least_complement; }
    std::uint64_t least, least_complement;
  };

  // Settings of this rank, whose number decides on its node under TAUT_RANKS_PER_NODE.
  Settings(const RankRules& mine, int rank) noexcept;
  void merge(const Settings& other) noexcept;

  Shared rules, node, name{0};  // hashes; name: of the communicator
  Shared checks;                // TAUT_CHECK
  std::uint64_t readable;       // 0: a rank cannot read its policy or rules
  std::uint64_t enabled;        // 0: a rank runs with TAUT=0
  std::uint64_t mark = 0;       // first word of coded messages
};
static_assert(sizeof(Settings) == Settings::words * sizeof(std::uint64_t));

}  // namespace taut
