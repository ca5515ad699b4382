// Containers: files of other formats, which hold arrays beside descriptions, or compressed bytes. Their own
// bytes must not be coded as if they were numbers.
#pragma once

#include <optional>
#include <string>

#include "compressor/file/byte_stream.hpp"

namespace taut::cli {

// Recognises a container by its signature. Returns what the file is and what to do with it, as the end of a
// sentence: "an HDF5 file: name a variable of it". Returns nothing for other files.
std::optional<std::string> container_of(const ByteSource& file);

}  // namespace taut::cli
