// Codes more than 2^31 values with every codec, in frames of at most 2^30 values, the limit of a frame. Needs
// TAUT_BIG=1 in the environment, 10 GiB of memory and some minutes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "support/subjects.hpp"

namespace taut::test {
namespace {

constexpr std::size_t frame_values = std::size_t{1} << 30;
constexpr std::size_t all_values = 2 * frame_values + (std::size_t{1} << 20) + 3;
constexpr std::size_t memory_gib = 10;  // for the values, a raw frame, and a sum that compresses

// Returns value i of the stream: smooth over the whole range of 64-bit indices, with a little noise.
float value_at(std::size_t i) noexcept {
  const auto slope = static_cast<std::int32_t>(i >> 9 & 0xFFFF) - 0x8000;
  const auto noise = static_cast<std::int32_t>(i * 0x9E3779B97F4A7C15 >> 58);
  return static_cast<float>(slope * 16 + noise) * 0x1p-12f;
}

// Allocates memory whose pages are taken when they are written.
std::unique_ptr<std::byte[]> room_for(std::size_t bytes) {
  return std::unique_ptr<std::byte[]>(new std::byte[bytes]);
}

void fill(float* values, std::size_t first, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = value_at(first + i);
}

// Returns the first position where a value is further than `most` from `times` the value of the stream; n
// when there is none.
std::size_t first_wrong(const float* values, std::size_t first, std::size_t n, float times, double most) {
  for (std::size_t i = 0; i < n; ++i)
    if (!(std::abs(static_cast<double>(values[i]) - static_cast<double>(times * value_at(first + i))) <=
          most))
      return i;
  return n;
}

void check_sum(const Codec& codec, ConstBytes frame, Slice values, std::size_t first) {
  const std::size_t most = codec.max_bytes(values.type, values.count, 2);
  const auto room = room_for(most);
  auto* const data = static_cast<float*>(values.data);
  fill(data, first, values.count);
  const SizeOrStatus sum = codec.arithmetic()->accumulate(frame, values, {room.get(), most});
  ASSERT_EQ(sum.status, Status::ok);
  ASSERT_EQ(codec.decode({room.get(), sum.bytes}, values), Status::ok);
  ASSERT_EQ(first_wrong(data, first, values.count, 2, 2.001 * codec.contract().bound.value), values.count);
}

void check_frame(const Codec& codec, Slice values, std::size_t first, Bytes room) {
  auto* const data = static_cast<float*>(values.data);
  fill(data, first, values.count);
  const SizeOrStatus size = codec.encode(values, room);
  ASSERT_EQ(size.status, Status::ok);
  std::fill_n(data, values.count, -1.0f);
  const ConstBytes frame = room.first(size.bytes);
  ASSERT_EQ(codec.decode(frame, values), Status::ok);
  const Bound bound = codec.contract().bound;
  if (bound.kind != Bound::Kind::rate && bound.kind != Bound::Kind::pointwise) {
    ASSERT_EQ(first_wrong(data, first, values.count, 1, bound.value), values.count);
  }
  if (codec.arithmetic() != nullptr) check_sum(codec, frame, values, first);
}

bool memory_is_there() {
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
             static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) >>
         30 >= memory_gib;
}

TEST(Big, MoreThan31BitsOfValues) {
  if (std::getenv("TAUT_BIG") == nullptr)
    GTEST_SKIP() << "set TAUT_BIG=1; needs 10 GiB of memory and some minutes";
  if (!memory_is_there()) GTEST_SKIP() << "needs 10 GiB of free memory";
  const auto memory = room_for(frame_values * sizeof(float));
  auto* const values = reinterpret_cast<float*>(memory.get());
  for (const CodecInfo* info : registered_codecs()) {
    bool tried[frame_bound_kinds] = {};
    for (const Subject& subject : subjects_of(*info, false)) {
      const auto codec = subject.make();
      const auto kind = static_cast<std::size_t>(codec->contract().bound.kind);
      if (subject.type != DType::f32 || tried[kind]) continue;  // each kind once
      tried[kind] = true;
      SCOPED_TRACE(subject.name());
      const std::size_t most = codec->max_bytes(DType::f32, frame_values);
      const auto room = room_for(most);
      for (std::size_t first = 0; first < all_values; first += frame_values) {
        const std::size_t n = std::min(frame_values, all_values - first);
        check_frame(*codec, {{values, n, DType::f32}}, first, {room.get(), most});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Big, OneFrameHoldsNoMore) {
  for (const CodecInfo* info : registered_codecs()) {
    const Subject subject = subjects_of(*info, false).front();
    std::byte room[256];
    const ConstSlice too_many{{nullptr, frame_values + 1, subject.type}};
    EXPECT_EQ(subject.make()->encode(too_many, room).status, Status::invalid_count) << info->name;
  }
}

}  // namespace
}  // namespace taut::test
