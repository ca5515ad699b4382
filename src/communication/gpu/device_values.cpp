#include "communication/gpu/device_values.hpp"

#include <algorithm>
#include <cstring>

#include "compressor/base/device_memory.hpp"
#include "compressor/frame/sample.hpp"

namespace taut::gpu {
namespace {

bool overlap(const std::byte* a, const std::byte* b, std::size_t bytes) noexcept {
  const std::less<const std::byte*> before;
  return before(a, b + bytes) && before(b, a + bytes);
}

}  // namespace

Status DeviceValues::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  const bool within_gpu = on_device(to) && on_device(from);
  if (within_gpu && overlap(to, from, bytes))
    return guarded([&] {
      const Buffer between = scratch(bytes);
      const Status status = device_->copy(between.data(), from, bytes);
      return status == Status::ok ? device_->copy(to, between.data(), bytes) : status;
    });
  const Status status = device_->copy(to, from, bytes);
  return status != Status::ok || within_gpu ? status : device_->wait();
}

// Returns nothing if no kernel does the work.
std::optional<Status> DeviceValues::reduce_on_device(Slice values, ConstSlice operand,
                                                     Reduction op) noexcept {
  if (!suits_kernels(values) || !suits_kernels(operand)) return {};
  return device_->enqueue([&](void* stream) {
    return device_->services().reduce_values(values.data, operand.data, values.count,
                                             static_cast<int>(values.type), static_cast<int>(op), stream);
  });
}

std::optional<Status> DeviceValues::divide_on_device(Slice values, int n) noexcept {
  if (!suits_kernels(values)) return {};
  return device_->enqueue([&](void* stream) {
    return device_->services().divide_values(values.data, values.count, static_cast<int>(values.type), n,
                                             stream);
  });
}

// Does the work where `values` are, and copies the operand there.
Status DeviceValues::reduce(Slice values, ConstSlice operand, Reduction op) noexcept {
  if (values.count == 0) return Status::ok;
  const auto on_host = [&](ConstSlice there) {
    return with_host_copy(there, [&](ConstSlice copy) { return Place::reduce(values, copy, op); });
  };
  if (!on_device(values.data))
    return on_device(operand.data) ? on_host(operand) : Place::reduce(values, operand, op);
  return guarded([&] {
    Buffer memory;
    if (!on_device(operand.data)) {
      memory = scratch(operand.bytes());
      const Status status = copy(memory.data(), operand.as_bytes().data(), operand.bytes());
      if (status != Status::ok) return status;
      operand.data = memory.data();
    }
    if (const auto done = reduce_on_device(values, operand, op)) return *done;
    return with_host_copy(values, [&](Slice own) {
      const Status status =
          with_host_copy(operand, [&](ConstSlice other) { return Place::reduce(own, other, op); });
      return status == Status::ok ? copy(values.as_bytes().data(), own.as_bytes().data(), own.bytes())
                                  : status;
    });
  });
}

Status DeviceValues::divide(Slice values, int n) noexcept {
  if (values.count == 0 || !on_device(values.data)) return Place::divide(values, n);
  if (const auto done = divide_on_device(values, n)) return *done;
  return with_host_copy(values, [&](Slice own) {
    taut::divide(own, n);
    return copy(values.as_bytes().data(), own.as_bytes().data(), own.bytes());
  });
}

// Makes a result that the kernel cannot write in memory of the GPU first. Waits: a message that is not on the
// stream may overwrite the operands next.
Status DeviceValues::reduce_widely(const std::byte* operands, int n, Slice result, Reduction op,
                                   int divisor) noexcept {
  if (result.count == 0) return Status::ok;
  return guarded([&] {
    const bool direct = on_device(result.data) && suits_kernels(result);
    const Buffer memory = direct ? Buffer() : scratch(result.bytes());
    const Slice made{{direct ? result.data : memory.data(), result.count, result.type}};
    const auto done = device_->enqueue([&](void* stream) {
      return device_->services().reduce_widely(operands, static_cast<std::size_t>(n), made.data, made.count,
                                               static_cast<int>(made.type), static_cast<int>(op), divisor,
                                               stream);
    });
    Status status = done.value_or(Status::internal);
    if (status == Status::ok && !direct)
      status = copy(result.as_bytes().data(), memory.data(), result.bytes());
    return status == Status::ok ? device_->wait() : status;
  });
}

