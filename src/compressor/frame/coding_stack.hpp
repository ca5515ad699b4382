// Coding stacks: stacks of 1 MiB on which codecs run. They are needed because codecs have local arrays of up
// to 200 KiB for the values and planes of a chunk, and threads and fibres of programs may have stacks of 16
// to 128 KiB.
#pragma once

#include "compressor/frame/codec.hpp"

namespace taut {

// Calls `work(argument)` on a stack of the process's pool; on the caller's stack if there is no memory for
// one, or if a sanitizer tracks stacks.
void call_on_coding_stack(void (*work)(void*) noexcept, void* argument) noexcept;

// Returns a codec with the same results that runs on coding stacks.
std::unique_ptr<Codec> on_coding_stack(std::unique_ptr<Codec> codec);

}  // namespace taut
