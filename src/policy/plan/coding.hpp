// How values are coded: the part of a policy that the codec calls know as well.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "core/codec.hpp"
#include "core/value_range.hpp"
#include "policy/text/option_parser.hpp"

namespace taut {

struct Coding {
  Bound bound;                 // as asked for; may be relative to the range of the values
  std::optional<double> fill;  // stands for missing values, which do not count in that range
  Dims dims;
  const CodecInfo* codec = nullptr;  // null: chosen for each message
  std::string predictor = "auto";
  bool checksum = false;
  int threads = 0;                        // of this process that work on one frame; 0: not said
  PackedBits bits = PackedBits::rounded;  // of packed integers; under rules exact unless they say otherwise
};

// A codec with one of its predictors.
struct Candidate {
  const CodecInfo* codec;
  std::string predictor;

  friend bool operator==(const Candidate&, const Candidate&) = default;

  // Throws Error when the codec cannot serve this.
  std::unique_ptr<Codec> make(const Coding& coding, Bound bound, const std::string& kernels) const;
};

// Of one message; more are left out.
inline constexpr std::size_t max_candidates = 16;

// What may code values of `type` under `bound` (not relative), the usual choice first. Empty only when a
// codec or predictor was named that does not serve them.
std::vector<Candidate> candidates(const Coding& coding, DType type, Bound bound);

// The kind of codec that a call gains most by.
enum class Preference : std::uint8_t { none, adding, idempotent };

// Remembers them, so that a call need not find them again.
class CandidateTable {
 public:
  // Those that are preferred, if there are any; else all.
  std::span<const Candidate> of(const Coding& coding, DType type, Bound bound, Preference preference);

 private:
  struct Entry {
    DType type;
    Bound::Kind kind;
    Preference preference;
    std::vector<Candidate> candidates;
  };
  std::deque<Entry> entries_;  // of one coding
};

// The candidate to take, given the ratio of values to frames that each is expected to reach. Another codec
// than the usual one has to gain something.
std::size_t best_candidate(std::span<const Candidate> candidates, std::span<const float> ratios) noexcept;

// Reads "abs:1e-4,codec=szx,checksum=on": a bound, then options. Throws Error(invalid_policy) naming the
// option, its column and the remedy.
Coding parse_coding(std::string_view text, const std::string& kernels = "");

// For policies: the bound at the start of a text; an option, false when it is none of these.
Bound read_bound(const Item& item);
bool read_coding_option(const Item& item, Coding& coding);
inline constexpr const char* coding_options = "codec, predictor, dims, fill, bits, threads and checksum";

// As it stands in policies: "abs:0.001", "lossless". To so many digits; 0: as many as tell it from others.
std::string text_of(Bound bound, int digits = 0);

// Null: unknown.
const CodecInfo* find_codec(std::uint8_t frame_id) noexcept;

// Any instance of a codec decodes and adds all of its frames. Throws Error for frames that none decodes.
std::unique_ptr<Codec> make_decoder(const FrameHeader& header, const std::string& kernels, int threads);

// Throws Error(invalid_policy) when no codec serves all that was asked for.
void check(const Coding& coding, const std::string& kernels);

}  // namespace taut
