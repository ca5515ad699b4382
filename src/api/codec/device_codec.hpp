// Codec calls in which some of the memory is GPU memory. The work is done where the values are (for sums: the
// frames), by kernels if there are any, otherwise on the host with the same results. Frames are copied, and
// so is data that only the host can process.
#pragma once

#include "policy/plan/coding.hpp"

namespace taut::api {

// Encode, decode and add as in api/codec/host_codec.hpp. Throw Error, also if CUDA is not available.
Sized encode_with_device(ConstSlice values, const Coding& coding, Bytes out);
Status decode_with_device(ConstBytes frame, Slice values);
Sized add_with_device(ConstBytes a, ConstBytes b, Bytes out);

// Work as read_header and range_of do, on memory of the host or of a GPU.
Status read_header_anywhere(ConstBytes frame, FrameHeader& header);
ValueRange range_anywhere(ConstSlice values, const Coding& coding);

}  // namespace taut::api
