#include "communication/comm/explain.hpp"

#include <gtest/gtest.h>

#include "communication/comm/call_site.hpp"
#include "communication/comm/report.hpp"

namespace taut {
namespace {

CallRow a_row() {
  CallRow row;
  row.key =
      Call{.collective = Collective::allreduce, .type = DType::f32, .op = Reduction::sum, .bytes = 1 << 20}
          .key();
  Statistics& sum = row.sum;
  sum.calls = 12;
  sum.compressed_calls = 10;
  sum.value_bytes = 80 << 20;
  sum.frame_bytes = 10 << 20;
  sum.sent_bytes = 20 << 20;
  sum.carried_bytes = 160 << 20;
  sum.plain[static_cast<std::size_t>(Fallback::no_gain)] = 2;
  sum.times[Phase::encode] = 250000000;
  sum.times[Phase::wait] = 750000000;
  sum.times[Phase::call] = 1000000000;
  row.decision = {"planes", "delta", "ring", Arithmetic::frames, 4, Bound(1e-4 / 3)};
  row.fallback = Fallback::no_gain;
  row.expected_ratio = 1.05f;
  return row;
}

TEST(Explain, ALine) {
  EXPECT_EQ(
      explain(a_row()),
      "allreduce f32 sum 1MiB: 12 calls, 10 compressed by planes/delta, ring by frames, 4 segments, "
      "abs:3.333e-05; ratio 8, sent 20MiB for 160MiB; 2 plain (samples compress too little: ratio 1.05); "
      "1 s: encode 25.0 %, wait 75.0 %");
}

TEST(Explain, ARateHasNoErrorBound) {
  CallRow row = a_row();
  row.decision = {"zfp", "", "ring", Arithmetic::values, 1, Bound(Bound::Kind::rate, 8)};
  EXPECT_NE(explain(row).find("by zfp, ring by values, 1 segment, rate:8 without an error bound; ratio"),
            std::string::npos);
}

// The policy lacks the name of the codec, in most such calls.
TEST(Explain, UnsupportedCallsNameTheRemedy) {
  CallRow row = a_row();
  row.sum.plain[static_cast<std::size_t>(Fallback::unsupported)] = 1;
  EXPECT_NE(explain(row).find("reductions at a rate need codec="), std::string::npos);
}

TEST(Explain, NothingButPlainCalls) {
  CallRow row;
  row.key = Call{.collective = Collective::bcast, .bytes = 8}.key();
  row.sum.calls = 1;
  row.sum.plain[static_cast<std::size_t>(Fallback::small)] = 1;
  EXPECT_EQ(explain(row), "bcast other 8B: 1 call, 0 compressed; 1 plain (below min_bytes)");
}

TEST(Explain, WhatTookLongestComesFirst) {
  CallTable calls;
  Call call{.collective = Collective::allreduce, .bytes = 1};
  for (const std::uint64_t time : {10, 30, 0, 20}) {
    calls.count(call.key(), 1);
    calls.row(call.key()).sum.times[Phase::call] = time;
    call.bytes *= 2;
  }
  std::vector<std::uint64_t> times;
  for (const CallRow* row : in_order(calls)) times.push_back(row->sum.times[Phase::call]);
  EXPECT_EQ(times, (std::vector<std::uint64_t>{30, 20, 10, 0}));
  const std::string text = explain(calls, "abs:1", 4);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_EQ(text.rfind("policy abs:1 on 4 ranks: 4 calls, 0 compressed", 0), 0u);
}

TEST(Explain, EveryReasonHasItsWords) {
  for (std::size_t i = 1; i < fallback_reasons; ++i) {
    EXPECT_STRNE(describe(static_cast<Fallback>(i)), "");
    EXPECT_STRNE(name_of(static_cast<Fallback>(i)), "");
  }
}

TEST(Explain, Sizes) {
  EXPECT_EQ(size_text(0), "0B");
  EXPECT_EQ(size_text(1023), "1023B");
  EXPECT_EQ(size_text(1024), "1KiB");
  EXPECT_EQ(size_text(1536 << 10), "1.5MiB");
  EXPECT_EQ(size_text(~std::uint64_t{0}), "16EiB");
}

TEST(CallSite, IsNamedByItsObject) {
  EXPECT_EQ(call_site_name(nullptr), "");
  EXPECT_EQ(call_site_name(reinterpret_cast<const void*>(std::uintptr_t{16})), "0x10");
  const auto here = reinterpret_cast<const char*>(&a_row);
  EXPECT_NE(call_site_name(here + 3).find('+'), std::string::npos);
  EXPECT_EQ(call_site_name(here + 3).find('/'), std::string::npos);
}

TEST(CallSite, OfACallByTheProgramIsItsReturnAddress) {
  EXPECT_EQ(program_site(nullptr), nullptr);
  const void* const here = reinterpret_cast<const char*>(&a_row) + 3;
  EXPECT_EQ(program_site(here), here);
}

TEST(FileName, HasTheRank) {
  EXPECT_EQ(file_name("a.json", {3, 4}), "a.json.3");
  EXPECT_EQ(file_name("a.json", {0, 1}), "a.json");
  EXPECT_EQ(file_name("a-%r.json", {0, 1}), "a-0.json");
  const ProcessRank spawned{.rank = 1, .ranks = 2, .spawned = true, .run = 0xABC};
  EXPECT_EQ(file_name("a.json", spawned), "a.json.spawned-0000000000000abc.1");
  EXPECT_EQ(file_name("a-%r.json", spawned), "a-1.json.spawned-0000000000000abc");
  EXPECT_EQ(file_name("%r/a-%r.json", {12, 16}), "12/a-12.json");
}

TEST(Summary, HasALineForEachKindUpToTwenty) {
  CommReport a{.policy = "abs:1", .ranks = 4}, b{.policy = "abs:1", .ranks = 2};
  for (std::size_t bytes = 1; bytes <= 1 << 14; bytes *= 2) {
    a.calls.count(Call{.collective = Collective::allreduce, .bytes = bytes}.key(), 1);
    b.calls.count(Call{.collective = Collective::bcast, .bytes = bytes}.key(), 1);
  }
  const CommReport* const both[] = {&a, &b};
  const std::string text = summary_table(both, {0, 4});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 20 + 1 + 1);
  EXPECT_NE(text.find("and 10 kinds more"), std::string::npos);
}

}  // namespace
}  // namespace taut
