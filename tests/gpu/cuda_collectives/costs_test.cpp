// Counts what the codec of values on a GPU asks of CUDA: sequences of kernels, copies and waits, and on which
// stream.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <tuple>

#include "communication/gpu/frame_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "support/on_gpu.hpp"

namespace taut::test {
namespace {

struct Counts {
  int sequences = 0, copies = 0, waits = 0;
  int queries = 0;  // while polling; their number is a matter of time
  int follows = 0;  // of one stream by another
  friend bool operator==(const Counts& a, const Counts& b) {
    return std::tuple(a.sequences, a.copies, a.waits) == std::tuple(b.sequences, b.copies, b.waits);
  }
};
Counts counts;
std::set<void*> streams;

// Notes the stream, if there is one: the last argument, or that before the result of query(). Leaves the
// legacy stream in its place, as no other one exists here.
template <class... Args>
void take_stream(std::tuple<Args...>& arguments) {
  using All = std::tuple<Args...>;
  constexpr std::size_t last = sizeof...(Args) - 1;
  constexpr std::size_t at = std::is_same_v<std::tuple_element_t<last, All>, int*> ? last - 1 : last;
  if constexpr (std::is_same_v<std::tuple_element_t<at, All>, void*>)
    streams.insert(std::exchange(std::get<at>(arguments), nullptr));
}

// Replaces a function of the table by one that counts its calls.
template <auto member, auto counter, class Table>
void count(Table& table) {
  static auto before = table.*member;
  constexpr auto counted = []<class... Args>(Args... args) {
    ++(counts.*counter);
    std::tuple<Args...> arguments{args...};
    take_stream(arguments);
    return std::apply(before, arguments);
  };
  table.*member = [=]<class... Args>(int (*)(Args...)) {
    return +[](Args... args) noexcept { return decltype(counted)()(Args(args)...); };
  }(table.*member);
}

// Kernels of planes that count their calls.
const gpu::DeviceCodec& counting_codec() {
  using Codec = gpu::DeviceCodec;
  static const Codec codec = [] {
    Codec table = *gpu::device_services("a test").codec(find_codec("planes")->frame_id);
    count<&Codec::encode, &Counts::sequences>(table);
    count<&Codec::decode, &Counts::sequences>(table);
    count<&Codec::sum, &Counts::sequences>(table);
    count<&Codec::accumulate, &Counts::sequences>(table);
    return table;
  }();
  return codec;
}

const gpu::DeviceServices& counting_services() {
  using Services = gpu::DeviceServices;
  static const Services services = [] {
    Services table = gpu::device_services("a test");
    table.codec = [](std::uint8_t) noexcept { return &counting_codec(); };
    count<&Services::reduce_values, &Counts::sequences>(table);
    count<&Services::divide_values, &Counts::sequences>(table);
    count<&Services::reduce_widely, &Counts::sequences>(table);
    count<&Services::range, &Counts::sequences>(table);
    count<&Services::copy_on, &Counts::copies>(table);
    count<&Services::copy, &Counts::waits>(table);
    count<&Services::wait, &Counts::waits>(table);
    count<&Services::query, &Counts::queries>(table);
    count<&Services::follow, &Counts::follows>(table);
    return table;
  }();
  return services;
}

class CallCosts : public testing::Test {
 protected:
  explicit CallCosts(bool frames_there = false)
      : device(std::make_shared<gpu::Device>(counting_services(), 0, stream, frames_there)) {}

  template <class Action>
  Counts of(const Action& action) {
    counts = {};
    action();
    return counts;
  }

