// Tests the codec of values on a GPU with references: frames and values are those of the host.
#include "communication/gpu/frame_codec.hpp"
#include "communication/gpu/staging_codec.hpp"
#include "gpu/cuda_collectives/device_job.hpp"
#include "support/histories.hpp"

namespace taut::test {
namespace referring_codec_test {

class CodecWithReferences : public testing::Test {
 protected:
  // Frames are on the GPU if `there`.
  void expect_as_on_the_host(const char* predictor, bool there) {
    SCOPED_TRACE(std::string(predictor) + (there ? " there" : ""));
    const auto device = std::make_shared<gpu::Device>(gpu::device_services("a test"), 0, nullptr, there);
    gpu::DeviceValues values(device);
    const Coding coding = parse_coding(std::string("abs:1e-3,codec=planes,predictor=") + predictor);
    const std::shared_ptr<const Codec> host = coding.make();
    const auto codec = gpu::codec_on_device(host, parse_coding("abs:1e-3,codec=planes"), values);
    History history(DType::f32, 9000, Pattern::noisy, 3, true);
    history.decode_earlier(*host);
    const std::vector<taut::Reference> here = history.references(predictor[0] == 'd' ? 1 : 2);
    const OnGpu<std::byte> newest(bytes_of(history.before)), before(bytes_of(history.earlier)),
        back(9000 * sizeof(float)), input(bytes_of(history.now));
    std::vector<taut::Reference> references = here;
    references[0].values.data = newest.data();
    if (references.size() > 1) references[1].values.data = before.data();
    const Buffer memory = device->frame_place().scratch(codec->max_bytes(DType::f32, 9000));
    const FrameBytes frame = frame_of(*host, history.now, here);
    EXPECT_GT(header_of(frame).parameters[2], 0);
    std::memcpy(memory.data(), frame.data(), frame.size());
    ASSERT_EQ(device->device_frames().upload(memory.bytes().first(frame.size())), Status::ok);
    const Slice out{{back.data(), 9000, DType::f32}};
    ASSERT_EQ(codec->decode(memory.bytes().first(frame.size()), references, out), Status::ok);
    EXPECT_EQ(back.peek(out.bytes()), bytes_of(values_of(*host, frame, history.now, here)));
    EXPECT_EQ(codec->decode(memory.bytes().first(frame.size()), out), Status::corrupt_frame);
    const ConstSlice in{{input.data(), 9000, DType::f32}};
    const SizeOrStatus made = codec->encode(in, references, memory.bytes());
    ASSERT_EQ(made.status, Status::ok);
    EXPECT_LT(made.bytes, frame_of(*host, history.now).size());
    ASSERT_EQ(codec->decode(memory.bytes().first(made.bytes), references, out), Status::ok);
    EXPECT_EQ(back.peek(out.bytes()), bytes_of(values_of(*host, frame, history.now, here)));
  }

  static std::vector<std::byte> bytes_of(const Values& values) {
    const auto bytes = values.slice().as_bytes();
    return {bytes.begin(), bytes.end()};
  }
};

// The host decodes lags behind references, on copies.
TEST_F(CodecWithReferences, DecodesFramesOfTheHost) {
  for (const bool there : {false, true})
    for (const char* const predictor : {"none", "second", "delta+100"})
      expect_as_on_the_host(predictor, there);
}

}  // namespace referring_codec_test
}  // namespace taut::test
