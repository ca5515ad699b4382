// Tests the services of libtaut_cuda on arrays of values, of every type, in the memory of a GPU.
#include <gtest/gtest.h>

#include <cmath>

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

// Result and residual of a sum, computed on the host.
template <class T>
struct SumWithResidual {
  using R = ComputedIn<T>;
  std::vector<T> result;
  std::vector<R> residual;

  SumWithResidual(const std::vector<T>& operands, unsigned n, std::vector<R> before, int divisor)
      : result(before.size()), residual(std::move(before)) {
    reduce_widely(operands.data(), n, {result.data(), result.size(), dtype_of<T>}, Reduction::sum, divisor);
    for (std::size_t i = 0; i < result.size(); ++i) {
      Wider<T> sum = 0;
      for (unsigned k = 0; k < n; ++k)
        sum = k == 0 ? static_cast<Wider<T>>(operands[i])
                     : sum + static_cast<Wider<T>>(operands[k * result.size() + i]);
      add(sum / static_cast<Wider<T>>(divisor), result[i], residual[i]);
    }
  }
  static void add(Wider<T> sum, T& x, R& residual) {
    if (!std::isfinite(static_cast<R>(x))) {
      residual = static_cast<R>(x);
      return;
    }
    const Wider<T> with = sum + static_cast<Wider<T>>(residual);
    x = static_cast<T>(with);
    if (!std::isfinite(static_cast<R>(x)))
      x = with > 0 ? greatest() : static_cast<T>(-static_cast<R>(greatest()));
    residual = static_cast<R>(with);
    if (!std::isfinite(residual)) residual = std::copysign(std::numeric_limits<R>::max(), residual);
  }
  static T greatest() {
    if constexpr (std::is_same_v<T, f16>) return T(65504.0F);
    if constexpr (std::is_same_v<T, bf16>) return T(0x1.FEp127F);
    if constexpr (!is_half<T>) return std::numeric_limits<T>::max();
  }
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(static_cast<const void*>(a.data()), b.data(), b.size() * sizeof(T)) == 0;
}

template <class T>
class ServicesWithResidual : public testing::Test {};
using Numbers = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(ServicesWithResidual, Numbers);

TYPED_TEST(ServicesWithResidual, AddItAndTakeOutWhatIsDecoded) {
  using T = TypeParam;
  using R = ComputedIn<T>;
  constexpr int type = static_cast<int>(dtype_of<T>);
  for (const std::size_t count : {0u, 1u, 7u, 1009u, 3001u})
    for (const unsigned n : {1u, 2u, 5u})
      for (const int divisor : {1, 3}) {
        SCOPED_TRACE(testing::Message() << n << " operands of " << count << " values by " << divisor);
        std::vector<T> operands;
        for (unsigned k = 0; k < n; ++k) {
          std::vector<T> one = lossless_values<T>(k % 2 == 0 ? Pattern::walk : Pattern::tail, count);
          if (k == 1) one = with_special_numbers(std::move(one));
          operands.insert(operands.end(), one.begin(), one.end());
        }
        std::vector<R> before(count);
        for (std::size_t i = 0; i < count; ++i)
          before[i] =
              i % 5 == 0 ? std::numeric_limits<R>::max() / (i % 2 == 0 ? 2 : -2) : static_cast<R>(i) / 7;
        const OnGpu<T> there(operands), result(count + 1);
        const OnGpu<R> residual(before);
        ASSERT_EQ(services().sum_with_residual(there.data(), n, result.data(), residual.data(), count, type,
                                               divisor, nullptr),
                  0);
        const SumWithResidual<T> wanted(operands, n, before, divisor);
        EXPECT_TRUE(same_bits(result.read(), wanted.result));
        EXPECT_TRUE(same_bits(residual.read(), wanted.residual));
        ASSERT_EQ(services().subtract_from_residual(residual.data(), there.data(), count, type, nullptr), 0);
        std::vector<R> rest = wanted.residual;
        for (std::size_t i = 0; i < count; ++i) {
          rest[i] -= static_cast<R>(operands[i]);
          if (!std::isfinite(rest[i])) rest[i] = 0;
        }
        EXPECT_TRUE(same_bits(residual.read(), rest));
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
  const auto sum = [&](const void* from, std::size_t n, void* to, void* residual, int type, int divisor) {
    return services().sum_with_residual(from, n, to, residual, 100, type, divisor, nullptr);
  };
  double* const x = values.data();
  EXPECT_EQ(sum(x, 1, x, x, 2, 1), 0);
  EXPECT_EQ(sum(x, 0, x, x, 2, 1), of(Status::invalid_argument));
  EXPECT_EQ(sum(x, 1, x, x, 2, 0), of(Status::invalid_argument));
  EXPECT_EQ(sum(nullptr, 1, x, x, 2, 1), of(Status::invalid_argument));
  EXPECT_EQ(sum(x, 1, nullptr, x, 2, 1), of(Status::invalid_argument));
  EXPECT_EQ(sum(x, 1, x, nullptr, 2, 1), of(Status::invalid_argument));
  EXPECT_EQ(sum(x, 1, x, reinterpret_cast<std::byte*>(x) + 4, 2, 1), of(Status::invalid_argument));
  EXPECT_EQ(sum(x, 1, x, x, static_cast<int>(DType::i32), 1), of(Status::invalid_type));
  EXPECT_EQ(services().subtract_from_residual(x, x, 100, static_cast<int>(DType::i32), nullptr),
            of(Status::invalid_type));
  EXPECT_EQ(services().subtract_from_residual(nullptr, x, 100, 2, nullptr), of(Status::invalid_argument));
  EXPECT_EQ(services().divide_values(nullptr, 1, 2, 7, nullptr), of(Status::invalid_argument));
  EXPECT_EQ(services().divide_values(values.data(), 100, 2, 0, nullptr), of(Status::invalid_argument));
  EXPECT_EQ(services().range(values.data(), 100, 2, nullptr, 0, nullptr, nullptr),
            of(Status::invalid_argument));
}

// Failures among many results set the word and clear a header; without one nothing changes.
TEST(NoteFailures, SetsTheWordAndClearsTheHeader) {
  for (const std::size_t n : {1u, 31u, 33u, 100u})
    for (const std::size_t failed : {n, std::size_t{0}, n - 1}) {
      std::vector<TAUT_Cuda_result> results(n, TAUT_Cuda_result{7, 0, 1});
      if (failed < n) results[failed].status = 20;
      const OnGpu<TAUT_Cuda_result> at(results);
      const OnGpu<std::uint32_t> frame(std::vector<std::uint32_t>(17, 5)),
          word(std::vector<std::uint32_t>(1));
      ASSERT_EQ(services().note_failures(at.data(), n, word.data(), frame.data(), nullptr), 0);
      ASSERT_EQ(services().note_failures(at.data(), n, word.data(), nullptr, nullptr), 0);
      std::vector<std::uint32_t> header(17, failed < n ? 0 : 5);
      header[16] = 5;
      EXPECT_EQ(frame.read(), header);
      EXPECT_EQ(word.read()[0], failed < n ? 1u : 0u);
    }
  EXPECT_EQ(services().note_failures(nullptr, 1, nullptr, nullptr, nullptr), of(Status::invalid_argument));
}

}  // namespace value_services_test
}  // namespace taut
