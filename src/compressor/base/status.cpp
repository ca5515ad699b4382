#include "compressor/base/status.hpp"

namespace taut {

const char* describe(Status status) noexcept {
  switch (status) {
    case Status::ok: return "no error";
    case Status::invalid_argument: return "an argument cannot be used";
    case Status::invalid_count: return "the count is negative or too large for one call";
    case Status::invalid_type: return "the codec does not code values of this type";
    case Status::invalid_policy: return "the policy string cannot be read";
    case Status::buffer_too_small: return "the output buffer is smaller than TAUT_Max_bytes";
    case Status::corrupt_frame: return "the bytes are not a frame, or the frame is damaged";
    case Status::unsupported_version: return "the frame was written by a newer version of Taut";
    case Status::frame_mismatch: return "the frame does not match the expected type, count, codec or bound";
    case Status::rank_mismatch: return "the ranks' calls differ in count, type, operator, bound or codec";
    case Status::peer_failed: return "another rank failed and its contribution is missing";
    case Status::out_of_memory: return "out of memory";
    case Status::transport_failed: return "the transport below reported an error";
    case Status::internal: return "internal error";
    case Status::device_failed: return "CUDA reports an error on the GPU that holds the values";
  }
  return "unknown status";
}

}  // namespace taut
