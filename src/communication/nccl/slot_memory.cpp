#include "communication/nccl/slot_memory.hpp"

#include <new>
#include <utility>

#include "compressor/base/guarded.hpp"

namespace taut::nccl {

std::byte* GraphMemory::allocate(std::size_t bytes) noexcept {
  void* memory = nullptr;
  return services_.allocate(&memory, bytes, gpu::MemoryKind::plain) == 0 ? static_cast<std::byte*>(memory)
                                                                         : nullptr;
}

std::uint32_t* LateFailure::word() {
  if (word_.data() == nullptr) new (word_.reserve(sizeof(std::uint32_t))) std::uint32_t(0);
  return reinterpret_cast<std::uint32_t*>(word_.data());
}

bool LateFailure::take() noexcept {
  auto* const word = reinterpret_cast<std::uint32_t*>(word_.data());
  return word != nullptr && __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0 &&
         __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL) != 0;
}

SlotMemory::~SlotMemory() {
  for (auto& [stream, calls] : streams_) {
    while (calls.end != nullptr && !calls.end->ready()) continue;
    calls.devices.note_idle();
  }
}

void SlotMemory::note_end(void* stream) noexcept {
  std::unique_ptr<gpu::StreamPoint>& end = streams_[stream].end;
  const auto mark = [&] { end = std::make_unique<gpu::StreamPoint>(services_, stream); };
  if (guarded(mark) == Status::ok) return;
  services_.wait(stream);
  end.reset();
}

void SlotMemory::drop_idle(void* stream) noexcept {
  if (streams_.size() < 2) return;
  std::erase_if(streams_, [&](auto& one) {
    auto& [other, calls] = one;
    if (other == stream || (calls.end != nullptr && !calls.end->ready())) return false;
    calls.devices.note_idle();
    return true;
  });
}

}  // namespace taut::nccl
