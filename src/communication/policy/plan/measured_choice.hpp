// Measured choice: the codec and the arithmetic of a kind of call that measured speeds have shown to be
// fastest. Pure functions of numbers that are equal on all ranks.
#pragma once

#include <span>

#include "communication/team/algorithm.hpp"

namespace taut {

// The usual codec or an alternative to it, and the arithmetic of sums.
struct MeasuredChoice {
  enum class Codec : std::uint8_t {
    best_ratio,       // the candidate of the policy that has the best ratio
    usual_predictor,  // the first candidate of the policy
    fast              // `fast_codec`
  };
  static constexpr std::size_t codecs = 3;

  Codec codec = Codec::best_ratio;
  bool by_values = false;  // sums by values, though frames could be added

  friend bool operator==(const MeasuredChoice&, const MeasuredChoice&) = default;
};

// Name of the codec that codes faster than others at a lower ratio. It has to be idempotent.
inline constexpr const char* fast_codec = "szx";

// Speeds of a codec on the values of a call, in bytes of values a second, and its ratio. All are 0 if the
// codec does not serve the call.
struct CodingSpeeds {
  static constexpr std::size_t members = 5;

  float ratio = 0, encode = 0, decode = 0;
  float reduce = 0;      // decodes a frame and reduces its values, a copy of the values included
  float accumulate = 0;  // adds values to a frame; 0: the codec adds no frames

  bool known() const noexcept { return ratio > 0 && encode > 0 && decode > 0 && reduce > 0; }
};

// Coding and transfer of one rank in a call, for coding_seconds().
struct CodingWork {
  Cost cost;         // number of codings of one rank
  double share = 1;  // share of the message in one frame
  int segments = 1;
  bool adds_frames = false;  // the call is a sum, which the policy allows to go by frames
  bool may_use_values = true, may_use_fast = true;  // under the policy
  double plain_seconds_per_byte = 0;                // time of plain MPI for each byte of the message
};

// Returns the seconds of a call for each byte of its message. With k segments, coding hides all but 1/k of
// the transfer, or the other way round.
double coding_seconds(const CodingWork& work, const CodingSpeeds& speeds, bool by_values) noexcept;

// Returns the fastest choice. `speeds`: by MeasuredChoice::Codec. The choice with the best ratio, by frames,
// is kept unless another one saves more than 5 % of the time, or 10 % by values.
MeasuredChoice fastest_coding(const CodingWork& work,
                              std::span<const CodingSpeeds, MeasuredChoice::codecs> speeds) noexcept;

}  // namespace taut
