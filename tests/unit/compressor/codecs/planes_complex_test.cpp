// Frames of complex numbers, which hold twice as many real numbers as their count says.
#include <gtest/gtest.h>

#include "compressor/frame/codec.hpp"
#include "support/values.hpp"

namespace taut::test {
namespace planes_complex_test {

std::unique_ptr<Codec> planes(const char* predictor) {
  return find_codec("planes")->make({.bound = {Bound::Kind::absolute, 1e-3}, .predictor = predictor});
}

TEST(PlanesOfComplexNumbers, FramesAndValuesAddUpWithLags) {
  constexpr const char* predictors[] = {"delta+64", "none+4097", "second+500", "pairs+64+128",
                                        "second+1000+1064"};
  for (const DType type : {DType::c64, DType::c128})
    for (const char* predictor : predictors)
      for (const std::size_t n : {50u, 2049u, 9000u, 17091u}) {
        SCOPED_TRACE(testing::Message() << name_of(type) << " " << predictor << " " << n);
        const auto codec = planes(predictor), usual = planes("delta");
        const Values x = make_values(type, n, Pattern::smooth, 1),
                     y = make_values(type, n, Pattern::noisy, 2);
        const auto sum_of = [&](const Codec& by) {
          std::vector<std::byte> frame(by.max_bytes(type, n)), sum(by.max_bytes(type, n, 2));
          frame.resize(by.encode(x.slice(), frame).bytes);
          const SizeOrStatus size = by.arithmetic()->accumulate(frame, y.slice(), sum);
          EXPECT_EQ(size.status, Status::ok);
          sum.resize(size.bytes);
          Values values(type, n);
          EXPECT_EQ(by.decode(sum, values.slice()), Status::ok);
          return values;
        };
        ASSERT_TRUE(sum_of(*codec) == sum_of(*usual));
      }
}

}  // namespace planes_complex_test
}  // namespace taut::test
