// Messages between two ranks (TAUT_Nccl_Send, TAUT_Nccl_Recv), in groups.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "communication/comm/tuner.hpp"
#include "communication/nccl/library.hpp"
#include "communication/nccl/transport.hpp"
#include "communication/policy/plan/plan.hpp"
#include "compressor/gpu/device_kernels.hpp"

namespace taut::nccl {

// Arguments of TAUT_Nccl_Send or TAUT_Nccl_Recv.
struct NcclMessage {
  const void* from;  // null: a receive
  void* to;          // null: a send
  std::size_t count;
  int datatype;
  int peer;
  ncclComm* comm;
  void* stream;

  bool sends() const noexcept { return from != nullptr; }
  std::size_t bytes() const noexcept { return count * size_of(dtype_of_nccl(datatype)); }
};

// Enqueues the messages as NCCL serves them, in one group. Throws Error.
void run_plain(const Library& nccl, std::span<const NcclMessage> messages);

// Moves the messages of a group on one communicator. The sender alone decides if a message is compressed, and
// says so in a header of the message, which travels first. The values or their frame follow.
class MessageGroup {
 public:
  // Memory that work on the stream uses.
  struct Memory {
    explicit Memory(const gpu::DeviceServices& services) noexcept
        : pinned(services, gpu::MemoryKind::pinned), device(services, gpu::MemoryKind::plain) {}

    gpu::MemoryBlock pinned, device;  // pinned: results and headers; GPU: headers
    std::vector<std::unique_ptr<gpu::MemoryBlock>> frames;
  };

  // `kept`: memory of the group before, or null; and of this one once its work is done. CUDA may wait for all
  // streams when pinned memory is freed.
  MessageGroup(const Library& nccl, const gpu::DeviceServices& services, NcclTransport& transport,
               const Rules& rules, std::map<const Policy*, PolicyState>& states,
               std::span<const NcclMessage> messages, std::shared_ptr<Memory>& kept);

  // Moves the messages, and returns when all values have arrived. Throws Error; values that could not be
  // received are then unspecified.
  void run();

 private:
  struct MessageHeader {
    std::uint64_t bytes;  // size of the frame or of the values
    std::uint64_t coded;  // 1: the message is compressed
    decltype(gpu::PolledResult::header) frame_header;
  };
  // A message with the memory for its way.
  struct Transfer {
    const NcclMessage* message;
    // GPU memory for the frame of a message, or for a plain message of unexpected size; else null.
    gpu::MemoryBlock* frame;
    gpu::PolledResult* outcome;  // of encoding or decoding
    MessageHeader* header;       // on the host
    std::byte* device_header;    // on the GPU
    double min_ratio = 0;        // the message is sent plain if its frame has a lower ratio
    bool coded = false;          // a send: it has a frame; from exchange_headers() on: the frame is sent
  };

  void run_now();
  void encode(Transfer& transfer);
  void exchange_headers();
  void move_values();
  void decode(Transfer& transfer);
  void check_results();
  gpu::MemoryBlock& allocate(Transfer& transfer, std::size_t bytes);
  // Runs enqueue(transfer), which returns NCCL's result, for each message, in one group of NCCL.
  template <class Enqueue>
  void in_group(const Enqueue& enqueue);

  const Library& nccl_;
  const gpu::DeviceServices& services_;
  NcclTransport& transport_;
  const Rules& rules_;
  std::map<const Policy*, PolicyState>& states_;
  ncclComm* comm_;
  void* stream_;
  std::vector<Transfer> transfers_;
  std::shared_ptr<Memory>& kept_;
  std::shared_ptr<Memory> memory_;
  int failed_ = success;  // first error of NCCL
};

}  // namespace taut::nccl
