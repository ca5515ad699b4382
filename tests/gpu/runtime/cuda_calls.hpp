// Calls of taut_cuda.h of every kind on the same values, each with the outcome that it has undisturbed.
#pragma once

#include <taut/taut_cuda.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "compressor/gpu/device_services.hpp"
#include "compressor/values/dtype.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/runtime/gpu.hpp"
#include "support/on_gpu.hpp"

namespace taut::test {

class CudaCalls {
 public:
  static constexpr std::size_t n = 9000;
  static constexpr int f32 = static_cast<int>(DType::f32);
  static constexpr int bf16 = static_cast<int>(DType::bf16);
  static constexpr const char* exponents = "lossless,codec=exponents";
  static constexpr const char *coding = "abs:1e-3,codec=planes,predictor=delta",
                              *with_lag = "abs:1e-3,codec=planes,predictor=delta+100";

  struct Call {
    const char* name;
    std::function<int(cudaStream_t)> launch;
    std::vector<std::byte> expected = {};
  };

  CudaCalls() {
    add("encode", [this](cudaStream_t s) {
      return TAUT_Encode_enqueue(x(), n, f32, coding, out_.data(), room, result(), s);
    });
    const void* const planes = add_frame();
    add("decode", [=, this](cudaStream_t s) {
      return TAUT_Decode_enqueue(planes, room, out_.data(), n, f32, coding, result(), s);
    });
    add("sum", [=, this](cudaStream_t s) {
      const void* const both[] = {planes, planes};
      const std::size_t bytes[] = {room, room};
      return TAUT_Frame_add_enqueue(both, bytes, 2, n, f32, coding, out_.data(), room, result(), s);
    });
    add("accumulate", [=, this](cudaStream_t s) {
      return TAUT_Frame_accumulate_enqueue(planes, room, x(), n, f32, coding, out_.data(), room, result(), s);
    });
    add("encode exact bits", [this](cudaStream_t s) {
      return TAUT_Encode_enqueue(x(), n, f32, "abs:1e-3,bits=exact", out_.data(), room, result(), s);
    });
    add("encode with a lag", [this](cudaStream_t s) {
      return TAUT_Encode_enqueue(x(), n, f32, with_lag, out_.data(), room, result(), s);
    });
    const void* const lagged = add_frame();
    add("decode with a lag", [=, this](cudaStream_t s) {
      return TAUT_Decode_enqueue(lagged, room, out_.data(), n, f32, with_lag, result(), s);
    });
    add("encode with references", [this](cudaStream_t s) {
      const TAUT_Cuda_reference both[] = {{y(), 1}, {x(), 2}};
      return TAUT_Encode_with_references_enqueue(x(), n, f32, coding, both, 2, out_.data(), room, result(),
                                                 s);
    });
    const void* const referenced = add_frame();
    EXPECT_EQ(calls_.back().expected[46], std::byte{2});
    add("decode with references", [=, this](cudaStream_t s) {
      const TAUT_Cuda_reference both[] = {{y(), 1}, {x(), 2}};
      return TAUT_Decode_with_references_enqueue(referenced, room, both, 2, out_.data(), n, f32, coding,
                                                 result(), s);
    });
    add("encode lossless", [this](cudaStream_t s) {
      return TAUT_Encode_enqueue(x(), n, f32, "lossless", out_.data(), room, result(), s);
    });
    const void* const lossless = add_frame();
    add("decode lossless", [=, this](cudaStream_t s) {
      return TAUT_Decode_enqueue(lossless, room, out_.data(), n, f32, "lossless", result(), s);
    });
    add("encode on a grid", [this](cudaStream_t s) {
      return TAUT_Encode_enqueue(x(), n, f32, "lossless,predictor=grid", out_.data(), room, result(), s);
    });
    add("encode bfloat16", [this](cudaStream_t s) {
      return TAUT_Encode_enqueue(x(), n, bf16, exponents, out_.data(), room, result(), s);
    });
    const void* const halves = add_frame();
    add("decode bfloat16", [=, this](cudaStream_t s) {
      return TAUT_Decode_enqueue(halves, room, out_.data(), n, bf16, exponents, result(), s);
    });
    add("encode blocks", [this](cudaStream_t s) {
      return TAUT_Encode_enqueue(x(), n, f32, "block:6", out_.data(), room, result(), s);
    });
    const void* const blocks = add_frame();
    add("decode blocks", [=, this](cudaStream_t s) {
      return TAUT_Decode_enqueue(blocks, room, out_.data(), n, f32, "block:6", result(), s);
    });
    add_batches();
    if (find_codec("zfp") == nullptr) return;
    add("encode at a rate", [this](cudaStream_t s) {
      return TAUT_Encode_enqueue(x(), n, f32, "rate:8", out_.data(), room, result(), s);
    });
    const void* const rate = add_frame();
    add("decode at a rate", [=, this](cudaStream_t s) {
      return TAUT_Decode_enqueue(rate, room, out_.data(), n, f32, "rate:8", result(), s);
    });
  }

