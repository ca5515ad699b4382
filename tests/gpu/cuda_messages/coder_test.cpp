// Tests the coding of messages whose values are in memory of simulated GPUs: frames have the bytes of the
// host's, and values decoded on either side have the same bits.
#include <gtest/gtest.h>

#include "gpu/cuda_messages/coded.hpp"

namespace taut::test {
namespace {

constexpr const char* codings[] = {"abs:1e-3,codec=planes",
                                   "rel:1e-4,codec=planes",
                                   "snap:1e-2,codec=planes,predictor=second",
                                   "abs:1e-3,codec=planes,predictor=delta+100",
                                   "abs:1e-3,codec=planes,bits=exact",
                                   "lossless,codec=mpc",
                                   "lossless,codec=mpc,predictor=d2",
                                   "pwrel:1e-2,codec=mpc",
                                   "rate:8",
                                   "rate:12,dims=41x61",
                                   "rate:3.5,dims=4x10x20"};

// Returns true if a coding serves values of this type.
bool serves(const std::string& coding, DType type) {
  const Family family = info_of(type).family;
  if (coding.starts_with("rate"))
    return find_codec("zfp") != nullptr && (type == DType::f32 || type == DType::f64);
  return family != Family::integer || coding.starts_with("lossless");
}

TEST(MessagesOfGpus, HaveTheBytesOfTheHost) {
  for (std::uint8_t code = 1; is_dtype(code); ++code)
    for (const std::string coding : codings)
      if (serves(coding, DType{code}))
        expect_same_bits({.policy = coding, .type = DType{code}, .count = 2501});
}

TEST(MessagesOfGpus, AnyCount) {
  for (const std::string coding : codings)
    for (const std::size_t count : {1u, 2u, 7u, 64u, 997u, 8191u, 20011u})
      expect_same_bits({.policy = coding, .count = count});
}

TEST(MessagesOfGpus, Segments) {
  for (const std::string coding : codings)
    for (const std::size_t segments : {2u, 3u, 7u})
      expect_same_bits({.policy = coding, .count = 30011, .segments = segments});
}

TEST(MessagesOfGpus, SegmentsThatDoNotCompressTravelAsValues) {
  expect_same_bits({.policy = "lossless,codec=mpc", .count = 30000, .segments = 5, .wild_from = 12000});
}

// Kernels need values that are aligned to their type. The host codes others on a copy.
TEST(MessagesOfGpus, AnyAddress) {
  for (const char* const coding : {"abs:1e-3,codec=planes", "lossless,codec=mpc"})
    for (const std::size_t skipped : {1u, 2u, 4u, 8u, 13u})
      expect_same_bits({.policy = coding, .count = 5001, .segments = 2, .skipped = skipped});
}

TEST(MessagesOfGpus, ChooseAmongCodecsWithKernels) {
  for (const char* const policy : {"abs:1e-3", "lossless", "abs:1e-3,when=always,min_bytes=1"}) {
    OneCoder coder(policy);
    const Values values = make_values(DType::f32, 50000, Pattern::smooth, 3);
    const OnGpu<std::byte> there(bytes_of(values));
    for (int turn = 0; turn < 3; ++turn) {
      const Message made = coder.encode(there.data(), values);
      ASSERT_EQ(made.fallback, Fallback::none) << policy;
      EXPECT_TRUE(gpu::has_kernels(made.candidate->with_bound(made.bound))) << policy;
      EXPECT_EQ(coder.encode(values.slice().data, values).fallback,
                Fallback::none);  // the same kind of message
    }
  }
}

TEST(MessagesOfGpus, SayWhyTheyArePlain) {
  const auto why = [](const std::string& policy, const Values& values) {
    const OnGpu<std::byte> there(bytes_of(values));
    const Message made = OneCoder(policy).encode(there.data(), values);
    EXPECT_EQ(made.coded_bytes, 0u);
    EXPECT_EQ(made.failure, Status::ok);
    return made.fallback;
  };
  const Values smooth = make_values(DType::f32, 50000, Pattern::smooth, 1);
  for (const char* const coding :
       {"abs:1e-3,codec=szx", "abs:1e-3,codec=planes,checksum=on", "lossless,codec=raw"})
    for (const char* const when : {"profitable", "always"})
      EXPECT_EQ(why(std::string(coding) + ",when=" + when, smooth), Fallback::device) << coding;
  EXPECT_EQ(why("abs:1e-3", make_values(DType::f32, 50000, Pattern::wild, 1)), Fallback::no_gain);
  EXPECT_EQ(why("abs:1e-3", make_values(DType::f32, 100, Pattern::smooth, 1)), Fallback::small);
}

// Frames of codecs without kernels are decoded by the host.
TEST(MessagesOfGpus, DecodeFramesOfAllCodecs) {
  for (const char* const coding :
       {"abs:1e-3,codec=szx", "abs:1e-3,codec=planes,checksum=on", "lossless,codec=raw"}) {
    OneCoder coder(std::string(coding) + ",when=always,min_bytes=1");
    const Values values = make_values(DType::f32, 50000, Pattern::smooth, 2);
    const Message made = coder.encode(values.slice().data, values);
    if (made.fallback != Fallback::none) continue;
    Values here(DType::f32, 50000);
    const OnGpu<std::byte> there(values.slice().bytes());
    EXPECT_EQ(coder.decode(made, here.slice().as_bytes()), Status::ok);
    EXPECT_EQ(coder.decode(made, {there.data(), there.size()}), Status::ok) << coding;
    EXPECT_EQ(there.peek(there.size()), bytes_of(here)) << coding;
  }
}

TEST(MessagesOfGpus, DamagedFramesAreErrors) {
  OneCoder coder("abs:1e-3,codec=planes,when=always");
  const Values values = make_values(DType::f32, 50000, Pattern::smooth, 2);
  const OnGpu<std::byte> there(bytes_of(values));
  const Message made = coder.encode(there.data(), values);
  ASSERT_EQ(made.fallback, Fallback::none);
  made.memory()[envelope_bytes + 70] ^= std::byte{255};
  made.memory()[envelope_bytes + made.frame_bytes / 2] ^= std::byte{255};
  EXPECT_EQ(coder.decode(made, {there.data(), there.size() - 4}), Status::frame_mismatch);
  Values here(DType::f32, 50000);
  const Status status = coder.decode(made, here.slice().as_bytes());
  EXPECT_EQ(coder.decode(made, {there.data(), there.size()}), status);
}

// Work that was enqueued before the call has not run yet when the call is made.
TEST(MessagesOfGpus, SeeWhatWasEnqueuedBefore) {
  OneCoder coder("abs:1e-3,codec=planes,when=always");
  const Values values = make_values(DType::f32, 50000, Pattern::smooth, 2);
  const OnGpu<std::byte> source(bytes_of(values)), there(source.size());
  const auto& services = gpu::device_services("a test");
  ASSERT_EQ(services.copy_on(there.data(), source.data(), source.size(), nullptr), 0);
  const Message made = coder.encode(there.data(), values);
  EXPECT_EQ(bytes_of(made), bytes_of(coder.encode(values.slice().data, values)));
}

TEST(MessagesOfGpus, WorkOnTheStreamThatWasSetLast) {
  const OnGpu<float> x(10);
  MessageDevices devices;
  int one = 0, two = 0;
  for (void* const stream : {static_cast<int*>(nullptr), &one, &two, &one}) {
    devices.set_stream(stream);
    const auto device = devices.of(x.data());
    ASSERT_TRUE(device && *device);
    EXPECT_EQ((*device)->values().device().stream(), stream);
    EXPECT_EQ(*devices.of(x.data()), *device);
  }
  EXPECT_EQ(*devices.of(&one), nullptr);
}

// The kernels of a segment are enqueued before the segment in front of it is returned.
TEST(MessagesOfGpus, TheNextSegmentIsStartedEarly) {
  const MessageCase message{.policy = "abs:1e-3,codec=planes,when=always", .count = 60000, .segments = 4};
  OneCoder coder(message.policy);
  const Values values = message.values();
  const OnGpu<std::byte> there(bytes_of(values));
  Message made = coder.encode(there.data(), values, message.segments);
  unsigned long launches[4] = {};
  for (std::size_t i = 1; i < message.segments; ++i) {
    const unsigned long before = stand_in_launches();
    const ConstSlice all{{there.data(), message.count, message.type}};
    EXPECT_FALSE(coder.coder.encode_segment(all, i, made).empty());
    launches[i] = stand_in_launches() - before;
  }
  EXPECT_GT(launches[2], 0u);
  EXPECT_EQ(launches[1], 2 * launches[2]);
  EXPECT_EQ(launches[3], 0u);
}

// Memory of the pools is given back while a message still has its own.
TEST(MessagesOfGpus, ReleaseFreesUnusedMemory) {
  OneCoder coder("abs:1e-3,codec=planes,when=always");
  const Values values = make_values(DType::f32, 50000, Pattern::smooth, 2);
  const OnGpu<std::byte> there(bytes_of(values));
  const Message kept = coder.encode(there.data(), values);
  const std::byte* unused = coder.encode(there.data(), values).buffer.data();
  EXPECT_EQ(stand_in_device_of(unused), stand_in_host);
  gpu::DevicePool::trim_all();
  EXPECT_EQ(stand_in_device_of(unused), stand_in_unknown);
  EXPECT_EQ(stand_in_device_of(kept.buffer.data()), stand_in_host);
  EXPECT_EQ(bytes_of(coder.encode(there.data(), values)), bytes_of(kept));
}

TEST(MessagesOfGpus, BuffersOutliveTheirCoder) {
  Buffer kept;
  {
    OneCoder coder("abs:1e-3,codec=planes,when=always");
    const Values values = make_values(DType::f32, 50000, Pattern::smooth, 2);
    kept = std::move(coder.encode(OnGpu<std::byte>(bytes_of(values)).data(), values).buffer);
  }
  EXPECT_EQ(stand_in_device_of(kept.data()), stand_in_host);
  std::memset(kept.data(), 1, kept.capacity());
}

}  // namespace
}  // namespace taut::test
