// Modelled codec: a codec whose frames have a header and no content, and whose operations take measured times
// of a real codec on simulated time. Frames have the sizes that the real codec gave real fields. A simulation
// of hundreds of ranks then needs neither the memory nor the time of the real codec.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "communication/policy/plan/kernel_times.hpp"
#include "communication/team/codec_operations.hpp"
#include "communication/team/place.hpp"
#include "compressor/frame/codec.hpp"
#include "core_cache.hpp"

namespace simulation {

inline constexpr double no_time = 1e18;  // speed of operations that take no time

// Measured properties of a codec on a field.
struct CodecCosts {
  double bits = 4;             // bits of a frame for each value
  double last_bits = 0;        // bits at the end of a message whose ratio changes on the way; 0: it does not
  double bits_a_doubling = 0;  // further bits for each doubling of the addends of a sum
  // Bytes of values a second. add: of each operand of a sum of frames.
  double encode = 15e9, decode = 20e9, decode_add = 20e9, add = 25e9, accumulate = 11e9;
  double copy = 15e9;        // copies of values
  double add_values = 10e9;  // sums of values on a host
  double call = 0.5e-6;      // fixed seconds of each operation of the codec, added to the time for its bytes
  bool adds_frames = true;
  std::optional<taut::KernelTimes> kernels =
      {};  // of a GPU, which take their times instead of the speeds above
};

// Seconds that one rank has spent.
struct Spent {
  double encode = 0, decode = 0, combine = 0, copy = 0;
  double total() const noexcept { return encode + decode + combine + copy; }
};

// Lets the rank's processor work for that long, or longer if the memory of its host has not carried so many
// bytes by then.
using Compute = std::function<void(double seconds, double memory_bytes)>;

class ModelledCodec : public taut::Codec, public taut::FrameArithmetic {
 public:
  using Codec::decode, Codec::encode, Codec::reduce;
  // `messages`: values of the call, along which the ratio may change.
  ModelledCodec(const CodecCosts& costs, Compute compute, Spent& spent,
                std::array<taut::ConstSlice, 2> messages = {});

  ~ModelledCodec() override = default;

  // Returns the size of the frame of these values.
  std::size_t frame_bytes(taut::ConstSlice values) const noexcept {
    return taut::frame_header_bytes + payload_bytes(values.count, 1, bits_at(values.data));
  }

  const taut::Contract& contract() const noexcept override { return contract_; }
  std::size_t max_bytes(taut::DType type, std::size_t count, std::uint32_t addends) const noexcept override;
  taut::SizeOrStatus encode(taut::ConstSlice values, taut::References,
                            taut::Bytes out) const noexcept override;
  taut::Status decode(taut::ConstBytes in, taut::References, taut::Slice values) const noexcept override;
  taut::Status reduce(taut::ConstBytes in, taut::References, taut::Slice values,
                      taut::Reduction op) const noexcept override;
  const taut::FrameArithmetic* arithmetic() const noexcept override {
    return costs_.adds_frames ? this : nullptr;
  }
  taut::SizeOrStatus sum(std::span<const taut::ConstBytes> frames, taut::Bytes out) const noexcept override;
  taut::SizeOrStatus accumulate(taut::ConstBytes frame, taut::ConstSlice values, taut::References,
                                taut::Bytes out) const noexcept override;

 protected:
  // Lets the time of an operation on values pass: that of the kernel, or of a processor at this speed.
  // `traffic`: bytes that pass the memory of a host for each byte of the values. A write to memory counts
  // twice, as it reads the line first. Frames are not counted.
  void work(double& counter, taut::KernelTime taut::KernelTimes::*kernel, std::size_t bytes, double speed,
            double traffic) const;
  void encoding_takes(std::size_t bytes) const;
  void decoding_takes(std::size_t bytes) const;
  // Return the outcomes of operations whose time has passed.
  taut::SizeOrStatus encoded(taut::ConstSlice values, taut::Bytes out) const noexcept;
  taut::Status holds(taut::ConstBytes in, taut::Slice values, int more_inputs) const noexcept;

 private:
  // `inputs`: how many ranks' values are in a sum, which the model keeps in the `step` of a header. A sum of
  // k inputs takes as many bits by values as by frames, whose addends are counted besides.
  std::size_t payload_bytes(std::size_t count, double inputs, double bits) const noexcept;
  double bits_at(const void* values) const noexcept;
  taut::SizeOrStatus write(taut::DType type, std::size_t count, std::uint32_t addends, double inputs,
                           double bits, taut::Bytes out) const noexcept;
  void pass(double& counter, double seconds, double memory_bytes) const;

  CodecCosts costs_;
  Compute compute_;
  Spent& spent_;
  std::array<taut::ConstSlice, 2> messages_;
  taut::Contract contract_;
  mutable const void* sum_ = nullptr;  // values that were decoded last
  mutable double inputs_of_sum_ = 1;
};

// Modelled codec of a GPU with one stream: up to 8 frames are encoded, decoded or added by one operation.
class ModelledKernels final : public ModelledCodec, public taut::CodecOperations {
 public:
  using ModelledCodec::ModelledCodec;

  int batch() const noexcept override { return max_batch; }
  taut::Operation start_encode(std::span<taut::EncodeItem> items) const noexcept override;
  taut::Operation start_decode(std::span<taut::DecodeItem> items) const noexcept override;
  taut::Operation start_reduce(taut::ConstBytes in, taut::Slice values,
                               taut::Reduction op) const noexcept override {
    return taut::SizeOrStatus{reduce(in, {}, values, op)};
  }
  taut::Operation start_sum(std::span<const taut::ConstBytes> frames,
                            taut::Bytes out) const noexcept override {
    return sum(frames, out);
  }
  taut::Operation start_accumulate(taut::ConstBytes frame, taut::ConstSlice values,
                                   taut::Bytes out) const noexcept override {
    return accumulate(frame, values, {}, out);
  }
};

// Place whose copies and sums take simulated time. A copy moves only the header of a frame. `cache`: of the
// rank's core; its scratch memory is added to it.
class ModelledPlace final : public taut::PooledPlace {
 public:
  ModelledPlace(const CodecCosts& costs, Compute compute, Spent& spent, CoreCache& cache)
      : copy_(costs.copy),
        add_(costs.add_values),
        compute_(std::move(compute)),
        spent_(spent),
        cache_(cache) {}
  ~ModelledPlace() override { trim(); }

  taut::Status copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept override;
  taut::Status reduce(taut::Slice values, taut::ConstSlice others, taut::Reduction op) noexcept override;

 private:
  std::byte* allocate(std::size_t bytes) noexcept override;
  void release(std::byte* data) noexcept override;

  // `traffic`: bytes that pass the memory of the host for each byte.
  void work(double& counter, std::size_t bytes, double speed, double traffic);

  double copy_, add_;  // bytes a second
  Compute compute_;
  Spent& spent_;
  CoreCache& cache_;
};

}  // namespace simulation
