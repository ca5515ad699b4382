// Tests that the registry of kernels and that of codecs agree.
#include <gtest/gtest.h>

#include "compressor/gpu/device_services.hpp"

namespace taut {
namespace {

// A rank without a GPU has to know what kernels serve: CodecInfo says it, and libtaut_cuda has the kernels.
TEST(DeviceCodecs, AreThoseOfTheCodecsThatNameThem) {
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  int found = 0;
  for (const CodecInfo* const codec : registered_codecs()) {
    const gpu::DeviceCodec* const kernels = services.codec(codec->frame_id);
    EXPECT_EQ(kernels != nullptr, codec->device != nullptr) << codec->name;
    found += kernels != nullptr;
  }
  EXPECT_GE(found, 2);
  EXPECT_EQ(services.codec(0), nullptr);
}

}  // namespace
}  // namespace taut
