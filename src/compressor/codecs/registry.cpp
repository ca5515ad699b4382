// The table of codecs. CMake writes codec_table.inc, a line for each folder beside this file.
#include <array>
#include <string_view>

#include "compressor/frame/codec.hpp"

namespace taut {

namespace codecs {
#define TAUT_CODEC(name) extern const CodecInfo name;
#include "codec_table.inc"
#undef TAUT_CODEC
}  // namespace codecs

std::span<const CodecInfo* const> registered_codecs() noexcept {
  static const std::array codecs{
#define TAUT_CODEC(name) &codecs::name,
#include "codec_table.inc"
#undef TAUT_CODEC
  };
  return codecs;
}

std::span<const AbsentCodec> absent_codecs() noexcept {
  static constexpr AbsentCodec codecs[] = {
#define TAUT_ABSENT_CODEC(name, remedy) {#name, remedy},
#include "absent_codec_table.inc"
#undef TAUT_ABSENT_CODEC
      {nullptr, nullptr},  // sentinel: an array needs at least one element
  };
  return std::span(codecs).first(std::size(codecs) - 1);
}

const CodecInfo* find_codec(const char* name) noexcept {
  for (const CodecInfo* info : registered_codecs())
    if (std::string_view(info->name) == name) return info;
  return nullptr;
}

}  // namespace taut
