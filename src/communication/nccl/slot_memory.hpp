// Memory that the calls in slots of a communicator use when they have returned: their streams have not passed
// them yet, or a graph repeats them.
#pragma once

#include <bit>
#include <map>
#include <memory>

#include "communication/gpu/device.hpp"
#include "communication/gpu/stream_order.hpp"

namespace taut::nccl {

// Memory of the calls that one capture of a stream has. It is handed out again in that capture alone, and
// freed with this object.
class GraphMemory final : public PooledPlace {
 public:
  explicit GraphMemory(const gpu::DeviceServices& services)
      : PooledPlace(nullptr, false), services_(services) {}
  ~GraphMemory() override { trim(); }

 private:
  std::byte* allocate(std::size_t bytes) noexcept override;
  void release(std::byte* data) noexcept override { services_.free(data, gpu::MemoryKind::plain); }

  const gpu::DeviceServices& services_;
};

// Returns scratch memory. Unlike PooledPlace::scratch(), frees no smaller memory, for which the host would
// wait: sizes are powers of two, so that calls that grow slowly keep little of it.
inline Buffer scratch_at_once(PooledPlace& place, std::size_t bytes) {
  bytes = std::bit_ceil(bytes);
  place.reserve(bytes, 1);
  return place.scratch(bytes);
}

// Word in pinned memory that kernels set when a frame was not decoded, for the host to read later.
class LateFailure {
 public:
  explicit LateFailure(const gpu::DeviceServices& services) noexcept
      : word_(services, gpu::MemoryKind::pinned) {}

  // Returns the word. Throws Error if there is no memory.
  std::uint32_t* word();
  // Returns true if a kernel has set the word since the last call, and sets it back.
  bool take() noexcept;

 private:
  gpu::MemoryBlock word_;
};

// All memory of a communicator's calls, by stream and capture. Beyond a number of streams, those whose calls
// are done are dropped when another one has a call. Their memory is not freed before: the host may wait then.
class SlotMemory {
 public:
  explicit SlotMemory(const gpu::DeviceServices& services) noexcept : services_(services) {}
  SlotMemory(const SlotMemory&) = delete;
  // Waits for calls whose end is not taken.
  ~SlotMemory();

  // Returns the devices of the calls on a stream.
  gpu::Devices& devices_on(void* stream) {
    gpu::Devices& devices = streams_[{stream, 0}].devices;
    devices.set_stream(stream);
    return devices;
  }
  // Returns the memory of a capture, by its number.
  GraphMemory& of_graph(void* stream, unsigned long long capture) {
    return graphs_.try_emplace({stream, capture}, services_).first->second;
  }
  bool has_graphs() const noexcept { return !graphs_.empty(); }

  // Begins a call outside of graphs. A stream with the handle of a destroyed one does not get its memory,
  // which work may still use. Throws Error.
  void begin_call(void* stream);
  // Notes that work of a call, outside of graphs, ends at this point of the stream.
  void note_end(void* stream) noexcept;
  // Calls action(end) for the end of the last call on each stream.
  template <class Action>
  void for_each_end(const Action& action) {
    for (auto& [stream, calls] : streams_)
      if (calls.end != nullptr) action(calls.end);
  }

 private:
  struct Calls {
    gpu::Devices devices;
    std::unique_ptr<gpu::StreamPoint> end;  // of the last call; null: there was none outside of graphs
    unsigned long long number = 0;          // of the stream; 0: not known
  };
  // A stream, and 0, or its number if another stream has its handle now.
  using Key = std::pair<void*, unsigned long long>;
  static constexpr std::size_t max_idle_streams = 8;

  void drop_idle(void* stream) noexcept;

  const gpu::DeviceServices& services_;
  std::map<Key, Calls> streams_;
  std::map<std::pair<void*, unsigned long long>, GraphMemory> graphs_;
};

// Scope in which a call enqueues work. Its end is marked for those who free memory, whatever was enqueued;
// the end of a call in a graph cannot be.
class EndOfCall {
 public:
  EndOfCall(SlotMemory& memory, void* stream, bool captured) noexcept
      : memory_(memory), stream_(stream), captured_(captured) {}
  EndOfCall(const EndOfCall&) = delete;
  ~EndOfCall() {
    if (!captured_) memory_.note_end(stream_);
  }

 private:
  SlotMemory& memory_;
  void* stream_;
  bool captured_;
};

}  // namespace taut::nccl
