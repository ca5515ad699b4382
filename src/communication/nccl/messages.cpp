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

MessageGroup::MessageGroup(const Library& nccl, const gpu::DeviceServices& services, NcclTransport& transport,
                           const Rules& rules, std::map<const Policy*, PolicyState>& states,
                           std::span<const NcclMessage> messages, std::shared_ptr<Memory>& kept)
    : nccl_(nccl),
      services_(services),
      transport_(transport),
      rules_(rules),
      states_(states),
      comm_(messages[0].comm),
      stream_(messages[0].stream),
      kept_(kept),
      memory_(kept != nullptr ? std::move(kept) : std::make_shared<Memory>(services)) {
  const std::size_t each = sizeof(gpu::PolledResult) + sizeof(MessageHeader);
  std::byte* const pinned = memory_->pinned.reserve(messages.size() * each);
  std::byte* const device = memory_->device.reserve(messages.size() * sizeof(MessageHeader));
  std::fill_n(pinned, messages.size() * each, std::byte{});
  for (std::size_t i = 0; i < messages.size(); ++i) {
    std::byte* const at = pinned + i * each;
    transfers_.push_back({&messages[i], nullptr, reinterpret_cast<gpu::PolledResult*>(at),
                          reinterpret_cast<MessageHeader*>(at + sizeof(gpu::PolledResult)),
                          device + i * sizeof(MessageHeader)});
  }
}

void MessageGroup::run() {
  try {
    run_now();
  } catch (...) {
    gpu::free_after(services_, stream_, memory_);
    throw;
  }
  memory_->frames.clear();
  kept_ = memory_;
}

void MessageGroup::run_now() {
  for (Transfer& transfer : transfers_)
    if (transfer.message->sends()) encode(transfer);
  transport_.wait();
  exchange_headers();
  move_values();
  for (Transfer& transfer : transfers_)
    if (!transfer.message->sends() && transfer.header->coded != 0) decode(transfer);
  transport_.wait();
  check_results();
}

template <class Enqueue>
void MessageGroup::in_group(const Enqueue& enqueue) {
  check(nccl_.GroupStart(), "ncclGroupStart");
  for (Transfer& transfer : transfers_)
    if (failed_ == success) failed_ = enqueue(transfer);
  const int ended = nccl_.GroupEnd();
  check(failed_, "ncclSend or ncclRecv");
  check(ended, "ncclGroupEnd");
}

gpu::MemoryBlock& MessageGroup::allocate(Transfer& transfer, std::size_t bytes) {
  transfer.frame =
      memory_->frames.emplace_back(std::make_unique<gpu::MemoryBlock>(services_, gpu::MemoryKind::plain))
          .get();
  transfer.frame->reserve(bytes);
  return *transfer.frame;
}

// Starts to encode a message, if its policy asks for that and kernels serve it.
void MessageGroup::encode(Transfer& transfer) {
  const NcclMessage& message = *transfer.message;
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
  const Coding coding = plan.candidates[0].with_bound(plan.bound);
  if (!gpu::has_kernels(coding) || plan.bound.kind == Bound::Kind::rate) return;
  const std::size_t max_bytes =
      state.codecs.find_or_make(coding, plan.bound)->max_bytes(values.type, values.count);
  const Bytes frame{allocate(transfer, max_bytes).data(), max_bytes};
  transfer.min_ratio = plan.min_ratio;
  transfer.coded =
      gpu::encode(services_, coding, values, frame, &transfer.outcome->result, true, stream_) == 0;
}

// Sends each receiver the header of its message. A frame that saves too little is not sent.
void MessageGroup::exchange_headers() {
  for (Transfer& transfer : transfers_) {
    if (!transfer.message->sends()) continue;
    const auto bytes = static_cast<double>(transfer.message->bytes());
    const auto& [result, header] = *transfer.outcome;
    const auto coded = static_cast<double>(result.bytes);
    transfer.coded =
        transfer.coded && result.status == 0 && coded < bytes && coded * transfer.min_ratio <= bytes;
    *transfer.header = {transfer.coded ? result.bytes : transfer.message->bytes(), transfer.coded, {}};
    std::ranges::copy(header, transfer.header->frame_header);
    gpu::check(services_,
               services_.copy_on(transfer.device_header, transfer.header, sizeof(MessageHeader), stream_));
  }
  in_group([&](Transfer& transfer) {
    const int peer = transfer.message->peer;
    return transfer.message->sends()
               ? nccl_.Send(transfer.device_header, sizeof(MessageHeader), uint8, peer, comm_, stream_)
               : nccl_.Recv(transfer.device_header, sizeof(MessageHeader), uint8, peer, comm_, stream_);
  });
  for (Transfer& transfer : transfers_)
    if (!transfer.message->sends())
      gpu::check(services_,
                 services_.copy_on(transfer.header, transfer.device_header, sizeof(MessageHeader), stream_));
  transport_.wait();
}

// Moves values and frames. A plain message of another size than its receive goes to memory of its own.
void MessageGroup::move_values() {
  for (Transfer& transfer : transfers_) {
    const bool as_expected =
        transfer.header->coded == 0 && transfer.header->bytes == transfer.message->bytes();
    if (!transfer.message->sends() && !as_expected)
      allocate(transfer, std::max<std::size_t>(transfer.header->bytes, 1));
  }
  in_group([&](Transfer& transfer) {
    const NcclMessage& message = *transfer.message;
    const auto bytes = static_cast<std::size_t>(transfer.header->bytes);
    if (bytes == 0) return success;
    if (message.sends())
      return nccl_.Send(transfer.coded ? transfer.frame->data() : message.from, bytes, uint8, message.peer,
                        comm_, stream_);
    return nccl_.Recv(transfer.frame != nullptr ? transfer.frame->data() : message.to, bytes, uint8,
                      message.peer, comm_, stream_);
  });
}

// Starts to decode a message.
void MessageGroup::decode(Transfer& transfer) {
  const NcclMessage& message = *transfer.message;
  const auto bytes = static_cast<std::size_t>(transfer.header->bytes);
  // Only the header is read here: the rest of the frame is on the GPU.
  FrameHeader header;
  const Status status =
      read_header({std::as_bytes(std::span(transfer.header->frame_header)).data(), bytes}, header);
  const auto coding = status == Status::ok ? gpu::decoding_of(header) : std::nullopt;
  if (!coding) throw Error(Status::corrupt_frame, "a message is no frame that kernels decode");
  const Slice values{{message.to, message.count, dtype_of_nccl(message.datatype)}};
  gpu::check(services_, gpu::decode(services_, *coding, {transfer.frame->data(), bytes}, values,
                                    &transfer.outcome->result, stream_));
}

void MessageGroup::check_results() {
  for (const Transfer& transfer : transfers_) {
    if (transfer.message->sends()) continue;
    if (transfer.header->coded == 0 && transfer.frame != nullptr)
      throw Error(Status::rank_mismatch, "a message has another number of values than its receive");
    const auto status = static_cast<Status>(transfer.outcome->result.status);
    if (transfer.header->coded != 0 && status != Status::ok) throw Error(status, describe(status));
  }
}

}  // namespace taut::nccl
