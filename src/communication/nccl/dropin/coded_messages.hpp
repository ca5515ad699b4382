// Messages of an unchanged program (ncclSend, ncclRecv) that travel as frames.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "communication/comm/tuner.hpp"
#include "communication/gpu/memory.hpp"
#include "communication/nccl/dropin/program_call.hpp"
#include "communication/policy/plan/plan.hpp"
#include "compressor/gpu/device_kernels.hpp"

namespace taut::nccl::dropin {

// Buffers of one coded message.
struct MessageBuffers {
  explicit MessageBuffers(const gpu::DeviceServices& services)
      : frame(services, gpu::MemoryKind::plain),
        values(services, gpu::MemoryKind::pooled),
        result(services, gpu::MemoryKind::pinned) {}

  gpu::MemoryBlock frame, values, result;  // `values`: copies, if kernels cannot access those of the program
};

// Buffers for the messages of one communicator. They are freed with the communicator: CUDA may wait for all
// streams when memory is freed, and streams wait for messages.
class MessageBufferPool {
 public:
  explicit MessageBufferPool(const gpu::DeviceServices& services) noexcept : services_(services) {}

  // Returns buffers of at least these sizes in bytes. Throws Error.
  std::unique_ptr<MessageBuffers> take(std::size_t frame, std::size_t values);
  void give_back(std::unique_ptr<MessageBuffers> buffers) noexcept;

 private:
  const gpu::DeviceServices& services_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<MessageBuffers>> unused_;
};

// A message whose frame moves in place of its values, as one message of NCCL. All functions but check() only
// enqueue work, on the stream of the message, and throw Error.
class CodedMessage {
 public:
  // `staged_bytes`: size of the values if kernels cannot access the buffer of the program, so that the values
  // are copied; else 0.
  CodedMessage(const gpu::DeviceServices& services, MessageBufferPool& pool, const Coding& coding,
               std::size_t frame_bytes, std::size_t staged_bytes);
  CodedMessage(const CodedMessage&) = delete;
  ~CodedMessage() { pool_.give_back(std::move(buffers_)); }

  void encode(const Message& message);
  int move(const Message& message) const;  // returns NCCL's result
  void decode(const Message& message);

  // Throws Error if the kernels reported one. The stream is idle.
  void check() const;

 private:
  TAUT_Cuda_result* result() const noexcept {
    return reinterpret_cast<TAUT_Cuda_result*>(buffers_->result.data());
  }

  const gpu::DeviceServices& services_;
  MessageBufferPool& pool_;
  Coding coding_;
  std::size_t frame_bytes_, staged_bytes_;
  std::unique_ptr<MessageBuffers> buffers_;
};

// Selects and prepares the messages of one communicator that travel as frames. Sender and receiver decide by
// the rules, the type and the number of values, which are the same on both sides. The receiver must know the
// size of the frame in advance, so that only codings whose frames have a fixed size are served.
class CodedMessages {
 public:
  // `rules`: those that all ranks have agreed on. `device`: that of the communicator.
  CodedMessages(const gpu::DeviceServices& services, const Rules& rules, int rank, int ranks, int device);

  // Returns true if no message is ever coded.
  bool codes_nothing() const noexcept { return rules_.empty(); }

  // Runs the kernels for each type once, on `stream`, and waits for them: CUDA loads a kernel at
  // its first launch, and may wait for all streams meanwhile.
  void load_kernels(void* stream);

  // Returns true if the message is coded, on both sides.
  bool selects(const Message& message) { return coding_for(message).has_value(); }

  // Returns the coded form of a message; null if NCCL moves its values. Throws Error.
  std::shared_ptr<CodedMessage> make_coded(const Message& message);

 private:
  struct ChosenCoding {
    Coding coding;
    std::size_t frame_bytes;
  };
  std::optional<ChosenCoding> coding_for(DType type, std::size_t count);
  std::optional<ChosenCoding> coding_for(const Message& message);
  void run_once(const Coding& coding, DType type, void* stream);
  bool kernels_access(const Message& message) const;

  const gpu::DeviceServices& services_;
  Rules rules_;  // those that apply to messages
  int rank_, ranks_, device_;
  std::map<const Policy*, PolicyState> states_;
  MessageBufferPool pool_;
};

}  // namespace taut::nccl::dropin
