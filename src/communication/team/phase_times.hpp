// Time of a call on one rank, by phase.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace taut {

// Phase of a call, to which a rank's time is added.
enum class Phase : std::uint8_t {
  encode,
  combine,  // adding frames, or operands to values
  decode,
  wait,   // waiting for messages: all time of a compressed call outside the other phases
  agree,  // agreement, with planning, samples and memory
  plain,  // in plain MPI
  call    // the whole call
};
inline constexpr std::size_t phases = 7;

constexpr const char* name_of(Phase phase) noexcept {
  constexpr const char* names[phases] = {"encode", "combine", "decode", "wait", "agree", "plain", "call"};
  return names[static_cast<std::size_t>(phase)];
}

// Nanoseconds by phase. `call` is the sum of the others.
class PhaseTimes {
 public:
  std::uint64_t& operator[](Phase phase) noexcept { return of_[static_cast<std::size_t>(phase)]; }
  std::uint64_t operator[](Phase phase) const noexcept { return of_[static_cast<std::size_t>(phase)]; }
  PhaseTimes& operator+=(const PhaseTimes& other) noexcept {
    for (std::size_t i = 0; i < phases; ++i) of_[i] += other.of_[i];
    return *this;
  }

 private:
  std::array<std::uint64_t, phases> of_{};
};

constexpr double seconds(std::uint64_t nanoseconds) noexcept {
  return static_cast<double>(nanoseconds) * 1e-9;
}

// Returns the nanoseconds of a monotonic clock. A reading takes some 30 ns: measure whole operations, not
// parts of an operation.
inline std::uint64_t clock_now() noexcept {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace taut
