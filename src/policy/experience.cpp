#include "policy/experience.hpp"

#include <algorithm>
#include <bit>

namespace taut {
namespace {

// Calls that are foretold to take longer than that many by frames are not worth a trial.
constexpr float hopeless = 1.5F;

// Paces that differ by less may change their order with the next call.
constexpr float clear = 1.3F;

}  // namespace

void Recent::note(double seconds, std::size_t bytes) noexcept {
  paces_[calls_++ % most] =
      static_cast<float>(seconds / static_cast<double>(std::max<std::size_t>(bytes, 1)));
}

float Recent::typical() const noexcept {
  if (calls_ == 0) return 0;
  auto sorted = paces_;
  std::sort(sorted.begin(), sorted.begin() + calls());
  return sorted[(calls() - 1) / 2];
}

void Experience::note_coded(double seconds, double foretold, std::size_t bytes) noexcept {
  coded_.note(seconds, bytes);
  foretold_.note(foretold, bytes);
}

Plain Experience::next() noexcept {
  if (left_ == 0) return Plain::no;
  --left_;
  return why_;
}

void Experience::rest(Plain why) noexcept {
  why_ = why;
  left_ = rest_;
  rest_ = std::min(2 * rest_, longest_rest);
  coded_.clear();  // after the rest calls have to show it again
}

// A trial of plain MPI is a few calls long, unless it is clear sooner that they are slower.
bool Experience::goes_on_trying(const Pace& agreed) noexcept {
  trying_ = trying_ && plain_.calls() < Recent::most && agreed.plain < clear * agreed.coded;
  return trying_;
}

Plain Experience::learn(const Pace& agreed) noexcept {
  ++since_;
  if (coded_.calls() == 0) return Plain::no;  // this call will show
  if (plain_.calls() > 0) {
    if (goes_on_trying(agreed)) return Plain::trial;
    const bool open = coded_.calls() < Recent::most && agreed.coded < clear * agreed.plain;
    if (agreed.coded > agreed.plain) {
      if (!open) rest(Plain::slower);
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

void Experience::note_no_gain(bool by_favourite) noexcept {
  samples_left_ = 0;
  if (!by_favourite) rest(Plain::no_gain);
}

std::optional<std::size_t> Experience::favourite() const noexcept {
  return samples_left_ > 0 ? std::optional(favourite_) : std::nullopt;
}

void Experience::choose(std::size_t candidate, float ratio) noexcept {
  if (samples_left_ == 0) {
    favourite_ = candidate;
    ratio_ = ratio;
    samples_left_ = samples_last;
  } else if (ratio < 0.8F * ratio_ || ratio > 1.25F * ratio_) {
    samples_left_ = 0;
  } else {
    --samples_left_;
  }
}

Experience& Experiences::of(Collective collective, std::size_t bytes) noexcept {
  return kinds_[static_cast<std::size_t>(collective) - 1][static_cast<std::size_t>(std::bit_width(bytes))];
}

}  // namespace taut
