// Tests frames that are damaged, or that hold other data than requested: decoding to memory of a GPU reports
// the same status as decoding to the host.
#include "gpu/cuda_calls/frames.hpp"
#include "gpu/kernels/seal.hpp"

namespace taut::test {
namespace {

// Returns the status of decoding a frame to memory of a GPU. Expects the same status for a frame in either
// memory, and for decoding to memory of the host.
int status_of(const FrameBytes& frame, std::size_t count, TAUT_Type type) {
  const OnGpu<std::byte> there(frame), values(std::size_t{8} * count);
  FrameBytes here(8 * count);
  const int status = TAUT_Decode(there.data(), frame.size(), values.data(), count, type);
  EXPECT_EQ(TAUT_Decode(frame.data(), frame.size(), values.data(), count, type), status);
  EXPECT_EQ(TAUT_Decode(frame.data(), frame.size(), here.data(), count, type), status);
  return status;
}

TEST(BadFramesOnAGpu, AreToldAsOfTheHost) {
  const auto x = make<float>(Pattern::walk, 5000, 1);
  for (const char* const coding : {"abs:1e-3", "lossless"}) {
    SCOPED_TRACE(coding);
    const FrameBytes frame = encoded(x, coding);
    EXPECT_EQ(status_of(frame, 5000, TAUT_FLOAT32), TAUT_SUCCESS);
    EXPECT_EQ(status_of(frame, 4999, TAUT_FLOAT32), TAUT_ERR_FRAME_MISMATCH);
    EXPECT_EQ(status_of(frame, 5000, TAUT_INT32), TAUT_ERR_FRAME_MISMATCH);
    for (const std::size_t place : {0, 40, 66}) {
      FrameBytes bad = frame;
      bad[place] ^= std::byte{0xFF};
      EXPECT_EQ(status_of(bad, 5000, TAUT_FLOAT32), TAUT_ERR_FRAME) << place;
    }
  }
}

// The frame has a bound that its codec does not support.
TEST(BadFramesOnAGpu, AreRefusedIfNoCodecMakesThem) {
  FrameBytes frame = encoded(make<float>(Pattern::walk, 5000, 1), "lossless");
  const double bound = 1;
  std::memcpy(frame.data() + 16, &bound, sizeof bound);
  frame[56] = std::byte{1};
  seal(frame);
  EXPECT_EQ(status_of(frame, 5000, TAUT_FLOAT32), TAUT_ERR_FRAME);
}

}  // namespace
}  // namespace taut::test
