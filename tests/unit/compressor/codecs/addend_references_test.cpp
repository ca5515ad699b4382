// Promise: frames of addends that were each predicted from a reference of their own add up to the sum that
// plain frames have, bit for bit.
#include "support/exact_values.hpp"
#include "support/histories.hpp"

namespace taut::test {
namespace addend_references_test {

constexpr DType types[] = {DType::f32, DType::f64, DType::c64, DType::c128};

std::unique_ptr<Codec> planes_with(double e, const char* kernels = "", const char* predictor = "auto") {
  return find_codec("planes")->make({.bound = e, .predictor = predictor, .kernels = kernels});
}

FrameBytes frame_with(const Codec& codec, const Values& values, const Values* before) {
  const std::vector<taut::Reference> references =
      before == nullptr ? std::vector<taut::Reference>{}
                        : std::vector<taut::Reference>{{77, before->slice(), true}};
  FrameBytes frame(codec.max_bytes(values.type(), values.count(), 2));
  const SizeOrStatus size = codec.encode(values.slice(), references, frame);
  EXPECT_EQ(size.status, Status::ok);
  frame.resize(size.bytes);
  return frame;
}

// A sum of frames, in which every second addend is accumulated by its values.
FrameBytes sum_of(const Codec& codec, const std::vector<Values>& addends, const std::vector<Values>* before) {
  const auto own = [&](std::size_t k) { return before == nullptr ? nullptr : &(*before)[k]; };
  FrameBytes sum = frame_with(codec, addends[0], own(0));
  for (std::size_t k = 1; k < addends.size(); ++k) {
    const Values& values = addends[k];
    FrameBytes next(codec.max_bytes(values.type(), values.count(), static_cast<std::uint32_t>(k + 2)));
    SizeOrStatus size;
    if (k % 2 == 0) {
      const FrameBytes frame = frame_with(codec, values, own(k));
      const ConstBytes both[] = {sum, frame};
      size = codec.arithmetic()->sum(both, next);
    } else {
      std::vector<taut::Reference> references;
      if (before != nullptr) references.push_back({77, own(k)->slice(), true});
      size = codec.arithmetic()->accumulate(sum, values.slice(), references, next);
    }
    EXPECT_EQ(size.status, Status::ok);
    next.resize(size.bytes);
    sum = std::move(next);
  }
  return sum;
}

Values decoded(const Codec& codec, const FrameBytes& frame, const Values& like,
               const Values* total = nullptr) {
  std::vector<taut::Reference> references;
  if (total != nullptr) references.push_back({77, total->slice()});
  return values_of(codec, frame, like, references);
}

bool all_have_integers(const Codec& codec, const std::vector<Values>& all) {
  return std::ranges::all_of(
      all, [&](const Values& values) { return codec.arithmetic()->has_integers(values.slice()); });
}

void change(Values& values, std::mt19937_64& random, bool special) {
  for (std::size_t i = 0; i < values.numbers(); ++i)
    values.set(i, values.at(i) + 0.01 * static_cast<double>(random() % 9));
  if (special) set_special(values, random());
}

TEST(AddendReferences, SumsAreThoseOfPlainFrames) {
  std::mt19937_64 random(11);
  int compared = 0;
  for (int round = 0; round < 64; ++round) {
    const DType type = types[round % 4];
    const double e = std::vector<double>{1e-1, 1e-2, 1e-4, 1e-6}[random() % 4];
    const char* const predictor = std::vector<const char*>{"auto", "none", "delta", "second"}[random() % 4];
    const auto codec = planes_with(e, "", predictor);
    const std::size_t count = std::vector<std::size_t>{1, 63, 4097, 9001}[random() % 4];
    std::vector<Values> before, now;
    for (std::size_t k = 0; k < 2 + random() % 6; ++k) {
      before.push_back(make_values(type, count, round % 2 == 0 ? Pattern::smooth : Pattern::noisy, random()));
      // A chunk of an addend may need 64 bits, a layer, or runs.
      now.push_back(round % 5 == 4 ? make_values(type, count, Pattern::wild, random()) : before.back());
      change(now.back(), random, round % 3 == 0);
    }
    if (!all_have_integers(*codec, before)) continue;
    const Values total = decoded(*codec, sum_of(*codec, before, nullptr), before[0]);
    ASSERT_TRUE(all_have_integers(*codec, {total}));
    const FrameBytes with = sum_of(*codec, now, &before), plain = sum_of(*codec, now, nullptr);
    ASSERT_TRUE(refers_by_addend(header_of(with)));
    ASSERT_EQ(header_of(with).addends, now.size());
    ASSERT_TRUE(decoded(*codec, with, total, &total) == decoded(*codec, plain, total))
        << name_of(type) << " " << round << " " << e << " " << predictor << " " << count;
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST(AddendReferences, UnchangedAddendsLeaveNextToNothing) {
  const auto codec = planes_with(1e-3);
  const Values values = make_values(DType::f32, 100000, Pattern::noisy, 3);
  EXPECT_LT(frame_with(*codec, values, &values).size(), 600u);
}

TEST(AddendReferences, AllKernelSetsWriteTheSameFrames) {
  for (const DType type : types) {
    for (const Pattern pattern : {Pattern::noisy, Pattern::wild}) {
      const Values before = make_values(type, 9001, Pattern::noisy, 4),
                   now = make_values(type, 9001, pattern, 5);
      const FrameBytes frame = frame_with(*planes_with(1e-2, "scalar"), now, &before);
      for (const char* kernels : kernel_names())
        ASSERT_TRUE(frame_with(*planes_with(1e-2, kernels), now, &before) == frame) << kernels;
    }
  }
}

TEST(AddendReferences, ValuesWithoutIntegersAreFound) {
  const auto codec = planes_with(1e-3);
  const Values good = make_values(DType::f32, 9001, Pattern::noisy, 6);
  EXPECT_TRUE(all_have_integers(*codec, {good}));
  for (const double special : {double(NAN), double(INFINITY), 1e30, 1e-3 * 0x1p24}) {
    Values bad = good;
    bad.set(9000, special);
    EXPECT_FALSE(all_have_integers(*codec, {bad})) << special;
  }
}

// The sums of addends near the ends of the ranges of integers either give these back, or are no reference.
TEST(AddendReferences, SumsGiveTheirIntegersBack) {
  constexpr double e = 1e-3;
  for (const DType type : types) {
    const auto codec = planes_with(e);
    int good = 0, beyond = 0;
    for (const double bits : {12.9, 13.1, 14.0, 14.1, 20.9, 21.1, 21.9, 22.1}) {
      std::vector<Values> before(3, make_values(type, 5000, Pattern::smooth, 8));
      for (Values& values : before)
        for (std::size_t i = 0; i < values.numbers(); ++i)
          values.set(i,
                     std::exp2(bits) * 2 * e / 3 * (i % 7 == 0 ? -1 : 1) + 1e-2 * static_cast<double>(i % 9));
      if (!all_have_integers(*codec, before)) continue;
      const Values total = decoded(*codec, sum_of(*codec, before, nullptr), before[0]);
      if (!all_have_integers(*codec, {total})) {
        ++beyond;
        continue;
      }
      ++good;
      const FrameBytes with = sum_of(*codec, before, &before), plain = sum_of(*codec, before, nullptr);
      EXPECT_TRUE(decoded(*codec, with, total, &total) == decoded(*codec, plain, total))
          << name_of(type) << " " << bits;
    }
    EXPECT_GE(good, 5) << name_of(type);
    EXPECT_GE(beyond, 1) << name_of(type);
  }
}

TEST(AddendReferences, AddOnlyToTheirLike) {
  const auto codec = planes_with(1e-3);
  const Values before = make_values(DType::f32, 5000, Pattern::noisy, 6), now = before;
  const taut::Reference shared{77, before.slice()};
  const FrameBytes own = frame_with(*codec, now, &before), plain = frame_with(*codec, now, nullptr),
                   same = frame_of(*codec, now, {&shared, 1});
  FrameBytes room(codec->max_bytes(DType::f32, 5000, 4));
  for (const FrameBytes* other : {&plain, &same}) {
    const ConstBytes both[] = {own, *other};
    EXPECT_EQ(codec->arithmetic()->sum(both, room).status, Status::frame_mismatch);
  }
  EXPECT_EQ(codec->arithmetic()->accumulate(own, now.slice(), room).status, Status::corrupt_frame);
  Values result = before;
  const taut::Reference wrong{78, before.slice()};
  EXPECT_EQ(codec->decode(own, {&wrong, 1}, result.slice()), Status::corrupt_frame);
  EXPECT_EQ(codec->decode(own, result.slice()), Status::corrupt_frame);
}

}  // namespace addend_references_test
}  // namespace taut::test
