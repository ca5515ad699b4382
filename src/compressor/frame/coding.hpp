// Coding of values: the part of a policy that codec calls use as well.
#pragma once

#include <optional>

#include "compressor/base/option_parser.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/values/value_range.hpp"

namespace taut {

struct Coding {
  Bound bound;                 // as given; may be relative to the range of the values
  std::optional<double> fill;  // stands for missing values, which the range excludes
  Dims dims;
  const CodecInfo* codec = nullptr;  // null: chosen for each message
  std::string predictor = "auto";
  bool checksum = false;
  int threads = 0;                        // threads of this process for one frame; 0: not given
  PackedBits bits = PackedBits::rounded;  // packed integers; default under rules: exact
};

// Parses "abs:1e-4,codec=szx,checksum=on": a bound, then options. Throws Error(invalid_policy) naming the
// option, its column and the remedy.
Coding parse_coding(std::string_view text, const std::string& kernels = "");

// Parse parts of a policy: the bound at its start, and one option. read_coding_option() returns false if the
// option is not one of coding_options.
Bound read_bound(const Item& item);
bool read_coding_option(const Item& item, Coding& coding);
inline constexpr const char* coding_options = "codec, predictor, dims, fill, bits, threads and checksum";

// Returns a bound as policies write it: "abs:0.001", "lossless". `digits`: significant digits; 0: as many as
// identify the value.
std::string text_of(Bound bound, int digits = 0);

// Returns the codec with this id; null if it is unknown.
const CodecInfo* find_codec(std::uint8_t frame_id) noexcept;

// Creates a codec that decodes and adds frames with such a header: any instance of a codec can do so for all
// of its frames. Throws Error for frames that no codec decodes.
std::unique_ptr<Codec> make_decoder(const FrameHeader& header, const std::string& kernels, int threads);

// Throws Error(invalid_policy) if no codec serves the whole coding.
void check(const Coding& coding, const std::string& kernels);

}  // namespace taut
