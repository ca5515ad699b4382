// Tests that blocks take opened frames from the block that publishes them, instead of opening them again.
#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"

namespace taut {
namespace published_test {

using namespace planes;

constexpr std::size_t n = 30 * chunk_values, capacity = max_frame_bytes(sizeof(float), n, 2);

// The shim starts blocks in this order, but for the order within groups of 8: block 0 has ended before this
// one starts, if one block runs at a time.
constexpr unsigned late_block = 8;

// A thread of a kernel that finds no header when it starts late.
class LateThread : public shim::Thread {
 public:
  LateThread(shim::Thread thread, std::byte* frame) : shim::Thread(thread) {
    if (thread.block() == late_block) std::memset(frame, 0, frame_header_bytes);
  }
};

// Launches kernels whose late blocks find no header. Restores the header after each kernel.
struct HeaderlessLauncher {
  shim::Gpu& gpu;
  std::byte* frame;

  template <class Kernel>
  void launch(unsigned blocks, const typename Kernel::Job& job) {
    const std::vector<std::byte> header(frame, frame + frame_header_bytes);
    gpu.launch(blocks, Kernel::shape.threads, sizeof(typename Kernel::Shared),
               [&](shim::Thread thread, std::byte* shared) {
                 Kernel::run(LateThread(thread, frame), *reinterpret_cast<typename Kernel::Shared*>(shared),
                             job);
               });
    std::memcpy(frame, header.data(), header.size());
  }
};

class GpuPublishedFrame : public testing::Test {
 public:
  GpuPublishedFrame() {
    std::memcpy(in.data(), frame.data(), frame.size());
    reinterpret_cast<planes::cuda::Scratch*>(scratch.data())->crc = planes::cuda::header_crc_table();
  }

  std::vector<float> x = make<float>(Pattern::mixed, n, 1);
  std::vector<std::byte> frame = cpu_frame<float>(x, {1e-3}, Predictor::delta);
  Room in{frame.size()}, scratch{planes::cuda::scratch_bytes(n), 0};
  planes::cuda::CallResult result{};
  planes::cuda::CallMemory place{reinterpret_cast<planes::cuda::Scratch*>(scratch.data()), &result};
  planes::cuda::Source source = planes::cuda::source_of(in.data(), in.size());
  shim::Gpu gpu{1, 1};
  HeaderlessLauncher launcher{gpu, in.data()};
};

TEST_F(GpuPublishedFrame, IsDecodedWithoutItsHeader) {
  std::vector<float> y(n), cpu(n);
  planes::cuda::decode<float>(launcher, source, DType::f32, y.data(), n, false, place);
  EXPECT_EQ(result.status, 0u);
  ASSERT_EQ(cpu_codec({1e-3}, Predictor::delta)->decode(frame, {cpu.data(), n, DType::f32}), Status::ok);
  EXPECT_EQ(std::memcmp(y.data(), cpu.data(), n * sizeof(float)), 0);
}

TEST_F(GpuPublishedFrame, IsAddedWithoutItsHeader) {
  const planes::cuda::Source both[] = {source, source};
  const auto z = Quantiser<float>::make({1e-3}, Predictor::delta);
  const Room sum(capacity);
  planes::cuda::sum<float>(launcher, {both, DType::f32, n, z}, {sum.data(), sum.size()}, place);
  EXPECT_EQ(result.status, 0u);
  std::vector<std::byte> cpu(capacity);
  const ConstBytes frames[] = {frame, frame};
  cpu.resize(cpu_codec({1e-3}, Predictor::delta)->arithmetic()->sum(frames, cpu).bytes);
  EXPECT_TRUE(std::vector<std::byte>(sum.data(), sum.data() + result.bytes) == cpu);
}

}  // namespace published_test
}  // namespace taut
