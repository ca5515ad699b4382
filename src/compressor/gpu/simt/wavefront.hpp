// The operations of a warp on AMD's GPUs, whose wavefronts have 32 or 64 lanes. A warp of the kernels has 32
// lanes on every GPU, because the kernels' masks, scans and bit layouts are written for 32: a wavefront of
// 64 lanes holds two warps. Both run the same instructions, at one time or one after the other: lanes of
// the other warp may take part in an operation, or be switched off. No operation below uses their values.
// `Wave` has what the hardware offers, HipThread (hip_thread.hpp) and the shim of the tests:
//
//   lane()                   index of this lane in its wavefront
//   vote(b)                  64 bits, one for each lane; undefined for lanes that are switched off
//   fetch(v, lane)           v of a lane of the wavefront; undefined for a lane that is switched off
//   select_bytes(low, high, selector)
//                            four of eight bytes: byte i of the selector, 0 to 7, says which one is byte i
#pragma once

#include "compressor/gpu/simt/simt.hpp"

namespace taut::cuda::wavefront {

// Lane of the wavefront that is the first one of this warp.
template <class Wave>
TAUT_DEVICE unsigned first_lane(const Wave& wave) {
  return wave.lane() / warp_lanes * warp_lanes;
}

template <class Wave>
TAUT_DEVICE std::uint32_t ballot(const Wave& wave, bool b) {
  return static_cast<std::uint32_t>(wave.vote(b) >> first_lane(wave));
}

template <class Wave, class V>
TAUT_DEVICE V shuffle(const Wave& wave, V v, unsigned lane) {
  return wave.fetch(v, first_lane(wave) + lane % warp_lanes);
}

template <class Wave, class V>
TAUT_DEVICE V shuffle_up(const Wave& wave, V v, unsigned by) {
  const unsigned lane = wave.lane() % warp_lanes;
  return shuffle(wave, v, lane < by ? lane : lane - by);
}

struct Max {
  template <class V>
  TAUT_DEVICE V operator()(V a, V b) const {
    return a > b ? a : b;
  }
};
struct BitOr {
  template <class V>
  TAUT_DEVICE V operator()(V a, V b) const {
    return a | b;
  }
};
struct Sum {
  template <class V>
  TAUT_DEVICE V operator()(V a, V b) const {
    return static_cast<V>(a + b);
  }
};

// Combines v of all lanes. `combine` is associative and commutative.
template <class Wave, class V, class Combine>
TAUT_DEVICE V reduce(const Wave& wave, V v, Combine combine) {
  TAUT_UNROLLED
  for (unsigned by = 1; by < warp_lanes; by *= 2) v = combine(v, wave.fetch(v, wave.lane() ^ by));
  return v;
}

template <class Wave, class V>
TAUT_DEVICE V inclusive_sum(const Wave& wave, V v) {
  TAUT_UNROLLED
  for (unsigned by = 1; by < warp_lanes; by *= 2) {
    const V other = shuffle_up(wave, v, by);
    v = static_cast<V>(v + (wave.lane() % warp_lanes >= by ? other : V{0}));
  }
  return v;
}

// Spreads the four lowest base-16 digits of a number to its bytes.
TAUT_DEVICE std::uint32_t digits_as_bytes(std::uint32_t digits) {
  return (digits & 0xF) | (digits & 0xF0) << 4 | (digits & 0xF00) << 8 | (digits & 0xF000) << 12;
}

// See simt.hpp. AMD's instruction repeats the signs of odd bytes only, so they are repeated here.
template <class Wave>
TAUT_DEVICE std::uint32_t permute_bytes(const Wave& wave, std::uint32_t low, std::uint32_t high,
                                        std::uint32_t selector) {
  const std::uint32_t digits = digits_as_bytes(selector);
  const std::uint32_t bytes = wave.select_bytes(low, high, digits & 0x07070707);
  const std::uint32_t signs = (bytes >> 7 & 0x01010101) * 0xFF, sign_mask = (digits >> 3 & 0x01010101) * 0xFF;
  return (bytes & ~sign_mask) | (signs & sign_mask);
}

}  // namespace taut::cuda::wavefront
