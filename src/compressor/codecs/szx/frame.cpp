#include "compressor/codecs/szx/frame.hpp"

namespace taut::szx {
template <class T>
Status FrameReader<T>::open(ConstBytes frame) noexcept {
  if (const Status s = open_frame(frame, frame_id, header_, payload_); s != Status::ok) return s;
  if (header_.type != dtype_of<T>) return Status::frame_mismatch;
  if (header_.addends != 1 || std::bit_cast<std::uint32_t>(header_.parameters) != 0)
    return Status::corrupt_frame;
  if (stored()) return payload_.size() == count() * sizeof(T) ? Status::ok : Status::corrupt_frame;

  if (!Grid<T>::is_step(header_.step) || payload_.size() < 4 * chunks()) return Status::corrupt_frame;
  const bool fit = ends_fit(payload_.data(), chunks(), payload_.size() - 4 * chunks());
  return fit ? Status::ok : Status::corrupt_frame;
}

template class FrameReader<float>;
template class FrameReader<double>;

}  // namespace taut::szx