  static constexpr std::size_t n = 9000;
  void* const stream = &counts;  // any address
  std::shared_ptr<gpu::Device> device;
  gpu::DeviceValues values{device};
  Coding coding = parse_coding("abs:1e-3,codec=planes,predictor=delta");
  std::shared_ptr<const Codec> host = coding.make();
  gpu::FrameCodec codec{host, coding, values};
  const OnGpu<float> x{make<float>(Pattern::walk, n, 1)};
  const ConstSlice in{{x.data(), n, DType::f32}};
  const Slice out{{x.data(), n, DType::f32}};
  Buffer frame = device->frame_place().scratch(codec.max_bytes(DType::f32, n, 2));
  Buffer other = device->frame_place().scratch(codec.max_bytes(DType::f32, n, 2));
};

TEST_F(CallCosts, OneSequenceAFrame) {
  SizeOrStatus made;
  EXPECT_EQ(of([&] { made = codec.encode(in, frame.bytes()); }), (Counts{.sequences = 1}));
  ASSERT_EQ(made.status, Status::ok);
  const ConstBytes bytes = frame.bytes().first(made.bytes);
  EXPECT_EQ(of([&] { EXPECT_EQ(codec.decode(bytes, out), Status::ok); }),
            (Counts{.sequences = 1, .copies = 1}));
  EXPECT_EQ(of([&] { EXPECT_EQ(codec.reduce(bytes, out, Reduction::sum), Status::ok); }),
            (Counts{.sequences = 1, .copies = 1}));
  const FrameArithmetic& frames = *codec.arithmetic();
  EXPECT_EQ(of([&] { EXPECT_EQ(frames.accumulate(bytes, in, other.bytes()).status, Status::ok); }),
            (Counts{.sequences = 1, .copies = 1}));
  const ConstBytes both[] = {bytes, bytes};
  EXPECT_EQ(of([&] { EXPECT_EQ(frames.sum(both, other.bytes()).status, Status::ok); }),
            (Counts{.sequences = 1, .copies = 2}));
}

class CallCostsOfFramesThere : public CallCosts {
 protected:
  CallCostsOfFramesThere() : CallCosts(true) {}
};

// Kernels write headers to pinned memory too: the host has them without a copy.
TEST_F(CallCostsOfFramesThere, NothingIsCopied) {
  constexpr Counts once{.sequences = 1};
  SizeOrStatus made;
  EXPECT_EQ(of([&] { made = codec.encode(in, frame.bytes()); }), once);
  ASSERT_EQ(made.status, Status::ok);
  const ConstBytes bytes = frame.bytes().first(made.bytes);
  EXPECT_EQ(of([&] { EXPECT_EQ(codec.decode(bytes, out), Status::ok); }), once);
  EXPECT_EQ(of([&] { EXPECT_EQ(codec.reduce(bytes, out, Reduction::sum), Status::ok); }), once);
  const FrameArithmetic& frames = *codec.arithmetic();
  EXPECT_EQ(of([&] { EXPECT_EQ(frames.accumulate(bytes, in, other.bytes()).status, Status::ok); }), once);
  const ConstBytes both[] = {bytes, bytes};
  EXPECT_EQ(of([&] { EXPECT_EQ(frames.sum(both, other.bytes()).status, Status::ok); }), once);
}

TEST_F(CallCosts, SteadyStateTakesNoMemory) {
  const auto code = [&] {
    const SizeOrStatus made = codec.encode(in, frame.bytes());
    EXPECT_EQ(codec.decode(frame.bytes().first(made.bytes), out), Status::ok);
  };
  code();
  const std::size_t most = codec.max_bytes(DType::f32, n, 1);
  const std::byte* const kept = device->pooled().scratch(most).data();
  code();
  EXPECT_EQ(device->pooled().scratch(most).data(), kept);
}

TEST_F(CallCosts, AllWorkIsOnTheStreamOfTheUser) {
  streams.clear();
  const SizeOrStatus made = codec.encode(in, frame.bytes());
  const ConstBytes bytes = frame.bytes().first(made.bytes);
  EXPECT_EQ(codec.decode(bytes, out), Status::ok);
  EXPECT_EQ(codec.reduce(bytes, out, Reduction::max), Status::ok);
  EXPECT_EQ(codec.arithmetic()->accumulate(bytes, in, other.bytes()).status, Status::ok);
  EXPECT_EQ(values.divide(out, 3), Status::ok);
  ValueRange range;
  EXPECT_EQ(values.range(in, coding, range), Status::ok);
  EXPECT_LT(range.least, range.greatest);
  EXPECT_EQ(values.copy(other.data(), static_cast<const std::byte*>(in.data), in.bytes()), Status::ok);
  EXPECT_EQ(device->wait(), Status::ok);
  EXPECT_EQ(streams, std::set<void*>{stream});
}

TEST_F(CallCosts, OperationsInFlightUseTwoStreams) {
  const gpu::FrameCodec overlapping{host, coding, values, true};
  streams.clear();
  counts = {};
  EncodeItem one{in, frame.bytes()}, two{in, other.bytes()};
  Operation first = overlapping.start_encode({&one, 1}), second = overlapping.start_encode({&two, 1});
  EXPECT_FALSE(first.ready());
  EXPECT_FALSE(second.ready());
  EXPECT_EQ(streams.size(), 2u);
  EXPECT_EQ(counts.follows, 1);
  EXPECT_EQ(first.wait().status, Status::ok);
  EXPECT_EQ(second.wait().status, Status::ok);
  ASSERT_EQ(one.made.status, Status::ok);
  ASSERT_EQ(two.made.bytes, one.made.bytes);
  EXPECT_EQ(std::memcmp(one.out.data(), two.out.data(), one.made.bytes), 0);
}

TEST(DevicesOfACommunicator, WorkOnTheStreamThatWasSetLast) {
  const OnGpu<float> x(10);
  gpu::Devices devices;
  EXPECT_EQ(devices.holding(x.data(), nullptr)->stream(), nullptr);
  int one = 0, two = 0;
  for (void* const stream : {&one, &two, &one}) {
    devices.set_stream(stream);
    const auto device = devices.holding(nullptr, x.data());
    EXPECT_EQ(device->stream(), stream);
    EXPECT_EQ(devices.holding(x.data(), x.data()), device);
  }
}

}  // namespace
}  // namespace taut::test
