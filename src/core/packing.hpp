// Detection of packed integers by their signs in a few pieces of a message.
#pragma once

#include "core/slice.hpp"

namespace taut {

enum class Packing : std::uint8_t {
  none,    // only numbers, as far as the pieces show
  marked,  // small integers, which is_packed() recognises, beside ordinary numbers or alone
  spread,  // neighbours farther apart than numbers of one message are: integers that is_packed() does not
           // recognise
};

// Classifies a message by the exponents of its values. Two neighbours are far apart if one is 2^48 (float64:
// 2^128) times the other. `spread`: one in 64 values is far from its neighbour. `marked`: there are packed
// values, and no smooth decline leads to them. Zeros, infinities, NaN and the greatest magnitude of a piece
// (a fill value) do not count as neighbours.
Packing packing_of(ConstSlice values) noexcept;

}  // namespace taut
