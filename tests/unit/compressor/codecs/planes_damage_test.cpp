// Records with runs, layers and wide integers: their capacity, and damage.
#include "support/exact_values.hpp"

namespace taut::test {
namespace planes_damage_test {

template <class T>
class PlanesDamage : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PlanesDamage, Types);

TYPED_TEST(PlanesDamage, SumsFitIntoTheirVerySizeAndNoLess) {
  using T = TypeParam;
  constexpr std::byte untouched{0xA5};
  for (const char* kernels : kernel_names()) {
    const auto codec = planes(bound, kernels);
    for (const Kind kind : {Kind::fill, Kind::outliers, Kind::nan, Kind::layers}) {
      const std::vector<T> x = operand<T>(Kind::aside), y = operand<T>(kind);
      const std::vector<Frame> frames{encoded(*codec, x), encoded(*codec, y)};
      const Frame total = summed(*codec, frames);
      const ConstBytes both[] = {frames[0], frames[1]};
      for (std::size_t room = 0; room <= total.size() + 3; room += room + 200 < total.size() ? 97 : 1) {
        for (const bool accumulate : {false, true}) {
          Frame out(room + 64, untouched);
          const Bytes some = Bytes(out).first(room);
          const SizeOrStatus s = accumulate ? codec->arithmetic()->accumulate(both[0], slice(y), some)
                                            : codec->arithmetic()->sum(both, some);
          ASSERT_EQ(s.status, room < total.size() ? Status::buffer_too_small : Status::ok) << room;
          for (std::size_t i = room; i < out.size(); ++i) ASSERT_EQ(out[i], untouched);
          if (s.status == Status::ok) {
            ASSERT_TRUE(std::equal(total.begin(), total.end(), out.begin()));
          }
        }
      }
    }
  }
}

TYPED_TEST(PlanesDamage, RunsOutOfOrderAreRejected) {
  using T = TypeParam;
  const auto codec = planes(bound);
  std::vector<T> x(100, T(1));
  x[10] = x[50] = T(1e20);
  Frame frame = encoded(*codec, x);
  const std::ptrdiff_t run = 8 + sizeof(T);
  std::rotate(frame.end() - 2 * run, frame.end() - run, frame.end());
  EXPECT_EQ(codec->decode(frame, slice(x)), Status::corrupt_frame);
}

// Sums of stored frames are not stored, so the step of a stored frame counts as well.
TYPED_TEST(PlanesDamage, StepsThatNoEncoderChoosesAreRejected) {
  using T = TypeParam;
  const auto codec = planes(bound);
  std::vector<T> x(100, T(1)), large(100);
  for (std::size_t i = 0; i < 100; ++i) large[i] = T(1e30) * static_cast<T>(i + 1);
  for (const bool stored : {false, true}) {
    const Frame good = encoded(*codec, stored ? large : x);
    FrameHeader header;
    ASSERT_EQ(read_header(good, header), Status::ok);
    ASSERT_EQ(header.has(FrameHeader::stored), stored);
    for (const double step : {0x1p-1001, 0x1p961}) {
      Frame frame = good;
      header.step = step;
      seal_frame(header, frame.data(), frame.size() - frame_header_bytes);
      EXPECT_EQ(codec->decode(frame, slice(x)), Status::corrupt_frame) << step;
    }
  }
}

TYPED_TEST(PlanesDamage, DamageDoesNoHarm) {
  using T = TypeParam;
  for (const char* kernels : kernel_names()) {
    for (int kind = 0; kind < kinds; ++kind) {
      const auto codec = planes(kind % 2 == 0 ? bound : 1e-8, kernels, kind % 3 == 0 ? "none" : "delta");
      const Frame good = summed(*codec, {encoded(*codec, operand<T>(static_cast<Kind>(kind))),
                                         encoded(*codec, operand<T>(Kind::fill))});
      std::vector<T> x(count);
      Frame out(codec->max_bytes(dtype_of<T>, count, 4));
      for (int round = 0; round < 60; ++round) {
        Frame bad = good;
        for (int k = 0; k < 1 + round % 8; ++k)
          bad[frame_header_bytes + random_bits() % (bad.size() - frame_header_bytes)] =
              std::byte(random_bits());
        codec->decode(bad, slice(x));
        const ConstBytes both[] = {good, bad};
        codec->arithmetic()->sum(both, out);
        codec->arithmetic()->accumulate(bad, slice(x), out);
      }
    }
  }
}

}  // namespace planes_damage_test
}  // namespace taut::test
