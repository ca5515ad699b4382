#include "codecs/planes/frame_io.hpp"

#include <cmath>

namespace taut::planes {
namespace {

// 0: the bound was below what can be coded, every chunk travels as it is.
bool step_fits(double step, DType type) noexcept {
  if (step == 0) return true;
  const bool f32 = type == DType::f32;
  const double lowest = f32 ? StepRange<float>::lowest : StepRange<double>::lowest;
  const double highest = f32 ? StepRange<float>::highest : StepRange<double>::highest;
  return step >= lowest && step <= highest && (!f32 || static_cast<double>(static_cast<float>(step)) == step);
}

// Completes a frame whose payload stands; returns its size.
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
  payload_ = frame.subspan(frame_header_bytes, header_.payload_bytes);
  if (header_.has(FrameHeader::checksummed) && crc32c(payload_) != header_.payload_checksum)
    return Status::corrupt_frame;
  if (header_.count > max_count || header_.addends == 0 ||
      header_.parameters[0] > static_cast<std::uint8_t>(Predictor::pairs))
    return Status::corrupt_frame;
  if (stored()) return payload_.size() == header_.count * sizeof(T) ? Status::ok : Status::corrupt_frame;

  if (!step_fits(header_.step, header_.type)) return Status::corrupt_frame;
  const std::size_t index_bytes = 4 * (chunks() + 1);
  if (payload_.size() < index_bytes) return Status::corrupt_frame;
  std::uint32_t before = 0;
  for (std::size_t i = 0; i <= chunks(); ++i) {
    const auto offset = load<std::uint32_t>(payload_.data() + 4 * i);
    if (offset < before || (i == 0 && offset != 0)) return Status::corrupt_frame;
    before = offset;
  }
  return payload_.size() == index_bytes + 4 * std::size_t{before} ? Status::ok : Status::corrupt_frame;
}

template <class T>
Status FrameReader<T>::read(std::size_t i, const WidthKernels& kernels, Record<T>& record,
                            Padding& padding) const noexcept {
  const std::byte* const entry = payload_.data() + 4 * i;
  const std::size_t first = 4 * std::size_t{load<std::uint32_t>(entry)};
  const std::size_t last = 4 * std::size_t{load<std::uint32_t>(entry + 4)};
  const ConstBytes records = payload_.subspan(4 * (chunks() + 1));
  const std::byte* const end = records.data() + records.size();
  if (!read_record(records.subspan(first, last - first), end, chunk_count(i), kernels, record))
    return Status::corrupt_frame;
  if (predictor() == Predictor::none && record.header.base != 0) return Status::corrupt_frame;
  if (record.header.has(wide)) return Status::ok;
  const std::size_t bytes = record.header.plane_bytes;
  if (bytes == 0) {
    record.payload = padding.bytes;
  } else if (static_cast<std::size_t>(end - record.payload) < bytes + overrun) {
    std::memcpy(padding.bytes, record.payload, bytes);
    record.payload = padding.bytes;
  }
  return Status::ok;
}

template class FrameReader<float>;
template class FrameReader<double>;

FrameWriter::FrameWriter(Bytes out, std::size_t count) noexcept
    : frame_(out.data()), index_(nullptr), records_(nullptr), at_(frame_ + out.size()), end_(at_) {
  const std::size_t before_records = frame_header_bytes + 4 * (chunks_of(count) + 1);
  if (out.size() < before_records) return;
  records_ = at_ = frame_ + before_records;
  index_ = store(frame_ + frame_header_bytes, std::uint32_t{0});
}

bool FrameWriter::commit(std::size_t bytes) noexcept {
  if (bytes > left()) return false;
  if (bytes > 0 && room() == aside_) std::memcpy(at_, aside_, bytes);
  return advance(bytes);
}

bool FrameWriter::advance(std::size_t bytes) noexcept {
  if (index_ == nullptr) return false;
  at_ += bytes;
  index_ = store(index_, static_cast<std::uint32_t>((at_ - records_) / 4));
  return true;
}

std::size_t FrameWriter::finish(FrameHeader header) noexcept {
  if (index_ == nullptr) return 0;
  return seal(header, frame_, static_cast<std::size_t>(at_ - frame_) - frame_header_bytes);
}

std::size_t FrameWriter::finish_stored(FrameHeader header) noexcept {
  const std::size_t bytes = header.count * size_of(header.type),
                    chunk_bytes = chunk_values * size_of(header.type);
  std::byte* to = frame_ + frame_header_bytes;
  const std::byte* from = records_;
  for (std::size_t done = 0; done < bytes; done += chunk_bytes) {
    const std::size_t n = std::min(chunk_bytes, bytes - done);
    from += layer_head_bytes;
    std::memmove(to + done, from, n);
    from += n;
  }
  header.flags |= FrameHeader::stored;
  return seal(header, frame_, bytes);
}

std::size_t write_stored(FrameHeader header, ConstBytes values, Bytes out) noexcept {
  header.flags |= FrameHeader::stored;
  if (!values.empty()) std::memcpy(out.data() + frame_header_bytes, values.data(), values.size());
  return seal(header, out.data(), values.size());
}

}  // namespace taut::planes
