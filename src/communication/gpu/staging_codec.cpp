#include "communication/gpu/staging_codec.hpp"

namespace taut::gpu {

// Copies an encoded frame to the GPU. `encoded`: the result of the codec's encoder.
SizeOrStatus StagingCodec::upload(SizeOrStatus encoded, Bytes out) const noexcept {
  if (encoded.status == Status::ok) encoded.status = frames_.upload(out.first(encoded.bytes));
  return encoded;
}

SizeOrStatus StagingCodec::encode(ConstSlice values, References, Bytes out) const noexcept {
  return upload(codec_->encode(values, out), out);
}

Status StagingCodec::decode(ConstBytes in, References references, Slice values) const noexcept {
  const Status status = frames_.download(in);
  return status == Status::ok ? codec_->decode(in, references, values) : status;
}

Status StagingCodec::reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept {
  const Status status = frames_.download(in);
  return status == Status::ok ? codec_->reduce(in, values, op) : status;
}

SizeOrStatus StagingCodec::sum(std::span<const ConstBytes> frames, Bytes out) const noexcept {
  Status status = Status::ok;
  for (const ConstBytes frame : frames)
    if (status == Status::ok) status = frames_.download(frame);
  return status == Status::ok ? upload(codec_->arithmetic()->sum(frames, out), out) : SizeOrStatus{status};
}

SizeOrStatus StagingCodec::accumulate(ConstBytes frame, ConstSlice values, References,
                                      Bytes out) const noexcept {
  const Status status = frames_.download(frame);
  return status == Status::ok ? upload(codec_->arithmetic()->accumulate(frame, values, out), out)
                              : SizeOrStatus{status};
}

}  // namespace taut::gpu
