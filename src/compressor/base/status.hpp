// Status codes of the library, and the exception that carries them. The numbers are fixed, because the C API
// returns them; families leave gaps.
#pragma once

#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string>

namespace taut {

enum class Status : int {
  ok = 0,

  // Errors in the caller's arguments.
  invalid_argument = 1,  // a pointer, flag or option that cannot be used
  invalid_count = 2,     // a count that is negative or beyond what one call can carry
  invalid_type = 3,      // a value type that the codec does not code
  invalid_policy = 4,    // a policy string that cannot be read
  buffer_too_small = 5,  // the output cannot hold what the call may produce

  // Errors in received frames.
  corrupt_frame = 20,        // not a frame, truncated, or inconsistent
  unsupported_version = 21,  // a frame of a newer format
  frame_mismatch = 22,       // well-formed, but not what was expected here (type, count, codec, bound)

  // Errors of collective calls.
  rank_mismatch = 40,  // the ranks' calls differ in count, type, operator, bound or codec
  peer_failed = 41,    // another rank reported a failure; its data is missing

  // Errors of resources and layers below.
  out_of_memory = 60,
  transport_failed = 80,
  internal = 99,
  device_failed = 110,  // TAUT_ERR_CUDA of taut_cuda.h
};

// Returns a description for a person; never null.
const char* describe(Status status) noexcept;

// A size, or the reason why there is none.
struct SizeOrStatus {
  Status status = Status::ok;
  std::size_t bytes = 0;
};

// Exception for misuse, exhausted resources and failures of the layers below. Exceptions stay inside the
// library: the C calls convert them to a status. Decoders never throw: bad bytes are data, not misuse.
class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& message,
        std::source_location where = std::source_location::current())
      : std::runtime_error(message), status_(status), where_(where) {}

  Status status() const noexcept { return status_; }
  const std::source_location& where() const noexcept { return where_; }

 private:
  Status status_;
  std::source_location where_;
};

}  // namespace taut
