// Text of a coding, as codec calls, policies, files and calls for GPUs have it: the only parser of that text.
#pragma once

#include "compressor/base/option_parser.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/values/value_range.hpp"

namespace taut {

// Parses "abs:1e-4,codec=szx,checksum=on": a bound, then options. Throws Error(invalid_policy) naming the
// option, its column and the remedy.
Coding parse_coding(std::string_view text, std::string_view kernels = {});

// Returns the text that parse_coding() reads as this coding.
std::string text_of(const Coding& coding);

// Returns the text of a coding or policy with its bound written "abs:1e-4", which users may also write as
// "abs=1e-4". Files and messages hold the former.
std::string with_colon(std::string_view text);

// Parse parts of a policy: the bound at its start, and one option. read_coding_option() returns false if the
// option is not one of coding_options.
void read_bound(const Item& item, Coding& coding);
bool read_coding_option(const Item& item, Coding& coding);
inline constexpr std::string_view coding_options[] = {"codec", "predictor", "dims",    "fill",
                                                      "bits",  "threads",   "checksum"};

// Returns a bound as policies write it: "abs:0.001", "lossless". `digits`: significant digits; 0: as many as
// identify the value.
std::string text_of(Bound bound, int digits = 0);

// Returns the codec with this id; null if it is unknown.
const CodecInfo* find_codec(std::uint8_t frame_id) noexcept;

// Returns the state numbers of the references of a frame in host memory, whose header is valid.
StateNumbers state_numbers_in(const FrameHeader& header, ConstBytes frame) noexcept;

// Creates a codec that decodes and adds frames with such a header: any instance of a codec can do so for all
// of its frames. Throws Error for frames that no codec decodes.
std::unique_ptr<Codec> make_decoder(const FrameHeader& header, std::string_view kernels, int threads);

// Throws Error(invalid_policy) if no codec serves the whole coding.
void check(const Coding& coding, std::string_view kernels);

}  // namespace taut
