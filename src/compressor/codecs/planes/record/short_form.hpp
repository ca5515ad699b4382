// Short form of a record's planes and widths (spec.md, Short form): for the small differences that references
// leave. Kernels read and write the usual form only.
#pragma once

#include "compressor/codecs/planes/format/format.hpp"

namespace taut::planes {

// Forms that a record may have: only frames with references have the short one, where it is the shortest.
enum class RecordForm : bool { usual, shortest };

// Bytes of the planes of a chunk in the usual form, of which kernels may read and write `overrun` more.
inline constexpr std::size_t padding_bytes = chunk_values * sizeof(std::int32_t) + overrun;

// Completes a record as finish_planes() does, in the short form. Its planes, in the usual form, follow the
// header at `out`. Returns 0, and leaves the planes as they are, if the form saves too little.
std::size_t finish_short_planes(std::byte* out, RecordHeader header, const Widths& widths,
                                const WidthSummary& summary, std::size_t blocks) noexcept;

// Planes and widths that were read from the short form.
struct ShortPlanesRead {
  std::size_t bytes = 0;        // read, all that follows the header; 0: malformed
  bool expanded = false;        // the planes are in the room, else where they were
  std::size_t plane_bytes = 0;  // in the usual form
  unsigned greatest = 0;        // width
};

// Reads planes and tables of `blocks` blocks from `in`, which may go on behind them. `room`: padding_bytes
// for planes in the usual form.
ShortPlanesRead read_short_planes(ConstBytes in, const RecordHeader& header, std::size_t blocks,
                                  Widths& widths, std::byte* room) noexcept;

}  // namespace taut::planes
