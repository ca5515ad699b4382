// Tests the copies of parts of values on a GPU that samples and forecasts read.
#include "communication/comm/history.hpp"
#include "communication/gpu/device_values.hpp"
#include "compressor/frame/sample.hpp"
#include "gpu/cuda_collectives/device_job.hpp"

namespace taut::test {
namespace sampled_parts_test {

// Memory as long as the values exists for samples alone.
TEST(SampledParts, APieceHasTheBytesOfThatOfTheHost) {
  const auto device = std::make_shared<gpu::Device>(gpu::device_services("a test"), 0, nullptr);
  for (const DType type : {DType::f32, DType::f64, DType::bf16, DType::c64})
    for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{300001}}) {
      const Values here = make_values(type, count, Pattern::noisy, 5);
      const ConstBytes bytes = here.slice().as_bytes();
      const OnGpu<std::byte> there(std::vector<std::byte>(bytes.begin(), bytes.end()));
      const ConstSlice values{{there.data(), count, type}};
      const auto ranges = EarlierPieces::parts_of(values);
      const gpu::SampledParts piece(*device, values, {}, ranges);
      const auto wanted = EarlierPieces::piece_of(here.slice());
      EXPECT_EQ(piece.values().data, nullptr);
      EXPECT_TRUE(std::ranges::equal(piece.others().as_bytes(), wanted));
      EXPECT_TRUE(EarlierPieces::piece_of(piece.others()) == wanted);
      const Coding coding = parse_coding("abs:1e-3,codec=planes,predictor=delta");
      const gpu::SampledParts both(*device, values, {&coding, 1}, ranges);
      EXPECT_TRUE(std::ranges::equal(both.others().as_bytes(), wanted));
      std::vector<std::byte> room(sample_scratch(*coding.make(), type));
      EXPECT_EQ(coding.make()->sample(both.values(), room).ratio(),
                coding.make()->sample(here.slice(), room).ratio());
    }
}

}  // namespace sampled_parts_test
}  // namespace taut::test
