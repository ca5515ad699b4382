// Tests the coding of messages while a call of CUDA's runtime fails: the result is right, or there is an
// error, and the next message is coded.
#include "gpu/cuda_messages/coded.hpp"
#include "support/gpu_faults.h"

namespace taut::test {
namespace {

// Runs the action with the n-th runtime call from now on failing. Returns true if so many calls were made.
template <class Action>
bool with_failing_call(unsigned long n, const Action& action) {
  const unsigned long before = stand_in_calls();
  stand_in_at_call(n, nullptr, nullptr);
  action();
  stand_in_at_call(0, nullptr, nullptr);
  return stand_in_calls() - before >= n;
}

class FaultsOfMessages : public testing::TestWithParam<const char*> {
 protected:
  const MessageCase message{
      .policy = std::string(GetParam()) + ",when=always,min_bytes=1", .count = 9000, .segments = 3};
  const Values values = message.values();
  const OnGpu<std::byte> there{bytes_of(values)};
  OneCoder coder{message.policy};
};

TEST_P(FaultsOfMessages, OfSenders) {
  Message made;
  const auto wanted = segments_of(coder, there.data(), message, values, made);
  ASSERT_EQ(made.fallback, Fallback::none);
  const auto try_call = [&](unsigned long n) {
    return with_failing_call(n, [&] {
      const auto got = segments_of(coder, there.data(), message, values, made);
      const bool plain = made.fallback != Fallback::none;
      EXPECT_TRUE(!plain || made.failure != Status::ok || made.fallback == Fallback::device) << n;
      EXPECT_NE(made.fallback, Fallback::unsupported) << n;
      for (std::size_t i = 0; i < got.size() && !plain; ++i) {
        const std::size_t bytes = block(values.slice(), i, message.segments).bytes();
        const bool as_values = i > 0 && got[i].size() == bytes;  // the encoder has failed, the copy has not
        EXPECT_TRUE(got[i] == wanted[i] || as_values || (made.failure != Status::ok && got[i].empty())) << n;
      }
    });
  };
  for (unsigned long n = 1; try_call(n); ++n) ASSERT_LT(n, 1000u);
  EXPECT_EQ(segments_of(coder, there.data(), message, values, made), wanted);
}

TEST_P(FaultsOfMessages, OfReceivers) {
  Message made;
  segments_of(coder, there.data(), message, values, made);
  const std::size_t first = block(values.slice(), 0, message.segments).bytes();
  std::vector<std::byte> wanted(first);
  ASSERT_EQ(coder.decode(made, wanted), Status::ok);
  const auto try_call = [&](unsigned long n) {
    const OnGpu<std::byte> to(first);
    Status status = Status::ok;
    const bool reached = with_failing_call(n, [&] { status = coder.decode(made, {to.data(), first}); });
    EXPECT_TRUE(status != Status::ok || to.read() == wanted) << n;
    return reached;
  };
  for (unsigned long n = 1; try_call(n); ++n) ASSERT_LT(n, 1000u);
}

INSTANTIATE_TEST_SUITE_P(All, FaultsOfMessages,
                         testing::Values("abs:1e-3,codec=planes", "rel:1e-4,codec=planes",
                                         "lossless,codec=mpc"));

}  // namespace
}  // namespace taut::test
