#include "policy/experience.hpp"

#include <algorithm>

namespace taut {
namespace {

// Calls that are foretold to take longer than that many by frames are not worth a trial.
constexpr float hopeless = 1.5F;

// No trial takes more plain calls, whatever a disturbed one seemed to take.
constexpr float costliest = 4096;

}  // namespace

void Experience::note_coded(const Way& way, double seconds, double foretold, std::size_t bytes) noexcept {
  if (ways_.is_tried(way)) ways_.tried_calls().note(seconds, bytes);
  if (!ways_.is_usual(way)) return;
  coded_.note(seconds, bytes);
  foretold_.note(foretold, bytes);
}

Pace Experience::own() const noexcept {
  return {plain_.typical(), coded_.typical(), foretold_.least(), ways_.tried_calls().typical(),
          asked_.typical()};
}

Plain Experience::next() noexcept {
  if (left_ == 0) return Plain::no;
  --left_;
  return why_;
}

// After a trial and beside plain calls of these paces; 0: not known.
void Experience::rest(Plain why, float trial, float plain) noexcept {
  const float calls = plain > 0 ? std::clamp(trial / plain, 1.0F, costliest) : 1;
  const auto least = static_cast<std::uint32_t>(calls);
  why_ = why;
  left_ = std::max(rest_, least);
  rest_ = std::min(2 * left_, longest_rest * least);
  coded_.clear();  // after the rest calls have to show it again
}

// A trial of plain MPI is a few calls long, unless it is clear sooner that they are slower.
bool Experience::goes_on_trying(const Pace& agreed) noexcept {
  trying_ = trying_ && plain_.calls() < Recent::most && agreed.plain < clear_difference * agreed.coded;
  return trying_;
}

Plain Experience::learn(const Pace& agreed) noexcept {
  ++since_;
  if (coded_.calls() == 0) return Plain::no;  // this call will show
  if (plain_.calls() > 0) {
    if (goes_on_trying(agreed)) return Plain::trial;
    const bool open = coded_.calls() < Recent::most && agreed.coded < clear_difference * agreed.plain;
    if (agreed.coded > agreed.plain) {
      if (!open) rest(Plain::slower, agreed.coded, agreed.plain);
      return open ? Plain::no : Plain::slower;
    }
    rest_ = 1;
  }
  if (since_ < between_ || agreed.foretold > hopeless * agreed.coded) return Plain::no;
  since_ = 0;
  between_ = std::min(2 * between_, longest_rest);
  trying_ = true;
  plain_.clear();
  return Plain::trial;
}

void Experience::learn_way(const Way& way, const Pace& agreed, std::span<const Way> others) noexcept {
  if (ways_.learn(way, agreed, coded_.calls(), others)) coded_ = ways_.tried_calls();
}

void Experience::note_no_gain(bool by_favourite, const Pace& agreed) noexcept {
  favourite_.forget();
  if (!by_favourite) rest(Plain::no_gain, agreed.asked, agreed.plain);
}

Experience& Experiences::of(const Call& call, std::size_t bytes) noexcept {
  const std::uint32_t key = Call{.collective = call.collective,
                                 .type = reduces(call.collective) ? call.type : DType{},
                                 .op = call.op,
                                 .bytes = bytes}
                                .kind();
  Kind* const home = &kinds_[key * 2654435769U >> 26];  // Fibonacci hashing to 6 bits
  static_assert(most_kinds == 64);
  for (std::size_t i = 0; i < 4; ++i) {
    Kind& kind = kinds_[(static_cast<std::size_t>(home - kinds_.data()) + i) % most_kinds];
    if (kind.key == 0) kind.key = key;
    if (kind.key == key) return kind.experience;
  }
  *home = {key, {}};
  return home->experience;
}

}  // namespace taut
