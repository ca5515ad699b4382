#include "modelled_codec.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>

namespace simulation {
namespace {

constexpr std::uint8_t frame_id = 250;  // of no real codec
constexpr double bound = 1e-3;          // any
constexpr std::align_val_t alignment{64};

}  // namespace

ModelledCodec::ModelledCodec(const CodecCosts& costs, Compute compute, Spent& spent,
                             std::array<taut::ConstSlice, 2> messages)
    : costs_(costs),
      compute_(std::move(compute)),
      spent_(spent),
      messages_(messages),
      contract_{.bound = bound, .adds_frames = costs.adds_frames, .idempotent = true} {}

// Returns the bytes that the values of a frame take: no more than the values themselves.
std::size_t ModelledCodec::payload_bytes(std::size_t count, double inputs, double bits) const noexcept {
  const double all = bits + costs_.bits_a_doubling * std::log2(inputs);
  return static_cast<std::size_t>(std::min(all, 32.0) * static_cast<double>(count) / 8);
}

// Returns the bits of values by their place in the message: from `bits` to `last_bits` by equal factors.
double ModelledCodec::bits_at(const void* values) const noexcept {
  if (costs_.last_bits == 0) return costs_.bits;
  const auto at = reinterpret_cast<std::uintptr_t>(values);
  for (const taut::ConstSlice& message : messages_) {
    const auto begin = reinterpret_cast<std::uintptr_t>(message.data);
    if (at < begin || at >= begin + message.bytes()) continue;
    const double place = static_cast<double>(at - begin) / static_cast<double>(message.bytes());
    return costs_.bits * std::pow(costs_.last_bits / costs_.bits, place);
  }
  return costs_.bits;
}

std::size_t ModelledCodec::max_bytes(taut::DType, std::size_t count, std::uint32_t addends) const noexcept {
  const std::size_t most =
      addends == 1 ? 4 * count : payload_bytes(count, addends, costs_.bits);  // decoded sums grow too
  return taut::frame_header_bytes + most;
}

void ModelledCodec::pass(double& counter, double seconds, double memory_bytes) const {
  counter += seconds;
  compute_(seconds, memory_bytes);
}

void ModelledCodec::work(double& counter, taut::KernelTime taut::KernelTimes::*kernel, std::size_t bytes,
                         double speed, double traffic) const {
  const auto all = static_cast<double>(bytes);
  if (costs_.kernels) return pass(counter, taut::seconds_of_launch + (*costs_.kernels.*kernel)(all), 0);
  pass(counter, costs_.call + all / speed, speed < no_time ? traffic * all : 0);
}

void ModelledCodec::encoding_takes(std::size_t bytes) const {
  work(spent_.encode, &taut::KernelTimes::encode, bytes, costs_.encode, 1);
}

void ModelledCodec::decoding_takes(std::size_t bytes) const {
  work(spent_.decode, &taut::KernelTimes::decode, bytes, costs_.decode, 2);
}

taut::SizeOrStatus ModelledCodec::write(taut::DType type, std::size_t count, std::uint32_t addends,
                                        double inputs, double bits, taut::Bytes out) const noexcept {
  const std::size_t payload = payload_bytes(count, inputs, bits);
  if (out.size() < taut::frame_header_bytes + payload) return {taut::Status::buffer_too_small};
  taut::write_header({.codec = frame_id,
                      .type = type,
                      .count = count,
                      .bound = bound,
                      .step = inputs,
                      .payload_bytes = payload,
                      .addends = addends},
                     out);
  return {taut::Status::ok, taut::frame_header_bytes + payload};
}

taut::SizeOrStatus ModelledCodec::encode(taut::ConstSlice values, taut::References,
                                         taut::Bytes out) const noexcept {
  encoding_takes(values.bytes());
  return encoded(values, out);
}

taut::SizeOrStatus ModelledCodec::encoded(taut::ConstSlice values, taut::Bytes out) const noexcept {
  return write(values.type, values.count, 1, values.data == sum_ ? inputs_of_sum_ : 1, bits_at(values.data),
               out);
}

// Remembers how many inputs are in decoded values. Returns the status of the frame.
taut::Status ModelledCodec::holds(taut::ConstBytes in, taut::Slice values, int more_inputs) const noexcept {
  taut::FrameHeader header;
  if (const taut::Status status = taut::read_header(in, header); status != taut::Status::ok) return status;
  sum_ = values.data;
  inputs_of_sum_ = header.step + more_inputs;
  return taut::Status::ok;
}

taut::Status ModelledCodec::decode(taut::ConstBytes in, taut::References, taut::Slice values) const noexcept {
  decoding_takes(values.bytes());
  return holds(in, values, 0);
}

taut::Status ModelledCodec::reduce(taut::ConstBytes in, taut::References, taut::Slice values,
                                   taut::Reduction) const noexcept {
  work(spent_.combine, &taut::KernelTimes::decode_add, values.bytes(), costs_.decode_add, 2);
  return holds(in, values, 1);
}

taut::SizeOrStatus ModelledCodec::sum(std::span<const taut::ConstBytes> frames,
                                      taut::Bytes out) const noexcept {
  taut::FrameHeader header;
  std::uint32_t addends = 0;
  double inputs = 0;
  for (const taut::ConstBytes frame : frames) {
    if (const taut::Status status = taut::read_header(frame, header); status != taut::Status::ok)
      return {status};
    addends += header.addends;
    inputs += header.step;
  }
  const auto count = static_cast<std::size_t>(header.count);
  const std::size_t bytes = count * size_of(header.type), further = frames.size() - 1;
  if (costs_.kernels)
    pass(spent_.combine,
         taut::seconds_of_launch +
             costs_.kernels->sum(static_cast<double>(frames.size()), static_cast<double>(bytes)),
         0);
  else
    work(spent_.combine, &taut::KernelTimes::add, further * bytes, costs_.add, 0);
  return write(header.type, count, addends, inputs, costs_.bits, out);
}

taut::SizeOrStatus ModelledCodec::accumulate(taut::ConstBytes frame, taut::ConstSlice values,
                                             taut::References, taut::Bytes out) const noexcept {
  taut::FrameHeader header;
  if (const taut::Status status = taut::read_header(frame, header); status != taut::Status::ok)
    return {status};
  work(spent_.combine, &taut::KernelTimes::accumulate, values.bytes(), costs_.accumulate, 1);
  return write(values.type, values.count, header.addends + 1, header.step + 1, costs_.bits, out);
}

taut::Operation ModelledKernels::start_encode(std::span<taut::EncodeItem> items) const noexcept {
  std::size_t bytes = 0;
  for (const taut::EncodeItem& item : items) bytes += item.values.bytes();
  encoding_takes(bytes);
  for (taut::EncodeItem& item : items) item.made = encoded(item.values, item.out);
  return {};
}

taut::Operation ModelledKernels::start_decode(std::span<taut::DecodeItem> items) const noexcept {
  std::size_t bytes = 0;
  for (const taut::DecodeItem& item : items) bytes += item.values.bytes();
  decoding_takes(bytes);
  for (taut::DecodeItem& item : items) item.status = holds(item.in, item.values, 0);
  return {};
}

taut::Status ModelledPlace::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes == 0) return taut::Status::ok;
  std::memmove(to, from, std::min(bytes, taut::frame_header_bytes));
  work(spent_.copy, bytes, copy_, cache_.read(from) + cache_.write(to));
  return taut::Status::ok;
}

taut::Status ModelledPlace::reduce(taut::Slice values, taut::ConstSlice others, taut::Reduction) noexcept {
  work(spent_.combine, values.bytes(), add_, cache_.read(others.data) + cache_.write(values.data));
  return taut::Status::ok;
}

void ModelledPlace::work(double& counter, std::size_t bytes, double speed, double traffic) {
  const double seconds = static_cast<double>(bytes) / speed;
  counter += seconds;
  compute_(seconds, traffic * static_cast<double>(bytes));
}

std::byte* ModelledPlace::allocate(std::size_t bytes) noexcept {
  auto* const data = static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
  if (data != nullptr) cache_.add(data, bytes);
  return data;
}

void ModelledPlace::release(std::byte* data) noexcept {
  cache_.remove(data);
  ::operator delete(data, alignment);
}

}  // namespace simulation
