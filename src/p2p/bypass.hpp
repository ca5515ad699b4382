// Calls of MPI that Taut makes itself, and that the drop-in does not intercept.
#pragma once

namespace taut::p2p {

// While one lives, the drop-in intercepts no call of this thread: implementations of MPI call MPI's public
// functions themselves.
class BypassScope {
 public:
  BypassScope() noexcept { ++depth_; }
  ~BypassScope() { --depth_; }
  BypassScope(const BypassScope&) = delete;
  BypassScope& operator=(const BypassScope&) = delete;

  static bool active() noexcept { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace taut::p2p
