#include "comm/communicator.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "core/sample.hpp"

namespace taut {
namespace {

// Each call has lanes of its own: one a segment, then one for the agreement. They come round after 128 calls.
constexpr Lane lanes_of_a_call = 128;
constexpr Lane agreement_lane = max_segments;
static_assert(max_segments < lanes_of_a_call);

template <class T>
void mix(std::uint64_t& signature, const T& fact) noexcept {
  signature = hash(std::as_bytes(std::span(&fact, 1)), signature);
}

// The values that this rank encodes first, and so can judge by; empty when it encodes none.
ConstSlice own_values(const Request& request, int rank) noexcept {
  const Operands& data = request.data;
  if (request.collective == Collective::bcast) return rank == data.root ? ConstSlice(data.out) : ConstSlice{};
  if (request.collective == Collective::scatter && rank != data.root) return {};
  return data.in;
}

bool missing(const void* data, std::size_t count) noexcept { return data == nullptr && count != 0; }

}  // namespace

void Statistics::count_plain(Plain why) noexcept {
  plain_unsupported += why == Plain::unsupported;
  plain_small += why == Plain::small;
  plain_no_gain += why == Plain::no_gain;
}

Statistics& Statistics::operator+=(const Statistics& other) noexcept {
  calls += other.calls;
  compressed_calls += other.compressed_calls;
  value_bytes += other.value_bytes;
  frame_bytes += other.frame_bytes;
  sent_bytes += other.sent_bytes;
  sent_messages += other.sent_messages;
  plain_unsupported += other.plain_unsupported;
  plain_small += other.plain_small;
  plain_no_gain += other.plain_no_gain;
  return *this;
}

Communicator::Communicator(Transport& transport, Place& place, Policy policy, std::string kernels)
    : transport_(transport),
      place_(place),
      policy_(std::move(policy)),
      kernels_(std::move(kernels)),
      policy_hash_(hash(std::as_bytes(std::span(policy_.text)))) {
  if (policy_.kind == Policy::Kind::off) return;
  const auto known = policy_.coding.codec->predictors;
  if (policy_.coding.predictor == "auto" && known != nullptr)
    predictors_ = known(policy_.coding.options(policy_.bound, kernels_));
  if (predictors_.empty()) predictors_.push_back(policy_.coding.predictor);
  codec(policy_.bound, predictors_[0]);
}

const Codec& Communicator::codec(double bound, const std::string& predictor) {
  for (const CachedCodec& cached : codecs_)
    if (cached.bound == bound && cached.predictor == predictor) return *cached.codec;
  CodecOptions options = policy_.coding.options(bound, kernels_);
  options.predictor = predictor.c_str();
  codecs_.push_back({bound, predictor, policy_.coding.codec->make(options)});
  return *codecs_.back().codec;
}

// ---- Before the agreement: local, and without any effect

Plan Communicator::plan(const Request& request) const {
  const DType type = request.data.out.type;
  return make_plan(
      policy_, {request.collective, request.bytes / size_of(type), type, request.data.op, transport_.size()});
}

std::uint64_t Communicator::signature(const Request& request) const noexcept {
  std::uint64_t signature = policy_hash_;
  mix(signature, request.collective);
  mix(signature, static_cast<std::uint64_t>(request.bytes));
  mix(signature, request.data.op);
  if (reduces(request.collective))
    mix(signature, request.coded_type);  // whoever moves data may use another type
  mix(signature, request.data.root);
  return signature;
}

// Finds out whether this rank can serve the call: usable pointers, a codec, memory for all that the algorithm
// holds.
void Communicator::prepare(const Request& request, const Plan& plan) {
  const Operands& data = request.data;
  const bool root_keeps_its_block =
      request.collective == Collective::scatter && transport_.rank() == data.root;
  const ConstSlice own = own_values(request, transport_.rank());
  if (missing(own.data, own.count) || (!root_keeps_its_block && missing(data.out.data, data.out.count)))
    throw Error(Status::invalid_argument, "a buffer is NULL");
  const auto ranks = static_cast<std::size_t>(transport_.size()),
             segments = static_cast<std::size_t>(plan.segments);
  const std::size_t count = request.bytes / size_of(data.out.type);
  const std::size_t block =
      plan.algorithm->unit == AlgorithmInfo::Unit::whole ? count : part_range(count, 0, ranks).count;
  const std::size_t values = part_range(block, 0, segments).count;
  const std::uint32_t addends = plan.how == Arithmetic::frames ? static_cast<std::uint32_t>(ranks) : 1;
  for (const std::string& predictor : predictors_) codec(plan.bound, predictor);  // none is made later
  const std::size_t frame = codec(plan.bound, predictors_[0]).max_bytes(data.out.type, values, addends);
  if (plan.algorithm->unit == AlgorithmInfo::Unit::bundle) {
    place_.reserve(frame * (transport_.rank() == data.root ? ranks - 1 : (ranks + 1) / 2), segments);
  } else {  // two frames and their combination; values of as many bytes to combine by
    place_.reserve(frame, (plan.how == Arithmetic::values && reduces(request.collective) ? 5 : 3) * segments);
  }
}

// Of the values of this rank.
double Communicator::estimate_ratio(const Request& request, const Plan& plan, const std::string& predictor) {
  const ConstSlice values = own_values(request, transport_.rank());
  if (values.count == 0) return std::numeric_limits<float>::max();
  const Codec& coder = codec(plan.bound, predictor);
  const Buffer scratch = place_.scratch(sample_scratch(coder, values.type));
  const Sample sample = coder.sample(values, scratch.bytes());
  if (sample.status != Status::ok) throw Error(sample.status, "the codec refused a sample");
  return sample.ratio();
}

Facts Communicator::facts(const Request& request, const Plan& plan, Status& failure) {
  Facts mine;
  mine.set_signature(signature(request));
  mine.set_type(request.coded_type ? static_cast<std::uint8_t>(request.data.out.type) : 0);
  std::ranges::fill(mine.ratio_low, std::numeric_limits<float>::max());
  if (!request.coded_type || plan.plain != Plain::no) return mine;
  try {
    prepare(request, plan);
    const bool matters = plan.least_ratio > 0 || predictors_.size() > 1;
    for (std::size_t i = 0; matters && i < predictors_.size(); ++i)
      mine.ratio_low[i] = static_cast<float>(estimate_ratio(request, plan, predictors_[i]));
  } catch (const Error& error) {
    failure = error.status();
  } catch (const std::bad_alloc&) {
    failure = Status::out_of_memory;
  }
  mine.short_of_memory = failure == Status::out_of_memory;
  mine.failed = failure != Status::ok && failure != Status::out_of_memory;
  return mine;
}

// ---- After it: the same decision on every rank

// The one whose worst ratio on any rank is the best.
std::size_t Communicator::best_predictor(const Facts& agreed) const noexcept {
  std::size_t best = 0;
  for (std::size_t i = 1; i < predictors_.size(); ++i)
    if (agreed.ratio_low[i] > agreed.ratio_low[best]) best = i;
  return best;
}

Verdict Communicator::judge(const Facts& agreed, const Plan& plan, Status failure) const noexcept {
  if (!agreed.same_signature()) return {Plain::no, Status::rank_mismatch};
  if (agreed.type_low == 0 || plan.plain != Plain::no) return {Plain::unsupported};
  if (agreed.type_low != agreed.type_high) return {Plain::no, Status::rank_mismatch};
  if (agreed.failed != 0) return {Plain::no, failure != Status::ok ? failure : Status::peer_failed};
  if (agreed.short_of_memory != 0) return {Plain::unsupported};
  if (agreed.ratio_low[best_predictor(agreed)] < plan.least_ratio) return {Plain::no_gain};
  return {};
}

void Communicator::account(const Verdict& verdict, const Ledger& ledger, Traffic before) noexcept {
  statistics_.count_plain(verdict.plain);
  if (verdict.plain != Plain::no) return;
  ++statistics_.compressed_calls;
  statistics_.value_bytes += ledger.value_bytes;
  statistics_.frame_bytes += ledger.frame_bytes;
  statistics_.sent_bytes += transport_.traffic().bytes - before.bytes;
  statistics_.sent_messages += transport_.traffic().messages - before.messages;
}

Task<Verdict> Communicator::start(Request request) {
  ++statistics_.calls;
  const Traffic before = transport_.traffic();
  Ledger ledger;
  Verdict verdict{plain_at_once(policy_, request.bytes, transport_.size())};
  if (verdict.plain == Plain::no) {
    const Lane lane = static_cast<Lane>(calls_++ % (lanes / lanes_of_a_call)) * lanes_of_a_call;
    const Plan chosen = plan(request);
    Status failure = Status::ok;
    const Facts mine = facts(request, chosen, failure);
    const Facts agreed = co_await agree(transport_, lane + agreement_lane, mine);
    verdict = judge(agreed, chosen, failure);
    if (verdict.plain == Plain::no && verdict.status == Status::ok) {
      const Codec& coder = codec(chosen.bound, predictors_[best_predictor(agreed)]);
      const Team team(transport_, coder, place_, ledger, chosen.how, lane);
      co_await pipelined(*chosen.algorithm, team, request.data, chosen.segments);
      verdict.status = ledger.status;
    }
  }
  account(verdict, ledger, before);
  co_return verdict;
}

}  // namespace taut
