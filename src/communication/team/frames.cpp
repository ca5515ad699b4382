#include "communication/team/frames.hpp"

namespace taut {

ConstBytes Frames::part(int first, int n) const noexcept {
  const ConstBytes all{buffer.data(), buffer.data() == nullptr ? 0 : bytes};
  const auto wanted = static_cast<std::size_t>(first);
  if (wanted < mark.frame) mark = {};
  for (; mark.frame < wanted && mark.begin < all.size(); ++mark.frame)
    mark.begin += frame_size(all.subspan(mark.begin));
  std::size_t end = mark.begin;
  for (int i = 0; i < n && end < all.size(); ++i) end += frame_size(all.subspan(end));
  return all.subspan(mark.begin, end - mark.begin);
}

ConstBytes write_error_frame(Status failure, DType type, std::size_t count, Bytes out) noexcept {
  FrameHeader header;
  header.flags = FrameHeader::failed;
  header.type = type;
  header.count = std::min(count, max_frame_values);  // a call may be refused for its count
  header.failure = static_cast<std::uint32_t>(failure);
  write_header(header, out);
  return out.first(frame_header_bytes);
}

Status inspect(ConstBytes frame, DType type, std::size_t count, std::uint32_t addends) noexcept {
  FrameHeader header;
  if (const Status status = read_header(frame, header); status != Status::ok) return status;
  if (header.has(FrameHeader::failed)) return Status::peer_failed;
  const bool expected = header.type == type && header.count == count && header.addends <= addends &&
                        frame_header_bytes + header.payload_bytes == frame.size();
  return expected ? Status::ok : Status::frame_mismatch;
}

std::size_t frame_size(ConstBytes bytes) noexcept {
  FrameHeader header;
  if (read_header(bytes, header) != Status::ok) return 0;
  return frame_header_bytes + static_cast<std::size_t>(header.payload_bytes);
}

}  // namespace taut
