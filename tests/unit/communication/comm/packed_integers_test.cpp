// Integers packed into the values of collective calls and messages, under bits=exact.
#include <gtest/gtest.h>

#include "communication/comm/message_coder.hpp"
#include "communication/comm/sampler.hpp"
#include "support/packed.hpp"
#include "support/ranks.hpp"

namespace taut::test {
namespace {

constexpr std::size_t records = 9000;  // blocks of three ranks are whole records

Values values_of(const PackedBuffer<double>& buffer) {
  Values values(DType::f64, buffer.values.size());
  std::memcpy(values.slice().data, buffer.values.data(), values.slice().bytes());
  return values;
}

std::vector<double> numbers_of(const Values& values) {
  std::vector<double> x(values.count());
  std::memcpy(x.data(), values.slice().data, values.slice().bytes());
  return x;
}

// Returns integers of any bits, beside numbers.
PackedBuffer<double> hashes() {
  std::mt19937_64 random(3);
  PackedBuffer<double> b{"hashes", {}, {}};
  for (std::size_t i = 0; i < 6 * records; ++i) i % 3 == 0 ? b.integer(random()) : b.number(coordinate(i, 0));
  return b;
}

TEST(PackedIntegers, CollectivesLeaveThemAsTheyAre) {
  for (const char* policy : {"abs:1e-4", "rel:1e-5", "snap:1e-4", "pwrel:1e-5", "abs:1e-4,codec=szx"})
    for (const Collective collective :
         {Collective::allgather, Collective::bcast, Collective::alltoall, Collective::scatter}) {
      SCOPED_TRACE(testing::Message() << policy << " " << name_of(collective));
      const PackedBuffer<double> buffer = lammps(records);
      Job job(collective, 3, buffer.values.size(), DType::f64, Pattern::smooth, 1);
      for (Values& input : job.inputs) input = values_of(buffer);
      Ranks ranks(3, std::string(policy) + ",bits=exact,when=always");
      for (const Verdict& verdict : ranks.run(collective, job)) {
        EXPECT_EQ(verdict.fallback, Fallback::none);
        EXPECT_EQ(verdict.status, Status::ok);
      }
      EXPECT_EQ(ranks.statistics(0).packed_calls, 1u);
      for (int r = 0; r < 3; ++r) {
        const std::vector<double> out = numbers_of(job.outputs[static_cast<std::size_t>(r)]);
        const Range defined = job.defined(r);
        for (std::size_t i = defined.first; i < defined.first + defined.count; ++i) {
          if (!buffer.is_integer[i]) continue;
          const Reference exact = job.exact(r, i);
          const double expected = static_cast<double>(exact.value);
          EXPECT_TRUE(std::isnan(expected) ? std::isnan(out[i]) : out[i] == expected) << i;
        }
      }
    }
}

// One rank contributes packed integers, the others zeros, by frames and by values: the sum equals the
// integers bit for bit.
TEST(PackedIntegers, SumsWithZerosKeepThem) {
  const PackedBuffer<double> buffer = lammps(records);
  for (const char* policy :
       {"abs:1e-4", "abs:1e-4,reduction=values", "abs:1e-4,algorithm=recursive_doubling"}) {
    Job job(Collective::allreduce, 3, buffer.values.size(), DType::f64, Pattern::smooth, 1);
    for (Values& input : job.inputs)
      input = values_of(PackedBuffer<double>{"", std::vector<double>(buffer.values.size()), {}});
    job.inputs[1] = values_of(buffer);
    Ranks ranks(3, std::string(policy) + ",bits=exact,when=always");
    for (const Verdict& verdict : ranks.run(Collective::allreduce, job))
      EXPECT_EQ(verdict.status, Status::ok);
    EXPECT_TRUE(job.same_bits());
    const std::vector<double> out = numbers_of(job.outputs[0]);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!buffer.is_integer[i] || std::isnan(buffer.values[i])) continue;
      ASSERT_EQ(out[i], buffer.values[i]) << policy;
    }
  }
}

TEST(PackedIntegers, WhatCannotBeToldApartIsPlainOnAllRanks) {
  Job job(Collective::allgather, 3, 6 * records, DType::f64, Pattern::smooth, 1);
  job.inputs[2] = values_of(hashes());
  Ranks ranks(3, "abs:1e-4,bits=exact");
  for (const Verdict& verdict : ranks.run(Collective::allgather, job))
    EXPECT_EQ(verdict.fallback, Fallback::packed);
  Ranks rounded(3, "abs:1e-4,bits=rounded,when=always");
  for (const Verdict& verdict : rounded.run(Collective::allgather, job))
    EXPECT_EQ(verdict.fallback, Fallback::none);
}

Message encoded(const std::string& policy_text, const PackedBuffer<double>& buffer) {
  const Policy policy = parse_policy(policy_text);
  HostPlace place;
  MessageCoder coder(policy, {}, place, "", 1);
  Message made = coder.encode(values_of(buffer).slice());
  if (made.fallback == Fallback::none) {
    Values decoded(DType::f64, buffer.values.size());
    const ConstBytes frames = made.memory().subspan(envelope_bytes, made.frame_bytes);
    EXPECT_EQ(coder.decode(frames, static_cast<std::uint8_t>(DType::f64), decoded.slice().as_bytes()),
              Status::ok);
    EXPECT_EQ(damage(buffer, numbers_of(decoded)).integers, 0u);
  }
  made.buffer = {};
  return made;
}

TEST(PackedIntegers, MessagesLeaveThemAsTheyAre) {
  PackedBuffer<double> buffer = lammps(2000);  // numbers without integers, so that frames pay
  for (std::size_t i = 0; i < 20 * records; ++i) buffer.number(coordinate(i, 1));
  for (const char* policy : {"abs:1e-4,bits=exact", "rel:1e-5,bits=exact"}) {
    const Message made = encoded(policy, buffer);
    EXPECT_EQ(made.fallback, Fallback::none);
  }
  EXPECT_EQ(encoded("abs:1e-4,bits=exact,when=always", lammps(records)).packed, true);
  EXPECT_EQ(encoded("abs:1e-4,bits=exact", hashes()).fallback, Fallback::packed);
}

TEST(PackedIntegers, SamplesCountThem) {
  Sampler sampler("", std::uint64_t{1} << 62);
  CallRow row;
  row.key = Call{.collective = Collective::allreduce, .type = DType::f64}.key();
  sampler.look(row, {values_of(lammps(records)).slice()});
  EXPECT_EQ(row.values.samples, 1u);
  EXPECT_EQ(row.values.packed, 1u);
  EXPECT_GT(row.values.greatest, 33);
  EXPECT_LT(row.values.greatest, 34);
  CallRow other = CallRow{row.key, {}, {}};
  sampler.look(other, {make_values(DType::f64, 50000, Pattern::smooth, 1).slice()});
  EXPECT_EQ(other.values.packed, 0u);
}

}  // namespace
}  // namespace taut::test
