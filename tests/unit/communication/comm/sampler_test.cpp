#include "communication/comm/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace taut {
namespace sampler_test {

constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;

CallKey key_of(DType type, std::size_t bytes = 0) {
  return Call{.collective = Collective::allreduce, .type = type, .bytes = bytes}.key();
}

CallRow row_of(DType type) {
  CallRow row;
  row.key = key_of(type);
  return row;
}

std::vector<float> wave(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(1e-3F * static_cast<float>(i));
  return values;
}

ConstSlice slice_of(const std::vector<float>& values) { return {{values.data(), values.size(), DType::f32}}; }

double ratio(const Compressibility::Sum& sum) {
  return static_cast<double>(sum.value_bytes) / static_cast<double>(sum.frame_bytes);
}

TEST(Sampler, LooksAtCallsOfPowersOfTwo) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  const auto values = wave(2000);
  std::vector<std::uint64_t> looked;
  for (std::uint64_t call = 1; call <= 9; ++call) {
    const std::uint64_t before = row.values.samples;
    sampler.look(row, slice_of(values));
    if (row.values.samples > before) looked.push_back(call);
    ++row.sum.calls;
  }
  EXPECT_EQ(looked, (std::vector<std::uint64_t>{1, 2, 4, 8}));
}

TEST(Sampler, KnowsPicklesAndConstants) {
  Sampler sampler("", unlimited);
  std::vector<std::uint8_t> bytes(10'000, 7);
  const auto look = [&] {
    CallRow row = row_of(DType::u8);
    sampler.look(row, {{bytes.data(), bytes.size(), DType::u8}});
    return std::pair(row.values.pickles, row.values.constant);
  };
  using Counts = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(look(), Counts(0, 1));
  bytes[0] = 0x80, bytes[1] = 5, bytes[2] = 0x95;
  EXPECT_EQ(look(), Counts(1, 0));
  bytes[2] = 0x96;
  EXPECT_EQ(look(), Counts(0, 0));
  CallRow row = row_of(DType::f32);
  sampler.look(row, slice_of(std::vector<float>(10'000, 1.5F)));
  EXPECT_EQ(row.values.constant, 1u);
  CallRow other = row_of(DType::f32);
  sampler.look(other, slice_of(wave(10'000)));
  EXPECT_EQ(other.values.constant, 0u);
}

TEST(Sampler, CountsSamplesOfCallsInPlace) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  for (const bool in_place : {false, true, true}) {  // the third call is not sampled
    sampler.look(row, slice_of(wave(2000)), in_place);
    ++row.sum.calls;
  }
  EXPECT_EQ(row.values.samples, 2u);
  EXPECT_EQ(row.values.in_place, 1u);
}

TEST(Sampler, WhatItSees) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  auto values = wave(100'000);
  values[5] = std::numeric_limits<float>::infinity();
  sampler.look(row, slice_of(values));
  EXPECT_NEAR(row.values.greatest, 1, 0.1);
  EXPECT_NEAR(row.values.least, -1, 0.1);
  for (std::size_t i = 1; i < Compressibility::bounds;
       ++i)  // nearly: another predictor may be best for each bound
    EXPECT_LE(ratio(row.values.sums[i]), 1.2 * ratio(row.values.sums[i - 1])) << i;
  EXPECT_GT(ratio(row.values.sums[0]), 8);
}

TEST(Sampler, ConstantsHaveNoRange) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  const std::vector<float> values(5000, 3.0F);
  sampler.look(row, slice_of(values));
  for (const auto& sum : row.values.sums) EXPECT_GT(ratio(sum), 8);
}

// A clock that goes on by a microsecond whenever it is read: a sample takes as long as a call that is not
// sampled.
std::uint64_t virtual_clock() {
  static std::uint64_t time = clock_now();
  return time += 1000;
}

// Samples of one call after another would take far more than their share.
TEST(Sampler, StopsWhenItsTimeIsUp) {
  Sampler sampler("", 0, virtual_clock);
  CallRow row = row_of(DType::f32);
  const auto values = wave(100'000);
  for (; row.sum.calls < 1000; ++row.sum.calls) {
    row.next_sample = std::min(row.next_sample, row.sum.calls + 1);
    sampler.look(row, slice_of(values));
  }
  EXPECT_LT(row.values.samples, 100u);
  EXPECT_GT(row.next_sample, 1000u);  // the next sample comes later
}

TEST(Sampler, ShortCallsAreNeverDueAgain) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  row.key = key_of(DType::f32, 4);
  const std::vector<float> one(1);
  EXPECT_TRUE(Sampler::is_due(row));
  sampler.look(row, slice_of(one));
  EXPECT_FALSE(Sampler::is_due(row));
}

TEST(Sampler, NothingToSee) {
  Sampler sampler("", unlimited);
  CallRow row = row_of(DType::f32);
  const auto values = wave(1000);  // 4000 bytes
  sampler.look(row, slice_of(values));
  sampler.look(row, ConstSlice{});
  row.key = key_of({});
  const auto more = wave(5000);
  sampler.look(row, slice_of(more));
  EXPECT_EQ(row.values.samples, 0u);
}

}  // namespace sampler_test
}  // namespace taut
