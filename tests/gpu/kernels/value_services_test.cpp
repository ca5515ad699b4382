// Tests the services of libtaut_cuda on arrays of values, of every type, in the memory of a GPU.
#include <gtest/gtest.h>

#include "communication/team/place.hpp"
#include "compressor/gpu/device_services.hpp"
#include "compressor/values/reduction.hpp"
#include "compressor/values/value_range.hpp"
#include "gpu/kernels/lossless_codec.hpp"
#include "support/on_gpu.hpp"

namespace taut {
namespace value_services_test {

using gpu::DeviceRange;
using test::OnGpu;

int of(Status status) { return static_cast<int>(status); }
const gpu::DeviceServices& services() { return *TAUT_Cuda_services(); }

template <class T>
class ValueServices : public testing::Test {
 public:
  static constexpr DType dtype = dtype_of<T>;
  static constexpr int type = static_cast<int>(dtype);
  static constexpr std::size_t n = 3001;

  // The pattern has no NaN where T is a floating-point type.
  std::vector<T> x = lossless_values<T>(Pattern::walk, n), y = lossless_values<T>(Pattern::tail, n);
  OnGpu<T> values{x}, operand{y};

  // Waits for the kernels, and compares the values.
  bool values_are(const std::vector<T>& expected) const {
    EXPECT_EQ(services().wait(nullptr), 0);
    return std::memcmp(static_cast<const void*>(values.read().data()), expected.data(), n * sizeof(T)) == 0;
  }
};
using Types = testing::Types<float, double, f16, bf16, std::complex<float>, std::complex<double>, std::int8_t,
                             std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                             std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(ValueServices, Types);

TYPED_TEST(ValueServices, ReduceAsTheHost) {
  for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max}) {
    SCOPED_TRACE(name_of(op));
    const int status = services().reduce_values(this->values.data(), this->operand.data(), this->n,
                                                this->type, static_cast<int>(op), nullptr);
    if (!is_defined(op, this->dtype)) {
      EXPECT_EQ(status, of(Status::invalid_argument));
      continue;
    }
    ASSERT_EQ(status, 0);
    reduce_values({this->x.data(), this->n, this->dtype}, {this->y.data(), this->n, this->dtype}, op);
    EXPECT_TRUE(this->values_are(this->x));
  }
}

// The operands begin with numbers of which one at least is a NaN, an infinity, a zero or a denormal.
template <class T>
std::vector<T> with_special_numbers(std::vector<T> values) {
  if constexpr (is_real<T>) {
    using Limits = std::numeric_limits<ComputedIn<T>>;
    const ComputedIn<T> special[] = {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::signaling_NaN(),
                                     Limits::infinity(),  -Limits::infinity(),  ComputedIn<T>{0},
                                     -ComputedIn<T>{0},   Limits::denorm_min(), -Limits::denorm_min(),
                                     Limits::max(),       Limits::lowest(),     Limits::min()};
    constexpr std::size_t n = std::size(special);
    for (std::size_t i = 0; i < values.size() && i < n * n * n; ++i) {
      const std::size_t of_operand[] = {i % n, i / n % n, i / n / n};
      values[i] = static_cast<T>(special[of_operand[values.size() % 3]]);
    }
  }
  return values;
}

TYPED_TEST(ValueServices, ReduceWidelyAsTheHost) {
  for (const std::size_t count : {0u, 1u, 7u, 1009u})
    for (const unsigned n : {1u, 2u, 3u, 8u}) {
      std::vector<TypeParam> operands;
      for (unsigned k = 0; k < n; ++k) {
        const auto pattern = k % 2 == 0 ? Pattern::walk : Pattern::tail;
        std::vector<TypeParam> one = lossless_values<TypeParam>(pattern, count + k % 3);
        one = with_special_numbers(std::move(one));
        one.resize(count);
        operands.insert(operands.end(), one.begin(), one.end());
      }
      const OnGpu<TypeParam> there(operands), result(count + 1);
      for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max})
        for (const int divisor : {1, 3}) {
          if (!is_defined(op, this->dtype)) continue;
          ASSERT_EQ(services().reduce_widely(there.data(), n, result.data(), count, this->type,
                                             static_cast<int>(op), divisor, nullptr),
                    0);
          ASSERT_EQ(services().wait(nullptr), 0);
          std::vector<TypeParam> wanted(count);
          reduce_widely(operands.data(), n, {wanted.data(), count, this->dtype}, op, divisor);
          EXPECT_EQ(std::memcmp(static_cast<const void*>(result.read().data()), wanted.data(),
                                count * sizeof(TypeParam)),
                    0)
              << name_of(op) << " of " << n << " operands of " << count << " values by " << divisor;
        }
    }
}

