// Tests of the coder of messages, without sending.
#include "communication/comm/message_coder.hpp"

#include <gtest/gtest.h>

#include "support/group.hpp"
#include "support/guarded.hpp"

namespace taut::test {
namespace {

struct Coder {
  explicit Coder(const char* text) : policy(parse_policy(text)), coder(policy, {}, place, "", 1) {}
  Policy policy;
  HostPlace place;
  MessageCoder coder;
};

ConstBytes frames_of(const Message& made) { return made.memory().subspan(envelope_bytes, made.frame_bytes); }

Values smooth(std::size_t count, DType type = DType::f32) {
  return make_values(type, count, Pattern::smooth, count);
}

double most_different(const Values& a, const Values& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.numbers(); ++i) most = std::max(most, std::abs(a.at(i) - b.at(i)));
  return most;
}

TEST(MessageCoder, DecodesWithinTheBound) {
  for (const char* text :
       {"abs:1e-3", "abs:1e-3,codec=szx", "abs:1e-3,checksum=on", "snap:1e-3", "rel:1e-5"}) {
    Coder sender(text), receiver(text);
    for (const DType type : {DType::f32, DType::f64}) {
      const Values values = smooth(50000, type);
      Values decoded(type, 50000);
      const Message made = sender.coder.encode(values.slice());
      ASSERT_EQ(made.fallback, Fallback::none) << text;
      EXPECT_TRUE(made.coded());
      EXPECT_EQ(made.bytes, values.slice().bytes());
      EXPECT_LT(made.coded_bytes, made.bytes);
      EXPECT_GE(made.end, made.decided);
      EXPECT_EQ(
          receiver.coder.decode(frames_of(made), static_cast<std::uint8_t>(type), decoded.slice().as_bytes()),
          Status::ok);
      EXPECT_LE(most_different(values, decoded), 1e-3) << text;
    }
  }
}

TEST(MessageCoder, IntegersArriveBitForBitUnderEveryBound) {
  for (const DType type : {DType::i8, DType::u16, DType::i32, DType::u64})
    for (const char* text : {"abs:100", "rel:0.5", "pwrel:0.5", "snap:8", "psnr:10"}) {
      Coder sender(text), receiver(text);
      const Values values = make_values(type, 100000, Pattern::steps, 1);
      Values decoded = Values(type, 100000);
      const Message made = sender.coder.encode(values.slice());
      ASSERT_EQ(made.fallback, Fallback::none) << text;
      EXPECT_LT(made.coded_bytes, values.slice().bytes() / 2);
      EXPECT_EQ(
          receiver.coder.decode(frames_of(made), static_cast<std::uint8_t>(type), decoded.slice().as_bytes()),
          Status::ok);
      EXPECT_TRUE(std::ranges::equal(values.slice().as_bytes(), decoded.slice().as_bytes())) << text;
    }
}

TEST(MessageCoder, SaysWhyAMessageIsPlain) {
  const auto why = [](const char* text, const Values& values) {
    return Coder(text).coder.encode(values.slice()).fallback;
  };
  EXPECT_EQ(why("abs:1e-3", smooth(100)), Fallback::small);
  EXPECT_EQ(why("abs:1e-3", make_values(DType::f32, 50000, Pattern::wild, 1)), Fallback::no_gain);
  EXPECT_EQ(why("abs:1e-12,codec=planes", make_values(DType::f64, 50000, Pattern::wild, 1)),
            Fallback::no_gain);
  EXPECT_EQ(why("abs:1e-3,codec=szx", smooth(50000, DType::f16)), Fallback::unsupported);
}

TEST(MessageCoder, WhatDoesNotCompressIsTriedLessAndLess) {
  Coder sender("abs:1e-3");
  const Values wild = make_values(DType::f32, 50000, Pattern::wild, 1), good = smooth(50000);
  std::vector<int> tried;
  for (int i = 0; i < 400; ++i) {
    const Message made = sender.coder.encode(wild.slice());
    EXPECT_EQ(made.fallback, Fallback::no_gain);
    EXPECT_FALSE(made.coded());
    EXPECT_EQ(made.bytes, wild.slice().bytes());
    if (made.begin != 0) tried.push_back(i);
  }
  EXPECT_EQ(tried, (std::vector<int>{0, 2, 5, 11, 22, 44, 87, 173, 344}));
  // Other sizes are unaffected; this size is coded again from the next trial on.
  EXPECT_EQ(sender.coder.encode(smooth(500000).slice()).fallback, Fallback::none);
  int plain = 0;
  while (sender.coder.encode(good.slice()).fallback != Fallback::none) ++plain;
  EXPECT_EQ(plain, 344 + 335 - 400);
  EXPECT_EQ(sender.coder.encode(good.slice()).fallback, Fallback::none);
}

TEST(MessageCoder, SamplesOfAnySizeTakeTheSameShareOfTheBytes) {
  const auto longest = [](std::size_t bytes) {
    RetryBackoff patience;
    for (int i = 0; i < 20; ++i) patience.tried(false, bytes);
    int left = 0;
    while (!patience.has()) ++left;
    return left;
  };
  EXPECT_EQ(longest(1), 4094);
  EXPECT_EQ(longest(64 << 10), 1024);
  EXPECT_EQ(longest(200001), 334);
  EXPECT_EQ(longest(64 << 20), 62);
}

TEST(MessageCoder, OfTwoKindsThatAlternateTheOneThatCompressesIsCoded) {
  Coder sender("abs:1e-3");
  const Values wild = make_values(DType::f32, 50000, Pattern::wild, 1), good = smooth(50000);
  int coded = 0;
  for (int i = 0; i < 200; ++i) {
    sender.coder.encode(wild.slice());
    coded += sender.coder.encode(good.slice()).fallback == Fallback::none;
  }
  EXPECT_GT(coded, 50);
  // All distinct streams are coded.
  Coder other("abs:1e-3");
  coded = 0;
  for (int i = 0; i < 200; ++i) {
    other.coder.encode(wild.slice(), 1);
    coded += other.coder.encode(good.slice(), 2).fallback == Fallback::none;
  }
  EXPECT_EQ(coded, 200);
}

class LimitedPlace final : public Place {
 public:
  int left = 0;  // requests that succeed
  Buffer scratch(std::size_t bytes) override {
    if (left-- <= 0) throw Error(Status::out_of_memory, "none left");
    return host_.scratch(bytes);
  }
  void reserve(std::size_t, std::size_t) override {}

