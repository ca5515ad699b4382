// Promise: with history= frames of a message refer to earlier ones of its stream that the receiver holds, and
// to no others; values have the bits that they have without it.
#include "communication/comm/message_history.hpp"

#include <gtest/gtest.h>

#include "communication/comm/message_coder.hpp"
#include "support/group.hpp"

namespace taut::test {
namespace {

constexpr std::size_t values_of_one = 30000;
constexpr MessageFormat wire_format{.mark = 0x8123456789ABCDEF};

// Two processes: one sends messages, the other one receives them, and their credit travels when it is told
// to.
struct MessagePair {
  explicit MessagePair(const std::string& text, std::size_t limit = std::size_t{1} << 30)
      : policy(parse_policy(text)),
        sender(policy, wire_format, place, "", 1),
        receiver(policy, wire_format, place, "", 1),
        most_received(limit) {}

  taut::Message send(ConstSlice values, std::uint64_t key = 1, std::uint64_t kind = 0) {
    if (policy.history == 0) return sender.encode(values);
    return sender.encode(values, 0, {}, {&sent, {key, 1, kind != 0 ? kind : key}});
  }

  // Returns the values that arrive. `keeps`: the receiver keeps them; `credit`: its credit arrives.
  Values receive(const taut::Message& message, DType type, bool keeps = true, bool credit = true) {
    Values values(type, message.bytes / size_of(type));
    EXPECT_TRUE(message.coded());
    if (!message.coded()) return values;
    const auto envelope = open_message(wire_format, message.memory().first(message.coded_bytes));
    EXPECT_TRUE(envelope);
    received.forget(envelope->state);
    EXPECT_EQ(receiver.decode(envelope->frames, envelope->type, values.slice().as_bytes(),
                              {&received, nullptr, envelope->bytes}),
              Status::ok);
    if (keeps && envelope->state.number != 0 &&
        received.keep(envelope->state.number, values.slice(), most_received) && credit)
      sent.give_credit(envelope->state.number);
    return values;
  }

