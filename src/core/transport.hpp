// Bytes between ranks. A transport knows nothing of values or codecs.
#pragma once

#include <cstdint>

#include "core/slice.hpp"
#include "core/status.hpp"
#include "core/task.hpp"

namespace taut {

// Messages from one rank to another arrive in order within a lane; lanes are independent of each other.
using Lane = int;
inline constexpr Lane lanes = 1 << 14;  // every transport offers the lanes 0 .. lanes - 1

class Transport;

// A message on its way: poll it, or await it. Awaiting yields the bytes moved; a received message that is
// longer than its capacity is consumed and yields frame_mismatch.
class [[nodiscard]] Pending final : public Waitable {
 public:
  Pending() = default;  // finished, nothing moved
  Pending(Transport& transport, std::uint64_t operation) noexcept
      : transport_(&transport), operation_(operation) {}
  Pending(Pending&& other) noexcept { swap(other); }
  Pending& operator=(Pending&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Pending();

  bool ready() override;
  Sized result() const noexcept { return moved_; }

 private:
  void swap(Pending& other) noexcept {
    std::swap(transport_, other.transport_);
    std::swap(operation_, other.operation_);
    std::swap(moved_, other.moved_);
  }

  Transport* transport_ = nullptr;  // null: finished
  std::uint64_t operation_ = 0;
  Sized moved_;
};

// Messages and bytes that a rank has sent.
struct Traffic {
  std::uint64_t messages = 0, bytes = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  // The bytes stay in place until the operation is finished. Both throw Error(transport_failed), as does the
  // Pending: when a rank is gone, for instance. Then nothing can be sent or received any more.
  Pending send(ConstBytes bytes, int to, Lane lane);
  Pending recv(Bytes capacity, int from, Lane lane);

  const Traffic& traffic() const noexcept { return traffic_; }

 private:
  friend class Pending;

  // Start an operation; the number returned names it until poll() has found it finished.
  virtual std::uint64_t start_send(ConstBytes bytes, int to, Lane lane) = 0;
  virtual std::uint64_t start_recv(Bytes capacity, int from, Lane lane) = 0;
  virtual bool poll(std::uint64_t& operation, Sized& moved) = 0;
  // Gives an unfinished operation up: the memory it names is not touched any more, as far as that can be
  // done.
  virtual void abandon(std::uint64_t operation) noexcept = 0;

  Traffic traffic_;
};

inline Pending::~Pending() {
  if (transport_ != nullptr) transport_->abandon(operation_);
}

inline bool Pending::ready() {
  if (transport_ != nullptr && transport_->poll(operation_, moved_)) transport_ = nullptr;
  return transport_ == nullptr;
}

inline Pending Transport::send(ConstBytes bytes, int to, Lane lane) {
  Pending pending(*this, start_send(bytes, to, lane));
  ++traffic_.messages;
  traffic_.bytes += bytes.size();
  return pending;
}

inline Pending Transport::recv(Bytes capacity, int from, Lane lane) {
  return Pending(*this, start_recv(capacity, from, lane));
}

}  // namespace taut
