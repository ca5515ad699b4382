// Tests random sequences of messages of unchanged programs, which travel as frames or as they are, among
// calls of NCCL. Each rank groups its calls in its own way. TEST_COUNT, TEST_SEED: as in random_test.cpp.
#include <atomic>

#include "gpu/nccl/coded_values.hpp"
#include "gpu/nccl/dropin_ranks.hpp"
#include "gpu/nccl/random_calls.hpp"

namespace taut::test {
namespace rate_random_test {

// A message, or a product of integers that all ranks make. NCCL serves it: a collective call that Taut serves
// has to be in groups of the same calls on all ranks.
struct Event {
  bool collective;
  int from, to;
  Values values;

  bool concerns(int rank) const { return collective || rank == from || rank == to; }
};

// Events in one order, which all ranks keep: without groups, no rank waits for ever. Groups only let calls
// begin earlier.
struct Messages {
  explicit Messages(std::uint64_t seed) {
    constexpr const char* rates[] = {"rate:7", "rate:10.5", "rate:16", "rate:24"};
    constexpr DType types[] = {DType::f32, DType::f32, DType::f64, DType::f16, DType::i32};
    constexpr Pattern patterns[] = {Pattern::smooth, Pattern::noisy, Pattern::sparse};
    constexpr std::size_t limits[] = {1, 2000};
    Draw draw(seed);
    P = 2 + draw.pick(4);
    coding = draw.one_of(rates);
    min_bytes = draw.one_of(limits);
    for (unsigned i = 1 + draw.pick(10u); i > 0; --i) {
      const int from = draw.pick(P), to = (from + 1 + draw.pick(P - 1)) % P;
      const std::size_t count = draw.pick(draw.one_in(4) ? 8000u : 900u);
      events.push_back(
          {draw.one_in(5), from, to, make_values(draw.one_of(types), count, draw.one_of(patterns), i)});
    }
  }
  std::string policy() const {
    return coding + ",codec=zfp,when=always,min_bytes=" + std::to_string(min_bytes);
  }
  // Returns the values that the receiver has to have.
  Values expected(const Event& event) const {
    const Values& sent = event.values;
    const std::size_t bytes = sent.count() * size_of(sent.type());
    const bool of_codec = sent.type() == DType::f32 || sent.type() == DType::f64;
    if (!of_codec || bytes < min_bytes ||
        codec_of(coding, sent.type())->max_bytes(sent.type(), sent.count()) >= bytes)
      return sent;
    return as_coded(sent, coding);
  }

  int P;
  std::string coding;
  std::size_t min_bytes;
  std::vector<Event> events;
};

// Memory of the events: what is sent, what is received, and an integer of each rank.
struct Memory {
  explicit Memory(const Messages& all) {
    for (const Event& event : all.events) {
      const auto bytes = event.values.slice().as_bytes();
      out.push_back(std::make_unique<OnGpu<std::byte>>(std::vector<std::byte>(bytes.begin(), bytes.end())));
      in.push_back(std::make_unique<OnGpu<std::byte>>(bytes.size()));
    }
    for (int r = 0; r < all.P; ++r) integers.push_back(std::make_unique<OnGpu<int>>(std::vector<int>(1, r)));
  }
  std::vector<std::unique_ptr<OnGpu<std::byte>>> out, in;
  std::vector<std::unique_ptr<OnGpu<int>>> integers;
};

int make(const NcclRank& me, const Event& event, std::size_t i, const Memory& memory) {
  const Values& values = event.values;
  const int type = nccl_type(values.type());
  const OnGpu<int>& integer = *memory.integers[static_cast<std::size_t>(me.rank)];
  if (event.collective)
    return taut_dropin_ncclAllReduce(integer.data(), integer.data(), 1, ncclInt32, ncclProd, me.comm,
                                     me.stream);
  if (me.rank == event.from)
    return taut_dropin_ncclSend(memory.out[i]->data(), values.count(), type, event.to, me.comm, me.stream);
  return taut_dropin_ncclRecv(memory.in[i]->data(), values.count(), type, event.from, me.comm, me.stream);
}

// Makes the calls of a rank until one fails. Returns the first code that is not 0.
int make_calls(const NcclRank& me, std::uint64_t seed, const Messages& all, const Memory& memory) {
  Draw draw(100 * seed + static_cast<std::uint64_t>(me.rank));
  int code = 0;
  bool open = false;
  const auto note = [&](int result) { code = code != 0 ? code : result; };
  for (std::size_t i = 0; i < all.events.size() && code == 0; ++i) {
    if (!all.events[i].concerns(me.rank)) continue;
    if (!open && draw.one_in(2)) {
      note(taut_dropin_ncclGroupStart());
      open = true;
    }
    note(make(me, all.events[i], i, memory));
    if (open && draw.one_in(2)) {
      note(taut_dropin_ncclGroupEnd());
      open = false;
    }
  }
  if (open) note(taut_dropin_ncclGroupEnd());
  return code;
}

// Makes the calls of all ranks. Returns true if all of them succeeded.
bool run(const Messages& all, std::uint64_t seed, const Memory& memory, const std::function<void()>& begin) {
  DropinRanks ranks(all.P, all.policy());
  begin();
  return succeed(ranks, [&](NcclRank& me) { return make_calls(me, seed, all, memory); });
}

template <class Test>
void for_each_plan(std::uint64_t count, Test test) {
  for_each_seed_on_gpus(count, [&](std::uint64_t seed) {
    const Messages all(seed);
    test(all, seed, Memory(all));
  });
}

void expect_values(const Messages& all, const Memory& memory) {
  for (std::size_t i = 0; i < all.events.size(); ++i)
    if (const Event& event = all.events[i]; !event.collective) {
      EXPECT_TRUE(fetched(*memory.in[i], event.values.type()) == all.expected(event)) << "message " << i;
      EXPECT_TRUE(fetched(*memory.out[i], event.values.type()) == event.values) << "message " << i;
    }
}

TEST(NcclRandom, DropInSequencesOfMessages) {
  for_each_plan(40, [](const Messages& all, std::uint64_t seed, const Memory& memory) {
    EXPECT_TRUE(run(all, seed, memory, [] {}));
    EXPECT_EQ(fake_nccl::take_report(), "");
    expect_values(all, memory);
  });
}

TEST(NcclRandom, DropInFailuresOfMessages) {
  for_each_plan(12, [](const Messages& all, std::uint64_t seed, const Memory& memory) {
    if (run(all, seed, memory, failure_of(seed))) expect_values(all, memory);
    end_failure();
  });
}

}  // namespace rate_random_test
}  // namespace taut::test
