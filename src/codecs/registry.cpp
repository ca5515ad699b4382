#include <array>
#include <string_view>

#include "core/codec.hpp"

namespace taut {

namespace codecs {
#define TAUT_CODEC(name) const CodecInfo& name() noexcept;
#include "codec_table.inc"
#undef TAUT_CODEC
}  // namespace codecs

std::span<const CodecInfo* const> registered_codecs() noexcept {
  static const std::array codecs{
#define TAUT_CODEC(name) &codecs::name(),
#include "codec_table.inc"
#undef TAUT_CODEC
  };
  return codecs;
}

const CodecInfo* find_codec(const char* name) noexcept {
  for (const CodecInfo* info : registered_codecs())
    if (std::string_view(info->name) == name) return info;
  return nullptr;
}

}  // namespace taut
