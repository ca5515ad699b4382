#include "core/task.hpp"

#include <array>
#include <new>
#include <thread>

namespace taut {

void Backoff::pause() noexcept {
  constexpr int spins = 64;
  if (++rounds_ > spins) std::this_thread::yield();
}

namespace {

// Free coroutine frames of one thread, by size in units of 128 bytes. A frame may be freed by another thread
// than it came from: it then joins that thread's list.
class FrameList {
 public:
  ~FrameList() {
    for (Node*& head : free_)
      while (head != nullptr) ::operator delete(std::exchange(head, head->next));
  }
  void* take(std::size_t bytes) {
    const std::size_t unit = unit_of(bytes);
    if (unit >= free_.size()) return ::operator new(bytes);
    Node*& head = free_[unit];
    if (head == nullptr) return ::operator new((unit + 1) * unit_bytes);
    return std::exchange(head, head->next);
  }
  void give(void* frame, std::size_t bytes) noexcept {
    const std::size_t unit = unit_of(bytes);
    if (unit >= free_.size()) return ::operator delete(frame);
    free_[unit] = new (frame) Node{free_[unit]};
  }

 private:
  struct Node {
    Node* next;
  };
  static constexpr std::size_t unit_bytes = 128;
  static std::size_t unit_of(std::size_t bytes) noexcept { return (bytes - 1) / unit_bytes; }

  std::array<Node*, 64> free_{};
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

Task<> all(std::span<Task<>> tasks) {
  Children children(tasks);
  co_await children;
}

}  // namespace taut
