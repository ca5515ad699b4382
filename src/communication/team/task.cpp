#include "communication/team/task.hpp"

#include <array>
#include <new>
#include <thread>

namespace taut {

void Backoff::pause() noexcept {
  constexpr int spins = 64;
  if (++rounds_ > spins) std::this_thread::yield();
}

namespace {

// Free list of the coroutine frames of one thread, by size in units of 128 bytes. A frame that is freed by
// another thread than allocated it joins that thread's list. Spare frames, large enough for any listed size,
// are kept for the case that no memory is left.
class FrameList {
 public:
  FrameList() noexcept {
    try {
      reserve(spares_of_a_thread);
    } catch (const std::bad_alloc&) {
    }
  }
  ~FrameList() {
    for (Node*& head : free_) release(head);
    release(spare_);
  }
  void reserve(std::size_t n) {
    for (; spares_ < n; ++spares_) spare_ = new (::operator new(largest)) Node{spare_};
  }
  void* take(std::size_t bytes) {
    if (bytes > largest) return ::operator new(bytes);
    const std::size_t unit = unit_of(bytes);
    Node*& head = free_[unit];
    if (head != nullptr) {
      --listed_[unit];
      return std::exchange(head, head->next);
    }
    if (void* const fresh = ::operator new((unit + 1) * unit_bytes, std::nothrow)) return fresh;
    if (spare_ == nullptr) throw std::bad_alloc();
    --spares_;
    return std::exchange(spare_, spare_->next);
  }
  void give(void* frame, std::size_t bytes) noexcept {
    const std::size_t unit = bytes > largest ? 0 : unit_of(bytes);
    if (bytes > largest || listed_[unit] == most_listed) return ::operator delete(frame);
    ++listed_[unit];
    free_[unit] = new (frame) Node{free_[unit]};
  }

 private:
  struct Node {
    Node* next;
  };
  static constexpr std::size_t unit_bytes = 128, units = 64, largest = units * unit_bytes;
  static constexpr std::size_t spares_of_a_thread = 6;  // enough for a call until it reserves more
  static constexpr std::size_t most_listed = 256;       // for each size: threads may free others' frames
  static std::size_t unit_of(std::size_t bytes) noexcept { return (bytes - 1) / unit_bytes; }
  static void release(Node* head) noexcept {
    while (head != nullptr) ::operator delete(std::exchange(head, head->next));
  }

  std::array<Node*, units> free_{};
  std::array<std::size_t, units> listed_{};
  Node* spare_ = nullptr;
  std::size_t spares_ = 0;
};

thread_local FrameList frame_list;

class Children final : public Waitable {
 public:
  explicit Children(std::span<Task<>> tasks) : tasks_(tasks) {}

  bool ready() override {
    bool all_done = true;
    for (Task<>& task : tasks_) {
      if (task.done()) continue;
      if (task.advance()) {
        task.result();
      } else {
        all_done = false;
      }
    }
    return all_done;
  }
  void result() const noexcept {}

 private:
  std::span<Task<>> tasks_;
};

}  // namespace

void* detail::take_coroutine_frame(std::size_t bytes) { return frame_list.take(bytes); }
void detail::give_coroutine_frame(void* frame, std::size_t bytes) noexcept { frame_list.give(frame, bytes); }

void reserve_coroutine_frames(std::size_t n) { frame_list.reserve(n); }

Task<> all(std::span<Task<>> tasks) {
  Children children(tasks);
  co_await children;
}

}  // namespace taut
