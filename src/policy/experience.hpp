// What the calls of a communicator have shown, kind by kind, and what follows for the next one: is it worth
// while to compress it, or was plain MPI faster? All of it follows from the order of the calls and from what
// the ranks agreed on, so that it is the same on every rank.
//
// A plain call costs one look at this table. Where compressing is ahead every call has its agreement anyway,
// and what it shows of the link foretells the time of a plain one: only when that comes near are some tried.
// Where plain MPI is ahead, or nothing is gained, it is left to itself for a while, twice as long after every
// trial that says the same: n calls pay for some log2(n) trials, later for one in `longest_rest`.
#pragma once

#include <array>
#include <optional>

#include "policy/plan.hpp"

namespace taut {

// Seconds a byte of message that calls of one kind take; 0: not known.
struct Pace {
  float plain = 0;
  float coded = 0;     // by frames, agreement included
  float foretold = 0;  // of a plain call, by the speed of the link in those by frames
};

// The last few calls. Their median counts, the lower one of an even number: some calls are disturbed.
class Recent {
 public:
  static constexpr std::uint32_t most = 5;

  void note(double seconds, std::size_t bytes) noexcept;
  void clear() noexcept { calls_ = 0; }
  std::uint32_t calls() const noexcept { return calls_ < most ? calls_ : most; }
  float typical() const noexcept;  // 0: no calls

 private:
  std::array<float, most> paces_{};
  std::uint32_t calls_ = 0;
};

class Experience {
 public:
  static constexpr std::uint32_t longest_rest = 256;  // calls

  // Whether the next call goes to plain MPI at once, and why. To be asked once for each call, in their order.
  Plain next() noexcept;

  // After an agreement that would have the call compressed: `agreed` is the pace of all ranks. Whether this
  // very call does go plain, and why.
  Plain learn(const Pace& agreed) noexcept;

  // After an agreement that found nothing to gain by the favourite, or by any candidate.
  void note_no_gain(bool by_favourite) noexcept;

  // The candidate that the ranks last agreed on, if that will do until its ratio changes or `samples_last`
  // calls have gone by; else all have to be sampled.
  static constexpr std::uint32_t samples_last = 32;
  std::optional<std::size_t> favourite() const noexcept;

  // What the ranks agreed on: by samples of it alone, or of all.
  void choose(std::size_t candidate, float ratio) noexcept;

  // How calls went on this rank. That they were made is known on every rank.
  void note_plain(double seconds, std::size_t bytes) noexcept { plain_.note(seconds, bytes); }
  void note_coded(double seconds, double foretold, std::size_t bytes) noexcept;
  Pace own() const noexcept { return {plain_.typical(), coded_.typical(), foretold_.typical()}; }

 private:
  void rest(Plain why) noexcept;
  bool goes_on_trying(const Pace& agreed) noexcept;

  Recent plain_, coded_, foretold_;
  bool trying_ = false;                      // plain MPI
  Plain why_ = Plain::no;                    // of the rest
  std::uint32_t rest_ = 1, left_ = 0;        // the next rest; calls left of this one
  std::uint32_t between_ = 16, since_ = 16;  // trials of plain MPI: least distance; calls since the last
  std::size_t favourite_ = 0;
  float ratio_ = 0;                 // of the favourite, when all were sampled
  std::uint32_t samples_left_ = 0;  // calls that it will do for
};

// Experiences of each collective, and size to a power of two.
class Experiences {
 public:
  Experience& of(Collective collective, std::size_t bytes) noexcept;

 private:
  std::array<std::array<Experience, 65>, std::size(all_collectives)> kinds_;
};

}  // namespace taut
