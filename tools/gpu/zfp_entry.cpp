// Entry of zfp in the registry of codecs where libzfp is missing: the kernels for rates need no more. Nothing
// is encoded by the codec that it makes.
#include "compressor/frame/codec.hpp"
#include "compressor/gpu/zfp/format.hpp"

namespace taut::codecs {

extern const CodecInfo raw, zfp;

namespace {

constexpr CodecOnDevices on_devices{
    .encodes =
        [](const Coding& coding) noexcept { return coding.bits == PackedBits::rounded && !coding.checksum; },
    .decoding = [](const FrameHeader&, ConstBytes, const Coding&) -> std::optional<Coding> { return {}; }};

}  // namespace

extern constinit const CodecInfo zfp{.name = "zfp",
                                     .frame_id = taut::zfp::cuda::frame_id,
                                     .since = "0.1",
                                     .summary = "kernels for GPUs alone",
                                     .serves =
                                         [](DType type, Bound::Kind kind) noexcept {
                                           return (type == DType::f32 || type == DType::f64) &&
                                                  kind == Bound::Kind::rate;
                                         },
                                     .make = [](const Coding& coding) { return raw.make(coding); },
                                     .device = &on_devices};

}  // namespace taut::codecs
