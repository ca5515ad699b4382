#include "compressor/file/coding.hpp"

#define TAUT_NO_MPI
#include <taut/taut.h>

#include "compressor/base/json.hpp"
#include "compressor/file/failure.hpp"

namespace taut::file {
namespace {

TAUT_Type api_type(DType type) noexcept { return static_cast<TAUT_Type>(type); }

std::string explained(int status) {
  const std::string why = status == TAUT_ERR_TYPE ? "" : TAUT_Last_error();
  return why.empty() ? TAUT_Status_string(status) : why;
}

// Returns the option that gives a piece's extents. Beyond four, the slowest ones are merged into one.
std::string dims_option(const std::vector<std::size_t>& extents) {
  const std::size_t merged = extents.size() - std::min<std::size_t>(extents.size(), max_dims);
  std::size_t slowest = 1;
  for (std::size_t i = 0; i <= merged; ++i) slowest *= extents[i];
  std::string text = ",dims=" + std::to_string(slowest);
  for (std::size_t i = merged + 1; i < extents.size(); ++i)
    text.append("x").append(std::to_string(extents[i]));
  return text;
}

}  // namespace

ArrayCoding::ArrayCoding(std::string_view option, const std::string& text) : text_(with_colon(text)) {
  try {
    coding_ = parse_coding(text);
  } catch (const Error& error) {
    reject("--" + std::string(option) + " '" + text + "': " + error.what());
  }
  if (coding_.dims.n > 0)
    reject("--" + std::string(option) + " '" + text + "': dims= follows from the shape; use --shape");
}

std::optional<double> ArrayCoding::wanted_psnr() const noexcept {
  return coding_.bound.kind == Bound::Kind::psnr ? std::optional(coding_.bound.value) : std::nullopt;
}

std::string ArrayCoding::frame_text(DType type, const ValueRange& range) const {
  const Bound used = bound(type, range);
  if (used == coding_.bound) return text_;
  Coding frame = coding_.with_bound(used);
  frame.fill.reset();  // the range is known
  if (!used.exact()) return taut::text_of(frame);
  // An exact bound drops a codec that does not code without loss.
  if (frame.codec != nullptr && !frame.codec->serves(type, used.kind)) frame.codec = nullptr;
  frame.predictor = {};
  return taut::text_of(frame);
}

std::size_t most_frame_bytes(DType type, std::size_t values) {
  return TAUT_Max_bytes(api_type(type), values, 1);
}

void check_coded(DType type) {
  if (most_frame_bytes(type, 1) == 0)
    fail(std::string("values of type ") + name_of(type) + " are not coded by this build");
}

int try_to_encode(const Piece& piece, const void* values, DType type, const std::string& frame_text,
                  EarlierValues earlier, Bytes out, std::size_t& bytes) {
  if (earlier.empty())
    return TAUT_Encode_nd(values, static_cast<int>(piece.extents.size()), piece.extents.data(),
                          api_type(type), frame_text.c_str(), out.data(), out.size(), &bytes);
  return TAUT_Encode_with_references(values, piece.count(), api_type(type),
                                     (frame_text + dims_option(piece.extents)).c_str(), earlier.data(),
                                     static_cast<int>(earlier.size()), out.data(), out.size(), &bytes);
}

std::size_t encode(const Piece& piece, ConstBytes values, DType type, const std::string& frame_text,
                   Bytes out, EarlierValues earlier) {
  std::size_t bytes = 0;
  const int status = try_to_encode(piece, values.data(), type, frame_text, earlier, out, bytes);
  if (status != TAUT_SUCCESS)
    fail(std::string("values of type ") + name_of(type) + " under '" + frame_text +
         "': " + explained(status));
  return bytes;
}

bool decode(ConstBytes frame, std::size_t count, DType type, Bytes values, EarlierValues earlier) {
  const int status =
      TAUT_Decode_with_references(frame.data(), frame.size(), earlier.data(),
                                  static_cast<int>(earlier.size()), values.data(), count, api_type(type));
  if (status == TAUT_ERR_MEMORY || status == TAUT_ERR_INTERNAL || status == TAUT_ERR_TYPE)
    fail(explained(status));
  return status == TAUT_SUCCESS;
}

bool read_facts(ConstBytes frame, FrameFacts& facts) {
  TAUT_Frame_info info{};
  info.struct_size = sizeof info;
  if (TAUT_Frame_get_info(frame.data(), frame.size(), &info) != TAUT_SUCCESS) return false;
  facts.codec = info.codec;
  facts.states.assign(info.references, info.references + info.reference_count);
  facts.bound = {static_cast<Bound::Kind>(info.bound_kind), info.bound};
  return true;
}

}  // namespace taut::file
