#include "communication/nccl/staged_call.hpp"

#include <algorithm>

namespace taut::nccl {

StagedCall::StagedCall(const gpu::DeviceServices& services, const NcclCall& call,
                       const CollectiveCall& described)
    : services_(services),
      send_copy_(services, gpu::MemoryKind::plain),
      recv_copy_(services, gpu::MemoryKind::plain),
      recvbuff_(call.recvbuff),
      staged_(call),
      described_(described) {
  const std::size_t sent = described.data.in.bytes(), received = described.data.out.bytes();
  const auto* const in = static_cast<const std::byte*>(call.sendbuff);
  auto* const out = static_cast<std::byte*>(call.recvbuff);
  const auto copied = [&](gpu::MemoryBlock& memory, const std::byte* from, std::size_t bytes) {
    std::byte* const copy = memory.reserve(std::max<std::size_t>(bytes, 1));
    if (bytes > 0) gpu::check(services_, services_.copy_on(copy, from, bytes, call.stream));
    return copy;
  };
  const std::less<const std::byte*> below;
  if (sent > 0 && below(in, out + received) && below(out, in + sent)) {
    const std::byte* const begin = std::min<const std::byte*>(in, out, below);
    const std::byte* const end = std::max<const std::byte*>(in + sent, out + received, below);
    std::byte* const copy = copied(send_copy_, begin, static_cast<std::size_t>(end - begin));
    staged_.sendbuff = copy + (in - begin);
    staged_.recvbuff = copy + (out - begin);
  } else {
    staged_.sendbuff = copied(send_copy_, in, sent);
    staged_.recvbuff = copied(recv_copy_, out, received);
  }
  if (sent > 0) described_.data.in.data = staged_.sendbuff;
  described_.data.out.data = staged_.recvbuff;
}

void StagedCall::fetch() const {
  gpu::check(services_,
             services_.copy_on(recvbuff_, staged_.recvbuff, described_.data.out.bytes(), staged_.stream));
}

}  // namespace taut::nccl
