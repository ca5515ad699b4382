// Tests the calls of taut_cuda.h on exponents frames: batches of tensors, sums in float32, and mistakes.
#include <gtest/gtest.h>
#include <taut/taut_cuda.h>

#include "compressor/values/reduction.hpp"
#include "gpu/kernels/exponents_codec.hpp"
#include "support/on_gpu.hpp"

namespace taut {
namespace exponents_calls_test {

using test::OnGpu;

constexpr const char* coding = "lossless,codec=exponents";
int of(Status status) { return static_cast<int>(status); }

// A tensor and its frame on the GPU. The values are misaligned by a few bytes.
struct Tensor {
  Words16 x;
  OnGpu<std::uint16_t> values, back;
  OnGpu<float> sums;
  OnGpu<std::byte> frame;
  OnGpu<TAUT_Cuda_result> result{1};

  Tensor(const Words16& of, std::size_t skipped)
      : x(of),
        values(of, skipped),
        back(Words16(of.size()), skipped),
        sums(std::vector<float>(of.size(), 0.5F)),
        frame(frame_header_bytes + 2 * of.size()) {}

  TAUT_Cuda_item encoding() const {
    return {values.data(), x.size(), frame.data(), frame.size(), result.data()};
  }
  TAUT_Cuda_item decoding(void* to) const {
    return {to, x.size(), frame.data(), outcome().bytes, result.data()};
  }
  TAUT_Cuda_result outcome() const { return result.read()[0]; }
};

class CudaExponentsCalls : public testing::TestWithParam<DType> {
 protected:
  static constexpr std::size_t sizes[] = {9001, 0, 4096, 12289, 1, 20011, 5000, 0, 4097, 8192, 3, 70001};

  // 24 tensors: three times as many as a launch has.
  void SetUp() override {
    for (unsigned i = 0; i < 24; ++i)
      tensors_.push_back(std::make_unique<Tensor>(
          halves_of(all_halves[i % std::size(all_halves)], GetParam(), sizes[i % std::size(sizes)], i),
          2 * (i % 5)));
  }
  template <class Item>
  std::vector<TAUT_Cuda_item> items(const Item& item) const {
    std::vector<TAUT_Cuda_item> all;
    for (const auto& tensor : tensors_) all.push_back(item(*tensor));
    return all;
  }
  template <class Call>
  int call(const Call& batch, const std::vector<TAUT_Cuda_item>& all) const {
    return batch(all.data(), sizeof all[0], static_cast<int>(all.size()), static_cast<int>(GetParam()),
                 coding, nullptr);
  }

  std::vector<std::unique_ptr<Tensor>> tensors_;
};

TEST_P(CudaExponentsCalls, ServeManyTensors) {
  const auto encoding = items([](const Tensor& t) { return t.encoding(); });
  for (int repetition = 0; repetition < 2; ++repetition)
    ASSERT_EQ(call(TAUT_Encode_batch_enqueue, encoding), 0);
  for (const auto& t : tensors_) {
    const auto cpu = exponents_cpu_frame(GetParam(), t->x);
    ASSERT_EQ(t->outcome().status, 0u);
    ASSERT_TRUE(t->frame.read(t->outcome().bytes) == cpu);
  }
  ASSERT_EQ(call(TAUT_Decode_batch_enqueue, items([](const Tensor& t) { return t.decoding(t.back.data()); })),
            0);
  for (const auto& t : tensors_) ASSERT_TRUE(t->back.read() == t->x);
  ASSERT_EQ(
      call(TAUT_Decode_add_batch_enqueue, items([](const Tensor& t) { return t.decoding(t.back.data()); })),
      0);
  ASSERT_EQ(call(TAUT_Decode_add_float_batch_enqueue,
                 items([](const Tensor& t) { return t.decoding(t.sums.data()); })),
            0);
  for (const auto& t : tensors_) {
    const std::size_t n = t->x.size();
    Words16 twice = t->x;
    reduce_values({{twice.data(), n, GetParam()}}, {{t->x.data(), n, GetParam()}}, Reduction::sum);
    ASSERT_TRUE(t->back.read() == twice);
    const std::vector<float> sums = t->sums.read();
    for (std::size_t i = 0; i < n; ++i) {
      const float x = GetParam() == DType::f16 ? static_cast<float>(f16::of_bits(t->x[i]))
                                               : static_cast<float>(bf16::of_bits(t->x[i]));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(sums[i]), std::bit_cast<std::uint32_t>(sum_of_floats(0.5F, x)));
    }
  }
}

// A damaged frame fails alone.
TEST_P(CudaExponentsCalls, ReportTheTensorThatFails) {
  ASSERT_EQ(call(TAUT_Encode_batch_enqueue, items([](const Tensor& t) { return t.encoding(); })), 0);
  auto decoding = items([](const Tensor& t) { return t.decoding(t.back.data()); });
  decoding[3].bytes -= 1;
  ASSERT_EQ(call(TAUT_Decode_batch_enqueue, decoding), 0);
  for (const auto& t : tensors_)
    EXPECT_EQ(t->outcome().status, t == tensors_[3] ? static_cast<std::uint32_t>(Status::corrupt_frame) : 0u);
}

INSTANTIATE_TEST_SUITE_P(Halves, CudaExponentsCalls, testing::Values(DType::f16, DType::bf16),
                         [](const auto& of) { return std::string(name_of(of.param)); });

TEST(CudaExponentsMistakes, AreTold) {
  const Tensor tensor(Words16(100, 0x3C00), 0);
  constexpr int f16 = static_cast<int>(DType::f16), f32 = static_cast<int>(DType::f32);
  const auto encode = [&](TAUT_Cuda_item item, int type, const char* text) {
    return TAUT_Encode_batch_enqueue(&item, sizeof item, 1, type, text, nullptr);
  };
  TAUT_Cuda_item item = tensor.encoding();
  EXPECT_EQ(encode(item, f16, coding), 0);
  EXPECT_EQ(encode(item, f32, coding), of(Status::invalid_policy));
  EXPECT_EQ(encode(item, f16, "lossless,codec=exponents,checksum=on"), of(Status::invalid_policy));
  item.bytes -= 1;
  EXPECT_EQ(encode(item, f16, coding), of(Status::buffer_too_small));
  item = tensor.encoding();
  item.count = exponents::max_count + 1;
  EXPECT_EQ(encode(item, f16, coding), of(Status::invalid_count));
  item = tensor.encoding();
  item.values = reinterpret_cast<std::byte*>(item.values) + 1;
  EXPECT_EQ(encode(item, f16, coding), of(Status::invalid_argument));
  item = tensor.decoding(tensor.back.data() + 1);
  const auto add = [&](const char* text) {
    return TAUT_Decode_add_float_batch_enqueue(&item, sizeof item, 1, f16, text, nullptr);
  };
  EXPECT_EQ(add(coding), of(Status::invalid_argument)) << "float32 at an odd multiple of 2 bytes";
  EXPECT_EQ(add("lossless,codec=mpc"), of(Status::invalid_policy));
}

}  // namespace exponents_calls_test
}  // namespace taut
