// Phase `plan` of a call: the plan, the resources that it needs, samples, and this rank's record for the
// agreement. The code communicates nothing and leaves the user's memory unchanged.
#include <algorithm>
#include <functional>
#include <limits>

#include "communication/comm/active_call.hpp"
#include "communication/gpu/frame_codec.hpp"
#include "communication/team/message_batch.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/frame/common_unit.hpp"
#include "compressor/frame/packed_integers.hpp"
#include "compressor/frame/sample.hpp"

namespace taut {
namespace {

// A segment: by nodes, the algorithm and its parts, a sum by values, and on a GPU its codec operation.
constexpr std::size_t coroutines_of_a_call = 7, coroutines_of_a_segment = 5, coroutines_on_a_node = 3,
                      coroutines_of_device_coding = 2;

template <class S>
bool missing(const Blocks<S>& memory) noexcept {
  return memory.data == nullptr && memory.values() != 0;
}

// Scratch memory: `count` buffers of `bytes` each.
struct Buffers {
  std::size_t bytes, count;
};

int most_neighbours(const Operands& data) noexcept {
  const Neighbours* const all = data.neighbours;
  return all == nullptr ? 0 : static_cast<int>(std::max(all->from.size(), all->to.size()));
}

}  // namespace

// Returns the hash of all that must be equal on the ranks.
std::uint64_t Communicator::ActiveCall::signature() const noexcept {
  std::uint64_t signature = comm_.tuner_.rules().hash();
  mix(signature, call_.collective);
  mix(signature, static_cast<std::uint64_t>(call_.bytes_known ? call_.bytes : 0));
  mix(signature, call_.bytes_known);
  if (call_.bytes_known && !of_neighbours(call_.collective))  // then all know the sizes of all blocks
    for (const BlockLayout* layout : {call_.data.in.layout, call_.data.out.layout})
      if (layout != nullptr) signature = hash(std::as_bytes(std::span(layout->counts)), signature);
  mix(signature, call_.op);
  if (reduces(call_.collective)) mix(signature, call_.coded());  // data movement may have different types
  mix(signature, call_.data.root);
  mix(signature, call_.mean);
  return signature;
}

// Returns this rank's record of all that the calls must have in common, and the range of its values if the
// bound still depends on the range. `policy` is null if it is not known yet.
AgreementMessage Communicator::ActiveCall::local_message(const Policy* policy) noexcept {
  AgreementMessage mine;
  mine.set_signature(signature());
  if (call_.any_type && !call_.coded())
    mine.set_any_type();
  else
    mine.set_type(static_cast<std::uint8_t>(call_.type));
  std::ranges::fill(mine.measured_low, std::numeric_limits<float>::max());
  mine.bytes_high = call_.bytes;
  if (call_.on_device)
    mine.obstacles = device_ ? AgreementMessage::on_device : AgreementMessage::out_of_reach;
  if (policy == nullptr)
    mine.sites = call_.sites;
  else if (is_relative(bound_) && mine.obstacles != AgreementMessage::out_of_reach)
    mine.range = range_of_own(policy->coding);
  else if (seeks_units())
    mine.range = units_of_own();
  return mine;
}

// Returns the units of all values that this rank contributes to an exact sum. Values on a GPU count as values
// without units, and so do values that would have to be packed first.
ValueRange Communicator::ActiveCall::units_of_own() const noexcept {
  const Blocks<ConstSlice> values = own_values(call_, rank());
  ValueRange all;
  if (call_.staging != nullptr || call_.on_device) return no_common_unit;
  if (missing(values)) return all;  // an error, which the plan finds
  const std::size_t n = values.layout == nullptr ? 1 : values.layout->counts.size();
  for (std::size_t i = 0; i < n && all.least != 0; ++i) all.merge(common_unit_of(values.at(i, n)));
  return all;
}

// Returns the range of all values that this rank contributes. Records a failure of the GPU that has them.
ValueRange Communicator::ActiveCall::range_of_own(const Coding& coding) noexcept {
  const Blocks<ConstSlice> values = own_values(call_, rank());
  ValueRange all;
  if (values.data == nullptr) return all;
  const std::size_t n = values.layout == nullptr ? 1 : values.layout->counts.size();
  for (std::size_t i = 0; i < n; ++i) {
    ValueRange one;
    const ConstSlice part = values.at(i, n);
    if (!device_)
      one = range_of(part, coding.fill, coding.bits);
    else if (const Status status = device_->range(part, coding, one); status != Status::ok)
      failure_ = status;
    all.merge(one);
  }
  return all;
}

// Makes the plan, and adds what it shows of this rank to the record. Throws Error if the rank cannot serve
// the plan.
void Communicator::ActiveCall::plan(AgreementMessage& mine) {
  plan_ = make_plan(policy(), call_, bound_, early_.policy_state->candidates, early_.route);
  if ((mine.obstacles & AgreementMessage::out_of_reach) != 0 || plan_.fallback != Fallback::none) return;
  pack_staged();
  if (failure_ != Status::ok) return;
  call_.data.mean = call_.mean && sums_widely(policy(), call_);
  if (!policy().same_bits) leave_input(call_.collective, call_.data, rank(), ranks());
  reserve();
  guarded([&] { offer_history(mine); });  // without memory the call has no history
  const ConstSlice own = own_values(call_, rank()).most();
  const std::optional<gpu::SampledParts> copies = copies_to_sample(own);
  sample(copies ? copies->values() : own, mine);
  forecast(copies && looks_ ? copies->others() : own, mine);
}

// Returns what samples and the forecast read of values on a GPU; nothing if they read no such values. Without
// memory there is no forecast.
std::optional<gpu::SampledParts> Communicator::ActiveCall::copies_to_sample(ConstSlice own) {
  const bool samples = takes_samples() || rounds_packed_integers();
  if (!device_ || !on_device(own.data) || !(samples || looks_)) return {};
  const std::span<const Coding> candidates = samples ? plan_.candidates : std::span<const Coding>();
  std::optional<gpu::SampledParts> copies;
  const Status status = guarded([&] {
    copies.emplace(device_->device(), own, candidates,
                   looks_ ? EarlierPieces::parts_of(own) : std::vector<Range>());
  });
  if (status != Status::ok && (samples || status != Status::out_of_memory))
    throw Error(status, describe(status));
  looks_ = looks_ && copies.has_value();
  return copies;
}

// Takes samples of this rank's values. Candidates without kernels lose if the values are on a GPU.
void Communicator::ActiveCall::sample(ConstSlice sampled, AgreementMessage& mine) {
  const std::size_t candidates = plan_.candidates.size();
  if (early_.cached_candidate >= candidates) early_.cached_candidate.reset();
  const bool matters = takes_samples(), for_packed = rounds_packed_integers();
  if (!matters && !for_packed) return;
  if (for_packed) look_for_packed(sampled, mine);
  for (std::size_t i = 0; i < candidates && matters; ++i) {
    const bool wanted = i == early_.cached_candidate.value_or(i) && codecs_[i] != nullptr;
    mine.measured_low[i] = wanted ? estimate_ratio(*codecs_[i], sampled) : 0;
  }
  if (!matters) return;
  const float ratio = *std::ranges::max_element(std::span(mine.measured_low).first(candidates));
  const auto bytes = static_cast<float>(own_values(call_, rank()).values() * size_of(call_.type));
  mine.frame_low = mine.frame_high = ratio > 0 ? bytes / ratio : bytes;
}

// Packs staged values once, and not before they are needed: most calls that fall back to plain MPI are
// known by then.
void Communicator::ActiveCall::pack_staged() noexcept {
  if (call_.staging == nullptr || call_.on_device || std::exchange(staged_packed_, true)) return;
  const Status status = guarded([&] { staged_ = call_.staging->pack(comm_.place_, call_.data); });
  if (status != Status::ok) failure_ = status;
}

// Returns the number of values in the largest frame that this rank makes or receives.
std::size_t Communicator::ActiveCall::block_values() const noexcept {
  const Operands& data = call_.data;
  const bool whole = plan_.algorithm->unit == AlgorithmInfo::Unit::whole;
  if (call_.any_blocks && !whole) return std::max(data.in.most().count, data.out.most().count);
  const Call part = call_of_algorithm(call_, plan_.by_nodes);
  return part_range(part.count(), 0, static_cast<std::size_t>(plan_.algorithm->parts(part.ranks))).count;
}

// The largest of nearly equal blocks is that of rank 0, which another order would move.
bool Communicator::ActiveCall::follows_nodes() const noexcept {
  const bool has_blocks =
      call_.collective == Collective::allgather || call_.collective == Collective::reduce_scatter;
  const auto ranks = static_cast<std::size_t>(call_.ranks);
  const bool nearly_equal = has_blocks && !call_.any_blocks && call_.count() % ranks != 0;
  return !plan_.by_nodes && !nearly_equal &&
         taut::follows_nodes(*plan_.algorithm, comm_.nodes_, plan_.arithmetic);
}

// Returns the number of a rank in the team that runs the algorithm.
int Communicator::ActiveCall::place_of(int rank) const noexcept {
  if (plan_.by_nodes) return comm_.nodes_.node(rank);
  return follows_nodes() ? comm_.nodes_.place_in_order(rank) : rank;
}

// Returns the codec of this rank for a candidate; null if the values are on a GPU and no kernels serve it.
std::shared_ptr<const Codec> Communicator::ActiveCall::codec_of(const Coding& candidate) {
  std::shared_ptr<const Codec> host = early_.policy_state->codecs.find_or_make(candidate, plan_.bound);
  if (!device_) return host;
  return gpu::codec_on_device(std::move(host), candidate.with_bound(plan_.bound), *device_,
                              plan_.segments > 1);
}

// Returns what is wrong with the buffers of this rank, in words; null if nothing is.
const char* Communicator::ActiveCall::problem_of_arguments() const noexcept {
  const Operands& data = call_.data;
  if (missing(own_values(call_, rank())) || (receives(call_, rank()) && missing(data.out)))
    return "a buffer is NULL";
  if (call_.overlaps && under_rules()) return "the buffers overlap";
  const bool replaces_root =
      call_.collective == Collective::bcast && rank() == data.root && policy().same_bits;
  if (replaces_root && !call_.on_device && !is_writable(data.out.as_bytes()))
    return "the root's buffer is read-only, and same_bits=on replaces its values: pass a copy of it";
  return nullptr;
}

// Ensures that this rank can serve the call: usable pointers, a codec, memory for all that the algorithm
// needs. Throws Error otherwise.
void Communicator::ActiveCall::reserve() {
  const Operands& data = call_.data;
  problem_ = problem_of_arguments();
  if (problem_ != nullptr) throw Error(Status::invalid_argument, problem_);
  const Call part = call_of_algorithm(call_, plan_.by_nodes);
  const auto segments = static_cast<std::size_t>(plan_.segments);
  const std::size_t values = part_range(block_values(), 0, segments).count;
  const std::uint32_t addends =
      plan_.arithmetic == Arithmetic::frames ? static_cast<std::uint32_t>(part.ranks + has_series()) : 1;
  std::size_t frame = 0;
  for (std::size_t i = 0; i < plan_.candidates.size(); ++i) {  // no codec is made later
    codecs_[i] = codec_of(plan_.candidates[i]);
    if (codecs_[i] != nullptr) frame = std::max(frame, codecs_[i]->max_bytes(data.out.type, values, addends));
  }
  const int me = place_of(rank()), root = place_of(data.root);
  const int neighbours = most_neighbours(data);
  Scratch scratch = of_neighbours(call_.collective)
                        ? plan_.algorithm->scratch(neighbours, 0)
                        : plan_.algorithm->scratch(part.ranks, mod(me - root, part.ranks));
  MemoryByNodes by_nodes;
  if (plan_.by_nodes)
    by_nodes = memory_by_nodes(call_, comm_.nodes_, rank(), data, plan_.segments, moves_on_node());
  if (!by_nodes.between) scratch = {.buffers = 0};
  if (plan_.frames_on_node)  // own frames, and those of others
    scratch.buffers =
        std::max(scratch.buffers, 1 + std::min(call_.ranks / call_.nodes - 1, MessageBatch::most));
  const std::size_t frames = frame_room(frame) * static_cast<std::size_t>(scratch.frames);
  reserve_buffers(values * size_of(data.out.type), frames, scratch, by_nodes);
  const auto batches = static_cast<std::size_t>(neighbours / MessageBatch::most);
  const std::size_t of_a_segment = coroutines_of_a_segment + (plan_.by_nodes ? 2 : 1) * batches +
                                   (plan_.by_nodes ? coroutines_on_a_node : 0) +
                                   (device_ ? coroutines_of_device_coding : 0);
  reserve_coroutine_frames(coroutines_of_a_call + of_a_segment * segments);
}

// Reserves memory for frames and values. `largest`: bytes of the values of the largest frame.
void Communicator::ActiveCall::reserve_buffers(std::size_t largest, std::size_t frames,
                                               const Scratch& scratch, const MemoryByNodes& by_nodes) {
  const auto segments = static_cast<std::size_t>(plan_.segments), size = size_of(call_.data.out.type);
  const bool codes = scratch.buffers > 0;
  const bool needs_values = codes && plan_.arithmetic == Arithmetic::values && reduces(call_.collective);
  Buffers of_frames{frames, static_cast<std::size_t>(scratch.buffers) * segments};
  Buffers of_values{largest, needs_values * segments};
  if (device_) {  // it has one frame at a time, a result and a decoded operand
    reserve_in(place_, of_frames.bytes, of_frames.count);
    of_frames = {std::max(frames, largest), codes};
    of_values = {std::max(frames, largest), 2 * std::size_t{needs_values}};
  }
  std::array all{
      of_frames,
      of_values,
      Buffers{largest * static_cast<std::size_t>(scratch.blocks), (scratch.blocks > 0) * segments},
      Buffers{by_nodes.kept * size, (by_nodes.kept > 0) * segments},
      Buffers{by_nodes.passing * size, (by_nodes.passing > 0) * segments},
  };
  std::ranges::sort(all, std::greater(), &Buffers::bytes);  // else small buffers take large blocks
  if (!device_) {
    for (const Buffers& some : all) reserve_in(place_, some.bytes, some.count);
    return;
  }
  std::size_t count = 0;  // the pool counts a larger free block as one of those that it is asked for
  for (const Buffers& some : all)
    if (some.count > 0) reserve_in(*device_, some.bytes, count += some.count);
  if (by_nodes.message > 0 && device_->message_memory() == nullptr)  // messages on a node are in host memory
    reserve_in(place_, by_nodes.message * size, by_nodes.messages * segments);
}

// Reserves buffers in a place. If memory is short, the states of earlier calls give up theirs.
void Communicator::ActiveCall::reserve_in(Place& place, std::size_t bytes, std::size_t count) {
  Status status = guarded([&] { place.reserve(bytes, count); });
  if (status == Status::out_of_memory && comm_.histories_.drop_idle())
    status = guarded([&] { place.reserve(bytes, count); });
  if (status != Status::ok) throw Error(status, describe(status));
}

// Returns true if the transport itself moves and reduces the values of a node.
bool Communicator::ActiveCall::moves_on_node() const noexcept {
  return device_ && comm_.transport_.does_node_work();
}

// Returns true if the coding must not change packed integers, but would change large ones.
bool Communicator::ActiveCall::rounds_packed_integers() const noexcept {
  return policy().coding.bits != PackedBits::rounded && !plan_.promise.bound.exact();
}

// Looks for packed integers in the values of this rank.
void Communicator::ActiveCall::look_for_packed(ConstSlice sampled, AgreementMessage& mine) noexcept {
  const PackedIntegers found = find_packed_integers(sampled);
  packed_ = found != PackedIntegers::none;
  if (found == PackedIntegers::large) mine.obstacles |= AgreementMessage::packed;
}

// Returns the ratio that samples of this rank's values reach. Their memory goes back to the place at once.
float Communicator::ActiveCall::estimate_ratio(const Codec& coder, ConstSlice values) {
  if (values.count == 0) return std::numeric_limits<float>::max();
  const std::size_t bytes = sample_scratch(coder, values.type);
  comm_.place_.reserve(bytes, 1);
  const Buffer scratch = comm_.place_.scratch(bytes);
  const Sample sample = coder.sample(values, scratch.bytes());
  if (sample.status != Status::ok) throw Error(sample.status, "the codec refused a sample");
  return static_cast<float>(sample.ratio());
}

}  // namespace taut
