#include "communication/comm/coding_speeds.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "compressor/base/float_environment.hpp"

namespace taut {
namespace {

constexpr std::size_t pieces = 2;
constexpr int repetitions = 3;

// Total time of each operation on the pieces measured so far, and the bytes of values and frames.
struct Times {
  std::uint64_t encode = 0, decode = 0, reduce = 0, accumulate = 0;
  std::size_t values = 0, frames = 0;
};

// Waits as a rank does that polls for a message.
void spin(std::uint64_t nanoseconds) noexcept {
  for (const std::uint64_t end = clock_now() + nanoseconds; nanoseconds > 0 && clock_now() < end;) {
  }
}

// Returns the least time of an operation.
std::uint64_t least_time(std::uint64_t pause, auto operation) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < repetitions; ++i) {
    spin(pause);
    const std::uint64_t begin = clock_now();
    operation();
    least = std::min(least, clock_now() - begin);
  }
  return least;
}

// Adds the times of one piece. Returns false if the codec refuses its values.
bool measure(const Codec& codec, ConstSlice values, Place& place, std::uint64_t pause, Times& times) {
  const FrameArithmetic* const adds = codec.arithmetic();
  const Buffer frame = place.scratch(codec.max_bytes(values.type, values.count));
  const Buffer sum = place.scratch(adds == nullptr ? 0 : codec.max_bytes(values.type, values.count, 2));
  const Buffer decoded = place.scratch(values.bytes());
  const Slice out{decoded.data(), values.count, values.type};
  SizeOrStatus made;
  times.encode += least_time(pause, [&] { made = codec.encode(values, frame.bytes()); });
  if (made.status != Status::ok) return false;
  const ConstBytes coded(frame.data(), made.bytes);
  times.decode += least_time(pause, [&] { codec.decode(coded, out); });
  times.reduce += least_time(pause, [&] {
    std::memcpy(out.data, values.data, values.bytes());  // as sums by values begin
    codec.reduce(coded, out, Reduction::sum);
  });
  if (adds != nullptr)
    times.accumulate += least_time(pause, [&] { adds->accumulate(coded, values, sum.bytes()); });
  times.values += values.bytes();
  times.frames += made.bytes - frame_header_bytes;
  return true;
}

float speed(std::size_t bytes, std::uint64_t time) noexcept {
  return static_cast<float>(static_cast<double>(bytes) / std::max(seconds(time), 1e-9));
}

}  // namespace

SpeedTest speed_test_of(const Policy& policy, const Call& call, const Plan& plan) noexcept {
  constexpr std::size_t values_a_thread = 32768;  // useful_threads() gives a thread 8 chunks
  SpeedTest test;
  if (policy.coding.threads <= 1) return test;
  const double share = coding_work(policy, call, plan, 0).share / plan.segments;
  const auto frame = static_cast<std::size_t>(share * static_cast<double>(call.count()));
  const std::size_t most = values_a_thread * static_cast<std::size_t>(policy.coding.threads);
  test.values_a_piece = std::clamp(frame, test.values_a_piece, most);
  return test;
}

CodingSpeeds measure_speeds(const Codec& codec, ConstSlice values, Place& place, SpeedTest test) {
  const FloatEnvironment environment;
  Times times;
  for (std::size_t i = 0; i < pieces; ++i) {
    const Range part = part_range(values.count, i, pieces);
    const std::size_t n = std::min(part.count, test.values_a_piece);
    if (n == 0) continue;
    const ConstSlice piece{values.part(part.first + (part.count - n) / 2, n)};
    if (!measure(codec, piece, place, test.pause, times)) return {};
  }
  if (times.values == 0) return {};
  return {
      .ratio = static_cast<float>(times.values) / static_cast<float>(std::max<std::size_t>(times.frames, 1)),
      .encode = speed(times.values, times.encode),
      .decode = speed(times.values, times.decode),
      .reduce = speed(times.values, times.reduce),
      .accumulate = times.accumulate == 0 ? 0 : speed(times.values, times.accumulate)};
}

}  // namespace taut
