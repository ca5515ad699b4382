#include "communication/comm/coding_speeds.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "communication/comm/active_call.hpp"
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
  Sized made;
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

constexpr float CodingSpeeds::*all_numbers[] = {&CodingSpeeds::ratio, &CodingSpeeds::encode,
                                                &CodingSpeeds::decode, &CodingSpeeds::reduce,
                                                &CodingSpeeds::accumulate};
static_assert(std::size(all_numbers) == CodingSpeeds::numbers);
static_assert(CodingChoice::codecs * CodingSpeeds::numbers <= max_candidates);

}  // namespace

SpeedTest speed_test_of(const Policy& policy, const Call& call, const Plan& plan) noexcept {
  constexpr std::size_t values_a_thread = 32768;  // parts_of() gives a thread 8 chunks
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

// ---- The phase `coding` of a call

// Returns the plan by the coding that compresses best; its algorithm is null if there is none.
Plan Communicator::ActiveCall::usual_plan() noexcept {
  if (!call_.coded()) return {};
  Route route = early_.route;
  if (route.coding != CodingChoice{}) route.algorithm = nullptr;
  route.coding = {};
  try {
    const Plan plan = make_plan(policy(), call_, bound_, early_.policy_state->candidates, route);
    if (plan.fallback == Fallback::none) return plan;
  } catch (const std::bad_alloc&) {
  }
  return {};
}

// Adds the speeds on this rank's values to the record. A rank without values leaves the choice to the others.
void Communicator::ActiveCall::add_speeds(const Plan& usual, AgreementRecord& mine) noexcept {
  gather();
  const ConstSlice values = own_values(call_, rank()).most();
  if (values.count == 0 && failure_ == Status::ok && (usual.algorithm != nullptr || call_.any_type)) return;
  std::ranges::fill(mine.measured_low, 0.0F);
  const bool able = failure_ == Status::ok && usual.algorithm != nullptr && !call_.on_device;
  if (!able || values.data == nullptr) return;
  try {
    for (std::size_t i = 0; i < CodingChoice::codecs; ++i) {
      const CodingSpeeds speeds = speeds_of(usual, static_cast<CodingChoice::Codec>(i), values);
      for (std::size_t k = 0; k < CodingSpeeds::numbers; ++k)
        mine.measured_low[i * CodingSpeeds::numbers + k] = speeds.*all_numbers[k];
    }
  } catch (const Error&) {  // the speeds that are missing are unknown to all ranks
  } catch (const std::bad_alloc&) {
  }
}

// Returns the speeds of the codec of a choice; zeros if it cannot serve the call, or is that with the best
// ratio.
CodingSpeeds Communicator::ActiveCall::speeds_of(const Plan& usual, CodingChoice::Codec codec,
                                                 ConstSlice values) {
  using enum CodingChoice::Codec;
  if (codec == fast && !coding_work(policy(), call_, usual, 0).may_use_fast) return {};
  const std::span<const Candidate> able =
      candidates_of(policy(), call_, *usual.algorithm, usual.bound, {codec}, early_.policy_state->candidates);
  if (able.empty()) return {};
  const bool by_ratio = early_.route.coding.codec == best_ratio;
  const std::size_t best = by_ratio ? std::min(early_.cached_candidate.value_or(0), able.size() - 1) : 0;
  if (codec == usual_predictor && best == 0 && by_ratio) return {};
  const Candidate& candidate = able[codec == best_ratio ? best : 0];
  return measure_speeds(*early_.policy_state->codecs.of(candidate, usual.bound), values, comm_.place_,
                        speed_test_of(policy(), call_, usual));
}

// Chooses the coding by the speeds of the slowest rank, which all ranks know.
void Communicator::ActiveCall::choose_coding(const Plan& usual, const AgreementRecord& agreed) noexcept {
  CodingSpeeds speeds[CodingChoice::codecs];
  for (std::size_t i = 0; i < CodingChoice::codecs; ++i)
    for (std::size_t k = 0; k < CodingSpeeds::numbers; ++k)
      speeds[i].*all_numbers[k] = agreed.measured_low[i * CodingSpeeds::numbers + k];
  Autotuner& tuner = *early_.autotuner;
  CodingChoice chosen;
  if (usual.algorithm != nullptr)
    chosen = fastest_coding(coding_work(policy(), call_, usual, tuner.due_codings()->link()), speeds);
  tuner.choose(chosen);
  early_.route = tuner.route();
  early_.cached_candidate = tuner.cached_candidate();
}

}  // namespace taut
