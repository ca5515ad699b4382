// The zfp codec: libzfp's fixed accuracy and fixed rate, with the bound enforced. Format: spec.md beside this
// file.
#include <cstring>
#include <new>

#include "compressor/base/float_environment.hpp"
#include "compressor/codecs/zfp/frame_reader.hpp"
#include "compressor/frame/codec.hpp"

namespace taut {
namespace zfp {
namespace {

class Zfp final : public Codec {
 public:
  // Frames have a fixed size at a rate from which even tiles of NaN and infinities fit with their map, if the
  // number of blocks follows from the number of values (one dimension), and if no tile is stored because of
  // packed integers.
  explicit Zfp(const Coding& coding)
      : contract_{.bound = coding.bound,
                  .fixed_size = coding.bound.kind == Bound::Kind::rate &&
                                coding.bound.value >= min_fixed_rate && coding.dims.n < 2 &&
                                coding.bits == PackedBits::rounded},
        bits_(coding.bits),
        dims_(coding.dims),
        checksum_(coding.checksum) {}

  const Contract& contract() const noexcept override { return contract_; }

  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t) const noexcept override {
    // Extents are ignored: the result holds for all numbers of values up to `count`, and fewer values in
    // whole rows and planes may take more blocks than more values.
    if (!contract_.fixed_size)
      return frame_header_bytes + front_bytes(max_dims, max_tiles(count)) + count * size_of(type);
    const Shape shape = shape_of(dims_, count);
    const Tiling tiling(shape);
    std::size_t bytes = frame_header_bytes + front_bytes(shape.dims, tiling.tiles());
    for (std::size_t i = 0; i < tiling.tiles(); ++i) {
      const Shape tile = tiling.tile<const std::byte>(nullptr, i).shape;
      bytes += std::min(tile.values() * size_of(type), type == DType::f64
                                                           ? coded_bytes<double>(contract_.bound.value, tile)
                                                           : coded_bytes<float>(contract_.bound.value, tile));
    }
    return bytes;
  }

  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override {
    if (values.count > max_count) return {Status::invalid_count};
    return typed<SizeOrStatus>(values.type, [&]<class T>(T) {
      const std::size_t most = max_bytes(values.type, values.count, 1);
      if (out.size() < most) return SizeOrStatus{Status::buffer_too_small};
      return encode_frame(static_cast<const T*>(values.data), values.count, out.first(most));
    });
  }

  Status decode(ConstBytes in, References, Slice values) const noexcept override {
    return for_each_tile(in, values,
                         []<class T>(FrameReader& frame, Scratch<T>& scratch, const View<T>& tile) {
                           return frame.decode_next(scratch, tile);
                         });
  }

  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override {
    return for_each_tile(in, values,
                         [op]<class T>(FrameReader& frame, Scratch<T>& scratch, const View<T>& tile) {
                           T* const decoded = scratch.decoded();
                           if (!frame.decode_next(scratch, dense(decoded, tile.shape))) return false;
                           const std::size_t n = tile.shape.extent[3];
                           tile.for_each_row([&](T* row, std::size_t at) {
                             reduce_values({{row, n, dtype_of<T>}}, {{decoded + at, n, dtype_of<T>}}, op);
                           });
                           return true;
                         });
  }

 private:
  // Runs `action` with a value of the type, in the floating-point environment that zfp and the checks assume.
  template <class Result, class Action>
  static Result typed(DType type, Action action) noexcept {
    const FloatEnvironment environment;
    try {
      if (type == DType::f32) return action(float{});
      if (type == DType::f64) return action(double{});
      return {Status::invalid_type};
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory};
    }
  }