  Policy policy;
  HostPlace place;
  MessageCoder sender, receiver;
  SentStates sent{0};
  ReceivedStates received;
  std::size_t most_received;
};

// Values that change little from step to step: noise that stays, and a wave that moves.
Values field_at(DType type, int step, std::uint64_t seed = 77) {
  Values values = make_values(type, values_of_one, Pattern::noisy, seed);
  std::vector<double> numbers(values.numbers());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = values.at(i) + 0.01 * std::sin(0.001 * static_cast<double>(i) + 0.1 * step);
  values.set(0, numbers);
  return values;
}

TEST(MessageHistory, ValuesHaveTheSameBitsAndFewerBytes) {
  for (const char* policy :
       {"abs:1e-3", "lossless", "snap:1e-3", "pwrel:1e-3", "rel:1e-4", "abs:1e-3,when=profitable"})
    for (const DType type : {DType::f32, DType::f64, DType::bf16}) {
      if (type == DType::bf16 && std::string(policy) != "lossless") continue;
      const std::string own = std::string(policy) + ",min_bytes=0", remembering = own + ",history=auto";
      MessagePair with(remembering);
      std::size_t first = 0, last = 0;
      int referring = 0;
      for (int step = 0; step < 12; ++step) {
        const Values values = field_at(type, step);
        // The steps of relative bounds depend on the setting, though not on the messages before.
        MessagePair without(own.starts_with("rel") ? remembering : own);
        const taut::Message one = with.send(values.slice()), other = without.send(values.slice());
        EXPECT_TRUE(step < 2 || one.coded()) << policy << " " << name_of(type);
        const Values got = one.coded() ? with.receive(one, type) : values;
        ASSERT_TRUE(!other.coded() || got == without.receive(other, type)) << policy << " " << step;
        referring += one.refers;
        last = one.coded() ? one.frame_bytes : one.bytes;
        if (step == 0) first = last;
      }
      if (std::string(policy).starts_with("pwrel")) continue;  // small values change by more than their bound
      EXPECT_LT(last, first) << policy << " " << name_of(type);
      EXPECT_GE(referring, 8) << policy << " " << name_of(type);
    }
}

TEST(MessageHistory, FindsTheFieldThatComesRoundAgain) {
  MessagePair pair("abs:1e-3,history=4");
  int referring = 0;
  for (int step = 0; step < 30; ++step) {
    const Values values = field_at(DType::f32, step / 3, static_cast<std::uint64_t>(step % 3));
    const taut::Message message = pair.send(values.slice());
    referring += message.refers;
    pair.receive(message, DType::f32);
  }
  EXPECT_GE(referring, 24);
}

// References save little where values are smooth, and much where noise stays.
TEST(MessageHistory, UnderWhenProfitableReferencesSaveATenthOfTheValues) {
  for (const bool noise : {true, false})
    for (const char* when : {"always", "profitable"}) {
      MessagePair pair(std::string(noise ? "abs:1e-2" : "abs:1e-1") +
                       ",min_bytes=0,history=auto,when=" + when);
      const Values smooth = make_values(DType::f32, values_of_one, Pattern::smooth, 3);
      int referring = 0;
      for (int step = 0; step < 12; ++step) {
        const taut::Message message = pair.send((noise ? field_at(DType::f32, step) : smooth).slice());
        referring += message.refers;
        pair.receive(message, DType::f32);
      }
      EXPECT_EQ(referring > 0, noise || std::string(when) == "always") << noise << " " << when;
    }
}

// Messages that shrink so much alone that no reference can save a tenth delay none of the later ones.
TEST(MessageHistory, CalmMessagesUnderWhenProfitableHaveNoReferencesAndDelayNone) {
  MessagePair pair("abs:1e-2,min_bytes=0,history=auto,when=profitable");
  const Values calm = make_values(DType::f32, values_of_one, Pattern::steps, 3),
               zeros(DType::f32, values_of_one);
  const auto count_referring = [&](int messages, auto values_of) {
    int referring = 0;
    for (int step = 0; step < messages; ++step) {
      const taut::Message message = pair.send(values_of(step).slice());
      referring += message.refers;
      if (message.coded()) pair.receive(message, DType::f32);
    }
    return referring;
  };
  const auto noise = [](int step) { return field_at(DType::f32, step); };
  EXPECT_GE(count_referring(8, noise), 5);
  EXPECT_LE(count_referring(30, [&](int) -> const Values& { return zeros; }), 1);
  EXPECT_LE(count_referring(30, [&](int) -> const Values& { return calm; }), 1);
  EXPECT_GE(count_referring(16, noise), 8);
}

// Programs that move particles change the count of their messages now and then.
TEST(MessageHistory, AMessageOfAnotherCountLeavesAStateAtOnce) {
  constexpr std::uint64_t kind = 9;
  for (const bool gains : {true, false}) {
    MessagePair pair("abs:1e-3,history=auto");
    const auto send = [&](int step, std::uint64_t key, bool changes) {
      const Values values = field_at(DType::f32, step, changes ? 100 + static_cast<std::uint64_t>(step) : 77);
      taut::Message message = pair.send(values.slice(), key, kind);
      pair.receive(message, DType::f32);
      return message;
    };
    for (int step = 0; step < 4; ++step) send(step, 1, !gains);
    const taut::Message first = send(4, 2, false), second = send(5, 2, false);
    EXPECT_EQ(first.state != nullptr, gains);
    EXPECT_FALSE(first.refers);
    EXPECT_EQ(second.refers, gains);
  }
}

// Counts that never come again leave few states: what counts are the last streams of the kind.
TEST(MessageHistory, CountsThatNeverComeAgainLeaveFewStates) {
  constexpr std::uint64_t kind = 9;
  MessagePair pair("abs:1e-3,history=auto");
  const auto send = [&](int step, std::uint64_t key) {
    const taut::Message message = pair.send(field_at(DType::f32, step).slice(), key, kind);
    pair.receive(message, DType::f32);
    return message.state != nullptr;
  };
  for (int step = 0; step < 4; ++step) send(step, 1);
  int left = 0;
  for (int step = 4; step < 100; ++step) left += send(step, static_cast<std::uint64_t>(step));
  EXPECT_GT(left, 0);
  EXPECT_LT(left, 12);
}

TEST(MessageHistory, WithoutCreditNoFrameRefers) {
  for (const bool keeps : {false, true}) {
    MessagePair pair("abs:1e-3,history=auto");
    int kept = 0;
    for (int step = 0; step < 400; ++step) {
      const taut::Message message = pair.send(field_at(DType::f32, step).slice());
      EXPECT_FALSE(message.refers);
      kept += message.state != nullptr;
      pair.receive(message, DType::f32, keeps, false);
    }
    EXPECT_LT(kept, 30) << "a stream without answers costs little";
    EXPECT_GT(kept, 13) << "and is tried again";
  }
}

TEST(MessageHistory, AReceiverWithoutRoomIsNotReferredTo) {
  MessagePair pair("abs:1e-3,history=auto", 1000);
  for (int step = 0; step < 10; ++step) {
    const taut::Message message = pair.send(field_at(DType::f32, step).slice());
    EXPECT_FALSE(message.refers);
    pair.receive(message, DType::f32);
  }
  EXPECT_EQ(pair.received.bytes(), 0u);
}

TEST(MessageHistory, BothSidesStayBelowTheirLimits) {
  MessagePair pair("abs:1e-3,history=3,history_bytes=700KiB");  // room for 5 messages
  for (int step = 0; step < 60; ++step) {
    const auto key = static_cast<std::uint64_t>(step % 4);
    const taut::Message message = pair.send(field_at(DType::f32, step / 4, key).slice(), key);
    pair.receive(message, DType::f32);
    EXPECT_LE(pair.received.bytes(), (700u << 10) + 3 * values_of_one * 4)
        << "those not told to be forgotten yet";
  }
}

// Messages are decoded in any order, some are lost, and credit comes late or never.
TEST(MessageHistory, NoOrderAndNoLossGivesAWrongValue) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    MessagePair pair("abs:1e-3,history=" + std::to_string(1 + round % 5)), plain("abs:1e-3");
    struct Underway {
      taut::Message message;
      Values expected;
    };
    std::vector<Underway> underway;
    int referring = 0;
    for (int step = 0; step < 60; ++step) {
      const Values values = field_at(DType::f32, step);
      Values expected = plain.receive(plain.send(values.slice()), DType::f32);
      underway.push_back({pair.send(values.slice(), random() % 2), std::move(expected)});
      referring += underway.back().message.refers;
      while (underway.size() > random() % 4) {
        const auto one = underway.begin() + static_cast<std::ptrdiff_t>(random() % underway.size());
        const bool lost = random() % 8 == 0;
        if (!lost) {
          ASSERT_TRUE(pair.receive(one->message, DType::f32, random() % 8 != 0, random() % 4 != 0) ==
                      one->expected);
        }
        underway.erase(one);
      }
    }
    EXPECT_GT(referring, 10);
  }
}

