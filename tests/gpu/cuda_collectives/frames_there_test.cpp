// Tests collective calls whose frames stay on the GPUs, over a transport that accesses memory of GPUs: the
// results equal those of frames on the host, to the bit.
#include "communication/gpu/frame_codec.hpp"
#include "communication/gpu/staging_codec.hpp"
#include "communication/team/frames.hpp"
#include "gpu/cuda_collectives/device_job.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace frames_there_test {

constexpr const char* codings[] = {
    "abs:1e-3,codec=planes,predictor=delta",
    "abs:1e-3,codec=planes,reduction=values",
    "lossless,codec=mpc",
    "abs:1e-3,codec=planes,predictor=delta+100",
    "pwrel:1e-2,codec=mpc",
    "rel:1e-3,codec=planes",
};

TEST(FramesOnGpus, EveryAlgorithmGivesTheBitsOfTheHost) {
  unsigned turn = 0;
  for (const AlgorithmInfo* const algorithm : registered_algorithms())
    for (int P = 2; P <= 7; ++P) {
      std::string coding = codings[++turn % std::size(codings)];
      if (!is_sampled()) continue;
      if (reduces(algorithm->collective) && coding[0] == 'p') coding = codings[0];
      expect_same_bits({.collective = algorithm->collective,
                        .policy = coding + ",algorithm=" + algorithm->name,
                        .P = P,
                        .count = P % 2 == 0 ? 5003u : 997u,
                        .root = static_cast<int>(turn) % P,
                        .in_place = turn % 3 == 1,
                        .on_gpus = turn % 4 == 3 ? 0b0100110u : ~0u,
                        .frames_there = true});
    }
}

TEST(FramesOnGpus, AnyCountInSegmentsAndByNodes) {
  const int node_of[] = {0, 0, 1, 1};
  for (const Collective collective : all_collectives)
    for (const std::size_t count : {1u, 7u, 64u, 8191u})
      for (const char* const coding :
           {"abs:1e-3,codec=planes", "abs:1e-3,codec=planes,segments=3", "abs:1e-3,codec=planes,nodes=on"})
        if (is_sampled())
          expect_same_bits({.collective = collective,
                            .policy = coding,
                            .P = 4,
                            .count = 4 * count,
                            .nodes = Nodes(node_of),
                            .frames_there = true});
}

TEST(FramesOnGpus, FixedRates) {
  if (find_codec("zfp") == nullptr) GTEST_SKIP() << "the codec zfp is left out";
  for (const Collective collective : all_collectives)
    expect_same_bits({.collective = collective, .policy = "rate:8,codec=zfp", .frames_there = true});
}

TEST(FramesOnGpus, MessagesAreSentFromThereAndReceivedThere) {
  static int from_gpus, to_gpus;
  from_gpus = to_gpus = 0;
  const Trial trial{.collective = Collective::allgather, .P = 3, .frames_there = true};
  LoopbackHub::Options transport = trial.transport();
  transport.random_order = false;
  transport.copy = [](void* to, const void* from, std::size_t bytes) {
    from_gpus += stand_in_device_of(from) >= 0;
    to_gpus += stand_in_device_of(to) >= 0;
    stand_in_copy(to, from, bytes);
  };
  RanksOnGpus ranks(trial, transport);
  Job job = trial.job();
  for (const Verdict& verdict : run_on_gpus(ranks, trial, job)) EXPECT_EQ(verdict.status, Status::ok);
  const int frames = 3 * 2;  // each rank receives those of the others
  EXPECT_EQ(from_gpus, frames);
  EXPECT_EQ(to_gpus, frames);
}

// Values of a node too. Loopback copies each message to the host, and from there.
TEST(FramesOnGpus, ValuesOfANodeAreSentFromThereAndReceivedThere) {
  static int on_gpus, on_host;
  const int node_of[] = {0, 0, 1, 1};
  for (const Collective collective : all_collectives) {
    const Trial trial{.collective = collective,
                      .policy = "abs:1e-3,codec=planes,nodes=on",
                      .P = 4,
                      .count = 20000,
                      .nodes = Nodes(node_of),
                      .frames_there = true};
    SCOPED_TRACE(text_of(trial));
    on_gpus = on_host = 0;
    LoopbackHub::Options transport = trial.transport();
    transport.copy = [](void* to, const void* from, std::size_t bytes) {
      constexpr std::size_t most_of_agreement = 512;
      const bool there = stand_in_device_of(from) >= 0 || stand_in_device_of(to) >= 0;
      if (bytes > most_of_agreement) ++(there ? on_gpus : on_host);
      stand_in_copy(to, from, bytes);
    };
    RanksOnGpus ranks(trial, transport);
    Job job = trial.job();
    for (const Verdict& verdict : run_on_gpus(ranks, trial, job)) {
      EXPECT_EQ(verdict.fallback, Fallback::none);
      EXPECT_EQ(verdict.status, Status::ok);
    }
    EXPECT_GT(on_gpus, 0);
    EXPECT_EQ(on_host, 0);
  }
}