TYPED_TEST(ValueServices, DivideAsTheHost) {
  ASSERT_EQ(services().divide_values(this->values.data(), this->n, this->type, 7, nullptr), 0);
  divide({this->x.data(), this->n, this->dtype}, 7);
  EXPECT_TRUE(this->values_are(this->x));
}

TYPED_TEST(ValueServices, FindTheRangeThatTheHostFinds) {
  const OnGpu<DeviceRange> result(1);
  for (const int exact_bits : {0, 1}) {
    const double fill = 0;
    ASSERT_EQ(
        services().range(this->values.data(), this->n, this->type, &fill, exact_bits, result.data(), nullptr),
        0);
    ASSERT_EQ(services().wait(nullptr), 0);
    const DeviceRange found = result.read()[0];
    const ValueRange expected = range_of({this->x.data(), this->n, this->dtype}, fill,
                                         exact_bits != 0 ? PackedBits::exact : PackedBits::rounded);
    EXPECT_EQ(found.least, expected.least);
    EXPECT_EQ(found.greatest, expected.greatest);
    EXPECT_EQ(found.status, 0u);
    EXPECT_EQ(found.done, 1u);
  }
}

TEST(ValueServicesMistakes, AreTold) {
  const OnGpu<double> values(100);
  const OnGpu<DeviceRange> result(1);
  const auto reduce = [&](void* to, const void* from, std::size_t count, int type, int op) {
    return services().reduce_values(to, from, count, type, op, nullptr);
  };
  EXPECT_EQ(reduce(values.data(), values.data(), 100, 2, 1), 0);
  EXPECT_EQ(reduce(nullptr, nullptr, 0, 2, 1), 0);
  EXPECT_EQ(reduce(values.data(), values.data(), 100, 0, 1), of(Status::invalid_type));
  EXPECT_EQ(reduce(values.data(), values.data(), 100, 2, 0), of(Status::invalid_argument));
  EXPECT_EQ(reduce(values.data(), values.data(), 100, 2, 4), of(Status::invalid_argument));
  EXPECT_EQ(reduce(values.data(), nullptr, 100, 2, 1), of(Status::invalid_argument));
  EXPECT_EQ(reduce(nullptr, values.data(), 100, 2, 1), of(Status::invalid_argument));
  EXPECT_EQ(reduce(values.data(), reinterpret_cast<std::byte*>(values.data()) + 4, 99, 2, 1),
            of(Status::invalid_argument));
  EXPECT_EQ(reduce(values.data(), values.data(), std::size_t{1} << 60, 2, 1), of(Status::invalid_count));
  EXPECT_EQ(services().reduce_widely(values.data(), 0, values.data(), 100, 2, 1, 1, nullptr),
            of(Status::invalid_argument));
  EXPECT_EQ(services().reduce_widely(values.data(), 1, values.data(), 100, 2, 1, 0, nullptr),
            of(Status::invalid_argument));
  EXPECT_EQ(services().reduce_widely(nullptr, 1, values.data(), 100, 2, 1, 1, nullptr),
            of(Status::invalid_argument));
  EXPECT_EQ(services().divide_values(nullptr, 1, 2, 7, nullptr), of(Status::invalid_argument));
  EXPECT_EQ(services().divide_values(values.data(), 100, 2, 0, nullptr), of(Status::invalid_argument));
  EXPECT_EQ(services().range(values.data(), 100, 2, nullptr, 0, nullptr, nullptr),
            of(Status::invalid_argument));
}

}  // namespace value_services_test
}  // namespace taut
