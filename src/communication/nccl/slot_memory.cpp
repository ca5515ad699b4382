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
  for_each_end([](std::unique_ptr<gpu::StreamPoint>& end) {
    while (!end->ready()) continue;
  });
}

void SlotMemory::begin_call(void* stream) {
  unsigned long long number = 0;
  gpu::check(services_, services_.stream_number(stream, &number));
  const auto rename = [&](Key from, Key to) {
    if (auto calls = streams_.extract(from)) {
      calls.key() = to;
      streams_.insert(std::move(calls));
    }
  };
  const unsigned long long before = streams_[{stream, 0}].number;
  if (before != 0 && before != number) {
    rename({stream, 0}, {stream, before});
    rename({stream, number}, {stream, 0});
  }
  streams_[{stream, 0}].number = number;
  drop_idle(stream);
}

void SlotMemory::note_end(void* stream) noexcept {
  std::unique_ptr<gpu::StreamPoint>& end = streams_[{stream, 0}].end;
  const auto mark = [&] { end = std::make_unique<gpu::StreamPoint>(services_, stream); };
  if (guarded(mark) == Status::ok) return;
  services_.wait(stream);
  end.reset();
}

void SlotMemory::drop_idle(void* stream) noexcept {
  if (streams_.size() <= max_idle_streams) return;
  std::erase_if(streams_, [&](auto& one) {
    const auto& [key, calls] = one;
    return key != Key{stream, 0} && (calls.end == nullptr || calls.end->ready());
  });
}

}  // namespace taut::nccl