// ---- The place and the codec

class PlaceOfFrames : public testing::Test {
 protected:
  static constexpr std::size_t n = 9000;
  std::shared_ptr<gpu::Device> device =
      std::make_shared<gpu::Device>(gpu::device_services("a test"), 0, nullptr, true);
  gpu::DeviceFrames& place = device->device_frames();
  gpu::DeviceValues values{device};
  Coding coding = parse_coding("abs:1e-3,codec=planes,predictor=delta");
  std::shared_ptr<const Codec> host = coding.make();
  gpu::FrameCodec codec{std::make_shared<gpu::StagingCodec>(host, place), coding, values};
  std::vector<float> x = std::vector<float>(n);

  void SetUp() override {
    for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(0.01F * static_cast<float>(i));
  }

  std::vector<std::byte> on_host(ConstSlice of) const {
    std::vector<std::byte> frame(host->max_bytes(DType::f32, n, 2));
    frame.resize(host->encode(of, frame).bytes);
    return frame;
  }
  std::vector<std::byte> there(ConstBytes frame) const {
    std::vector<std::byte> bytes(frame.size());
    stand_in_finish();
    stand_in_copy(bytes.data(), place.device_address(frame.data()), frame.size());
    return bytes;
  }
};

// Kernels need frames at multiples of 16, and values at multiples of their size: else others do the work.
TEST_F(PlaceOfFrames, AnyAlignmentOfValuesAndFrames) {
  for (const std::size_t skipped : {0u, 2u})
    for (const std::size_t offset : {0u, 24u, 1u}) {
      const OnGpu<float> on_gpu(x, skipped);
      const ConstSlice own{{on_gpu.data(), n, DType::f32}};
      const auto wanted = on_host({{x.data(), n, DType::f32}});
      const Buffer memory = place.scratch(offset + codec.max_bytes(DType::f32, n, 1));
      const Buffer other = place.scratch(offset + codec.max_bytes(DType::f32, n, 2));
      const SizeOrStatus made = codec.encode(own, memory.bytes().subspan(offset));
      ASSERT_EQ(made.status, Status::ok);
      const ConstBytes frame = memory.bytes().subspan(offset, made.bytes);
      EXPECT_EQ(there(frame), wanted);
      EXPECT_EQ(inspect(frame, DType::f32, n, 1), Status::ok);  // the header is on the host
      const FrameArithmetic& frames = *codec.arithmetic();
      const SizeOrStatus sum = frames.accumulate(frame, own, other.bytes().subspan(offset));
      ASSERT_EQ(sum.status, Status::ok);
      std::vector<std::byte> twice(host->max_bytes(DType::f32, n, 2));
      const ConstBytes both[] = {wanted, wanted};
      twice.resize(host->arithmetic()->sum(both, twice).bytes);
      EXPECT_EQ(there(other.bytes().subspan(offset, sum.bytes)), twice);
      const OnGpu<float> back(n, skipped);
      ASSERT_EQ(codec.decode(frame, {{back.data(), n, DType::f32}}), Status::ok);
      std::vector<float> decoded(n);
      ASSERT_EQ(host->decode(wanted, {{decoded.data(), n, DType::f32}}), Status::ok);
      EXPECT_EQ(back.read(), decoded);
      ASSERT_EQ(codec.decode(frame, {{decoded.data(), n, DType::f32}}), Status::ok);  // to the host
      EXPECT_EQ(back.read(), decoded);
    }
}

