#include "communication/nccl/dropin/coded_messages.hpp"

#include <algorithm>
#include <bit>

#include "communication/gpu/device_values.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::nccl::dropin {
namespace {

// Returns the rules that apply to messages: those that name them, or the policy of all calls.
Rules rules_for_messages(const Rules& rules) {
  if (rules.single_policy() != nullptr) return rules;
  std::vector<Rule> named;
  std::ranges::copy_if(rules.all(), std::back_inserter(named),
                       [](const Rule& rule) { return rule.names(Collective::send); });
  return Rules(std::move(named));
}

ConstSlice values_of(const Message& message, const void* at) {
  return {{at, message.count, dtype_of_nccl(message.datatype)}};
}

void check_result(const TAUT_Cuda_result& result) {
  const auto status = static_cast<Status>(result.status);
  if (status != Status::ok) throw Error(status, describe(status));
}

}  // namespace

// ---- MessageBufferPool

std::unique_ptr<MessageBuffers> MessageBufferPool::take(std::size_t frame, std::size_t values) {
  std::unique_ptr<MessageBuffers> buffers;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(unused_, [&](const auto& one) {
      return one->frame.bytes() >= frame && one->values.bytes() >= values;
    });
    if (found != unused_.end()) {
      buffers = std::move(*found);
      unused_.erase(found);
      return buffers;
    }
  }
  buffers = std::make_unique<MessageBuffers>(services_);
  buffers->frame.reserve(std::bit_ceil(frame));
  if (values > 0) buffers->values.reserve(std::bit_ceil(values));
  buffers->result.reserve(sizeof(TAUT_Cuda_result));
  return buffers;
}

void MessageBufferPool::give_back(std::unique_ptr<MessageBuffers> buffers) noexcept {
  const std::lock_guard lock(mutex_);
  unused_.push_back(std::move(buffers));
}

// ---- CodedMessage

CodedMessage::CodedMessage(const gpu::DeviceServices& services, MessageBufferPool& pool, const Coding& coding,
                           std::size_t frame_bytes, std::size_t staged_bytes)
    : services_(services),
      pool_(pool),
      coding_(coding),
      frame_bytes_(frame_bytes),
      staged_bytes_(staged_bytes),
      buffers_(pool.take(frame_bytes, staged_bytes)) {}

void CodedMessage::encode(const Message& message) {
  const void* at = message.buffer;
  if (staged_bytes_ > 0) {
    at = buffers_->values.data();
    gpu::check(services_,
               services_.copy_on(buffers_->values.data(), message.buffer, staged_bytes_, message.stream));
  }
  *result() = {};
  const Bytes frame{buffers_->frame.data(), frame_bytes_};
  gpu::check(services_,
             gpu::encode(services_, coding_, values_of(message, at), frame, result(), false, message.stream));
}

int CodedMessage::move(const Message& message) const {
  std::byte* const frame = buffers_->frame.data();
  return message.sends
             ? library().Send(frame, frame_bytes_, uint8, message.peer, message.comm, message.stream)
             : library().Recv(frame, frame_bytes_, uint8, message.peer, message.comm, message.stream);
}

void CodedMessage::decode(const Message& message) {
  void* const at = staged_bytes_ > 0 ? buffers_->values.data() : message.buffer;
  const Slice values{{at, message.count, dtype_of_nccl(message.datatype)}};
  *result() = {};
  const ConstBytes frame{buffers_->frame.data(), frame_bytes_};
  gpu::check(services_, gpu::decode(services_, coding_, frame, values, result(), message.stream));
  if (staged_bytes_ > 0)
    gpu::check(services_, services_.copy_on(message.buffer, at, staged_bytes_, message.stream));
}

void CodedMessage::check() const {
  check_result(*result());
  if (result()->done == 0) throw Error(Status::device_failed, "kernels of a message did not run");
}

// ---- CodedMessages

