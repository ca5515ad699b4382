// Tests frames that change while kernels read them, as a program's own mistake makes them: the values are
// undefined, but every thread reaches its barriers, so that the GPU does not hang. The shim ends the test if
// threads wait for ever.
#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"

namespace taut {
namespace changing_frame_test {

using namespace planes;

// A word of a frame that has one of two contents, by turns, whenever a thread looks where it is.
struct ChangingWord {
  std::byte* at;
  std::uint32_t contents[2];
  unsigned looks = 0;

  void change() { std::memcpy(at, &contents[looks++ / 3 % 2], sizeof contents[0]); }
};

class ChangingThread : public shim::Thread {
 public:
  ChangingThread(shim::Thread thread, ChangingWord& word) : shim::Thread(thread), word_(&word) {}
  unsigned thread() const {
    word_->change();
    return shim::Thread::thread();
  }

 private:
  ChangingWord* word_;
};

struct ChangingLauncher {
  shim::Gpu& gpu;
  ChangingWord& word;

  template <class Kernel>
  void launch(unsigned blocks, const typename Kernel::Job& job) {
    gpu.launch(blocks, Kernel::shape.threads, sizeof(typename Kernel::Shared),
               [&](shim::Thread thread, std::byte* shared) {
                 Kernel::run(ChangingThread(thread, word),
                             *reinterpret_cast<typename Kernel::Shared*>(shared), job);
               });
  }
};

std::uint32_t word_at(const std::vector<std::byte>& frame, std::size_t byte) {
  std::uint32_t word = 0;
  std::memcpy(&word, frame.data() + byte, sizeof word);
  return word;
}

// Decodes and adds a frame of one chunk whose word at `byte` changes to `other` and back.
void compute_while_changing(const std::vector<std::byte>& frame, std::size_t n, std::size_t byte,
                            std::uint32_t other) {
  const Room in(frame.size()), sum(4 * frame.size() + 4 * 4096), values(n * sizeof(float)),
      scratch(planes::cuda::scratch_bytes(n), 0);
  std::memcpy(in.data(), frame.data(), frame.size());
  ChangingWord word{in.data() + byte, {word_at(frame, byte), other}};
  auto* const at = reinterpret_cast<planes::cuda::Scratch*>(scratch.data());
  at->crc = planes::cuda::header_crc_table();
  planes::cuda::CallResult result{};
  const planes::cuda::CallMemory place{at, &result};
  const planes::cuda::Source source = planes::cuda::source_of(in.data(), in.size());
  const planes::cuda::Source both[] = {source, source};
  const auto z = Quantiser<float>::make({1e-3}, Predictor::delta);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    shim::Gpu gpu(seed);
    ChangingLauncher launcher{gpu, word};
    planes::cuda::decode<float>(launcher, source, DType::f32, reinterpret_cast<float*>(values.data()), n,
                                false, place);
    EXPECT_EQ(result.done, 1u);
    result.done = 0;
    planes::cuda::sum<float>(launcher, {both, DType::f32, n, z}, {sum.data(), sum.size()}, place);
    EXPECT_EQ(result.done, 1u);
  }
}

constexpr std::size_t record_at = frame_header_bytes + 4 * (1 + 1);  // after the index of one chunk

TEST(GpuChangingFrame, HoldsUpNoThreadByTheHeadOfARecord) {
  const auto frame = cpu_frame<float>(make<float>(Pattern::walk, 3000, 1), {1e-3}, Predictor::delta);
  const std::uint32_t head = word_at(frame, record_at);
  ASSERT_EQ(head & (has_planes | has_runs), unsigned{has_planes});
  compute_while_changing(frame, 3000, record_at, head | 0x80);                // a flag that no record has
  compute_while_changing(frame, 3000, record_at, head ^ (dense | has_runs));  // more barriers
}

TEST(GpuChangingFrame, HoldsUpNoThreadByTheNumberOfRuns) {
  const std::size_t n = 3000;
  const auto frame = cpu_frame<float>(make<float>(Pattern::masked, n, 1), {1e-3}, Predictor::delta);
  const std::uint32_t head = word_at(frame, record_at);
  ASSERT_EQ(head & (has_runs | has_layers), unsigned{has_runs});
  // The number precedes the runs, which end the record.
  std::size_t runs_at = frame.size();
  for (std::uint32_t runs = 1;; ++runs) {
    runs_at = frame.size() - 4 - 12 * runs;
    ASSERT_GT(runs_at, record_at);
    if (word_at(frame, runs_at) == runs) break;
  }
  compute_while_changing(frame, n, runs_at, 0);
}

}  // namespace changing_frame_test
}  // namespace taut
