// Messages that resemble each other, for tests of references: decoded earlier ones, and the one that is
// predicted from them.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "compressor/frame/codec.hpp"
#include "support/values.hpp"

namespace taut::test {

using FrameBytes = std::vector<std::byte>;

inline FrameBytes frame_of(const Codec& codec, const Values& values, References references = {}) {
  FrameBytes frame(codec.max_bytes(values.type(), values.count()));
  const SizeOrStatus size = codec.encode(values.slice(), references, frame);
  EXPECT_EQ(size.status, Status::ok);
  EXPECT_LE(size.bytes, frame.size());
  frame.resize(size.bytes);
  return frame;
}

inline Values values_of(const Codec& codec, const FrameBytes& frame, const Values& like,
                        References references = {}) {
  Values values(like.type(), like.count());
  EXPECT_EQ(codec.decode(frame, references, values.slice()), Status::ok);
  return values;
}

inline FrameHeader header_of(const FrameBytes& frame) {
  FrameHeader header;
  EXPECT_EQ(read_header(frame, header), Status::ok);
  return header;
}

inline taut::Reference reference_to(const Values& values) {
  return {state_number_of(values.slice()), values.slice()};
}

// Sets some values to those that codecs treat apart: NaN, infinities, negative zeros, tiny and huge ones.
inline void set_special(Values& values, std::uint64_t seed) {
  constexpr double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-310, 1e-42, 1e30, -1e30, 3e9, 65000};
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < values.numbers(); ++i)
    if (random() % 23 == 0) values.set(i, special[random() % std::size(special)]);
}

// Three messages in a row; the last one is predicted from the two before it.
struct History {
  Values now, before, earlier;

  // `special`: some values of each message are special, at other places.
  History(DType type, std::size_t count, Pattern pattern, std::uint64_t seed, bool special = false)
      : now(make_values(type, count, pattern, seed)), before(now), earlier(now) {
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < now.numbers(); ++i) {
      const double x = now.at(i), change = 0.02 * static_cast<double>(random() % 5) - 0.04;
      before.set(i, x + change);
      earlier.set(i, x + 2 * change + 0.001 * static_cast<double>(random() % 3));
    }
    if (!special) return;
    set_special(now, seed + 1);
    set_special(before, seed + 2);
    set_special(earlier, seed + 3);
  }

  // Replaces the earlier messages by what a receiver has of them.
  void decode_earlier(const Codec& codec) {
    before = values_of(codec, frame_of(codec, before), before);
    earlier = values_of(codec, frame_of(codec, earlier), earlier);
  }

  std::vector<taut::Reference> references(std::size_t n) const {
    const taut::Reference both[] = {reference_to(before), reference_to(earlier)};
    return {both, both + n};
  }
};

// Adds values, predicted from references, to a frame. `sum` gets the frame of the sum.
inline SizeOrStatus accumulated(const Codec& codec, const FrameBytes& frame, const Values& values,
                                References references, FrameBytes& sum) {
  sum.assign(codec.max_bytes(values.type(), values.count(), header_of(frame).addends + 1), std::byte{});
  const SizeOrStatus size = codec.arithmetic()->accumulate(frame, values.slice(), references, sum);
  sum.resize(size.bytes);
  return size;
}

}  // namespace taut::test
