// Tests the calls of taut_cuda.h on blocks frames: one frame, batches, launches, graphs' sizes, and mistakes.
#include <gtest/gtest.h>
#include <taut/taut_cuda.h>

#include "compressor/values/reduction.hpp"
#include "gpu/kernels/blocks_codec.hpp"
#include "support/on_gpu.hpp"

namespace taut {
namespace blocks_calls_test {

using test::OnGpu;

int of(Status status) { return static_cast<int>(status); }

// An array and its frame on the GPU. The values are misaligned by a few of them.
struct Array {
  std::vector<bf16> x;
  OnGpu<bf16> values, back;
  OnGpu<std::byte> frame;
  OnGpu<TAUT_Cuda_result> result{1};

  Array(std::size_t n, unsigned bits, std::size_t skipped)
      : x(n),
        values((fill(), x), skipped),
        back(std::vector<bf16>(n), skipped),
        frame(frame_header_bytes + blocks::payload_bytes(n, bits)) {}

  void fill() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = bf16(static_cast<float>(i * 37 % 101) - 50);
  }
  TAUT_Cuda_item item(void* to) const { return {to, x.size(), frame.data(), frame.size(), result.data()}; }
  TAUT_Cuda_result outcome() const { return result.read()[0]; }
};

constexpr int type = static_cast<int>(DType::bf16);

// Expects that an array has the CPU's frame, then its values once, then twice.
void expect_frame(const Array& array, unsigned bits) {
  EXPECT_EQ(array.outcome().status, 0u);
  EXPECT_EQ(array.outcome().bytes, array.frame.size());
  EXPECT_TRUE(array.frame.read() == blocks_cpu_frame(bits, array.x));
}
void expect_values(const Array& array, unsigned bits, bool twice) {
  const std::size_t n = array.x.size();
  std::vector<bf16> expected(n);
  const auto frame = blocks_cpu_frame(bits, array.x);
  const Slice values{{expected.data(), n, DType::bf16}};
  EXPECT_EQ(blocks_cpu_codec(bits)->decode(frame, values), Status::ok);
  if (twice) {
    EXPECT_EQ(blocks_cpu_codec(bits)->reduce(frame, values, Reduction::sum), Status::ok);
  }
  const auto back = array.back.read();
  EXPECT_TRUE(n == 0 || std::memcmp(back.data(), expected.data(), 2 * n) == 0);
}

TEST(CudaBlocksCalls, TakeALaunchEach) {
  for (const unsigned bits : blocks::rates)
    for (const std::size_t n : {0u, 1u, 64u, 5003u}) {
      const std::string coding = "block:" + std::to_string(bits);
      const Array array(n, bits, 2 * (n % 5));
      unsigned long before = stand_in_launches();
      const auto launches = [&] { return stand_in_launches() - std::exchange(before, stand_in_launches()); };
      ASSERT_EQ(TAUT_Encode_enqueue(array.values.data(), n, type, coding.c_str(), array.frame.data(),
                                    array.frame.size(), array.result.data(), nullptr),
                0);
      EXPECT_EQ(launches(), 1u);
      expect_frame(array, bits);
      for (const bool add : {false, true}) {
        ASSERT_EQ((add ? TAUT_Decode_add_enqueue : TAUT_Decode_enqueue)(
                      array.frame.data(), array.frame.size(), array.back.data(), n, type, coding.c_str(),
                      array.result.data(), nullptr),
                  0);
        EXPECT_EQ(launches(), 1u);
        expect_values(array, bits, add);
      }
    }
}

// 20 arrays: three launches, of up to eight each. A damaged frame fails alone.
TEST(CudaBlocksCalls, ServeManyArraysTogether) {
  constexpr std::size_t sizes[] = {9001, 0, 4096, 12289, 1, 20011, 5000, 65};
  std::vector<std::unique_ptr<Array>> arrays;
  std::vector<TAUT_Cuda_item> encoding, decoding;
  for (unsigned i = 0; i < 20; ++i) {
    arrays.push_back(std::make_unique<Array>(sizes[i % std::size(sizes)], 6, 2 * (i % 5)));
    encoding.push_back(arrays.back()->item(arrays.back()->values.data()));
    decoding.push_back(arrays.back()->item(arrays.back()->back.data()));
  }
  const auto call = [&](auto batch, const std::vector<TAUT_Cuda_item>& items) {
    const unsigned long before = stand_in_launches();
    EXPECT_EQ(batch(items.data(), sizeof items[0], 20, type, "block:6", nullptr), 0);
    EXPECT_EQ(stand_in_launches() - before, 3u);
  };
  call(TAUT_Encode_batch_enqueue, encoding);
  for (const auto& array : arrays) expect_frame(*array, 6);
  call(TAUT_Decode_batch_enqueue, decoding);
  for (const auto& array : arrays) expect_values(*array, 6, false);
  call(TAUT_Decode_add_batch_enqueue, decoding);
  for (const auto& array : arrays) expect_values(*array, 6, true);
  decoding[3].bytes -= 1;
  call(TAUT_Decode_batch_enqueue, decoding);
  for (const auto& array : arrays)
    EXPECT_EQ(array->outcome().status,
              array == arrays[3] ? static_cast<std::uint32_t>(Status::corrupt_frame) : 0u);
}

TEST(CudaBlocksMistakes, AreTold) {
  const Array array(100, 8, 0);
  constexpr int f64 = static_cast<int>(DType::f64);
  const auto encode = [&](TAUT_Cuda_item item, int of_type, const char* text) {
    return TAUT_Encode_batch_enqueue(&item, sizeof item, 1, of_type, text, nullptr);
  };
  TAUT_Cuda_item item = array.item(array.values.data());
  EXPECT_EQ(encode(item, type, "block:8"), 0);
  EXPECT_EQ(encode(item, f64, "rate:8,codec=blocks"), of(Status::invalid_policy));
  EXPECT_EQ(encode(item, type, "block:8,checksum=on"), of(Status::invalid_policy));
  item.bytes -= 1;
  EXPECT_EQ(encode(item, type, "block:8"), of(Status::buffer_too_small));
  EXPECT_EQ(encode(item, type, "block:6"), 0) << "shorter frames";
  item = array.item(array.values.data());
  item.count = blocks::max_count + 1;
  EXPECT_EQ(encode(item, type, "block:8"), of(Status::invalid_count));
  item = array.item(reinterpret_cast<std::byte*>(array.values.data()) + 1);
  EXPECT_EQ(encode(item, type, "block:8"), of(Status::invalid_argument));
  item = array.item(array.back.data());
  EXPECT_EQ(TAUT_Decode_add_float_batch_enqueue(&item, sizeof item, 1, type, "block:8", nullptr),
            of(Status::invalid_policy));
}

}  // namespace blocks_calls_test
}  // namespace taut
