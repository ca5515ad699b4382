// Readers of bytes from elsewhere, under names that reader_checks.py calls. `in` has n bytes.
#include "communication/comm/envelope.hpp"
#include "compressor/codecs/zfp/escapes.hpp"
#include "compressor/frame/frame.hpp"

using namespace taut;

namespace {

constexpr std::size_t values_of_a_list = 8;
constexpr std::uint8_t a_codec = 2;

}  // namespace

extern "C" {

bool read_frame(const std::byte* in, std::size_t n) noexcept {
  FrameHeader header;
  ConstBytes payload;
  return open_frame({in, n}, a_codec, header, payload) == Status::ok;
}

bool read_message(const std::byte* in, std::size_t n) noexcept {
  const auto message = open_message({.mark = 0x8000000000000001}, {in, n});
  return message && message->frames.size() <= n;
}

bool read_escapes(const std::byte* in, std::size_t n, float* values) noexcept {
  return zfp::read_escapes<float>({in, n}, values_of_a_list, [=](std::size_t i, float x) { values[i] = x; });
}
}
