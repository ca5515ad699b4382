// The work of TAUT_Encode, TAUT_Decode and the other codec calls, for values and frames in host memory.
#pragma once

#include "compressor/frame/candidates.hpp"

namespace taut::api {

// Arrays of the values' type and count, from which a call predicts: the newest first.
using Arrays = std::span<const void* const>;

// Encode values into one frame, decode a frame, and add two frames. `coding`: the parsed argument of
// TAUT_Encode that names the bound and the codec. Decoding throws Error if the references are not those of
// the frame.
SizeOrStatus encode_on_host(ConstSlice values, const Coding& coding, Arrays references, Bytes out);
Status decode_on_host(ConstBytes frame, Arrays references, Slice values);
SizeOrStatus add_on_host(ConstBytes a, ConstBytes b, Bytes out);

// Multiplies a frame by a number. Throws Error where the frame cannot be multiplied by it.
SizeOrStatus scale_on_host(ConstBytes frame, double factor, Bytes out);

// Computes the statistics of the decoded values of a frame of any codec.
Status summarize_on_host(ConstBytes frame, ValueStatistics& statistics);

// Returns Status::ok if two frames can be added: same codec, type and count, and a codec that adds.
Status check_addable(const FrameHeader& a, const FrameHeader& b);

// Returns the coding that is best for a sample of the values.
Coding best_by_sample(std::span<const Coding> all, ConstSlice values);

}  // namespace taut::api
