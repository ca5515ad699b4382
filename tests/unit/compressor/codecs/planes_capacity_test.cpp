// A sum takes no more than max_bytes, whatever its addends and their predictors.
#include <gtest/gtest.h>

#include "compressor/frame/codec.hpp"
#include "support/test_size.hpp"
#include "support/values.hpp"

namespace taut::test {
namespace planes_capacity_test {

constexpr std::size_t count = 4096 + 488;
constexpr const char* predictors[] = {"none", "delta", "pairs", "second"};

// Returns curves with large integers and small differences; every n-th value can only be stored exactly (n =
// 1: all; 0: none).
Values curve(DType type, std::size_t n, double greatest) {
  std::vector<double> numbers(count);
  std::mt19937_64 random(n);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i) / count;
    const double outlier =
        (type == DType::f16 ? 4e4 : 1e30) * (1 + 0.5 * static_cast<double>(random() % 1024) / 1024);
    numbers[i] = n != 0 && i % n == 0 ? outlier : greatest * (1 - x * x);
  }
  Values values(type, count);
  values.set(0, numbers);
  return values;
}

struct Operand {
  Values values;
  std::vector<std::byte> frame;
};

std::vector<std::byte> encoded(const Codec& codec, const Values& values) {
  std::vector<std::byte> frame(codec.max_bytes(values.type(), count));
  const SizeOrStatus size = codec.encode(values.slice(), frame);
  EXPECT_EQ(size.status, Status::ok);
  frame.resize(size.bytes);
  return frame;
}

class PlanesCapacity : public testing::TestWithParam<DType> {
 protected:
  std::unique_ptr<Codec> codec(const char* predictor) const {
    return find_codec("planes")->make({.bound = {Bound::Kind::absolute, bound}, .predictor = predictor});
  }
  std::vector<Operand> operands(const Codec& codec) const {
    std::vector<Operand> all;
    for (const std::size_t n : {0, 1, 3, 4, 5, 7, 40})
      for (const double greatest : {0x1p6, -0x1p14, 0x1p20, -0x1p21, 0x1p28}) {
        Values values = curve(GetParam(), n, greatest * bound);
        std::vector<std::byte> frame = encoded(codec, values);
        all.push_back({std::move(values), std::move(frame)});
      }
    return all;
  }
  static constexpr double bound = 0x1p-7;
};

TEST_P(PlanesCapacity, HoldsSumsOfFramesOfDifferentPredictions) {
  std::vector<Operand> all;
  for (const char* predictor : predictors)
    for (Operand& operand : operands(*codec(predictor))) all.push_back(std::move(operand));
  const auto any = codec("delta");
  std::vector<std::byte> out(any->max_bytes(GetParam(), count, 2));
  for (const Operand& a : all)
    for (const Operand& b : all) {
      if (!is_sampled()) continue;
      const ConstBytes both[] = {a.frame, b.frame};
      ASSERT_EQ(any->arithmetic()->sum(both, out).status, Status::ok);
    }
}

TEST_P(PlanesCapacity, HoldsFramesAndValuesOfDifferentPredictions) {
  const std::vector<Operand> addends = operands(*codec("none"));
  for (const char* predictor : predictors) {
    const auto other = codec(predictor);
    std::vector<std::byte> out(other->max_bytes(GetParam(), count, 2));
    for (const char* of_frame : predictors)
      for (const Operand& a : operands(*codec(of_frame)))
        for (const Operand& b : addends) {
          if (!is_sampled()) continue;
          ASSERT_EQ(other->arithmetic()->accumulate(a.frame, b.values.slice(), out).status, Status::ok);
        }
  }
}

TEST_P(PlanesCapacity, HoldsSumsOfMany) {
  const auto any = codec("delta");
  std::mt19937_64 random(1 + sample_number());
  std::vector<Operand> all;
  for (const char* predictor : predictors)
    for (Operand& operand : operands(*codec(predictor))) all.push_back(std::move(operand));
  for (std::uint64_t time = 0; time < sampled_part(30); ++time) {
    std::vector<std::byte> sum;
    std::uint32_t addends = 0;
    while (addends < 600) {
      std::vector<ConstBytes> frames;
      std::uint32_t more = 0;
      for (std::size_t k = 0; k < 8; ++k, ++more) frames.push_back(all[random() % all.size()].frame);
      if (addends != 0) {
        frames.back() = sum;
        more += addends - 1;
      }
      std::vector<std::byte> out(any->max_bytes(GetParam(), count, more));
      const SizeOrStatus size = any->arithmetic()->sum(frames, out);
      ASSERT_EQ(size.status, Status::ok) << more;
      out.resize(size.bytes);
      sum = std::move(out);
      addends = more;
      if (random() % 40 == 0) break;
    }
  }
}

std::string name_of_type(const testing::TestParamInfo<DType>& info) { return name_of(info.param); }
INSTANTIATE_TEST_SUITE_P(Types, PlanesCapacity,
                         testing::Values(DType::f32, DType::f64, DType::f16, DType::bf16), name_of_type);

}  // namespace planes_capacity_test
}  // namespace taut::test
