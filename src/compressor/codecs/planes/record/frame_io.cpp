#include "compressor/codecs/planes/record/frame_io.hpp"

namespace taut::planes {

template <class T>
Status FrameReader<T>::open(ConstBytes frame) noexcept {
  if (const Status s = open_frame(frame, frame_id, header_, payload_); s != Status::ok) return s;
  if (component_of(header_.type) != dtype_of<T>) return Status::frame_mismatch;
  const std::size_t components = components_of(header_.type);
  if (header_.count > max_count / components || header_.addends == 0) return Status::corrupt_frame;
  count_ = static_cast<std::size_t>(header_.count) * components;
  if (!step_fits<T>(header_.step) || !read_prediction()) return Status::corrupt_frame;
  if (stored()) return payload_.size() == count_ * sizeof(T) ? Status::ok : Status::corrupt_frame;
  return has_valid_index(payload_, chunks()) ? Status::ok : Status::corrupt_frame;
}

// Reads predictor, state numbers and lags; returns false for invalid ones. Lags from the count on are
// rejected: they would only allocate memory.
template <class T>
bool FrameReader<T>::read_prediction() noexcept {
  const auto [inner, lags, references, unused] = header_.parameters;
  prediction_ = {static_cast<Predictor>(inner), {}, reference_count(header_), refers_by_addend(header_)};
  if (inner > static_cast<std::uint8_t>(Predictor::second) || lags > max_lags_of(prediction_)) return false;
  if (stored()) return lags == 0 && references == 0;
  if (references > 0 && header_.step == 0) return false;
  if (!read_state_numbers(header_, payload_, states_) || payload_.size() < 4 * std::size_t{lags})
    return false;
  for (std::uint32_t next_lag = min_lag; prediction_.lags.n < lags; ++prediction_.lags.n) {
    const auto lag = load<std::uint32_t>(payload_.data() + 4 * prediction_.lags.n);
    if (lag < next_lag || lag >= count_) return false;
    prediction_.lags.lag[prediction_.lags.n] = next_lag = lag;
  }
  payload_ = payload_.subspan(4 * std::size_t{lags});
  return true;
}

// Returns the flags that no record of this frame has. Residuals have 32 bits, except those of float64 from
// references alone, and their records have no layers. Any record may be the sum of addends with a reference
// each.
template <class T>
std::uint8_t FrameReader<T>::refused_flags() const noexcept {
  if (prediction_.by_addend || !(prediction_.lags.any() || states_.any())) return 0;
  return sizeof(T) == 8 && !prediction_.lags.any() ? has_layers : has_layers | wide;
}

template <class T>
Status FrameReader<T>::read(std::size_t i, const WidthKernels& kernels, Record<T>& record,
                            PaddedPlanes& padding) const noexcept {
  const std::byte* const entry = payload_.data() + 4 * i;
  const std::size_t first = 4 * std::size_t{load<std::uint32_t>(entry)};
  const std::size_t record_end = 4 * std::size_t{load<std::uint32_t>(entry + 4)};
  const ConstBytes records = payload_.subspan(4 * (chunks() + 1));
  const std::byte* const end = records.data() + records.size();
  if (!read_record(records.subspan(first, record_end - first), end, chunk_count(i), kernels, record))
    return Status::corrupt_frame;
  if (record.run_count > std::uint64_t{header_.addends} * record.count) return Status::corrupt_frame;
  if ((record.header.flags & refused_flags()) != 0) return Status::corrupt_frame;
  if (!states_.any() && record.header.has(two_bits)) return Status::corrupt_frame;
  if (prediction_.inner == Predictor::none && record.header.base != 0) return Status::corrupt_frame;
  const bool has_integers = record.header.base != 0 || (record.header.flags & (has_planes | has_runs)) != 0;
  if (header_.step == 0 && has_integers) return Status::corrupt_frame;
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

#define INSTANTIATE(T) template class FrameReader<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

FrameWriter::FrameWriter(Bytes out, std::size_t count, const Prediction& prediction,
                         const StateNumbers& states) noexcept
    : prediction_(prediction), chunks_(chunks_of(count)), frame_(out.data()), end_(frame_ + out.size()) {
  const Lags& lags = prediction.lags;
  const std::size_t before_records = frame_header_bytes + states.bytes() + 4 * (lags.n + chunks_ + 1);
  if (out.size() < before_records) return;
  records_ = frame_ + before_records;
  index_ = write_state_numbers(states, frame_ + frame_header_bytes);
  for (unsigned k = 0; k < lags.n; ++k) index_ = store(index_, lags.lag[k]);
  index_ = store(index_, std::uint32_t{0});
}

std::size_t FrameWriter::finish(FrameHeader header) noexcept {
  header.parameters[0] = static_cast<std::uint8_t>(prediction_.inner);
  header.parameters[1] = static_cast<std::uint8_t>(prediction_.lags.n);
  header.parameters[2] =
      prediction_.by_addend ? reference_of_each_addend : static_cast<std::uint8_t>(prediction_.references);
  return seal_frame(header, frame_,
                    static_cast<std::size_t>(records_ - frame_) - frame_header_bytes + bytes_);
}

std::size_t FrameWriter::finish_stored(FrameHeader header) noexcept {
  const std::size_t bytes = header.count * size_of(header.type),
                    chunk_bytes = chunk_values * size_of(component_of(header.type));
  std::byte* to = frame_ + frame_header_bytes;
  const std::byte* from = records_;
  for (std::size_t done = 0; done < bytes; done += chunk_bytes) {
    const std::size_t n = std::min(chunk_bytes, bytes - done);
    from += layer_head_bytes;
    std::memmove(to + done, from, n);
    from += n;
  }
  header.flags |= FrameHeader::stored;
  return seal_frame(header, frame_, bytes);
}

}  // namespace taut::planes
