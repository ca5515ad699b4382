// The codec calls where some of the memory is a GPU's. The work is done where the values are (of sums: the
// frames), by kernels as far as there are some, else on the host, whose results are the same; frames, and
// what only the host can work on, are copied.
#pragma once

#include "policy/plan/coding.hpp"

namespace taut::api {

// As api/codec/host_codec.hpp has them. Throw Error, also where CUDA is not to be had.
Sized encode_with_device(ConstSlice values, const Coding& coding, Bytes out);
Status decode_with_device(ConstBytes frame, Slice values);
Sized add_with_device(ConstBytes a, ConstBytes b, Bytes out);

// The same as read_header and range_of, of memory of the host or of a GPU.
Status read_header_anywhere(ConstBytes frame, FrameHeader& header);
ValueRange range_anywhere(ConstSlice values, const Coding& coding);

}  // namespace taut::api
