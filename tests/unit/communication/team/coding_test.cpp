// Tests how a team encodes, decodes and adds frames by a codec that works beside the host, as kernels do.
#include "communication/team/coding.hpp"

#include <gtest/gtest.h>

#include "support/group.hpp"

namespace taut::test {
namespace coding_test {

// Codec whose operations are complete some polls after they have been started. Wraps the codec raw.
class SlowCodec final : public Codec, public CodecOperations {
 public:
  const Contract& contract() const noexcept override { return raw_->contract(); }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return raw_->max_bytes(type, count, addends);
  }
  using Codec::decode, Codec::encode, Codec::reduce;  // the forms without references
  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override {
    return values.count == refused_count ? SizeOrStatus{Status::invalid_count} : raw_->encode(values, out);
  }
  Status decode(ConstBytes in, References, Slice values) const noexcept override {
    return raw_->decode(in, values);
  }
  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override {
    return raw_->reduce(in, values, op);
  }

  int batch() const noexcept override { return 3; }
  Operation start_encode(std::span<EncodeItem> items) const noexcept override {
    return Operation::by_task([&] { return encode_late(items); });
  }
  Operation start_decode(std::span<DecodeItem> items) const noexcept override {
    return Operation::by_task([&] { return decode_late(items); });
  }
  Operation start_reduce(ConstBytes in, Slice into, Reduction op) const noexcept override {
    return SizeOrStatus{reduce(in, into, op)};
  }
  Operation start_sum(std::span<const ConstBytes>, Bytes) const noexcept override {
    return SizeOrStatus{Status::internal};
  }
  Operation start_accumulate(ConstBytes, ConstSlice, Bytes) const noexcept override {
    return SizeOrStatus{Status::internal};
  }

  std::size_t refused_count = 0;
  mutable std::vector<std::size_t> encoded, decoded;  // frames of each operation
  mutable int running = 0, most_running = 0;

 private:
  struct Polls final : Waitable {
    int left = 5;
    bool ready() override { return --left < 0; }
    void result() const noexcept {}
  };
  class Running {
   public:
    explicit Running(const SlowCodec& codec) : codec_(codec) {
      codec_.most_running = std::max(codec_.most_running, ++codec_.running);
    }
    Running(const Running&) = delete;
    ~Running() { --codec_.running; }

   private:
    const SlowCodec& codec_;
  };

  Task<SizeOrStatus> encode_late(std::span<EncodeItem> items) const {
    const Running running_now(*this);
    encoded.push_back(items.size());
    Polls polls;
    co_await polls;
    for (EncodeItem& item : items) item.made = encode(item.values, item.out);
    co_return SizeOrStatus{};
  }
  Task<SizeOrStatus> decode_late(std::span<DecodeItem> items) const {
    decoded.push_back(items.size());
    Polls polls;
    co_await polls;
    for (DecodeItem& item : items) item.status = decode(item.in, item.values);
    co_return SizeOrStatus{};
  }

  std::unique_ptr<Codec> raw_ = find_codec("raw")->make({});
};

template <class Operation>
auto completed(Operation&& operation) {
  while (!operation.ready()) continue;
  return operation.result();
}

class CodingTest : public testing::Test {
 protected:
  Team team(int rank = 0) {
    const auto r = static_cast<std::size_t>(rank);
    return Team(hub.transport(rank), codec, places[r], counters[r], Arithmetic::values, 0);
  }

  SlowCodec codec;
  HostPlace places[2];
  CallCounters counters[2];
  LoopbackHub hub{2, {.record = true}};
  const Values values = make_values(DType::f32, 97, Pattern::noisy, 1);
};

using Numbers = std::vector<std::size_t>;

TEST_F(CodingTest, BlocksAreEncodedTogetherIntoOneBuffer) {
  Team t = team().in_blocks(7);
  const Frames frames = completed(t.encode(values.slice(), 2, 7));
  EXPECT_EQ(codec.encoded, (Numbers{3, 3, 1}));
  EXPECT_EQ(counters[0].encodes, 7u);
  EXPECT_EQ(frames.bytes, 7 * 64 + 97 * sizeof(float));  // without gaps
  Values out(DType::f32, 97);
  DecodeBatch batch(t);
  for (int i = 0; i < 7; ++i) completed(batch.add(frames, i, t.chunk(out.slice(), 2 + i)));
  completed(batch.rest());
  EXPECT_EQ(codec.decoded, (Numbers{3, 3, 1}));
  EXPECT_EQ(counters[0].status, Status::ok);
  EXPECT_TRUE(out == values);
}

TEST_F(CodingTest, BlocksAreEncodedTogetherIntoBuffersOfTheirOwn) {
  Team t = team().in_blocks(4);
  std::array<Frames, 4> frames;
  completed(t.encode(values.slice(), 1, frames));
  EXPECT_EQ(codec.encoded, (Numbers{3, 1}));
  Values out(DType::f32, 97);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(completed(t.decode(frames[static_cast<std::size_t>(i)], t.chunk(out.slice(), 1 + i))),
              Status::ok);
  EXPECT_TRUE(out == values);
}

TEST_F(CodingTest, NothingIsDecodedWithoutMemory) {
  Team t = team();
  const Frames frame = completed(t.encode(values.slice()));
  const Slice none{{nullptr, 97, DType::f32}};
  EXPECT_EQ(completed(t.decode(frame, none)), Status::ok);
  t.copy(values.slice(), none);
  EXPECT_TRUE(codec.decoded.empty());
  EXPECT_EQ(counters[0].decodes, 0u);
  EXPECT_EQ(counters[0].status, Status::ok);
}

TEST_F(CodingTest, AFrameThatFailsLeavesTheOthers) {
  Team t = team().in_blocks(4);  // blocks of 25, 24, 24 and 24 values
  codec.refused_count = 25;
  const Frames frames = completed(t.encode(values.slice(), 3, 3));
  EXPECT_EQ(counters[0].status, Status::invalid_count);
  EXPECT_EQ(inspect(frames.part(0, 1), DType::f32, 24, 1), Status::ok);
  EXPECT_EQ(inspect(frames.part(1, 1), DType::f32, 25, 1), Status::peer_failed);
  EXPECT_EQ(inspect(frames.part(2, 1), DType::f32, 24, 1), Status::ok);
}

// The first segment is sent while the other ones are encoded.
TEST_F(CodingTest, SegmentsAreEncodedBesideEachOther) {
  const AlgorithmInfo* const algorithm = find_algorithm(Collective::bcast, "chain");
  Values in = values, out(DType::f32, 97);
  constexpr int segments = 4;
  Task<> tasks[] = {pipelined(*algorithm, team(0), {std::as_const(in).slice(), in.slice()}, segments),
                    pipelined(*algorithm, team(1), {{}, out.slice()}, segments)};
  hub.run(tasks);
  for (Task<>& task : tasks) task.result();
  EXPECT_EQ(codec.most_running, segments);
  EXPECT_EQ(counters[0].status, Status::ok);
  EXPECT_TRUE(out == in);
}

}  // namespace coding_test
}  // namespace taut::test