TEST_F(PlaceOfFrames, NoticesOfTheHostAreSent) {
  const Buffer memory = place.scratch(1000);
  const ConstBytes one = write_error_frame(Status::out_of_memory, DType::f32, n, memory.bytes());
  write_error_frame(Status::peer_failed, DType::f32, n, memory.bytes().subspan(one.size()));
  const ConstBytes two = memory.bytes().first(2 * one.size());
  const ConstBytes sent = place.outgoing(two);
  ASSERT_EQ(sent.size(), two.size());
  EXPECT_EQ(sent.data(), place.device_address(two.data()));
  EXPECT_EQ(there(two), std::vector<std::byte>(two.begin(), two.end()));
}

// The other rank learns of it by an error frame.
TEST_F(PlaceOfFrames, ASendThatFailsIsAFailureOfThisRank) {
  int failures = 0;
  for (unsigned long call = 1; call <= 6; ++call) {
    LoopbackHub hub(2, {.copy = stand_in_copy});
    CallCounters counters;
    Team team(hub.transport(0), codec, place, counters, Arithmetic::values, 0, &values);
    Frames frames{place.scratch(1000), 0, DType::f32, n};
    frames.bytes = write_error_frame(Status::out_of_memory, DType::f32, n, frames.buffer.bytes()).size();
    stand_in_at_call(call, nullptr, nullptr);
    Sending sending(team, frames, 0, 1, 1);
    stand_in_at_call(0, nullptr, nullptr);
    std::byte room[frame_header_bytes];
    Pending arriving = hub.transport(1).recv(room, 0, 0);
    while (!sending.ready() || !arriving.ready()) continue;
    FrameHeader header;
    ASSERT_EQ(read_header(room, header), Status::ok);
    const bool failed = static_cast<Status>(header.failure) == Status::peer_failed;
    EXPECT_EQ(counters.status, failed ? Status::device_failed : Status::ok) << call;
    failures += failed;
  }
  EXPECT_GT(failures, 0);
}

// Only heads are copied to the host, with one wait each, and only those of whole frames.
TEST_F(PlaceOfFrames, HeadsOfFramesThatArriveAreCopied) {
  const auto frame = on_host({{x.data(), n, DType::f32}});
  std::vector<std::byte> message = frame;
  message.insert(message.end(), frame.begin(), frame.end());
  message.resize(message.size() + 10);
  const Buffer memory = place.scratch(message.size());
  std::memset(memory.data(), 0x5A, message.size());
  const Bytes room = place.incoming(memory.bytes().first(message.size()));
  stand_in_copy(room.data(), message.data(), message.size());
  const unsigned long waits = stand_in_waits();
  ASSERT_EQ(place.arrived(memory.bytes().first(message.size())), Status::ok);
  EXPECT_LE(stand_in_waits(), waits + 2);
  for (std::size_t i = 0; i < message.size(); ++i) {
    const bool head = i % frame.size() < gpu::DeviceFrames::head_bytes && i < 2 * frame.size();
    ASSERT_EQ(memory.data()[i], head ? message[i] : std::byte{0x5A}) << i;
  }
}

// A frame without values is shorter than a head may be: no byte behind it is touched.
TEST_F(PlaceOfFrames, ShortFramesArriveWhole) {
  const auto frame = on_host({{x.data(), 0, DType::f32}});
  ASSERT_LT(frame.size(), gpu::DeviceFrames::head_bytes);
  const Buffer memory = place.scratch(2 * frame.size() + 100);
  std::memset(memory.data(), 0x5A, memory.capacity());
  const Bytes room = place.incoming(memory.bytes().first(2 * frame.size()));
  for (const std::size_t at : {std::size_t{0}, frame.size()})
    stand_in_copy(room.data() + at, frame.data(), frame.size());
  ASSERT_EQ(place.arrived(memory.bytes().first(2 * frame.size())), Status::ok);
  for (std::size_t i = 0; i < memory.capacity(); ++i)
    ASSERT_EQ(memory.data()[i], i < 2 * frame.size() ? frame[i % frame.size()] : std::byte{0x5A}) << i;
}

TEST_F(PlaceOfFrames, OtherMemoryStaysWhereItIs) {
  std::vector<std::byte> mine(1000);
  EXPECT_EQ(place.outgoing(mine).data(), mine.data());
  EXPECT_EQ(place.incoming(mine).data(), mine.data());
  EXPECT_EQ(place.arrived(mine), Status::ok);
  EXPECT_EQ(device->pinned().scratch(10).data() != nullptr, true);
}

}  // namespace frames_there_test
}  // namespace taut::test
