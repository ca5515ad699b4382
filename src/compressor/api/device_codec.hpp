// The work of TAUT_Encode, TAUT_Decode and the other codec calls, where values or frames are in GPU memory.
// The work is done where the values are (in sums: where the frames are), and a frame in other memory is
// copied there. Where no kernel serves a codec or type, the host works on copies.
#pragma once

#include "compressor/api/host_codec.hpp"

namespace taut::api {

// Encode, decode and add as in compressor/api/host_codec.hpp, and throw Error where CUDA is not available.
SizeOrStatus encode_with_device(ConstSlice values, const Coding& coding, Arrays references, Bytes out);
Status decode_with_device(ConstBytes frame, Arrays references, Slice values);
SizeOrStatus add_with_device(ConstBytes a, ConstBytes b, Bytes out);

// Reads the state numbers of a frame, in host memory or in GPU memory, whose header is valid.
StateNumbers state_numbers_anywhere(const FrameHeader& header, ConstBytes frame);

// Read the header of a frame, and find the range of values, in host memory or in GPU memory.
Status read_header_anywhere(ConstBytes frame, FrameHeader& header);
ValueRange range_anywhere(ConstSlice values, const Coding& coding);

}  // namespace taut::api
