// Converts a chunk of values to its record in the frame, and back. Layout: spec.md.
#pragma once

#include "compressor/codecs/exponents/kernels.hpp"

namespace taut::exponents {

// Writes the record of a chunk's values, which begin and end with whole groups, to `record`, which has room
// for max_record_bytes. Returns the record's size, a multiple of 4.
std::size_t encode_chunk(const std::byte* values, std::size_t groups, DType type, const CodeTables& tables,
                         const KernelSet& kernels, std::byte* record) noexcept;

// Decodes a record and writes all groups. Reads `overrun` bytes beyond the record. Returns false if the
// record is malformed.
bool decode_chunk(ConstBytes record, std::size_t groups, DType type, const KernelSet& kernels,
                  std::byte* values) noexcept;

}  // namespace taut::exponents
