// Who sends and receives messages that may be coded: TAUT_ calls on a communicator with a policy, or the
// program under the drop-in (docs/adr/0020).
#pragma once

#include "p2p/coder.hpp"

namespace taut::p2p {

struct RecvBuffer;

// A message that has come.
struct Received {
  std::size_t bytes = 0;             // of the values
  std::optional<DType> type;         // of a coded one
  const CodecInfo* codec = nullptr;  // of a coded one; so is the next
  Bound bound;
  std::uint64_t begin = 0, end = 0;  // of decoding, by clock_now()
  bool failed = false;

  bool coded() const noexcept { return codec != nullptr; }
};

class Endpoint {
 public:
  Endpoint(const MessageFormat& format, bool checks_types) noexcept
      : format_(format), checks_types_(checks_types) {}
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  const MessageFormat& format() const noexcept { return format_; }

  // Whether a coded message of numbers that is received as numbers of another type is an error.
  bool checks_types() const noexcept { return checks_types_; }

  // What decodes.
  virtual Coder& coder() noexcept = 0;

  // Counts a message that has come to `at`, for reports.
  virtual void count(const RecvBuffer& at, const Received& received) noexcept = 0;

 private:
  MessageFormat format_;
  bool checks_types_;
};

// The program's, while the drop-in serves its messages; null: it does not. The same on all ranks.
Endpoint* program_endpoint() noexcept;
void set_program_endpoint(Endpoint* endpoint) noexcept;

}  // namespace taut::p2p
