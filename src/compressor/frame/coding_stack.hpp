// Stacks on which codecs work. A chunk's values and planes are local arrays of codecs, up to 200 KiB
// together. The threads and fibres of programs may have less: tasks of 16 to 128 KiB are common.
#pragma once

#include "compressor/frame/codec.hpp"

namespace taut {

// Calls `work(argument)` on a stack of this process's pool. Calls it on the caller's own stack if there is no
// memory for another one, or if a sanitizer watches stacks.
void call_on_coding_stack(void (*work)(void*) noexcept, void* argument) noexcept;

// Returns a codec with the same results that works on such stacks.
std::unique_ptr<Codec> on_coding_stack(std::unique_ptr<Codec> codec);

}  // namespace taut
