// The exponents kernels, run on the shim.
#include "gpu/kernels/exponents_codec.hpp"

#include <cmath>
#include <random>

namespace taut {

Words16 halves_of(Halves kind, DType type, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto rounded = [type](double x) -> std::uint16_t {
    if (type == DType::f16) return std::bit_cast<std::uint16_t>(f16(static_cast<float>(x)));
    return std::bit_cast<std::uint16_t>(bf16(static_cast<float>(x)));
  };
  Words16 x(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch (kind) {
      case Halves::normal: x[i] = rounded(normal(random)); break;
      case Halves::wide:
        x[i] = rounded(normal(random) * std::exp2(-static_cast<double>(random() % 40)));
        break;
      case Halves::zeros: x[i] = random() % 3 == 0 ? 0 : rounded(normal(random)); break;
      case Halves::minus_zeros: x[i] = random() % 3 == 0 ? 0x8000 : rounded(normal(random)); break;
      case Halves::constant: x[i] = 0x3C01; break;
      case Halves::zero: x[i] = 0; break;
      case Halves::every_exponent: x[i] = static_cast<std::uint16_t>(i * 131 << 3); break;
      case Halves::rare:
        x[i] = random() % 64 == 0 ? static_cast<std::uint16_t>(random()) : rounded(normal(random));
        break;
      // Zeros where no value is sampled: the books lack their symbol.
      case Halves::hidden_zeros:
        x[i] = i % 4096 < 600 || i % 4096 >= 3400 ? rounded(normal(random)) : 0;
        break;
      case Halves::bits: x[i] = static_cast<std::uint16_t>(random()); break;
    }
  }
  return x;
}

std::vector<std::byte> ExponentsGpuCodec::encode(DType type, const Words16& x, std::size_t skipped) {
  const std::size_t bytes = 2 * x.size();
  const Room room(frame_header_bytes + bytes), values(bytes + skipped);  // any access beyond is detected
  if (bytes > 0) std::memcpy(values.data() + skipped, x.data(), bytes);
  const FrameHeader header{.codec = exponents::frame_id, .type = type, .count = x.size()};
  const auto* const from = reinterpret_cast<const std::uint16_t*>(values.data() + skipped);
  const cuda::FrameMemory frame{room.data(), room.size()};
  if (type == DType::f16)
    exponents::cuda::encode<f16>(launcher_, from, header, frame, place(x.size()));
  else
    exponents::cuda::encode<bf16>(launcher_, from, header, frame, place(x.size()));
  return {room.data(), room.data() + result_.bytes};
}

std::uint32_t ExponentsGpuCodec::decode(DType type, const std::vector<std::byte>& frame, Words16& x,
                                        std::size_t skipped) {
  using namespace exponents::cuda;
  return type == DType::f16 ? decode_to<Replace<f16>>(frame, x.data(), x.size(), skipped)
                            : decode_to<Replace<bf16>>(frame, x.data(), x.size(), skipped);
}

std::uint32_t ExponentsGpuCodec::decode_add(DType type, const std::vector<std::byte>& frame, Words16& x) {
  using namespace exponents::cuda;
  return type == DType::f16 ? decode_to<Add<f16>>(frame, reinterpret_cast<f16*>(x.data()), x.size(), 0)
                            : decode_to<Add<bf16>>(frame, reinterpret_cast<bf16*>(x.data()), x.size(), 0);
}

std::uint32_t ExponentsGpuCodec::decode_add(DType type, const std::vector<std::byte>& frame,
                                            std::vector<float>& sums) {
  using namespace exponents::cuda;
  return type == DType::f16 ? decode_to<Add<f16, float>>(frame, sums.data(), sums.size(), 0)
                            : decode_to<Add<bf16, float>>(frame, sums.data(), sums.size(), 0);
}

template <class Target>
std::uint32_t ExponentsGpuCodec::decode_to(const std::vector<std::byte>& frame, typename Target::Value* x,
                                           std::size_t n, std::size_t skipped) {
  const std::size_t bytes = n * sizeof *x;
  const Room room(frame.size()), values(bytes + skipped);
  if (!frame.empty()) std::memcpy(room.data(), frame.data(), frame.size());
  if (bytes > 0) std::memcpy(values.data() + skipped, static_cast<const void*>(x), bytes);
  exponents::cuda::decode<Target>(launcher_, cuda::source_of(room.data(), room.size()),
                                  reinterpret_cast<typename Target::Value*>(values.data() + skipped), n,
                                  place(n));
  if (bytes > 0) std::memcpy(static_cast<void*>(x), values.data() + skipped, bytes);
  return result_.status;
}

exponents::cuda::CallMemory ExponentsGpuCodec::place(std::size_t count) {
  using exponents::cuda::Scratch;
  const std::size_t bytes = exponents::cuda::scratch_bytes(count);
  if (!scratch_ || scratch_->size() < bytes) {
    scratch_ = std::make_unique<Room>(bytes, 0);
    reinterpret_cast<Scratch*>(scratch_->data())->crc = cuda::header_crc_table();
  }
  books_ = std::make_unique<Room>(exponents::cuda::books_bytes(count));
  result_ = {0xDEAD, 0xDEAD, 0};
  return {reinterpret_cast<Scratch*>(scratch_->data()),
          reinterpret_cast<exponents::cuda::Books*>(books_->data()), &result_};
}

}  // namespace taut
