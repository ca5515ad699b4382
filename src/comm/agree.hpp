// The agreement at the start of each compressed call: do all ranks mean the same, can they, and does it pay?
#pragma once

#include <limits>

#include "core/transport.hpp"
#include "policy/plan/coding.hpp"
#include "policy/tuning/autotuner.hpp"

namespace taut {

// As it travels. Every field is combined by minimum, maximum, "or" or "and", so that it does not matter how
// often a rank counts.
struct AgreementRecord {
  enum Obstacles : std::uint16_t {  // why a rank cannot take part
    failed = 1,                     // it has an error to report
    short_of_memory = 2,
    on_device = 4,  // its values are
    packed = 8,     // they look like integers that cannot be told one by one (core/packing.hpp)
  };
  static constexpr float unknown_timing = std::numeric_limits<float>::max();
  static constexpr std::uint64_t tag = 0x3130'5455'4154;  // "TAUT10": changes with this struct

  std::uint64_t version = tag;
  std::uint64_t signature_low = 0, signature_high = 0;  // hash of what must be equal
  ValueRange range;                                     // of all ranks' values, where a bound needs it
  float ratio_low[max_candidates] = {};                 // estimates of values over frames
  std::uint64_t bytes_high = 0;                         // of the message, where ranks know but their part
  std::uint64_t sites = ~std::uint64_t{0};   // bit i: the call site is that of rule i, on all ranks
  std::uint8_t type_low = 0, type_high = 0;  // DType; 0: not compressed on that rank
  std::uint16_t obstacles = 0;               // of some rank; any of Obstacles
  float timing_low[5] = {unknown_timing, unknown_timing, unknown_timing, unknown_timing,
                         unknown_timing};  // as in Timing
  std::uint32_t none = 0;                  // else these bytes would have no value
  std::uint32_t checksum = 0;              // of what stands before it

  void set_signature(std::uint64_t signature) noexcept { signature_low = signature_high = signature; }
  void set_type(std::uint8_t type) noexcept { type_low = type_high = type; }
  // Where all ranks end together the last to come knows best how long it took: the least time counts. Where
  // some end before others (`rooted`) the most does; but a link that waits were foretold from is as fast as
  // the one that waited least.
  void set_timing(const Timing& timing, bool rooted) noexcept;
  Timing timing(bool rooted) const noexcept;
  bool same_signature() const noexcept { return signature_low == signature_high; }
  void merge(const AgreementRecord& other) noexcept;
  void seal() noexcept;
  bool intact() const noexcept;
};

// Facts of all ranks, the same on each (to a rank that cannot read those of another one, and to those that
// hear of it, the calls differ), by dissemination: ceil(log2 P) rounds of one message a rank. Hensgen, Finkel
// and Manber, "Two algorithms for barrier synchronization", Int. J. Parallel Program. 17 (1988).
Task<AgreementRecord> agree(Transport& transport, Lane lane, AgreementRecord mine);

// FNV-1a, continuing from `seed`: equal on all machines.
std::uint64_t hash(ConstBytes bytes, std::uint64_t seed = 0xCBF29CE484222325) noexcept;

}  // namespace taut
