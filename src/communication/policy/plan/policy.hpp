// Policy: the settings of the user, read from a policy string (grammar: include/taut/taut.h).
#pragma once

#include "communication/team/algorithm.hpp"
#include "compressor/frame/coding.hpp"

namespace taut {

// Greatest error that a policy allows in the results of a call (docs/configuration.md).
struct Promise {
  Bound bound;          // of a value of the result: exact, absolute, pointwise, or a rate without any bound
  bool certain = true;  // false: the bound holds with a probability (on=likely)
};

inline constexpr const char* rank_order = "rank_order";  // the algorithm of sum=wide

struct Policy {
  enum class Reducing { automatic, frames, values };  // arithmetic of sums (docs/glossary.md)
  // Values for which the bound holds: each rank's input; or the result, always or, for sums, with a
  // probability of 95 % (docs/error-model.md).
  enum class On { result, input, likely };
  enum class When { automatic, profitable, always };  // calls that are compressed
  enum class ByNodes { automatic, on, frames, off };  // frames: on, and frames are shared on a node

  std::string text;  // as given, with today's spelling of each value
  bool off = true;   // plain MPI; the other members are ignored
  Coding coding;
  On on = On::result;     // values for which the bound holds
  std::string algorithm;  // empty: chosen by size
  Reducing reducing = Reducing::automatic;
  ByNodes by_nodes = ByNodes::automatic;  // communication/team/hierarchical.hpp
  int segments = 0;                       // 0: chosen by size
  std::size_t min_bytes = std::size_t{64} << 10;
  bool min_bytes_given = false;
  When when = When::automatic;
  double slots = 0;  // over NCCL, frames travel in slots: size of the values / slots; 0: sizes are exact
  // True if the values that a rank owns in a call in place, the root's of a broadcast and the own block of an
  // allgather, are replaced by the decoded ones, so that all ranks hold the same bits.
  bool same_bits = false;
  // True if sums are added in a wider type, in the order of the ranks, and rounded once.
  bool wide_sums = false;
  static constexpr std::size_t usual_history = 4, max_history = 36;  // of history=auto; the greatest
  // Number of states, which are the decoded values of earlier calls of a series, that frames may refer to.
  std::size_t history = 0;
  std::size_t history_bytes = std::size_t{256} << 20;  // greatest size of all states of a communicator

  bool always_by_nodes() const noexcept { return by_nodes == ByNodes::on || by_nodes == ByNodes::frames; }
  // Returns true if plain MPI serves the calls that compression does not make faster. By default, false if a
  // codec is named, or sums are wide: the bits of these must not depend on measured times.
  bool only_if_profitable() const noexcept {
    return when == When::profitable || (when == When::automatic && coding.codec == nullptr && !wide_sums);
  }
};

// Parses a policy string. `kernels`: name of a kernel set; empty: the best one. Throws Error(invalid_policy)
// that names the option, its column and the remedy.
Policy parse_policy(std::string_view text, std::string_view kernels = {});

// Returns the value of an option in today's spelling. An old spelling is still accepted: when=pays.
std::string_view current_spelling(const Item& item) noexcept;

// Parse and check the policy of a rule: one option other than the bound, and the complete policy.
void read_policy_option(const Item& item, Policy& policy);
void check(const Policy& policy, std::string_view kernels);

}  // namespace taut
