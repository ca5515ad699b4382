#include "compressor/frame/coding.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compressor/base/json.hpp"
#include "compressor/frame/candidates.hpp"
#include "compressor/frame/parallel_chunks.hpp"

namespace taut {
namespace {

// ---- Bounds

struct BoundName {
  std::string_view name;
  Bound::Kind kind;
  double max;  // the number is above 0 and at most `max`
  const char* remedy;
  const char* codec = nullptr;  // codec that a bound of this name implies
};
constexpr BoundName bound_names[] = {
    {"abs", Bound::Kind::absolute, 1e308, "give a bound above 0: abs:1e-4"},
    {"rel", Bound::Kind::range, 1, "give a fraction of the value range, above 0 and at most 1: rel:1e-3"},
    {"psnr", Bound::Kind::psnr, 300, "give decibels, above 0 and at most 300: psnr:80"},
    {"pwrel", Bound::Kind::pointwise, 0.5,
     "give a fraction of each value, above 0 and at most 0.5: pwrel:1e-3"},
    {"rate", Bound::Kind::rate, 64, "give bits for each value, above 0 and at most 64: rate:8"},
    {"snap", Bound::Kind::snap, 1e308, "give a bound above 0: snap:1e-4"},
    {"block", Bound::Kind::rate, 8, "give 8, 6 or 4 bits for each value: block:8", "blocks"},
};
constexpr const char* known_bounds = "lossless, abs:E, rel:R, psnr:D, pwrel:R, rate:B, block:B or snap:E";

// Rejects a number alone, and names the bounds that it may stand for.
[[noreturn]] void reject_number(const Item& item) {
  const std::string number(item.value);
  item.reject("say what the number limits: abs:" + number + " (the error of a value), rel:" + number +
              " (its share of the value range) or pwrel:" + number +
              " (its share of the value); the forms are " + known_bounds);
}

// Returns a question for the bound that the user may have meant: "relative:1e-3", "aps=1e-4". Empty: none.
std::string bound_meant(const Item& item) {
  const std::size_t end = std::min(item.value.find_first_of(":="), item.value.size());
  const std::string_view word = item.name.empty() ? item.value.substr(0, end) : item.name;
  const std::string_view number =
      item.name.empty() ? item.value.substr(std::min(end + 1, item.value.size())) : item.value;
  if (double value = 0; !read_number(number, value)) return {};
  std::vector<std::string_view> names;
  for (const BoundName& known : bound_names) names.push_back(known.name);
  const auto longer =
      std::ranges::find_if(names, [&](std::string_view name) { return word.starts_with(name); });
  const std::string_view meant = longer == names.end() ? nearest_name(word, names) : *longer;
  if (meant.empty()) return {};
  return std::string(". Did you mean ").append(meant).append(":").append(number).append("?");
}

// ---- Options

void read_codec(const Item& item, Coding& coding) {
  const CodecInfo* const before = coding.codec;
  coding.codec = item.value == "auto" ? nullptr : find_codec(std::string(item.value).c_str());
  if (before != nullptr && coding.codec != before)
    item.reject(std::string("the codec is already ") + before->name + "; name one");
  if (coding.codec != nullptr || item.value == "auto") return;
  for (const AbsentCodec& absent : absent_codecs())
    if (item.value == absent.name) item.reject(absent.remedy);
  std::string remedy = "use auto";
  for (const CodecInfo* codec : registered_codecs()) remedy += std::string(" or ") + codec->name;
  item.reject(remedy);
}

// Sets the codec that the name of the bound implies, and rejects a number that the codec does not serve.
void name_codec(const Item& item, const BoundName& form, Coding& coding) {
  const CodecInfo* const codec = find_codec(form.codec);
  if (coding.codec != nullptr && coding.codec != codec)
    item.reject(std::string("leave out codec=") + coding.codec->name);
  try {
    codec->make({.bound = coding.bound});
  } catch (const Error&) {
    item.reject(form.remedy);
  }
  coding.codec = codec;
}

void read_dims(const Item& item, Dims& dims) {
  constexpr const char* remedy = "give up to four extents, slowest first: dims=100x500x500";
  std::string_view left = item.value;
  dims.n = 0;
  while (!left.empty() && dims.n < max_dims) {
    const std::size_t end = std::min(left.find('x'), left.size());
    std::uint32_t& extent = dims.extent[dims.n++];
    if (!read_number(left.substr(0, end), extent) || extent == 0) item.reject(remedy);
    if (end + 1 == left.size()) item.reject(remedy);  // ends with an x
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  if (dims.n == 0 || !left.empty()) item.reject(remedy);
  if (!(static_cast<double>(dims.extent[0]) * static_cast<double>(dims.stride(0)) < 0x1p62))
    item.reject(remedy);
}

void read_predictor(const Item& item, Coding& coding) {
  const std::optional<NamedPredictor> predictor = predictor_named(item.value);
  if (!predictor) item.reject("use one of " + predictor_texts());
  coding.predictor = *predictor;
}

void read_fill(const Item& item, Coding& coding) {
  double fill = 0;
  if (!read_number(item.value, fill) || !std::isfinite(fill))
    item.reject("give the number that stands for missing values: fill=1e20");
  coding.fill = fill;
}

// Returns a bound of the kind that a relative bound may become once the range of the values is known.
Bound likely(Bound bound) noexcept { return is_relative(bound) ? Bound(1) : bound; }

// Returns true if `codec` codes values of some type under bounds of this kind.
bool serves_any(const CodecInfo& codec, Bound::Kind kind) noexcept {
  for (std::uint8_t type = 1; type <= dtypes; ++type)
    if (codec.serves(DType{type}, kind)) return true;
  return false;
}

[[noreturn]] void reject(const std::string& what) { throw Error(Status::invalid_policy, "policy: " + what); }

std::string codecs_that_serve(Bound::Kind kind) {
  std::string names;
  for (const CodecInfo* codec : registered_codecs())
    if (serves_any(*codec, kind)) names += (names.empty() ? "" : " or ") + std::string(codec->name);
  return names;
}

// Returns how to get the codecs that this build lacks.
std::string remedies() {
  std::string text;
  for (const AbsentCodec& absent : absent_codecs())
    text += std::string("; for codec ") + absent.name + ", " + absent.remedy;
  return text;
}

}  // namespace

const CodecInfo* find_codec(std::uint8_t frame_id) noexcept {
  for (const CodecInfo* codec : registered_codecs())
    if (codec->frame_id == frame_id) return codec;
  return nullptr;
}

StateNumbers state_numbers_in(const FrameHeader& header, ConstBytes frame) noexcept {
  StateNumbers states;
  const CodecInfo* const codec = find_codec(header.codec);
  const bool may_refer = codec != nullptr && codec->takes_references && !header.has(FrameHeader::failed);
  const std::size_t room = frame.size() - std::min(frame.size(), frame_header_bytes);
  if (!may_refer || room < header.payload_bytes) return {};
  ConstBytes payload = frame.subspan(frame_header_bytes, header.payload_bytes);
  return read_state_numbers(header, payload, states) ? states : StateNumbers{};
}

std::unique_ptr<Codec> make_decoder(const FrameHeader& header, std::string_view kernels, int threads) {
  const CodecInfo* const info = find_codec(header.codec);
  if (info == nullptr) throw Error(Status::unsupported_version, "a frame of an unknown codec");
  if (!info->serves(header.type, header.bound.kind))
    throw Error(Status::corrupt_frame, "a frame of a kind that its codec does not make");
  return info->make({.bound = header.bound,
                     .checksum = header.has(FrameHeader::checksummed),
                     .kernels = kernels,
                     .threads = threads});
}

std::string with_colon(std::string_view text) {
  std::size_t begin = 0;
  const Item first = next_item(text, begin);
  if (std::ranges::find(bound_names, first.name, &BoundName::name) == std::end(bound_names))
    return std::string(text);
  return std::string(first.name).append(":").append(text.substr(first.column - 1));
}

void read_bound(const Item& item, Coding& coding) {
  if (!item.name.empty())
    item.reject_name(std::string("to follow a bound; start with ") + known_bounds + bound_meant(item));
  if (item.value == "lossless") {
    coding.bound = {};
    return;
  }
  for (const BoundName& known : bound_names) {
    if (!item.value.starts_with(known.name) || !item.value.substr(known.name.size()).starts_with(':'))
      continue;
    double value = 0;
    const bool number = read_number(item.value.substr(known.name.size() + 1), value);
    if (!number || !(value > 0) || !(value <= known.max)) item.reject(known.remedy);
    coding.bound = {known.kind, value};
    if (known.codec != nullptr) name_codec(item, known, coding);
    return;
  }
  if (double number = 0; read_number(item.value, number)) reject_number(item);
  item.reject("use " + std::string(known_bounds) + bound_meant(item));
}

bool read_coding_option(const Item& item, Coding& coding) {
  if (item.name == "codec") {
    read_codec(item, coding);
  } else if (item.name == "predictor") {
    read_predictor(item, coding);
  } else if (item.name == "dims") {
    read_dims(item, coding.dims);
  } else if (item.name == "fill") {
    read_fill(item, coding);
  } else if (item.name == "bits") {
    coding.bits = choose<PackedBits>(item, {{"exact", PackedBits::exact}, {"rounded", PackedBits::rounded}});
  } else if (item.name == "threads") {
    if (!read_number(item.value, coding.threads) || coding.threads < 1 || coding.threads > max_threads)
      item.reject("give a number from 1 to " + std::to_string(max_threads));
  } else if (item.name == "checksum") {
    coding.checksum = choose<bool>(item, {{"off", false}, {"on", true}});
  } else {
    return false;
  }
  return true;
}

void check(const Coding& coding, std::string_view kernels) {
  const Bound bound = likely(coding.bound);
  if (coding.codec != nullptr && !serves_any(*coding.codec, bound.kind))
    reject(std::string("codec '") + coding.codec->name + "' does not serve this bound; use " +
           codecs_that_serve(bound.kind) + remedies());
  if (coding.fill && !is_relative(coding.bound))
    reject("fill= only matters to bounds that are relative to the value range, rel: and psnr:");
  bool served = false;
  std::vector<Coding> checked;  // candidates of the type before: most types have the same ones
  for (std::uint8_t type = 1; type <= dtypes; ++type) {
    std::vector<Coding> all = candidates(coding, DType{type}, bound);
    if (all == checked) continue;
    checked = std::move(all);
    for (const Coding& candidate : checked) {
      Coding made = candidate;
      made.kernels = kernels;
      made.make();  // throws if the options do not suit the codec
      served |=
          candidate.codec->priority(bound.kind) != CodecInfo::last_resort || bound.exact() || coding.codec;
    }
  }
  if (served) return;
  reject(coding.predictor.automatic() ? "no codec of this build serves this bound" + remedies()
                                      : "predictor '" + text_of(coding.predictor) +
                                            "' is not known to a codec that serves this bound; use auto");
}

std::string text_of(Bound bound, int digits) {
  const std::string value = digits == 0 ? shortest(bound.value) : rounded(bound.value, digits);
  for (const BoundName& known : bound_names)
    if (known.kind == bound.kind) return std::string(known.name) + ":" + value;
  return "lossless";
}

std::string text_of(const Coding& coding) {
  std::string text = text_of(coding.bound);
  const auto add = [&](const char* name, const std::string& value) {
    text += std::string(",") + name + "=" + value;
  };
  if (coding.codec != nullptr) add("codec", coding.codec->name);
  if (!coding.predictor.automatic()) add("predictor", text_of(coding.predictor));
  for (unsigned i = 0; i < coding.dims.n; ++i) {
    const std::string extent = std::to_string(coding.dims.extent[i]);
    i == 0 ? add("dims", extent) : void(text += "x" + extent);
  }
  if (coding.fill) add("fill", shortest(*coding.fill));
  if (coding.bits == PackedBits::exact) add("bits", "exact");
  if (coding.threads > 0) add("threads", std::to_string(coding.threads));
  if (coding.checksum) add("checksum", "on");
  return text;
}

Coding parse_coding(std::string_view given, std::string_view kernels) {
  const std::string text = with_colon(given);
  Coding coding;
  bool first = true;
  for (std::size_t begin = 0; begin <= text.size(); first = false) {
    const Item item = next_item(text, begin);
    if (first) {
      read_bound(item, coding);
    } else if (!read_coding_option(item, coding)) {
      item.reject_name(coding_options);
    }
  }
  check(coding, kernels);
  return coding;
}

}  // namespace taut
