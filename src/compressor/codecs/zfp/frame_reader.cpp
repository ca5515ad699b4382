#include "compressor/codecs/zfp/frame_reader.hpp"

#include <cmath>

#include "compressor/base/unaligned.hpp"

namespace taut::zfp {
namespace {

constexpr unsigned form_shift = 30;

// Writes a number as u32.
void put(std::size_t number, std::byte* to) noexcept { store(to, static_cast<std::uint32_t>(number)); }
// Returns the bytes of the record of an index entry.
std::size_t size_in(std::uint32_t entry) noexcept { return entry & ((1u << form_shift) - 1); }

}  // namespace

bool usable(const Bound& bound) noexcept {
  if (!std::isfinite(bound.value) || !(bound.value > 0)) return false;
  return bound.kind == Bound::Kind::absolute || (bound.kind == Bound::Kind::rate && bound.value <= 64);
}

void write_extents(const Shape& shape, std::byte* to) noexcept {
  if (shape.dims == 1) return;
  for (unsigned k = max_dims - shape.dims; k < max_dims; ++k, to += sizeof(std::uint32_t))
    put(shape.extent[k], to);
}

void write_entry(const Record& record, std::byte* to) noexcept {
  put(record.bytes | static_cast<std::size_t>(record.form) << form_shift, to);
}

bool FrameReader::read_shape(const FrameHeader& header, ConstBytes payload, Shape& shape) noexcept {
  const auto count = static_cast<std::size_t>(header.count);
  shape = {{1, 1, 1, count}, header.parameters[0]};
  if (shape.dims == 1) return true;
  if (shape.dims == 0 || shape.dims > max_dims || payload.size() < front_bytes(shape.dims, 0)) return false;
  std::size_t values = 1;
  for (unsigned i = 0; i < shape.dims; ++i) {
    const std::size_t n = load<std::uint32_t>(payload.data() + i * sizeof(std::uint32_t));
    if (n == 0 || n > count / values) return false;
    values *= shape.extent[max_dims - shape.dims + i] = n;
  }
  return values == count;
}

Status FrameReader::open(ConstBytes frame, ConstSlice values) noexcept {
  FrameHeader header;
  ConstBytes payload;
  if (const Status s = open_frame(frame, frame_id, header, payload); s != Status::ok) return s;
  if (header.type != values.type || header.count != values.count) return Status::frame_mismatch;
  Shape shape;
  if (header.has(FrameHeader::stored) || header.addends != 1 || !usable(header.bound) ||
      !read_shape(header, payload, shape))
    return Status::corrupt_frame;

  bound_ = header.bound;
  tiling_ = Tiling(shape);
  const std::size_t front = front_bytes(shape.dims, tiling_.tiles());
  if (payload.size() < front) return Status::corrupt_frame;
  index_ = payload.first(front).last(tiling_.tiles() * entry_bytes);
  records_ = payload.subspan(front);
  std::size_t bytes = 0;  // no overflow: fewer than 2^30 entries of fewer than 2^30 bytes
  for (std::size_t i = 0; i < tiling_.tiles(); ++i)
    bytes += size_in(load<std::uint32_t>(index_.data() + i * entry_bytes));
  return bytes == records_.size() ? Status::ok : Status::corrupt_frame;
}

template <class T>
bool FrameReader::decode_next(Scratch<T>& scratch, const View<T>& tile) noexcept {
  const std::uint32_t entry = load<std::uint32_t>(index_.data());
  const ConstBytes record = records_.first(size_in(entry));
  index_ = index_.subspan(entry_bytes);
  records_ = records_.subspan(record.size());
  const std::uint32_t form = entry >> form_shift;
  return form <= static_cast<std::uint32_t>(Form::repaired) &&
         decode_tile(static_cast<Form>(form), record, bound_, scratch, tile);
}

template bool FrameReader::decode_next(Scratch<float>&, const View<float>&) noexcept;
template bool FrameReader::decode_next(Scratch<double>&, const View<double>&) noexcept;

}  // namespace taut::zfp
