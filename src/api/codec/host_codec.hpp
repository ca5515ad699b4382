// The codec calls on memory of the host.
#pragma once

#include "policy/plan/coding.hpp"

namespace taut::api {

// In one message. `coding` is read already.
Sized encode_on_host(ConstSlice values, const Coding& coding, Bytes out);
Status decode_on_host(ConstBytes frame, Slice values);
Sized add_on_host(ConstBytes a, ConstBytes b, Bytes out);

// Frames that may go into one sum have these in common, and a codec that adds.
Status check_addable(const FrameHeader& a, const FrameHeader& b);

// Fewer values are coded by the first candidate: a sample would not be small beside them.
inline constexpr std::size_t least_to_sample = 65536;

// The candidate that a sample of the values likes best.
Candidate best_by_sample(std::span<const Candidate> all, const Coding& coding, Bound bound,
                         ConstSlice values);

}  // namespace taut::api