  template <class T>
  SizeOrStatus encode_frame(const T* values, std::size_t count, Bytes out) const {
    const Shape shape = shape_of(dims_, count);
    const Tiling tiling(shape);
    Scratch<T> scratch(tiling.full_tile());
    std::byte* const payload = out.data() + frame_header_bytes;
    write_extents(shape, payload);
    std::byte* entry = payload + front_bytes(shape.dims, 0);
    std::byte* next = payload + front_bytes(shape.dims, tiling.tiles());
    for (std::size_t i = 0; i < tiling.tiles(); ++i, entry += entry_bytes) {
      const Bytes room = out.subspan(static_cast<std::size_t>(next - out.data()));
      const Record record = encode_tile(tiling.tile(values, i), contract_.bound, bits_, scratch, room);
      if (record.bytes == 0 && record.form == Form::stored) return {Status::internal};
      write_entry(record, entry);
      next += record.bytes;
    }
    FrameHeader header{.codec = frame_id, .type = dtype_of<T>, .count = count, .bound = contract_.bound};
    header.parameters[0] = static_cast<std::uint8_t>(shape.dims);
    if (checksum_) header.flags |= FrameHeader::checksummed;
    return {Status::ok, seal_frame(header, out.data(), static_cast<std::size_t>(next - payload))};
  }

  template <class Action>
  static Status for_each_tile(ConstBytes in, Slice values, Action action) noexcept {
    return typed<Status>(values.type, [&]<class T>(T) {
      FrameReader frame;
      if (const Status status = frame.open(in, values); status != Status::ok) return status;
      if (values.count == 0) return Status::ok;
      Scratch<T> scratch(frame.tiling().full_tile());
      for (std::size_t i = 0; i < frame.tiling().tiles(); ++i)
        if (!action(frame, scratch, frame.tiling().tile(static_cast<T*>(values.data), i)))
          return Status::corrupt_frame;
      return Status::ok;
    });
  }

  Contract contract_;
  PackedBits bits_;
  Dims dims_;
  bool checksum_;
};

bool serves(DType type, Bound::Kind kind) noexcept {
  return (type == DType::f32 || type == DType::f64) &&
         (kind == Bound::Kind::absolute || kind == Bound::Kind::rate);
}

// Under a bound zfp is far slower than other codecs; at a rate it is the only codec.
std::uint8_t priority_under(Bound::Kind kind) noexcept {
  return kind == Bound::Kind::rate ? CodecInfo::first_priority : CodecInfo::only_by_name;
}

std::unique_ptr<Codec> make(const Coding& coding) {
  if (!usable(coding.bound))
    throw Error(Status::invalid_argument,
                "the zfp codec needs a finite bound above 0, or a rate above 0 and up to 64 bits a value");
  return std::make_unique<Zfp>(coding);
}

// Kernels on GPUs code at a rate. Those that decode need the extents of the field before they start: the
// payload has them if the field has several.
constexpr CodecOnDevices on_devices{
    .encodes =
        [](const Coding& coding) noexcept {
          return coding.bound.kind == Bound::Kind::rate && coding.bits == PackedBits::rounded &&
                 !coding.checksum;
        },
    .decoding = [](const FrameHeader& header, ConstBytes payload,
                   const Coding& known) -> std::optional<Coding> {
      Coding coding{.bound = header.bound};
      coding.dims.n = header.parameters[0];
      if (header.bound.kind != Bound::Kind::rate) return {};
      if (known.codec != nullptr && known.codec->frame_id == frame_id) {
        coding.dims = known.dims;
      } else if (coding.dims.n < 2) {
        coding.dims = {};
      } else {
        if (coding.dims.n > max_dims || payload.size() < coding.dims.n * sizeof coding.dims.extent[0])
          return {};
        std::memcpy(coding.dims.extent, payload.data(), coding.dims.n * sizeof coding.dims.extent[0]);
      }
      return coding;
    },
};

}  // namespace
}  // namespace zfp

namespace codecs {

extern constinit const CodecInfo zfp{
    .name = "zfp",
    .frame_id = taut::zfp::frame_id,
    .since = "0.1",
    .summary = "zfp's transform of blocks, under an absolute bound or at a fixed rate; through libzfp",
    .serves = taut::zfp::serves,
    .make = taut::zfp::make,
    .priority = taut::zfp::priority_under,
    .device = &taut::zfp::on_devices,
};

}  // namespace codecs
}  // namespace taut
