#include "communication/gpu/stream_order.hpp"

#include <mutex>
#include <new>
#include <vector>

namespace taut::gpu {

// ---- StreamPoint

StreamPoint::StreamPoint(const DeviceServices& services, void* stream) noexcept : services_(services) {
  if (services_.record(&event_, stream) == 0) return;
  event_ = nullptr;
  status_ = static_cast<Status>(services_.wait(stream));
}

StreamPoint::~StreamPoint() { forget_event(); }

void StreamPoint::forget_event() noexcept {
  if (event_ != nullptr) services_.free_event(event_);
  event_ = nullptr;
}

// Repeats a query that fails: if the error persists, it is a fault of the device.
bool StreamPoint::ready() {
  constexpr int max_failures = 2;
  if (event_ == nullptr) return true;
  int happened = 0;
  const int code = services_.has_happened(event_, &happened);
  failures_ = code != 0 ? failures_ + 1 : 0;
  if (failures_ == max_failures) status_ = static_cast<Status>(code);
  if (happened != 0 || failures_ == max_failures) forget_event();
  return event_ == nullptr;
}

// ---- HostCounter

namespace {

// Words in pinned memory that no counter uses now. A word is never freed or set back, so that a stream that
// still waits for an earlier value of the word continues.
struct FreeWords {
  std::mutex mutex;
  std::vector<std::uint32_t*> all;
};

FreeWords& free_words() {
  static auto* const one = new FreeWords;
  return *one;
}

constexpr std::size_t words_at_a_time = 64;  // words of one allocation
constexpr std::size_t word_stride = 16;      // in words: each is in a cache line of its own

void allocate_words(const DeviceServices& services, std::vector<std::uint32_t*>& words) {
  words.reserve(words.size() + words_at_a_time);
  void* memory = nullptr;
  const int code =
      services.allocate(&memory, words_at_a_time * word_stride * sizeof(std::uint32_t), MemoryKind::pinned);
  if (code != 0) throw Error(static_cast<Status>(code), "no pinned memory for a request in a stream");
  for (std::size_t i = 0; i < words_at_a_time; ++i)
    words.push_back(new (static_cast<std::uint32_t*>(memory) + i * word_stride) std::uint32_t(0));
}

}  // namespace

HostCounter::HostCounter(const DeviceServices& services) : services_(services) {
  FreeWords& words = free_words();
  const std::lock_guard lock(words.mutex);
  if (words.all.empty()) allocate_words(services, words.all);
  word_ = words.all.back();
  words.all.pop_back();
}

// Does not allocate: the word was in the list before.
HostCounter::~HostCounter() {
  FreeWords& words = free_words();
  const std::lock_guard lock(words.mutex);
  words.all.push_back(word_);
}

}  // namespace taut::gpu
