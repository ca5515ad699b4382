// Record of a chunk (spec.md, Records): a reader that checks every field, and parts of a writer.
#pragma once

#include "compressor/codecs/planes/format/runs.hpp"
#include "compressor/codecs/planes/kernels/general_kernels.hpp"

namespace taut::planes {

// Header and planes of a record that was checked: `payload` and all that the widths say is inside the record.
struct CodedPlanes {
  RecordHeader header;
  const std::byte* payload = nullptr;
  Widths widths;
  unsigned greatest = 0;

  PlanesIn planes() const noexcept {
    return {payload, &widths, greatest, static_cast<std::int32_t>(header.base)};
  }
};

// Record that was checked, with its exact values: runs of equal values, and layers of different ones.
template <class T>
struct Record : CodedPlanes {
  std::size_t count = 0;  // values
  const std::byte* runs = nullptr;
  std::size_t run_count = 0;
  const std::byte* layers = nullptr;
  std::size_t layer_count = 0;

  // Returns true if the record holds nothing but integers of 32 bits.
  bool simple() const noexcept { return (header.flags & (wide | has_runs | has_layers)) == 0; }
  Runs<T> run_list() const noexcept { return {runs, run_count, header.has(wide)}; }
};

// Reads the record of a chunk of `count` values. `in` is exactly the record, empty for a chunk of zeros.
// Memory may be read up to `end`, which is at or beyond the end of `in`. Returns false for a malformed
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

// Chooses the smallest table of widths. `forms`: two_bits if the table may have that form.
WidthTable choose_table(const Widths& widths, const WidthSummary& summary, std::size_t blocks,
                        std::uint8_t forms, const WidthKernels& kernels) noexcept;

// Completes a record whose payload follows the header at `out`, which has room for max_plane_record. Writes
// header and widths; returns the record's bytes, a multiple of 4. On entry the header has two_bits
// if the table may have that form.
std::size_t finish_planes(std::byte* out, RecordHeader header, const Widths& widths,
                          const WidthSummary& summary, std::size_t blocks,
                          const WidthKernels& kernels) noexcept;

// Replaces the values at positions that runs or layers cover by the correctly rounded sums of the integer's
// rest and all exact values. `q` are the integers of the record; on entry `values` holds their products with
// the step.
template <class T, class Int>
void put_exact_values(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
                      T* values);

}  // namespace taut::planes