CodedMessages::CodedMessages(const gpu::DeviceServices& services, const Rules& rules, int rank, int ranks,
                             int device)
    : services_(services),
      rules_(rules_for_messages(rules)),
      rank_(rank),
      ranks_(ranks),
      device_(device),
      pool_(services) {}

std::optional<CodedMessages::ChosenCoding> CodedMessages::coding_for(DType type, std::size_t count) {
  if (codes_nothing() || type == DType{} || count == 0) return {};
  Call call;
  call.collective = Collective::send;
  call.type = type;
  call.bytes = count * size_of(type);
  call.ranks = ranks_;
  call.sites = 0;
  const Policy* const policy = match(rules_, call);
  if (policy == nullptr || is_relative(policy->coding.bound)) return {};
  PolicyState& state = states_.try_emplace(policy, *policy, "").first->second;
  const MessagePlan plan = plan_message(*policy, count, type, policy->coding.bound, state.candidates);
  if (plan.fallback != Fallback::none || plan.frames != 1) return {};
  const Coding coding = plan.candidates[0].with_bound(plan.bound);
  const std::shared_ptr<const Codec> codec = state.codecs.find_or_make(coding, plan.bound);
  if (!gpu::has_kernels(coding) || !codec->contract().fixed_size) return {};
  const std::size_t bytes = codec->max_bytes(type, count);
  const double needed = static_cast<double>(bytes) * std::max(plan.min_ratio, 1.0);
  if (bytes >= call.bytes || needed > static_cast<double>(call.bytes)) return {};
  return ChosenCoding{coding, bytes};
}

std::optional<CodedMessages::ChosenCoding> CodedMessages::coding_for(const Message& message) {
  const bool to_other = message.peer != rank_ && message.peer >= 0 && message.peer < ranks_;
  return to_other ? coding_for(dtype_of_nccl(message.datatype), message.count) : std::nullopt;
}

bool CodedMessages::kernels_access(const Message& message) const {
  int device = -1;
  return on_device(message.buffer) && gpu::suits_kernels(values_of(message, message.buffer)) &&
         services_.device_of(message.buffer, &device) == 0 && device == device_;
}

std::shared_ptr<CodedMessage> CodedMessages::make_coded(const Message& message) {
  const auto chosen = coding_for(message);
  if (!chosen) return nullptr;
  const std::size_t staged = kernels_access(message) ? 0 : values_of(message, message.buffer).bytes();
  return std::make_shared<CodedMessage>(services_, pool_, chosen->coding, chosen->frame_bytes, staged);
}

void CodedMessages::load_kernels(void* stream) {
  for (const Rule& rule : rules_.all())
    for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      const std::size_t min_bytes = std::max(rule.when.min_bytes, rule.policy.min_bytes);
      if (const auto chosen = coding_for(type, min_bytes / size_of(type) + 1024))
        run_once(chosen->coding, type, stream);
    }
}

// Encodes and decodes some values. The buffers go back to the pool after an error too: kernels may still use
// them.
void CodedMessages::run_once(const Coding& coding, DType type, void* stream) {
  constexpr std::size_t count = 1024, bytes = count * sizeof(double);
  const auto give_back = [this](MessageBuffers* used) {
    pool_.give_back(std::unique_ptr<MessageBuffers>(used));
  };
  const std::unique_ptr<MessageBuffers, decltype(give_back)> buffers(pool_.take(2 * bytes, bytes).release(),
                                                                     give_back);
  const Slice values{{buffers->values.data(), count, type}};
  const Bytes room{buffers->frame.data(), 2 * bytes};
  auto* const outcome = reinterpret_cast<TAUT_Cuda_result*>(buffers->result.data());
  gpu::check(services_, gpu::encode(services_, coding, values, room, outcome, false, stream));
  gpu::check(services_, services_.wait(stream));
  check_result(*outcome);
  const ConstBytes frame = room.first(static_cast<std::size_t>(outcome->bytes));
  gpu::check(services_, gpu::decode(services_, coding, frame, values, outcome, stream));
  gpu::check(services_, services_.wait(stream));
}

}  // namespace taut::nccl::dropin
