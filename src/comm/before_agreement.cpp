// What a communicator knows of a call before the ranks agree: local, and without any effect.
#include <algorithm>
#include <limits>
#include <new>

#include "comm/communicator.hpp"
#include "core/by_nodes.hpp"
#include "core/packing.hpp"
#include "core/sample.hpp"

namespace taut {
namespace {

constexpr std::size_t coroutines_of_a_call = 6, coroutines_of_a_segment = 4;

template <class T>
void mix(std::uint64_t& signature, const T& fact) noexcept {
  signature = hash(std::as_bytes(std::span(&fact, 1)), signature);
}

// Whether the call writes to `out` here.
bool receives(const Request& request, int rank) noexcept {
  const bool at_root = rank == request.data.root;
  switch (request.collective) {
    case Collective::scatter: return !at_root || request.data.out.data != nullptr;
    case Collective::reduce:
    case Collective::gather: return at_root;
    default: return true;
  }
}

template <class S>
bool missing(const Blocks<S>& memory) noexcept {
  return memory.data == nullptr && memory.values() != 0;
}

// Of all values that this rank contributes.
ValueRange range_of_all(const Blocks<ConstSlice>& values, const Coding& coding) noexcept {
  if (values.layout == nullptr) return range_of(values, coding.fill, coding.bits);
  ValueRange range;
  for (std::size_t i = 0; i < values.layout->counts.size(); ++i)
    range.merge(range_of(values.at(i, values.layout->counts.size()), coding.fill, coding.bits));
  return range;
}

}  // namespace

Blocks<ConstSlice> own_values(const Request& request, int rank) noexcept {
  const Operands& data = request.data;
  if (request.collective == Collective::bcast)
    return rank == data.root ? Blocks<ConstSlice>(data.out) : Blocks<ConstSlice>{};
  if (request.collective == Collective::scatter && rank != data.root) return {};
  return data.in;
}

Call Communicator::call_of(const Request& request) const noexcept {
  const DType type = request.data.out.type;
  return {.collective = request.collective,
          .count = request.bytes / size_of(type),
          .type = type,
          .op = request.data.op,
          .ranks = transport_.size(),
          .nodes = nodes_.even() ? nodes_.count() : 0,
          .any_blocks = request.any_blocks(),
          .mean = request.mean};
}

std::uint64_t Communicator::signature(const Request& request) const noexcept {
  std::uint64_t signature = terms_.rules().hash();
  mix(signature, request.collective);
  mix(signature, static_cast<std::uint64_t>(request.bytes_known ? request.bytes : 0));
  mix(signature, request.bytes_known);
  if (request.bytes_known)  // then so are the sizes of all blocks
    for (const BlockLayout* layout : {request.data.in.layout, request.data.out.layout})
      if (layout != nullptr) signature = hash(std::as_bytes(std::span(layout->counts)), signature);
  mix(signature, request.data.op);
  if (reduces(request.collective))
    mix(signature, request.coded_type);  // whoever moves data may use another type
  mix(signature, request.data.root);
  mix(signature, request.mean);
  return signature;
}

// Of the largest frame that this rank makes or receives.
std::size_t Communicator::block_values(const Request& request, const Plan& plan) const noexcept {
  const Operands& data = request.data;
  const bool whole = plan.algorithm->unit == AlgorithmInfo::Unit::whole;
  if (request.any_blocks() && !whole) return std::max(data.in.most().count, data.out.most().count);
  const Call part = call_of_algorithm(call_of(request), plan.by_nodes);
  return part_range(part.count, 0, static_cast<std::size_t>(plan.algorithm->parts(part.ranks))).count;
}

// Finds out whether this rank can serve the call: usable pointers, a codec, memory for all that the algorithm
// holds.
void Communicator::prepare(const Request& request, const Plan& plan, CodecCache& codecs, Means& means) {
  const Operands& data = request.data;
  if (missing(own_values(request, transport_.rank())) ||
      (receives(request, transport_.rank()) && missing(data.out)))
    throw Error(Status::invalid_argument, "a buffer is NULL");
  const Call part = call_of_algorithm(call_of(request), plan.by_nodes);
  const auto segments = static_cast<std::size_t>(plan.segments);
  const std::size_t values = part_range(block_values(request, plan), 0, segments).count;
  const std::uint32_t addends = plan.how == Arithmetic::frames ? static_cast<std::uint32_t>(part.ranks) : 1;
  std::size_t frame = 0;
  for (std::size_t i = 0; i < plan.candidates.size(); ++i) {  // no codec is made later
    means.codecs[i] = codecs.of(plan.candidates[i], plan.bound);
    frame = std::max(frame, means.codecs[i]->max_bytes(data.out.type, values, addends));
  }
  const int me = plan.by_nodes ? nodes_.node(transport_.rank()) : transport_.rank();
  const int root = plan.by_nodes ? nodes_.node(data.root) : data.root;
  Scratch scratch = plan.algorithm->scratch(part.ranks, mod(me - root, part.ranks));
  if (plan.how == Arithmetic::values && reduces(request.collective)) ++scratch.buffers;
  std::size_t bytes = frame * static_cast<std::size_t>(scratch.frames);
  if (plan.by_nodes && reduces(request.collective)) {
    bytes = std::max(bytes, part_range(part.count, 0, segments).count * size_of(data.out.type));
    scratch.buffers += buffers_by_nodes;
  }
  means.place.reserve(bytes, static_cast<std::size_t>(scratch.buffers) * segments);
  reserve_coroutine_frames(coroutines_of_a_call + coroutines_of_a_segment * segments);
}

// In the values of this rank, where a bound is not to touch them.
void Communicator::look_for_packed(const Request& request, const Policy& policy, Means& means,
                                   Facts& mine) const noexcept {
  if (policy.coding.bits == PackedBits::rounded || policy.coding.bound.exact()) return;
  const Packing found = packing_of(own_values(request, transport_.rank()).most());
  means.packed = found != Packing::none;
  if (found == Packing::spread) mine.obstacles |= Facts::packed;
}

// Of the values of this rank.
float Communicator::estimate_ratio(const Request& request, const Codec& coder, Place& place) {
  const ConstSlice values = own_values(request, transport_.rank()).most();
  if (values.count == 0) return std::numeric_limits<float>::max();
  const Buffer scratch = place.scratch(sample_scratch(coder, values.type));
  const Sample sample = coder.sample(values, scratch.bytes());
  if (sample.status != Status::ok) throw Error(sample.status, "the codec refused a sample");
  return static_cast<float>(sample.ratio());
}

// What the ranks' calls have to have in common, and the range of this rank's values where the bound of
// `policy` depends on it. Null: it is not known yet.
Facts Communicator::identify(const Request& request, const Policy* policy) noexcept {
  Facts mine;
  mine.set_signature(signature(request));
  mine.set_type(request.coded_type ? static_cast<std::uint8_t>(request.data.out.type) : 0);
  std::ranges::fill(mine.ratio_low, std::numeric_limits<float>::max());
  mine.bytes_high = request.bytes;
  if (request.on_device) mine.obstacles = Facts::on_device;
  const Blocks<ConstSlice> values = own_values(request, transport_.rank());
  if (policy == nullptr)
    mine.sites = terms_.facts_of(request).sites;
  else if (is_relative(policy->coding.bound) && values.data != nullptr && !request.on_device)
    mine.range = range_of_all(values, policy->coding);
  return mine;
}

// Once, and not before the values are needed: most calls that are left to plain MPI are known by then.
void Communicator::gather(Request& request, Means& means, Status& failure) const noexcept {
  if (request.staging == nullptr || request.on_device || std::exchange(means.gathered, true)) return;
  try {
    means.staged = request.staging->gather(place_, request.data);
  } catch (const Error& error) {
    failure = error.status();
  } catch (const std::bad_alloc&) {
    failure = Status::out_of_memory;
  }
}

}  // namespace taut