  const std::vector<Call>& all() const { return calls_; }
  const Call& named(std::string_view name) const { return *std::ranges::find(calls_, name, &Call::name); }

  // Returns true if the latest call, which was this one, has the right outcome; waits for the GPUs.
  bool right(const Call& call) const { return outcome() == call.expected; }

 private:
  static constexpr std::size_t room = 8 * n;

  const float* x() const { return values_.data(); }
  const float* y() const { return earlier_.data(); }
  TAUT_Cuda_result* result() const { return result_.data(); }

  void add(const char* name, std::function<int(cudaStream_t)> launch) {
    const Stream stream;
    EXPECT_EQ(launch(stream), 0) << name;
    calls_.push_back({name, std::move(launch), outcome()});
    EXPECT_FALSE(calls_.back().expected.empty()) << name;
  }

  void add_batches() {
    add("encode a batch", [this](cudaStream_t s) {
      const Batch batch = items(values_.data(), out_.data());
      return TAUT_Encode_batch_enqueue(batch.data(), sizeof batch[0], 2, f32, coding, s);
    });
    add_frame();
    std::byte* const frames = frames_.back()->data();
    add("decode a batch", [=, this](cudaStream_t s) {
      const Batch batch = items(reinterpret_cast<float*>(out_.data()), frames);
      return TAUT_Decode_batch_enqueue(batch.data(), sizeof batch[0], 2, f32, coding, s);
    });
  }

  // Returns the halves of `values`, each with half of the room at `frames`.
  using Batch = std::array<TAUT_Cuda_item, 2>;
  Batch items(float* values, std::byte* frames) const {
    return {{{values, n / 2, frames, room / 2, result()},
             {values + n / 2, n / 2, frames + room / 2, room / 2, result() + 1}}};
  }

  // Keeps the output of the latest call as an input of others.
  const void* add_frame() {
    std::vector<std::byte> frame = calls_.back().expected;
    frame.resize(room);
    frames_.push_back(std::make_unique<OnGpu<std::byte>>(frame));
    return frames_.back()->data();
  }

  // Returns the output; nothing if the kernels did not run, or report an error. Clears both.
  std::vector<std::byte> outcome() const {
    const std::vector<TAUT_Cuda_result> found = result_.read();
    const bool batch = found[1].done == 1;
    const bool one_frame = !batch && found[0].bytes > 0 && found[0].bytes <= room;
    const std::size_t bytes = one_frame ? found[0].bytes : batch ? room : n * sizeof(float);
    const bool good = found[0].done == 1 && found[0].status == 0 && found[1].status == 0;
    const std::vector<std::byte> output = good ? out_.read(bytes) : std::vector<std::byte>{};
    const TAUT_Cuda_result none[2] = {};
    stand_in_copy(result(), none, sizeof none);
    const std::vector<std::byte> zeros(room);
    stand_in_copy(out_.data(), zeros.data(), room);
    return output;
  }

  OnGpu<float> values_{make<float>(Pattern::mixed, n, 1)};
  OnGpu<float> earlier_{make<float>(Pattern::mixed, n, 2)};
  OnGpu<std::byte> out_{std::vector<std::byte>(room)};
  OnGpu<TAUT_Cuda_result> result_{std::vector<TAUT_Cuda_result>(2)};
  std::vector<std::unique_ptr<OnGpu<std::byte>>> frames_;
  std::vector<Call> calls_;
};

}  // namespace taut::test
