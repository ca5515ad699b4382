// Agreement at the start of each compressed call. The ranks check that their calls match, that every rank can
// serve the call, and that compression pays.
#pragma once

#include <limits>

#include "communication/policy/tuning/history_trials.hpp"
#include "communication/team/transport.hpp"

namespace taut {

// Agreement message: the contribution of one rank, as it travels. Every field is merged by minimum, maximum,
// "or" or "and", so that it does not matter how often a rank counts.
struct AgreementMessage {
  enum Obstacles : std::uint16_t {  // reasons why a rank cannot compress
    failed = 1,                     // the rank has an error to report
    short_of_memory = 2,
    on_device = 4,      // no obstacle: the rank's values are on a GPU, so that kernels have to serve the call
    packed = 8,         // its values look like packed integers, not recognisable singly
                        // (compressor/frame/packed_integers.hpp)
    out_of_reach = 16,  // its values are on a GPU, and the rank cannot serve the call there
    bad_arguments = 32,  // the error is one of its arguments
  };
  static constexpr std::uint8_t any_type = 0xFF;
  static constexpr std::uint16_t max_history = 0xFFFF;
  static constexpr float unknown_size = std::numeric_limits<float>::max();
  static constexpr float unknown_timing = std::numeric_limits<float>::max();
  static constexpr std::uint64_t tag = 0x3831'5455'4154;  // "TAUT18": changes with this struct and with steps

  std::uint64_t version = tag;
  std::uint64_t signature_low = 0, signature_high = 0;  // hash of all that must be equal on the ranks
  std::uint64_t history_low = ~std::uint64_t{0}, history_high = 0;  // number of the newest state; 0: none
  ValueRange range;                         // range of all ranks' values, or their units, if a bound needs it
  float measured_low[max_candidates] = {};  // estimated ratio by candidate, or speeds of codings
  float frame_low = unknown_size, frame_high = 0;  // estimated bytes of each rank's own frame
  std::uint64_t bytes_high = 0;                    // size of the message, if ranks know only their part
  std::uint64_t sites = ~std::uint64_t{0};         // bit i: the call site is that of rule i, on all ranks
  std::uint8_t type_low = 0, type_high = 0;        // DType; 0: some rank's type is not compressed
  std::uint16_t obstacles = 0;                     // Obstacles of any rank
  float timing_low[5] = {unknown_timing, unknown_timing, unknown_timing, unknown_timing,
                         unknown_timing};                         // members of Timing
  float history_times_low[2] = {unknown_timing, unknown_timing};  // members of HistoryTimes
  std::uint16_t history_depth = max_history;   // fewest states of the call's series on any rank
  std::uint16_t history_period = max_history;  // least distance at which a rank wants a reference
  std::uint32_t checksum = 0;                  // checksum of all bytes before it

  void set_signature(std::uint64_t signature) noexcept { signature_low = signature_high = signature; }
  void set_type(std::uint8_t type) noexcept { type_low = type_high = type; }
  void set_any_type() noexcept {  // neutral in the merge; remains if no rank has a type
    type_low = any_type;
    type_high = 0;
  }
  // Sets the timings of this rank, to be merged with those of the others. If all ranks complete together, the
  // last rank to arrive knows best how long the call took: the least time counts. If some ranks complete
  // before others (`rooted`), the greatest time counts. For the predicted time the least counts in any case:
  // the link is as fast as it was on the rank that waited least.
  void set_timing(const Timing& timing, bool rooted) noexcept;
  Timing timing(bool rooted) const noexcept;
  // Sets the newest state of this rank, the number of states, and the distance at which the rank wants a
  // reference: 0 if the call must go without, max_history if it does not matter to the rank.
  // history_agreed(): all ranks hold the same newest state. wants_history(): some rank gains by a reference,
  // and none is against it.
  void set_history(std::uint64_t newest, std::size_t depth, std::size_t period) noexcept {
    history_low = history_high = newest;
    history_depth = static_cast<std::uint16_t>(depth);
    history_period = static_cast<std::uint16_t>(period);
  }
  // Set and return the times of calls with and without a history, merged like timings.
  void set_history_times(const HistoryTimes& times, bool rooted) noexcept;
  HistoryTimes history_times(bool rooted) const noexcept;
  bool history_agreed() const noexcept { return history_low == history_high && history_low != 0; }
  bool wants_history() const noexcept { return history_period != 0 && history_period != max_history; }
  bool same_signature() const noexcept { return signature_low == signature_high; }
  // Mark the message: that of some rank could not be read. has_unreadable(): some rank has set the mark.
  void note_unreadable() noexcept {
    signature_low = 0;
    signature_high = ~std::uint64_t{0};
  }
  bool has_unreadable() const noexcept { return signature_low == 0 && signature_high == ~std::uint64_t{0}; }
  void merge(const AgreementMessage& other) noexcept;
  void seal() noexcept;
  bool intact() const noexcept;
};

// Merges the messages of all ranks and returns the result, the same on each rank, by dissemination: ceil(log2
// P) rounds of one message a rank; over a transport that sends to all ranks at once, in one round of a
// message to every rank. If a rank cannot read the message of another rank, it reports different signatures,
// and so does every rank that receives from it afterwards. Hensgen, Finkel and Manber, "Two algorithms for
// barrier synchronization", Int. J. Parallel Program. 17 (1988).
Task<AgreementMessage> agree(Transport& transport, Lane lane, AgreementMessage mine);

// Returns the FNV-1a hash of `bytes`, continuing from `seed`. It is equal on all machines.
std::uint64_t hash(ConstBytes bytes, std::uint64_t seed = 0xCBF29CE484222325) noexcept;

// Continues a hash with the bytes of a value.
template <class T>
void mix(std::uint64_t& seed, const T& value) noexcept {
  seed = hash(std::as_bytes(std::span(&value, 1)), seed);
}

}  // namespace taut
