// Tests kernels on scratch memory whose chunks are all taken, as a call leaves it that has stopped halfway:
// the call fails, touches no memory of others, and leaves the scratch memory ready for the next one.
#include <gtest/gtest.h>

#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/gpu/exponents/calls.hpp"
#include "compressor/gpu/mpc/calls.hpp"
#include "compressor/gpu/planes/lagged_calls.hpp"
#include "compressor/gpu/simt/batch.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/shim_launcher.hpp"

namespace taut::test {
namespace {

constexpr std::size_t n = 40000;

// Makes a call on used scratch memory, on such memory whose chunks are all taken, and again.
template <class Scratch, class Call>
void fails_once(Scratch& scratch, const cuda::CallResult& result, Call call) {
  constexpr std::uint32_t taken = 1000;  // more than there are chunks
  shim::Gpu gpu(1);
  ShimLauncher launcher(gpu);
  call(launcher);
  EXPECT_EQ(result.status, 0u);
  scratch.control.ticket = taken;
  call(launcher);
  EXPECT_EQ(result.status, static_cast<std::uint32_t>(Status::internal));
  call(launcher);
  EXPECT_EQ(result.status, 0u);
}

template <class Scratch>
struct ScratchRoom {
  Room memory;
  explicit ScratchRoom(std::size_t bytes) : memory(bytes, 0) { at()->crc = cuda::header_crc_table(); }
  Scratch* at() const { return reinterpret_cast<Scratch*>(memory.data()); }
};

struct GpuAfterHalfACall : testing::Test {
  static constexpr std::size_t room = planes::max_frame_bytes(sizeof(float), n, 2);
  static constexpr Bound bound{1e-3};

  ScratchRoom<planes::cuda::Scratch> scratch{planes::cuda::scratch_bytes(n)};
  std::vector<float> x = make<float>(Pattern::walk, n, 1);
  Room frame{room}, sum{room};
  cuda::CallResult result{};
  planes::cuda::CallMemory place{scratch.at(), &result};
  planes::Quantiser<float> z = planes::Quantiser<float>::make(bound, planes::Predictor::delta);
  FrameHeader header{
      .codec = planes::frame_id, .type = DType::f32, .count = n, .bound = bound, .step = z.step};
  planes::cuda::EncodeCall<float> values{x.data(), n, z, header};
};

TEST_F(GpuAfterHalfACall, EncodingFailsOnce) {
  fails_once(*scratch.at(), result, [&](ShimLauncher& launcher) {
    planes::cuda::encode<float>(launcher, values, {frame.data(), room}, place);
  });
}

TEST_F(GpuAfterHalfACall, EncodingInABatchFailsOnce) {
  fails_once(*scratch.at(), result, [&](ShimLauncher& launcher) {
    cuda::BatchLauncher batch(launcher);
    batch.begin_item();
    planes::cuda::encode<float>(batch, values, {frame.data(), room}, place);
    batch.launch_all();
  });
}

TEST_F(GpuAfterHalfACall, SumsFailOnce) {
  shim::Gpu gpu(1);
  ShimLauncher encoder(gpu);
  planes::cuda::encode<float>(encoder, values, {frame.data(), room}, place);
  const cuda::Source source = cuda::source_of(frame.data(), result.bytes), both[] = {source, source};
  fails_once(*scratch.at(), result, [&](ShimLauncher& launcher) {
    planes::cuda::sum<float>(launcher, {both, DType::f32, n, z}, {sum.data(), room}, place);
  });
}

// The kernels that would encode again without lags take the chunks anew.
TEST_F(GpuAfterHalfACall, EncodingWithLagsIsRepaired) {
  const Room integers(planes::cuda::IntegersMemory::bytes(n));
  shim::Gpu gpu(1);
  ShimLauncher launcher(gpu);
  const auto encode = [&] {
    planes::cuda::encode_lagged<float>(launcher, values, planes::Lags{{100}, 1}, {frame.data(), room},
                                       {integers.data(), n}, place);
    return result.status;
  };
  EXPECT_EQ(encode(), 0u);
  scratch.at()->control.ticket = 1000;
  EXPECT_EQ(encode(), 0u);
  EXPECT_EQ(encode(), 0u);
}

TEST_F(GpuAfterHalfACall, LosslessEncodingFailsOnce) {
  const ScratchRoom<mpc::cuda::Scratch> own(mpc::cuda::scratch_bytes<std::uint32_t>(n));
  const auto* const words = reinterpret_cast<const std::uint32_t*>(x.data());
  const FrameHeader lossless{.codec = mpc::frame_id, .type = DType::f32, .count = n, .parameters = {1}};
  fails_once(*own.at(), result, [&](ShimLauncher& launcher) {
    mpc::cuda::encode<std::uint32_t>(launcher, {words, n, lossless}, {frame.data(), room},
                                     {own.at(), &result});
  });
}

TEST_F(GpuAfterHalfACall, EncodingOfHalvesFailsOnce) {
  const ScratchRoom<exponents::cuda::Scratch> own(exponents::cuda::scratch_bytes(n));
  const Room books(exponents::cuda::books_bytes(n));
  const FrameHeader halves{.codec = exponents::frame_id, .type = DType::bf16, .count = n};
  fails_once(*own.at(), result, [&](ShimLauncher& launcher) {
    exponents::cuda::encode<bf16>(
        launcher, reinterpret_cast<const std::uint16_t*>(x.data()), halves, {frame.data(), room},
        {own.at(), reinterpret_cast<exponents::cuda::Books*>(books.data()), &result});
  });
}

}  // namespace
}  // namespace taut::test