Status DeviceValues::range(ConstSlice values, const Coding& coding, ValueRange& range) noexcept {
  if (values.count == 0 || !on_device(values.data)) {
    range = range_of(values, coding.fill, coding.bits);
    return Status::ok;
  }
  if (suits_kernels(values))
    if (const auto done = device_->range(values, coding.fill, coding.bits, range)) return *done;
  constexpr std::size_t at_a_time = std::size_t{1} << 20;  // values of one copy
  for (std::size_t first = 0; first < values.count; first += at_a_time) {
    const ConstSlice part{values.part(first, std::min(at_a_time, values.count - first))};
    const Status status = with_host_copy(part, [&](ConstSlice copy) {
      range.merge(range_of(copy, coding.fill, coding.bits));
      return Status::ok;
    });
    if (status != Status::ok) return status;
  }
  return Status::ok;
}

Status divide(Slice values, int n) {
  device_services("recvbuf");  // throws the reason if there are none
  const std::shared_ptr<Device> device = Devices().holding(values.data, nullptr, true);
  if (device == nullptr) return Status::device_failed;
  const Status status = DeviceValues(device).divide(values, n);
  return status == Status::ok ? device->wait() : status;
}

// ---- Samples

namespace {

// Returns the distances, in components, between a value and those from which the candidates predict it.
std::vector<std::size_t> distances_of(std::span<const Coding> candidates, DType type) {
  std::vector<std::size_t> distances{0};
  for (const Coding& candidate : candidates) {
    const Lags& lags = candidate.predictor.lags;
    for (unsigned k = 0; k < lags.n; ++k) distances.push_back(lags.lag[k] * components_of(type));
    if (lags.n > 1) distances.push_back(lags.span() * components_of(type));
  }
  std::ranges::sort(distances);
  distances.erase(std::ranges::unique(distances).begin(), distances.end());
  return distances;
}

// Adds the bytes of each sampled piece, and of the piece at each distance before it.
void add_pieces(ConstSlice values, std::span<const std::size_t> distances, std::vector<Range>& parts) {
  const Pieces pieces(values.count);
  const std::size_t value_bytes = size_of(values.type);
  for (std::size_t i = 0; i < pieces.count; ++i)
    for (const std::size_t distance : distances) {
      const std::size_t first = pieces.first(i) - std::min(pieces.first(i), distance);
      parts.push_back({first * value_bytes, pieces.values * value_bytes});
    }
}

}  // namespace

SampledParts::SampledParts(Device& device, ConstSlice values, std::span<const Coding> candidates,
                           std::span<const Range> others)
    : values_{{nullptr, values.count, values.type}}, others_{{nullptr, 0, values.type}} {
  std::vector<Range> parts;
  for (const Range& part : others) {
    parts.push_back({part.first * size_of(values.type), part.count * size_of(values.type)});
    others_.count += part.count;
  }
  const std::size_t none[] = {0};
  if (!candidates.empty()) add_pieces({values.components()}, distances_of(candidates, values.type), parts);
  if (!candidates.empty() && components_of(values.type) > 1) add_pieces(values, none, parts);
  std::size_t bytes = 0;
  for (const Range& part : parts) bytes += part.count;
  copies_ = device.pinned().scratch(bytes);
  std::byte* to = copies_.data();
  Status status = Status::ok;
  for (const Range& part : parts) {
    if (status == Status::ok) status = device.copy(to, values.as_bytes().data() + part.first, part.count);
    to += part.count;
  }
  if (status == Status::ok) status = device.wait();
  if (status != Status::ok) throw Error(status, describe(status));
  others_.data = copies_.data();
  if (candidates.empty()) return;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(values.bytes());
  values_.data = memory_.get();
  const std::byte* from = copies_.data() + others_.bytes();
  for (const Range& part : std::span(parts).subspan(others.size())) {
    std::memcpy(memory_.get() + part.first, from, part.count);
    from += part.count;
  }
}

}  // namespace taut::gpu
