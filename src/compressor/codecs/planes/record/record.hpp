// Record of a chunk (spec.md, Records): a reader that checks every field, and parts of a writer.
#pragma once

#include "compressor/codecs/planes/format/runs.hpp"
#include "compressor/codecs/planes/kernels/general_kernels.hpp"

namespace taut::planes {

// Header and planes of a record that was checked: `payload` has the bytes that the widths add up to.
struct CodedPlanes {
  RecordHeader header;
  const std::byte* payload = nullptr;  // the planes
  Widths widths;
  unsigned max_width = 0;

  PlanesIn planes() const noexcept {
    return {payload, &widths, max_width, static_cast<std::int32_t>(header.base)};
  }
};

// Record that was checked, with its exact values: runs, and raw layers of `count` values each.
template <class T>
struct Record : CodedPlanes {
  std::size_t count = 0;  // values of the chunk
  const std::byte* runs = nullptr;
  std::size_t run_count = 0;
  const std::byte* layers = nullptr;
  std::size_t layer_count = 0;

  // Returns true if the record holds integers of 32 bits and no exact values.
  bool only_narrow_integers() const noexcept { return (header.flags & (wide | has_runs | has_layers)) == 0; }
  Runs<T> run_list() const noexcept { return {runs, run_count, header.has(wide)}; }
};

// Reads the record of a chunk of `count` values. `in` is the record, empty for a chunk of zeros. `end`, at or
// beyond the end of `in`, is the end of the memory that may be read. Returns false for a malformed
// record.
template <class T>
bool read_record(ConstBytes in, const std::byte* end, std::size_t count, const WidthKernels& kernels,
                 Record<T>& record) noexcept;

// Sums the planes of records that are not wide and have the same predictor. Records without planes only
// change the base. The planes of a single record are copied unchanged.
void sum_planes(std::span<const CodedPlanes* const> records, std::size_t groups, const IntKernels& kernels,
                PlanesOut& out) noexcept;

// Drops the planes of padding: those of blocks behind the last block of a chunk, up to a whole group.
void drop_padding(PlanesOut& planes, std::size_t blocks) noexcept;

// Chooses the smallest table of widths. `allowed`: RecordFlags::two_bits if the table may name three widths
// and have entries of two bits, or a sparse bitmap; else 0.
WidthTable choose_table(const Widths& widths, const WidthSummary& summary, std::size_t blocks,
                        std::uint8_t allowed, const WidthKernels& kernels) noexcept;

// Completes a record whose planes were written to `out`, behind the space for its header; `out` has
// max_plane_record bytes. Writes header and widths. Returns the record's bytes, a multiple of 4. On entry the
// header has two_bits if the table may have one of these forms.
std::size_t finish_planes(std::byte* out, RecordHeader header, const Widths& widths,
                          const WidthSummary& summary, std::size_t blocks,
                          const WidthKernels& kernels) noexcept;

// Replaces each value at a position with runs or layers by a sum, rounded once: the exact values of the runs
// and layers there, plus (q - the holds of these runs) * step. `q` are the integers of the record; on entry
// `values` holds q * step.
template <class T, class Int>
void put_exact_values(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
                      T* values);

}  // namespace taut::planes
