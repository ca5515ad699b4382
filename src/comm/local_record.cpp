// Local part of the agreement: the record of a call, its resources and its samples before the ranks agree.
// The code communicates nothing and leaves the user's memory unchanged.
#include <algorithm>
#include <limits>
#include <new>

#include "comm/communicator.hpp"
#include "core/device_memory.hpp"
#include "core/hierarchical.hpp"
#include "core/packing.hpp"
#include "core/round.hpp"
#include "core/sample.hpp"

namespace taut {
namespace {

constexpr std::size_t coroutines_of_a_call = 6, coroutines_of_a_segment = 4;

template <class T>
void mix(std::uint64_t& signature, const T& fact) noexcept {
  signature = hash(std::as_bytes(std::span(&fact, 1)), signature);
}

// Returns true if the call writes to `out` on this rank.
bool receives(const CollectiveCall& call, int rank) noexcept {
  const bool at_root = rank == call.data.root;
  switch (call.collective) {
    case Collective::scatter: return !at_root || call.data.out.data != nullptr;
    case Collective::reduce:
    case Collective::gather: return at_root;
    default: return true;
  }
}

template <class S>
bool missing(const Blocks<S>& memory) noexcept {
  return memory.data == nullptr && memory.values() != 0;
}

// Returns the range of all values that this rank contributes.
ValueRange range_of_all(const Blocks<ConstSlice>& values, const Coding& coding) noexcept {
  if (values.layout == nullptr) return range_of(values, coding.fill, coding.bits);
  ValueRange range;
  for (std::size_t i = 0; i < values.layout->counts.size(); ++i)
    range.merge(range_of(values.at(i, values.layout->counts.size()), coding.fill, coding.bits));
  return range;
}

bool values_on_device(const CollectiveCall& call) noexcept {
  if (call.staging != nullptr) return call.staging->on_device();
  return on_device(call.data.in.data) || on_device(call.data.out.data);
}

}  // namespace

Blocks<ConstSlice> own_values(const CollectiveCall& call, int rank) noexcept {
  const Operands& data = call.data;
  if (call.collective == Collective::bcast)
    return rank == data.root ? Blocks<ConstSlice>(data.out) : Blocks<ConstSlice>{};
  if (call.collective == Collective::scatter && rank != data.root) return {};
  return data.in;
}

namespace {

int most_neighbours(const Operands& data) noexcept {
  const Neighbours* const all = data.neighbours;
  return all == nullptr ? 0 : static_cast<int>(std::max(all->from.size(), all->to.size()));
}

}  // namespace

// Fills in the members that the caller of the library need not know.
void Communicator::complete(CollectiveCall& call) noexcept {
  call.data.op = call.op;
  call.ranks = transport_.size();
  call.nodes = nodes_.even() ? nodes_.count() : 0;
  call.any_blocks = call.data.in.layout != nullptr || call.data.out.layout != nullptr || !call.bytes_known;
  call.sites = policies_.sites(call.site);
  call.on_device = values_on_device(call);
}

std::uint64_t Communicator::signature(const CollectiveCall& call) const noexcept {
  std::uint64_t signature = policies_.rules().hash();
  mix(signature, call.collective);
  mix(signature, static_cast<std::uint64_t>(call.bytes_known ? call.bytes : 0));
  mix(signature, call.bytes_known);
  if (call.bytes_known && !of_neighbours(call.collective))  // then the sizes of all blocks are known as well
    for (const BlockLayout* layout : {call.data.in.layout, call.data.out.layout})
      if (layout != nullptr) signature = hash(std::as_bytes(std::span(layout->counts)), signature);
  mix(signature, call.op);
  if (reduces(call.collective)) mix(signature, call.coded());  // ranks that move data may use different types
  mix(signature, call.data.root);
  mix(signature, call.mean);
  return signature;
}

// Returns the number of values in the largest frame that this rank makes or receives.
std::size_t Communicator::block_values(const CollectiveCall& call, const Plan& plan) const noexcept {
  const Operands& data = call.data;
  const bool whole = plan.algorithm->unit == AlgorithmInfo::Unit::whole;
  if (call.any_blocks && !whole) return std::max(data.in.most().count, data.out.most().count);
  const Call part = call_of_algorithm(call, plan.by_nodes);
  return part_range(part.count(), 0, static_cast<std::size_t>(plan.algorithm->parts(part.ranks))).count;
}

// Ensures that this rank can serve the call: usable pointers, a codec, memory for all that the algorithm
// needs. Throws Error otherwise.
void Communicator::prepare(const CollectiveCall& call, const Plan& plan, CodecCache& codecs,
                           CallResources& resources) {
  const Operands& data = call.data;
  if (missing(own_values(call, transport_.rank())) ||
      (receives(call, transport_.rank()) && missing(data.out)))
    throw Error(Status::invalid_argument, "a buffer is NULL");
  const Call part = call_of_algorithm(call, plan.by_nodes);
  const auto segments = static_cast<std::size_t>(plan.segments);
  const std::size_t values = part_range(block_values(call, plan), 0, segments).count;
  const std::uint32_t addends = plan.how == Arithmetic::frames ? static_cast<std::uint32_t>(part.ranks) : 1;
  std::size_t frame = 0;
  for (std::size_t i = 0; i < plan.candidates.size(); ++i) {  // no codec is made later
    resources.codecs[i] = codecs.of(plan.candidates[i], plan.bound);
    frame = std::max(frame, resources.codecs[i]->max_bytes(data.out.type, values, addends));
  }
  const int me = plan.by_nodes ? nodes_.node(transport_.rank()) : transport_.rank();
  const int root = plan.by_nodes ? nodes_.node(data.root) : data.root;
  const int neighbours = most_neighbours(data);
  Scratch scratch = of_neighbours(call.collective)
                        ? plan.algorithm->scratch(neighbours, 0)
                        : plan.algorithm->scratch(part.ranks, mod(me - root, part.ranks));
  if (plan.how == Arithmetic::values && reduces(call.collective)) ++scratch.buffers;
  std::size_t bytes = frame * static_cast<std::size_t>(scratch.frames);
  if (plan.by_nodes && reduces(call.collective)) {
    bytes = std::max(bytes, part_range(part.count(), 0, segments).count * size_of(data.out.type));
    scratch.buffers += buffers_by_nodes;
  }
  resources.place.reserve(bytes, static_cast<std::size_t>(scratch.buffers) * segments);
  const std::size_t of_neighbours = static_cast<std::size_t>(neighbours / Round::most);
  reserve_coroutine_frames(coroutines_of_a_call + (coroutines_of_a_segment + of_neighbours) * segments);
}

// Looks for packed integers in the values of this rank, if a bound must not change them.
void Communicator::look_for_packed(const CollectiveCall& call, const Policy& policy, CallResources& resources,
                                   AgreementRecord& mine) const noexcept {
  if (policy.coding.bits == PackedBits::rounded || policy.coding.bound.exact()) return;
  const Packing found = packing_of(own_values(call, transport_.rank()).most());
  resources.packed = found != Packing::none;
  if (found == Packing::spread) mine.obstacles |= AgreementRecord::packed;
}

// Returns the ratio that samples of this rank's values reach.
float Communicator::estimate_ratio(const CollectiveCall& call, const Codec& coder, Place& place) {
  const ConstSlice values = own_values(call, transport_.rank()).most();
  if (values.count == 0) return std::numeric_limits<float>::max();
  const Buffer scratch = place.scratch(sample_scratch(coder, values.type));
  const Sample sample = coder.sample(values, scratch.bytes());
  if (sample.status != Status::ok) throw Error(sample.status, "the codec refused a sample");
  return static_cast<float>(sample.ratio());
}

// Returns this rank's record of all that the calls must have in common, and the range of its values if the
// bound of `policy` depends on the range. `policy` is null if it is not known yet.
AgreementRecord Communicator::local_record(const CollectiveCall& call, const Policy* policy) noexcept {
  AgreementRecord mine;
  mine.set_signature(signature(call));
  if (call.any_type && !call.coded())
    mine.set_any_type();
  else
    mine.set_type(static_cast<std::uint8_t>(call.type));
  std::ranges::fill(mine.ratio_low, std::numeric_limits<float>::max());
  mine.bytes_high = call.bytes;
  if (call.on_device) mine.obstacles = AgreementRecord::on_device;
  const Blocks<ConstSlice> values = own_values(call, transport_.rank());
  if (policy == nullptr)
    mine.sites = call.sites;
  else if (is_relative(policy->coding.bound) && values.data != nullptr && !call.on_device)
    mine.range = range_of_all(values, policy->coding);
  return mine;
}

// Gathers staged values once, and not before they are needed: most calls that fall back to plain MPI are
// known by then.
void Communicator::gather(CollectiveCall& call, CallResources& resources, Status& failure) const noexcept {
  if (call.staging == nullptr || call.on_device || std::exchange(resources.gathered, true)) return;
  try {
    resources.staged = call.staging->gather(place_, call.data);
  } catch (const Error& error) {
    failure = error.status();
  } catch (const std::bad_alloc&) {
    failure = Status::out_of_memory;
  }
}

}  // namespace taut
