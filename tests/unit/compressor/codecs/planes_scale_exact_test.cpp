// Frames with runs, layers and wide integers times a number: exact values, capacity and damage.
#include "compressor/frame/codec.hpp"
#include "compressor/values/value_statistics.hpp"
#include "support/exact_values.hpp"

namespace taut::test {
namespace planes_scale_exact_test {

Frame scaled(const Codec& codec, const Frame& frame, double factor) {
  Frame out(codec.max_bytes(DType::f64, count, addends_of(frame)));
  const SizeOrStatus size = FrameScaling::of(codec)->scale(frame, factor, out);
  return taken(std::move(out), size);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// A frame minus itself is 0, also where values travel exactly.
TEST(PlanesScale, DifferencesAreSumsOfNegatedFrames) {
  for (int kind = 0; kind < kinds; ++kind) {
    const auto codec = planes(bound);
    const std::vector<double> x = operand<double>(static_cast<Kind>(kind));
    const Frame frame = encoded(*codec, x);
    const Frame difference = summed(*codec, {frame, scaled(*codec, frame, -1)});
    const std::vector<double> zero = decoded<double>(*codec, difference, count);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_TRUE(std::isfinite(x[i]) ? zero[i] == 0 : std::isnan(zero[i])) << kind << " " << i;
  }
}

TEST(PlanesScale, ExactValuesAreScaledToo) {
  for (int kind = 0; kind < kinds; ++kind)
    for (const double factor : {-1.0, 4.0, -0.3}) {
      const auto codec = planes(bound);
      const Frame frame = summed(*codec, {encoded(*codec, operand<float>(static_cast<Kind>(kind))),
                                          encoded(*codec, operand<float>(Kind::fill))});
      const std::vector<float> before = decoded<float>(*codec, frame, count),
                               after = decoded<float>(*codec, scaled(*codec, frame, factor), count);
      for (std::size_t i = 0; i < count; ++i) {
        const double exact = before[i] * factor;
        const double rounding = std::abs(exact) < 1e3
                                    ? 1e-4
                                    : std::max(1e20, std::abs(exact)) * 0x1p-20;  // addends are 1e20 at most
        const bool equal = same(after[i], static_cast<float>(exact));
        ASSERT_TRUE(equal || (factor == -0.3 && std::abs(after[i] - exact) <= rounding))
            << kind << " " << i << " " << after[i] << " " << exact;
      }
    }
}

TEST(PlanesScale, RoomTooSmallIsRefusedAndKept) {
  constexpr std::byte untouched{0xA5};
  const auto codec = planes(bound);
  for (const double factor : {-1.0, 2.0}) {
    const Frame frame = encoded(*codec, operand<float>(Kind::fill));
    const std::size_t need = scaled(*codec, frame, factor).size();
    for (std::size_t room = 0; room < need; room += 97) {
      Frame out(room + 64, untouched);
      EXPECT_EQ(FrameScaling::of(*codec)->scale(frame, factor, Bytes(out).first(room)).status,
                Status::buffer_too_small);
      EXPECT_TRUE(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(room), out.end(),
                              [=](std::byte b) { return b == untouched; }));
    }
  }
}

TEST(PlanesScale, DamageDoesNoHarm) {
  const auto codec = planes(bound);
  for (int kind = 0; kind < kinds; ++kind) {
    const Frame good = summed(*codec, {encoded(*codec, operand<double>(static_cast<Kind>(kind))),
                                       encoded(*codec, operand<double>(Kind::fill))});
    Frame out(codec->max_bytes(DType::f64, count, 2));
    for (int round = 0; round < 60; ++round) {
      Frame bad = good;
      for (int k = 0; k < 1 + round % 8; ++k)
        bad[frame_header_bytes + random_bits() % (bad.size() - frame_header_bytes)] =
            std::byte(random_bits());
      for (const double factor : {-1.0, 0.3}) {
        const SizeOrStatus size = FrameScaling::of(*codec)->scale(bad, factor, out);
        ValueStatistics statistics;
        FrameScaling::of(*codec)->summarize(bad, statistics);
        if (size.status != Status::ok) continue;
        std::vector<double> x(count);  // a result is well formed
        ASSERT_EQ(codec->decode(Bytes(out).first(size.bytes), slice(x)), Status::ok);
      }
    }
  }
}

}  // namespace planes_scale_exact_test
}  // namespace taut::test
