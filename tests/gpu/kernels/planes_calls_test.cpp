// Tests the arguments that the calls of taut_cuda.h on planes frames refuse. Kernels that accessed such
// memory would end the CUDA context of the program.
#include <gtest/gtest.h>
#include <taut/taut_cuda.h>

#include "gpu/kernels/patterns.hpp"
#include "support/on_gpu.hpp"

namespace taut {
namespace planes_calls_test {

using test::OnGpu;

constexpr std::size_t n = 5000, chunks = 2, slot = 4096 * 8 + 12;
constexpr int f64 = static_cast<int>(DType::f64);
constexpr int invalid = static_cast<int>(Status::invalid_argument);

std::byte* bytes(const void* at) { return static_cast<std::byte*>(const_cast<void*>(at)); }
template <class T>
T* shifted(T* at, std::size_t by) {
  return reinterpret_cast<T*>(bytes(at) + by);
}

struct PlanesCalls : testing::Test {
  const OnGpu<double> values{make<double>(Pattern::walk, n, 1)};
  const OnGpu<std::byte> frame{64 + 16 * n}, sum{64 + 32 * n}, slots{chunks * slot};
  const OnGpu<std::uint32_t> words{chunks};
  const OnGpu<TAUT_Cuda_result> result{2};
  const TAUT_Cuda_coding coding{1e-3, 0, 1, 0};
  const std::uint32_t lag = 64;

  int encode(const double* from, TAUT_Cuda_result* to) const {
    return TAUT_Encode_cuda(from, n, f64, &coding, frame.data(), frame.size(), to, nullptr);
  }
  int encode_lagged(const double* from, TAUT_Cuda_result* to) const {
    return TAUT_Encode_lagged_cuda(from, n, f64, &coding, &lag, 1, frame.data(), frame.size(), to, nullptr);
  }
  int encode_slots(const double* from, std::uint32_t* sizes, void* records) const {
    return TAUT_Encode_slots_cuda(from, n, f64, &coding, sizes, records, slot, result.data(), nullptr);
  }
  int accumulate(const double* from) const {
    return TAUT_Frame_accumulate_cuda(frame.data(), frame.size(), from, n, f64, &coding, sum.data(),
                                      sum.size(), result.data(), nullptr);
  }
  int add_slots(const std::uint32_t* sizes, const void* records, std::size_t slot_bytes) const {
    return TAUT_Slots_add_cuda(&sizes, &records, slot_bytes, 1, n, f64, &coding, sum.data(), sum.size(),
                               result.data(), nullptr);
  }
};

TEST_F(PlanesCalls, RefuseValuesThatAreNotAligned) {
  double* const odd = shifted(values.data(), 4);
  EXPECT_EQ(encode(values.data(), result.data()), 0);
  EXPECT_EQ(encode(odd, result.data()), invalid);
  EXPECT_EQ(encode_lagged(values.data(), result.data()), 0);
  EXPECT_EQ(encode_lagged(odd, result.data()), invalid);
  EXPECT_EQ(encode_slots(values.data(), words.data(), slots.data()), 0);
  EXPECT_EQ(encode_slots(odd, words.data(), slots.data()), invalid);
  EXPECT_EQ(accumulate(values.data()), 0);
  EXPECT_EQ(accumulate(odd), invalid);
}

TEST_F(PlanesCalls, RefuseAResultThatIsNotAligned) {
  TAUT_Cuda_result* const odd = shifted(result.data(), 4);
  EXPECT_EQ(encode(values.data(), odd), invalid);
  EXPECT_EQ(encode_lagged(values.data(), odd), invalid);
  EXPECT_EQ(TAUT_Decode_cuda(frame.data(), frame.size(), values.data(), n, f64, odd, nullptr), invalid);
  EXPECT_EQ(TAUT_Encode_lossless_cuda(values.data(), n, f64, 1, 0, frame.data(), frame.size(), odd, nullptr),
            invalid);
  EXPECT_EQ(TAUT_Encode_rate_cuda(values.data(), &n, 1, f64, 8, frame.data(), frame.size(), odd, nullptr),
            invalid);
}

TEST_F(PlanesCalls, RefuseSlotsThatKernelsCannotRead) {
  EXPECT_EQ(encode_slots(values.data(), shifted(words.data(), 2), slots.data()), invalid);
  EXPECT_EQ(encode_slots(values.data(), words.data(), slots.data() + 2), invalid);
  ASSERT_EQ(encode_slots(values.data(), words.data(), slots.data()), 0);
  EXPECT_EQ(add_slots(words.data(), slots.data(), slot), 0);
  EXPECT_EQ(add_slots(words.data(), slots.data(), 0), invalid);
  EXPECT_EQ(add_slots(nullptr, slots.data(), slot), invalid);
  EXPECT_EQ(add_slots(words.data(), nullptr, slot), invalid);
  EXPECT_EQ(add_slots(shifted(words.data(), 2), slots.data(), slot), invalid);
  EXPECT_EQ(add_slots(words.data(), slots.data() + 2, slot), invalid);
}

}  // namespace planes_calls_test
}  // namespace taut