TEST(MessageHistory, AStateThatIsNotHeldIsAnError) {
  MessagePair pair("abs:1e-3,history=auto");
  for (int step = 0; step < 5; ++step)
    pair.receive(pair.send(field_at(DType::f32, step).slice()), DType::f32);
  const taut::Message message = pair.send(field_at(DType::f32, 5).slice());
  ASSERT_TRUE(message.refers);
  const auto envelope = open_message(wire_format, message.memory().first(message.coded_bytes));
  Values values(DType::f32, values_of_one);
  const auto decode = [&](ReceivedStates* states, std::size_t bytes) {
    return pair.receiver.decode(envelope->frames, envelope->type, values.slice().as_bytes(),
                                {states, nullptr, bytes});
  };
  ReceivedStates other;
  EXPECT_EQ(decode(&other, envelope->bytes), Status::frame_mismatch);
  EXPECT_EQ(decode(nullptr, envelope->bytes), Status::frame_mismatch);
  EXPECT_EQ(decode(&pair.received, envelope->bytes + 4), Status::frame_mismatch) << "of a longer message";
  EXPECT_EQ(decode(&pair.received, envelope->bytes), Status::ok);
}

TEST(MessageHistory, ALongMessageRefersInAllItsSegments) {
  MessagePair pair("abs:1e-3,history=auto");
  constexpr std::size_t n = 1000001;
  const FollowingSegments following{.segments = 3};
  for (int step = 0; step < 6; ++step) {
    const Values values = make_values(DType::f32, n, Pattern::noisy, 5);
    taut::Message message = pair.sender.encode(values.slice(), 0, following, {&pair.sent, {1, 1}});
    ASSERT_TRUE(message.coded());
    EXPECT_EQ(message.refers, step > 1);
    Values got(DType::f32, n), alone(DType::f32, n);
    const auto first = open_message(wire_format, message.memory().first(message.coded_bytes));
    ASSERT_TRUE(first);
    std::size_t offset = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const Slice part = block(got.slice(), i, 4);
      ConstBytes frames = first->frames;
      if (i > 0)
        frames = open_message(wire_format, pair.sender.encode_segment(values.slice(), i, message))->frames;
      ASSERT_EQ(pair.receiver.decode(frames, first->type, part.as_bytes(),
                                     {&pair.received, nullptr, first->bytes, offset}),
                Status::ok);
      offset += part.bytes();
    }
    EXPECT_TRUE(step < 2 || message.frame_bytes < n);
    MessagePair plain("abs:1e-3");
    const taut::Message without = plain.send(values.slice());
    EXPECT_TRUE(got == plain.receive(without, DType::f32));
    ASSERT_TRUE(pair.received.keep(first->state.number, got.slice(), std::size_t{1} << 30));
    pair.sent.give_credit(first->state.number);
  }
}

}  // namespace
}  // namespace taut::test
