// Bypass of the interception, for MPI calls that Taut makes itself.
#pragma once

namespace taut::p2p {

// Scope in which the drop-in intercepts no call of this thread. Needed because MPI implementations call
// public MPI functions themselves.
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
