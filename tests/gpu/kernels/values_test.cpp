// Tests the kernels on arrays of values: they give the CPU's bits.
#include <gtest/gtest.h>

#include "communication/team/place.hpp"
#include "compressor/gpu/values/calls.hpp"
#include "compressor/values/value_range.hpp"
#include "gpu/kernels/lossless_codec.hpp"

namespace taut {
namespace values_test {

constexpr std::size_t group_bytes = 16;

// Copy of values in memory of exactly their size, one value behind an address that is aligned to 16 bytes if
// `shifted`.
template <class T>
class Copy {
 public:
  Copy(const std::vector<T>& x, bool shifted)
      : room_((x.size() + shifted) * sizeof(T)), first_(shifted ? sizeof(T) : 0), count_(x.size()) {
    if (count_ > 0) std::memcpy(room_.data() + first_, x.data(), count_ * sizeof(T));
  }
  T* data() const { return reinterpret_cast<T*>(room_.data() + first_); }
  bool equals(const std::vector<T>& x) const {
    return count_ == 0 || std::memcmp(data(), x.data(), count_ * sizeof(T)) == 0;
  }

 private:
  Room room_;
  std::size_t first_, count_;
};

template <class T>
class GpuValues : public testing::Test {
 public:
  static constexpr std::size_t of_group = group_bytes / sizeof(T);
  static constexpr std::size_t sizes[] = {0, 1, of_group - 1, of_group, 5 * of_group + 1, 256 * of_group + 3};

  shim::Gpu gpu{3};
};
using Types = testing::Types<float, double, f16, bf16, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                             std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(GpuValues, Types);

TYPED_TEST(GpuValues, ReduceAsOnTheCpu) {
  using T = TypeParam;
  ShimLauncher launcher(this->gpu);
  for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max}) {
    for (const Pattern pattern : {Pattern::bits, Pattern::sprinkled, Pattern::mixed}) {
      for (const std::size_t n : this->sizes) {
        for (const bool shifted : {false, true}) {
          SCOPED_TRACE(testing::Message() << name_of(op) << " " << name_of(pattern) << " n " << n);
          std::vector<T> y = lossless_values<T>(pattern, n), x = lossless_values<T>(Pattern::bits, n);
          const Copy<T> there(y, shifted), other(x, !shifted);
          values::cuda::combine<T>(launcher, there.data(), other.data(), n, op);
          reduce_values({y.data(), n, dtype_of<T>}, {x.data(), n, dtype_of<T>}, op);
          ASSERT_EQ(there.equals(y), true);
          ASSERT_EQ(other.equals(x), true);
        }
      }
    }
  }
}

// A thread has several groups where the blocks are fewer than the values need.
TYPED_TEST(GpuValues, AreAllVisitedByFewBlocks) {
  using T = TypeParam;
  ShimLauncher launcher(this->gpu);
  std::vector<T> y = lossless_values<T>(Pattern::walk, 3 * 256 * this->of_group + 5), x = y;
  values::cuda::CombineJob<T> job{y.data(), x.data(), y.size(), Reduction::max, 2};
  std::ranges::reverse(y);
  std::vector<T> expected = y;
  reduce_values({expected.data(), y.size(), dtype_of<T>}, {x.data(), y.size(), dtype_of<T>}, Reduction::max);
  launcher.launch<values::cuda::CombineKernel<T>>(2, job);
  EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(T)), 0);
}

template <class T>
class GpuNumbers : public GpuValues<T> {};
using Numbers = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuNumbers, Numbers);

TYPED_TEST(GpuNumbers, DivideAsOnTheCpu) {
  using T = TypeParam;
  ShimLauncher launcher(this->gpu);
  for (const Pattern pattern : all_patterns) {
    for (const std::size_t n : this->sizes) {
      for (const int ranks : {1, 3, 7, 1000, 1 << 24}) {
        SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " ranks " << ranks);
        std::vector<T> x = make<T>(pattern, n, 7);
        const Copy<T> there(x, ranks == 3);
        values::cuda::divide<T>(launcher, there.data(), n, ranks);
        divide({x.data(), n, dtype_of<T>}, ranks);
        ASSERT_EQ(there.equals(x), true);
      }
    }
  }
}

TYPED_TEST(GpuNumbers, HaveTheRangeThatTheCpuFinds) {
  using T = TypeParam;
  ShimLauncher launcher(this->gpu);
  for (const Pattern pattern : all_patterns) {
    for (const std::size_t n : this->sizes) {
      for (const std::optional<double> fill : {std::optional<double>{}, {0.37}, {1e20}, {0.0}}) {
        for (const PackedBits bits : {PackedBits::rounded, PackedBits::exact}) {
          SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " fill " << fill.value_or(-1)
                                          << " exact " << (bits == PackedBits::exact));
          const std::vector<T> x = make<T>(pattern, n, 11);
          const Copy<T> there(x, n % 2 != 0);
          const Room scratch(values::cuda::range_scratch_bytes);
          values::cuda::RangeResult found{0, 0, 1, 0};
          values::cuda::range<T>(launcher, there.data(), n, fill, bits == PackedBits::exact, scratch.data(),
                                 &found);
          const ValueRange cpu = range_of({x.data(), n, dtype_of<T>}, fill, bits);
          ASSERT_EQ(found.least, cpu.least);
          ASSERT_EQ(found.greatest, cpu.greatest);
          ASSERT_EQ(found.status, 0u);
          ASSERT_EQ(found.done, 1u);
        }
      }
    }
  }
}

}  // namespace values_test
}  // namespace taut
