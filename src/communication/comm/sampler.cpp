#include "communication/comm/sampler.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "compressor/base/float_environment.hpp"
#include "compressor/frame/packed_integers.hpp"
#include "compressor/frame/sample.hpp"

namespace taut {
namespace {

std::atomic<std::uint64_t> spent{0};  // nanoseconds that samples have taken in this process
std::atomic<std::uint64_t> taken{0};  // number of samples

constexpr int timings = 3;  // of the codec that compresses a sample best

// Returns true for bytes that begin as an object that Python has pickled: PROTO 2 to 5, from 4 on with a
// frame.
bool begins_pickle(ConstSlice values) noexcept {
  constexpr std::uint8_t proto = 0x80, frame = 0x95;
  if (values.type != DType::u8 || values.count < 3) return false;
  const auto* const bytes = static_cast<const std::uint8_t*>(values.data);
  return bytes[0] == proto && bytes[1] >= 2 && bytes[1] <= 5 && (bytes[1] < 4 || bytes[2] == frame);
}

// Returns true if all bytes repeat with the size of a value.
bool all_equal(ConstSlice values) noexcept {
  const std::size_t one = size_of(values.type);
  const auto* const bytes = static_cast<const std::byte*>(values.data);
  return values.count > 1 && std::memcmp(bytes, bytes + one, values.bytes() - one) == 0;
}

}  // namespace

// Returns true if another sample is within its share of time. The mean of the samples so far predicts its
// cost, as samples cost much the same.
bool Sampler::may_spend(bool on_first) const noexcept {
  static const std::uint64_t begin = clock_();
  if (on_first && spent < for_firsts) return true;
  const std::uint64_t next = spent / std::max<std::uint64_t>(taken, 1);
  return spent + next <= granted_ + (clock_() - begin) / share;
}

// Takes a piece of each part, at another position in each, as in Pieces.
ValueRange Sampler::range_of_some(ConstSlice values) noexcept {
  ValueRange range;
  const std::size_t pieces = std::min(range_pieces, values.count);
  for (std::size_t i = 0; i < pieces; ++i) {
    const Range part = part_range(values.count, i, pieces);
    const std::size_t n = std::min(part.count, Pieces::most_values);
    const std::uint32_t fraction = static_cast<std::uint32_t>(i) * 2654435769U;
    const std::size_t first =
        part.first + static_cast<std::size_t>(std::uint64_t{fraction} * (part.count - n) >> 32);
    range.merge(range_of({values.part(first, n)}, std::nullopt, PackedBits::exact));
  }
  return range;
}

void Sampler::look(CallRow& row, ConstSlice values, bool in_place) noexcept {
  if (!is_due(row) || values.data == nullptr) return;
  const std::uint64_t call = row.sum.calls + 1;
  if (values.bytes() < least_bytes) {
    if (row.call().bytes < least_bytes) row.next_sample = UINT64_MAX;
    return;
  }
  if (!may_spend(row.values.samples == 0)) {
    row.next_sample = call + std::max<std::uint64_t>(call / 8, 1);
    return;
  }
  row.next_sample = 2 * call;
  const std::uint64_t begin = clock_();
  try {
    const FloatEnvironment environment;
    sample(row, values, in_place);
  } catch (const Error&) {  // a codec refused these values: there is no sample
  } catch (const std::bad_alloc&) {
  }
  spent += clock_() - begin;
  ++taken;
}

void Sampler::sample(CallRow& row, ConstSlice values, bool in_place) {
  const bool exact_only = info_of(values.type).family == Family::integer;
  const ValueRange range = range_of_some(values);
  Compressibility found;
  found.samples = 1;
  found.in_place = in_place;
  found.packed = find_packed_integers(values) != PackedIntegers::none;
  found.pickles = begins_pickle(values);
  found.constant = all_equal(values);
  found.least = range.least;
  found.greatest = range.greatest;
  for (std::size_t i = 0; i + 1 < Compressibility::bounds && !exact_only; ++i)
    sample(values, resolved({Bound::Kind::range, Compressibility::relative[i]}, range), found.sums[i]);
  sample(values, {}, found.sums.back());
  row.values += found;
}

// Samples with the candidate that compresses best, as a call would choose it. The candidate is timed once its
// code is warm. The shortest of a few times counts, because a rank may lose its core during one of them.
void Sampler::sample(ConstSlice values, Bound bound, Compressibility::Sum& sum) {
  Coding coding;
  coding.bound = bound;
  coding.bits = PackedBits::exact;  // as under rules
  std::unique_ptr<Codec> best;
  Sample least;
  coding.kernels = kernels_;
  for (const Coding& candidate : candidates(coding, values.type, bound)) {
    std::unique_ptr<Codec> codec = on_coding_stack(candidate.make());
    const Buffer scratch = place_.scratch(sample_scratch(*codec, values.type));
    const Sample made = codec->sample(values, scratch.bytes());
    if (made.status != Status::ok || (best != nullptr && made.frame_bytes >= least.frame_bytes)) continue;
    best = std::move(codec);
    least = made;
  }
  if (best == nullptr) return;
  const Buffer scratch = place_.scratch(sample_scratch(*best, values.type));
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < timings; ++i) {
    const std::uint64_t begin = clock_now();
    best->sample(values, scratch.bytes());
    shortest = std::min(shortest, clock_now() - begin);
  }
  sum = {least.value_bytes, std::max<std::size_t>(least.frame_bytes, 1),
         std::max<std::uint64_t>(shortest, 1)};
}

}  // namespace taut
