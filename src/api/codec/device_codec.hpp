// The work of TAUT_Encode, TAUT_Decode and the other codec calls, where values or frames are in GPU memory.
// Kernels work where the values are (in sums: where the frames are); a frame in other memory is copied there.
// Without a kernel the host works on copies, with the same results.
#pragma once

#include "policy/plan/coding.hpp"

namespace taut::api {

// Encode, decode and add as in api/codec/host_codec.hpp. Throw Error, also if CUDA is not available.
Sized encode_with_device(ConstSlice values, const Coding& coding, Bytes out);
Status decode_with_device(ConstBytes frame, Slice values);
Sized add_with_device(ConstBytes a, ConstBytes b, Bytes out);

// Read the header of a frame, and find the range of values, in host memory or in GPU memory.
Status read_header_anywhere(ConstBytes frame, FrameHeader& header);
ValueRange range_anywhere(ConstSlice values, const Coding& coding);

}  // namespace taut::api
