// Task: a lazy coroutine that is driven by polling. Nothing runs in the background: the owner of the
// outermost task calls advance() or wait(), and all tasks that it awaits run inside these calls. Nested tasks
// cost no scheduling, only a resumption.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <span>
#include <utility>

namespace taut {

// Interface of what a task can wait for. `co_await waitable` suspends until ready() and yields result().
class Waitable {
 public:
  virtual bool ready() = 0;  // polls, and may do work; throws Error when the layer below fails

 protected:
  ~Waitable() = default;
};

template <class T>
class Task;

// Back-off of a polling loop. pause() is called between two unsuccessful polls: it spins first, then yields
// the processor to other threads and ranks.
class Backoff {
 public:
  void pause() noexcept;

 private:
  int rounds_ = 0;
};

namespace detail {

// Allocates coroutine frames from a free list of the thread: no malloc in the steady state.
void* take_coroutine_frame(std::size_t bytes);
void give_coroutine_frame(void* frame, std::size_t bytes) noexcept;

// State of an outermost task: the innermost suspended coroutine, and the Waitable that blocks it.
struct Run {
  std::coroutine_handle<> leaf;
  Waitable* blocked = nullptr;
  std::exception_ptr failure;  // exception of the poll, rethrown in the coroutine
};

template <class W>
struct AwaitWaitable {
  W& waitable;
  Run& run;

  bool await_ready() { return waitable.ready(); }
  void await_suspend(std::coroutine_handle<> leaf) noexcept {
    run.leaf = leaf;
    run.blocked = &waitable;
  }
  decltype(auto) await_resume() {
    if (run.failure) std::rethrow_exception(std::exchange(run.failure, nullptr));
    return waitable.result();
  }
};

template <class T>
struct AwaitTask {
  Task<T>& task;
  Run& run;

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
    task.handle_.promise().run = &run;
    task.handle_.promise().parent = parent;
    return task.handle_;
  }
  T await_resume() { return task.result(); }
};

struct PromiseBase {
  Run own;                         // used if this is the outermost task
  Run* run = &own;                 // Run of the outermost task
  std::coroutine_handle<> parent;  // resumed at the end
  std::exception_ptr failure;

  struct Finish {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      const auto next = self.promise().parent;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  Finish final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { failure = std::current_exception(); }

  template <class W>
  requires std::derived_from<std::remove_cvref_t<W>, Waitable>
  auto await_transform(W&& waitable) noexcept {
    return AwaitWaitable<std::remove_reference_t<W>>{waitable, *run};
  }
  template <class T>
  auto await_transform(Task<T>&& task) noexcept {
    return AwaitTask<T>{task, *run};
  }

  static void* operator new(std::size_t bytes) { return take_coroutine_frame(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { give_coroutine_frame(frame, bytes); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& v) {
    value.emplace(std::forward<U>(v));
  }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;  // holds no task
  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool done() const noexcept { return handle_.done(); }

  // Runs the task until it is finished (true) or blocked (false); never throws. Only for an outermost task.
  bool advance() noexcept {
    detail::Run& run = handle_.promise().own;
    if (handle_.done()) return true;
    if (run.blocked != nullptr && !poll(run)) return false;
    run.blocked = nullptr;
    (run.leaf ? run.leaf : handle_).resume();  // returns when the task is finished, or blocked again
    return handle_.done();
  }

  // Returns the value of a finished task, or throws the exception that ended the task.
  T result() {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
    return handle_.promise().take();
  }

  // Drives an outermost task until it completes, and returns its result.
  T wait() {
    for (Backoff backoff; !advance();) backoff.pause();
    return result();
  }

 private:
  friend struct detail::AwaitTask<T>;

  static bool poll(detail::Run& run) noexcept {
    try {
      return run.blocked->ready();
    } catch (...) {
      run.failure = std::current_exception();
      return true;
    }
  }

  Handle handle_ = nullptr;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

// Ensures that this thread can have n coroutines at a time without allocating memory, if their frames have up
// to 8 KiB. Throws std::bad_alloc.
void reserve_coroutine_frames(std::size_t n);

// Runs the tasks concurrently, by turns, and completes with the last of them. The first exception ends all()
// at once.
Task<> all(std::span<Task<>> tasks);

}  // namespace taut