 private:
  void recycle(std::byte*, std::size_t) noexcept override {}
  HostPlace host_;
};

TEST(MessageCoder, WithoutMemoryItIsPlain) {
  const Policy policy = parse_policy("abs:1e-3");
  LimitedPlace place;
  MessageCoder coder(policy, {}, place, "", 1);
  const Values values = smooth(50000);
  Fallback plain = Fallback::memory;
  for (int enough = 0; enough < 100 && plain != Fallback::none; ++enough) {
    place.left = enough;
    plain = coder.encode(values.slice()).fallback;
    EXPECT_TRUE(plain == Fallback::memory || (plain == Fallback::none && enough > 0));
  }
  EXPECT_EQ(plain, Fallback::none);
}

// ---- Damaged and foreign messages

class DamagedMessages : public testing::Test {
 protected:
  DamagedMessages() : coder("abs:1e-3,codec=planes,checksum=on") {
    const Values values = smooth(20000);
    const Message made = coder.coder.encode(values.slice());
    const ConstBytes encoded = frames_of(made);
    frames.assign(encoded.begin(), encoded.end());
  }
  Status decode(ConstBytes bytes, std::size_t room = 80000, std::uint8_t type = 1) {
    const Guarded from(bytes), to(room);
    const Status status = coder.coder.decode(from.bytes(), type, to.bytes());
    EXPECT_TRUE(to.intact());
    return status;
  }
  Coder coder;
  std::vector<std::byte> frames;
};

TEST_F(DamagedMessages, GoodOnesAreDecoded) {
  EXPECT_EQ(decode(frames), Status::ok);
  EXPECT_EQ(decode(frames, 80000, 0), Status::ok) << "of any type";
}

TEST_F(DamagedMessages, OfAnotherTypeOrSize) {
  EXPECT_EQ(decode(frames, 80000, 2), Status::frame_mismatch);
  EXPECT_EQ(decode(frames, 79996), Status::frame_mismatch);
  EXPECT_EQ(decode(frames, 80004), Status::frame_mismatch);
  EXPECT_EQ(decode({}, 4), Status::frame_mismatch);
  EXPECT_EQ(decode({}, 0), Status::ok);
}

TEST_F(DamagedMessages, CutOffAndFollowedByMore) {
  for (std::size_t n = 1; n < frames.size(); n += 97)
    EXPECT_NE(decode(ConstBytes(frames).first(n)), Status::ok) << n;
  std::vector<std::byte> longer = frames;
  longer.push_back(std::byte{0});
  EXPECT_NE(decode(longer), Status::ok);
  std::vector<std::byte> twice = frames;
  twice.insert(twice.end(), frames.begin(), frames.end());
  EXPECT_EQ(decode(twice), Status::frame_mismatch);
  EXPECT_EQ(decode(twice, 160000), Status::ok) << "two frames are as good as one";
}

TEST_F(DamagedMessages, EveryByteMatters) {
  for (std::size_t i = 0; i < frames.size(); i += i < 200 ? 1 : 61) {
    std::vector<std::byte> bad = frames;
    bad[i] ^= std::byte{0x55};
    EXPECT_NE(decode(bad), Status::ok) << i;
  }
}

}  // namespace
}  // namespace taut::test
