#include "communication/nccl/messages.hpp"

#include <algorithm>

#include "communication/gpu/device_values.hpp"
#include "compressor/frame/frame.hpp"

namespace taut::nccl {

void run_plain(const Library& nccl, std::span<const NcclMessage> messages) {
  check(nccl.GroupStart(), "ncclGroupStart");
  int failed = success;
  for (const auto& [from, to, count, type, peer, comm, stream] : messages)
    if (failed == success)
      failed = from != nullptr ? nccl.Send(from, count, type, peer, comm, stream)
                               : nccl.Recv(to, count, type, peer, comm, stream);
  const int ended = nccl.GroupEnd();
  check(failed, "ncclSend or ncclRecv");
  check(ended, "ncclGroupEnd");
}

MessageGroup::MessageGroup(const Library& nccl, const api::DeviceServices& services, NcclTransport& transport,
                           const Rules& rules, std::map<const Policy*, PolicyState>& states,
                           std::span<const NcclMessage> messages)
    : nccl_(nccl),
      services_(services),
      transport_(transport),
      rules_(rules),
      states_(states),
      comm_(messages[0].comm),
      stream_(messages[0].stream),
      memory_(std::make_shared<Memory>(services)) {
  const std::size_t each = sizeof(TAUT_Cuda_result) + sizeof(Announced) + frame_header_bytes;
  std::byte* const here = memory_->here.of(messages.size() * each);
  std::byte* const there = memory_->there.of(messages.size() * sizeof(Announced));
  std::fill_n(here, messages.size() * each, std::byte{});
  for (std::size_t i = 0; i < messages.size(); ++i) {
    std::byte* const at = here + i * each;  // the header comes first: its alignment is the strictest
    items_.push_back({&messages[i], nullptr, reinterpret_cast<TAUT_Cuda_result*>(at + frame_header_bytes),
                      reinterpret_cast<Announced*>(at + frame_header_bytes + sizeof(TAUT_Cuda_result)),
                      there + i * sizeof(Announced)});
  }
}

void MessageGroup::run() {
  try {
    run_now();
  } catch (...) {
    gpu::free_after(services_, stream_, memory_);
    throw;
  }
}

void MessageGroup::run_now() {
  for (Item& item : items_)
    if (item.message->sends()) encode(item);
  transport_.wait();
  announce();
  move();
  for (Item& item : items_)
    if (!item.message->sends() && item.announced->coded != 0) decode(item);
  transport_.wait();
  check_results();
}

template <class Messages>
void MessageGroup::group(const Messages& messages) {
  check(nccl_.GroupStart(), "ncclGroupStart");
  for (Item& item : items_)
    if (failed_ == success) failed_ = messages(item);
  const int ended = nccl_.GroupEnd();
  check(failed_, "ncclSend or ncclRecv");
  check(ended, "ncclGroupEnd");
}

gpu::MemoryBlock& MessageGroup::room(Item& item, std::size_t bytes) {
  item.frame =
      memory_->frames.emplace_back(std::make_unique<gpu::MemoryBlock>(services_, gpu::MemoryKind::plain))
          .get();
  item.frame->of(bytes);
  return *item.frame;
}

// Starts to encode a message, if its policy asks for that and kernels serve it.
void MessageGroup::encode(Item& item) {
  const NcclMessage& message = *item.message;
  const ConstSlice values{{message.from, message.count, dtype_of_nccl(message.datatype)}};
  Call call;
  call.collective = Collective::send;
  call.type = values.type;
  call.bytes = values.bytes();
  call.ranks = transport_.size();
  const Policy* const policy = match(rules_, call);
  if (policy == nullptr || is_relative(policy->coding.bound) || !gpu::suits_kernels(values)) return;
  PolicyState& state = states_.try_emplace(policy, *policy, "").first->second;
  const MessagePlan plan =
      plan_message(*policy, values.count, values.type, policy->coding.bound, state.candidates);
  if (plan.fallback != Fallback::none || plan.frames != 1) return;
  const Coding coding = plan.candidates[0].with(plan.bound);
  if (!api::has_kernels(coding) || plan.bound.kind == Bound::Kind::rate) return;
  const std::size_t most = state.codecs.of(coding, plan.bound)->max_bytes(values.type, values.count);
  const Bytes frame{room(item, most).data(), most};
  item.least_ratio = plan.least_ratio;
  item.coded = api::encode(services_, coding, values, frame, item.result, stream_) == 0;
}

// Tells each receiver the size of its message. A frame that saves too little stays here.
void MessageGroup::announce() {
  for (Item& item : items_) {
    if (!item.message->sends()) continue;
    const auto bytes = static_cast<double>(item.message->bytes());
    const auto coded = static_cast<double>(item.result->bytes);
    item.coded = item.coded && item.result->status == 0 && coded < bytes && coded * item.least_ratio <= bytes;
    *item.announced = {item.coded ? item.result->bytes : item.message->bytes(), item.coded};
    gpu::check(services_,
               services_.copy_on(item.announced_there, item.announced, sizeof(Announced), stream_));
  }
  group([&](Item& item) {
    const int peer = item.message->peer;
    return item.message->sends()
               ? nccl_.Send(item.announced_there, sizeof(Announced), uint8, peer, comm_, stream_)
               : nccl_.Recv(item.announced_there, sizeof(Announced), uint8, peer, comm_, stream_);
  });
  for (Item& item : items_)
    if (!item.message->sends())
      gpu::check(services_,
                 services_.copy_on(item.announced, item.announced_there, sizeof(Announced), stream_));
  transport_.wait();
}

// Moves values and frames. A plain message of another size than expected is received aside.
void MessageGroup::move() {
  for (Item& item : items_) {
    const bool as_expected = item.announced->coded == 0 && item.announced->bytes == item.message->bytes();
    if (!item.message->sends() && !as_expected) room(item, std::max<std::size_t>(item.announced->bytes, 1));
  }
  group([&](Item& item) {
    const NcclMessage& message = *item.message;
    const auto bytes = static_cast<std::size_t>(item.announced->bytes);
    if (bytes == 0) return success;
    if (message.sends())
      return nccl_.Send(item.coded ? item.frame->data() : message.from, bytes, uint8, message.peer, comm_,
                        stream_);
    return nccl_.Recv(item.frame != nullptr ? item.frame->data() : message.to, bytes, uint8, message.peer,
                      comm_, stream_);
  });
}

// Starts to decode a message, once the host knows the header of its frame.
void MessageGroup::decode(Item& item) {
  const NcclMessage& message = *item.message;
  const auto bytes = static_cast<std::size_t>(item.announced->bytes);
  std::byte* const header_here = reinterpret_cast<std::byte*>(item.result) - frame_header_bytes;
  gpu::check(services_, services_.copy_on(header_here, item.frame->data(),
                                          std::min(bytes, frame_header_bytes), stream_));
  transport_.wait();
  // The header alone is here: a whole frame would be longer.
  FrameHeader header;
  const Status status = read_header({header_here, bytes}, header);
  const auto coding = status == Status::ok ? api::decoding_of(header) : std::nullopt;
  if (!coding) throw Error(Status::corrupt_frame, "a message is no frame that kernels decode");
  const Slice values{{message.to, message.count, dtype_of_nccl(message.datatype)}};
  gpu::check(services_,
             api::decode(services_, *coding, {item.frame->data(), bytes}, values, item.result, stream_));
}

void MessageGroup::check_results() {
  for (const Item& item : items_) {
    if (item.message->sends()) continue;
    if (item.announced->coded == 0 && item.frame != nullptr)
      throw Error(Status::rank_mismatch, "a message has another number of values than its receive");
    if (item.announced->coded != 0 && item.result->status != 0)
      throw Error(static_cast<Status>(item.result->status),
                  describe(static_cast<Status>(item.result->status)));
  }
}

}  // namespace taut::nccl
