#include "codecs/szx/frame.hpp"

namespace taut::szx {
namespace {

std::size_t seal(FrameHeader& header, std::byte* frame, std::size_t payload_bytes) noexcept {
  const ConstBytes payload(frame + frame_header_bytes, payload_bytes);
  header.payload_bytes = payload_bytes;
  header.payload_checksum = header.has(FrameHeader::checksummed) ? crc32c(payload) : 0;
  write_header(header, {frame, frame_header_bytes});
  return frame_header_bytes + payload_bytes;
}

}  // namespace

template <class T>
Status FrameReader<T>::open(ConstBytes frame) noexcept {
  if (const Status s = read_header(frame, header_); s != Status::ok) return s;
  if (header_.has(FrameHeader::failed)) return Status::peer_failed;
  if (header_.codec != frame_id || header_.type != dtype_of<T>) return Status::frame_mismatch;
  payload_ = frame.subspan(frame_header_bytes, static_cast<std::size_t>(header_.payload_bytes));
  if (header_.has(FrameHeader::checksummed) && crc32c(payload_) != header_.payload_checksum)
    return Status::corrupt_frame;
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

template <class T>
bool FrameWriter<T>::commit(std::size_t bytes) noexcept {
  if (bytes >= left()) return false;
  if (bytes > 0 && room() == aside_) std::memcpy(at_, aside_, bytes);
  at_ += bytes;
  index_ = store(index_, static_cast<std::uint32_t>((at_ - records_) / 4));
  return true;
}

template <class T>
std::size_t FrameWriter<T>::finish(FrameHeader header) noexcept {
  return seal(header, frame_, static_cast<std::size_t>(at_ - frame_) - frame_header_bytes);
}

template class FrameWriter<float>;
template class FrameWriter<double>;

std::size_t write_stored(FrameHeader header, ConstBytes values, Bytes out) noexcept {
  header.flags |= FrameHeader::stored;
  if (!values.empty()) std::memcpy(out.data() + frame_header_bytes, values.data(), values.size());
  return seal(header, out.data(), values.size());
}

}  // namespace taut::szx
