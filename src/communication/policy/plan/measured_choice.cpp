#include "communication/policy/plan/measured_choice.hpp"

#include <algorithm>

namespace taut {
namespace {

// Greatest share of the usual choice's time that another choice may take. A choice by values has to save
// more, because no other algorithm can be tried for it: the bits of the result would differ.
constexpr double max_share = 0.95, max_share_by_values = 0.9;

// Returns true if frames of this codec are added unless the choice is by values.
bool adds(const CodingWork& work, const CodingSpeeds& speeds) noexcept {
  return work.adds_frames && speeds.accumulate > 0;
}

bool serves(const CodingWork& work, const CodingSpeeds& speeds, MeasuredChoice choice) noexcept {
  if (!speeds.known()) return false;
  if (choice.codec == MeasuredChoice::Codec::fast && !work.may_use_fast) return false;
  return choice.by_values ? work.adds_frames && work.may_use_values : !work.adds_frames || adds(work, speeds);
}

}  // namespace

double coding_seconds(const CodingWork& work, const CodingSpeeds& speeds, bool by_values) noexcept {
  const double encode = 1 / double{speeds.encode}, decode = 1 / double{speeds.decode};
  const double combine = by_values ? 1 / double{speeds.reduce} + encode : 1 / double{speeds.accumulate};
  double coding = work.cost.encodes * encode + work.cost.decodes * decode;
  if (work.cost.combines > 0) coding += work.cost.combines * combine;
  coding *= work.share;
  const double wire = work.plain_seconds_per_byte / double{speeds.ratio};
  return std::max(coding, wire) + std::min(coding, wire) / work.segments;
}

MeasuredChoice fastest_coding(const CodingWork& work,
                              std::span<const CodingSpeeds, MeasuredChoice::codecs> speeds) noexcept {
  MeasuredChoice best;
  if (!speeds[0].known()) return best;
  double shortest = coding_seconds(work, speeds[0], !adds(work, speeds[0]));
  const double usual = shortest;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    for (const bool by_values : {false, true}) {
      const MeasuredChoice choice{static_cast<MeasuredChoice::Codec>(i), by_values};
      if (!serves(work, speeds[i], choice)) continue;
      const double seconds = coding_seconds(work, speeds[i], by_values || !adds(work, speeds[i]));
      if (seconds >= std::min(shortest, (by_values ? max_share_by_values : max_share) * usual)) continue;
      shortest = seconds;
      best = choice;
    }
  return best;
}

}  // namespace taut
