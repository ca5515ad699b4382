// DeviceHistoryCodec is the codec of a call in a series whose values are on a GPU.
#pragma once

#include "communication/comm/history.hpp"
#include "communication/team/codec_operations.hpp"

namespace taut {

// Does what HistoryCodec does, with the operations of the codecs for values on a GPU.
class DeviceHistoryCodec final : public HistoryCodec, public CodecOperations {
 public:
  DeviceHistoryCodec(const Codec& with_references, const Codec& without_references,
                     CallHistory& history) noexcept
      : HistoryCodec(with_references, without_references, history),
        with_references_(with_references),
        without_references_(without_references) {}

  int batch() const noexcept override { return without_references_.batch(); }
  Operation start_encode(std::span<EncodeItem> items) const noexcept override;
  Operation start_decode(std::span<DecodeItem> items) const noexcept override;
  Operation start_reduce(ConstBytes in, Slice values, Reduction op) const noexcept override {
    return without_references_.reduce(in, values, op);
  }
  Operation start_sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override {
    return without_references_.sum(frames, out);
  }
  Operation start_accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept override {
    return without_references_.accumulate(frame, values, out);
  }

 private:
  Task<SizeOrStatus> encode_items(std::span<EncodeItem> items) const;
  Task<SizeOrStatus> decode_items(std::span<DecodeItem> items) const;

  CodecHandle with_references_, without_references_;
};

}  // namespace taut
