#include "codecs/szx/frame.hpp"

namespace taut::szx {
template <class T>
Status FrameReader<T>::open(ConstBytes frame) noexcept {
  if (const Status s = open_frame(frame, frame_id, header_, payload_); s != Status::ok) return s;
  if (header_.type != dtype_of<T>) return Status::frame_mismatch;
  if (header_.count > max_count || header_.addends != 1 ||
      std::bit_cast<std::uint32_t>(header_.parameters) != 0)
    return Status::corrupt_frame;
  if (stored()) return payload_.size() == count() * sizeof(T) ? Status::ok : Status::corrupt_frame;

  if (!Grid<T>::is_step(header_.step) || payload_.size() < 4 * chunks()) return Status::corrupt_frame;
  std::size_t end = 0;
  for (std::size_t i = 0; i < chunks(); ++i) {
    if (end_of(i) < end) return Status::corrupt_frame;
    end = end_of(i);
  }
  return payload_.size() == 4 * chunks() + end ? Status::ok : Status::corrupt_frame;
}

template class FrameReader<float>;
template class FrameReader<double>;

std::size_t write_stored(FrameHeader header, ConstBytes values, Bytes out) noexcept {
  header.flags |= FrameHeader::stored;
  if (!values.empty()) std::memcpy(out.data() + frame_header_bytes, values.data(), values.size());
  return seal_frame(header, out.data(), values.size());
}

}  // namespace taut::szx
