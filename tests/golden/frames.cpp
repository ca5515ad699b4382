#include "golden/frames.hpp"

#include <cinttypes>
#include <cstdio>

namespace taut::test {
namespace {

// The data that each codec encodes. A new codec, type, bound or predictor needs no line here; a new kind of
// data is a line.
constexpr struct {
  const char* pattern;
  std::size_t count, addends;  // sums are for codecs that can add frames
} inputs[] = {
    {"triangle", 301, 1},  {"special", 131, 3},  // with every predictor; the others with the default
    {"special", 131, 1},   {"wild", 100, 1},    {"zeros", 0, 1},       {"noise", 1, 1},   {"ramp", 9, 1},
    {"noise", 65, 1},      {"zeros", 100, 1},   {"pairs", 130, 1},     {"steps", 300, 1}, {"sparse", 999, 1},
    {"triangle", 4099, 1}, {"noise", 301, 2},   {"triangle", 1000, 3},
};
constexpr std::size_t inputs_of_all = 2;

// The data of frames with references, for codecs that take them.
struct InputBehind {
  const char* pattern;
  std::size_t count, references;
};
constexpr InputBehind inputs_behind[] = {
    {"triangle", 301, 1}, {"special", 131, 2},  // with every predictor; the others with the default
    {"special", 131, 1},  {"noise", 1, 1},     {"ramp", 4099, 2},
};

// The data of frames whose records have 64-bit integers, for float64 and codecs that add frames.
constexpr InputBehind wide_inputs_behind[] = {{"noise", 301, 1}, {"sparse", 4099, 2}, {"rows", 2101, 1}};
constexpr Bound bound_of_usual{Bound::Kind::absolute, 0x1p-10}, bound_of_wide{Bound::Kind::absolute, 0x1p-36};

// The data of frames of which few blocks are coded, and the sums behind earlier sums, for codecs that add
// frames.
constexpr InputBehind few_changes_behind{"rows", 4099, 1};
constexpr const char *pattern_behind_sum = "triangle", *pattern_of_earlier_sum = "noise";
constexpr std::size_t count_behind_sum = 301, addends_behind_sum = 2;

// The earlier messages of a frame.
class EarlierMessages {
 public:
  explicit EarlierMessages(const Golden& golden) {
    const DType type = golden.subject.type;
    if (golden.references > 0 && golden.addends > 1) {
      take_sum(golden);
      return;
    }
    for (std::size_t k = 1; k <= golden.references; ++k)
      values_.push_back(golden_values(type, golden.pattern, golden.count, k));
    for (const auto& values : values_) {
      const ConstSlice slice{{values.data(), golden.count, type}};
      references_.push_back({state_number_of(slice), slice});
    }
  }
  // Returns the references of a frame, and of an addend of a sum.
  References references() const noexcept { return references_; }
  References of_addend(std::size_t series) const noexcept {
    return addends_.empty() ? references() : References(&addends_[series], 1);
  }

 private:
  void take_sum(const Golden& golden) {
    Golden before = golden;
    before.pattern = pattern_of_earlier_sum;
    before.references = 0;
    const auto reference = [&](std::vector<std::byte> values) -> ConstSlice {
      values_.push_back(std::move(values));
      return {values_.back().data(), golden.count, golden.subject.type};
    };
    const ConstSlice sum = reference(before.decode(before.encode("scalar"), "scalar"));
    references_.push_back({state_number_of(sum), sum});
    for (std::size_t series = 0; series < golden.addends; ++series)
      addends_.push_back({state_number_of(sum),
                          reference(golden_values(sum.type, before.pattern, sum.count, series)), true});
  }

  std::vector<std::vector<std::byte>> values_;
  std::vector<Reference> references_, addends_;
};

// More data for a codec, with the default predictor: what only a long frame of it has.
constexpr struct {
  std::string_view codec;
  const char* pattern;
  std::size_t count;
} longer[] = {{"mpc", "sparse", 8300}};

// Predictors that the conformance tests do not try: those of earlier versions, and grids. Some patterns make
// a form of grid in numbers of `word_bytes` bytes, which only exact frames have. 0: all types and bounds.
constexpr struct {
  std::string_view codec;
  const char *predictor, *pattern;
  std::size_t word_bytes = 0;
} earlier[] = {{"mpc", "d8", "triangle"},       {"mpc", "grid", "triangle"},    {"mpc", "grid", "packed", 4},
               {"mpc", "grid", "packed", 8},    {"mpc", "grid", "units22", 4},  {"mpc", "grid", "units46", 8},
               {"mpc", "grid", "printed22", 4}, {"mpc", "grid", "printed46", 8}};

// Returns the FNV-1a hash. A CRC-32C would not do: it is the same for every header that ends in its own CRC.
std::uint64_t hash(ConstBytes bytes) noexcept {
  std::uint64_t h = 0xCBF29CE484222325;
  for (const std::byte b : bytes) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001B3;
  return h;
}

std::vector<std::byte> checked(std::vector<std::byte>&& frame, SizeOrStatus size, const Golden& golden) {
  if (size.status != Status::ok) throw Error(size.status, golden.name() + ": " + describe(size.status));
  frame.resize(size.bytes);
  return std::move(frame);
}

}  // namespace

std::string Golden::name() const {
  const Bound bound = subject.options.bound;
  char number[32] = "";
  if (!bound.exact()) std::snprintf(number, sizeof number, "%.3g", bound.value);
  const std::string dims = subject.options.dims.n > 0 ? std::to_string(subject.options.dims.n) + "d" : "";
  std::string text = std::string(subject.info->name) + "_" + taut::name_of(subject.type) + "_" +
                     taut::test::name_of(bound.kind) + number + "_" + text_of(subject.options.predictor) +
                     dims + "_" + pattern + "_" + std::to_string(count);
  if (addends > 1) text += "_sum" + std::to_string(addends);
  return references > 0 ? text + "_behind" + std::to_string(references) : text;
}

std::vector<std::byte> Golden::encode_one(const Codec& codec, std::size_t series,
                                          std::size_t capacity) const {
  const std::vector<std::byte> values = golden_values(subject.type, pattern, count, series);
  const EarlierMessages earlier(*this);
  std::vector<std::byte> frame(capacity);
  const SizeOrStatus size =
      codec.encode({{values.data(), count, subject.type}}, earlier.of_addend(series), frame);
  return checked(std::move(frame), size, *this);
}

std::vector<std::byte> Golden::encode(const char* kernels) const {
  Coding options = subject.options;
  options.kernels = kernels;
  const auto codec = subject.info->make(options);
  const std::size_t operands = addends > 1 && references > 0 ? addends + 1 : addends;
  const std::size_t most = codec->max_bytes(subject.type, count, static_cast<std::uint32_t>(operands));
  std::vector<std::vector<std::byte>> frames;
  for (std::size_t series = 0; series < addends; ++series) frames.push_back(encode_one(*codec, series, most));
  if (addends == 1) return frames[0];
  std::vector<std::byte> total(most);
  const SizeOrStatus size =
      codec->arithmetic()->sum(std::vector<ConstBytes>(frames.begin(), frames.end()), total);
  return checked(std::move(total), size, *this);
}

std::vector<std::byte> Golden::decode(ConstBytes frame, const char* kernels) const {
  Coding options = subject.options;
  options.kernels = kernels;
  std::vector<std::byte> values(count * size_of(subject.type));
  const EarlierMessages earlier(*this);
  const Status status = subject.info->make(options)->decode(frame, earlier.references(),
                                                            {{values.data(), count, subject.type}});
  if (status != Status::ok) throw Error(status, name() + ": " + describe(status));
  return values;
}

namespace {

// Returns true if a pattern for numbers of this many bytes is for the subject.
bool serves(const Subject& subject, std::size_t word_bytes) noexcept {
  const DType number = component_of(subject.type);
  return word_bytes == 0 || (subject.options.bound.exact() && size_of(number) == word_bytes &&
                             info_of(number).family != Family::integer);
}

void add_frames_behind(const Subject& subject, bool usual, std::vector<Golden>& all) {
  const NamedPredictor& predictor = subject.options.predictor;
  const bool row_behind = subject.info->adds_frames && predictor.name == "none" && predictor.lags.n == 1;
  if (!subject.info->takes_references || (predictor.lags.any() && !row_behind)) return;
  const bool has_history = subject.type == DType::f32 || subject.type == DType::f64;
  const bool has_all = usual || (row_behind && has_history);
  const std::size_t n = has_all ? std::size(inputs_behind) : inputs_of_all;
  for (const auto& input : std::span(inputs_behind).first(n)) {
    Golden golden{subject, input.pattern, input.count, 1, input.references};
    golden.subject.options.checksum = input.count % 2 == 1;
    all.push_back(golden);
  }
  if (!usual || !has_history || !subject.info->adds_frames) return;
  Golden sum{subject, pattern_behind_sum, count_behind_sum, addends_behind_sum, 1};
  sum.subject.options.checksum = true;
  all.push_back(sum);
  all.push_back(
      {subject, few_changes_behind.pattern, few_changes_behind.count, 1, few_changes_behind.references});
  if (subject.type != DType::f64 || !(subject.options.bound == bound_of_usual)) return;
  for (const auto& input : wide_inputs_behind) {
    Golden golden{subject, input.pattern, input.count, 1, input.references};
    golden.subject.options.bound = bound_of_wide;
    all.push_back(golden);
  }
}

}  // namespace

std::vector<Golden> golden_frames() {
  std::vector<Golden> all;
  for (const CodecInfo* info : registered_codecs()) {
    const NamedPredictor usual = predictors_to_try(*info, {})[0];
    for (const Subject& subject : subjects_of(*info, false)) {
      const auto codec = subject.make();
      const std::size_t n = subject.options.predictor == usual ? std::size(inputs) : inputs_of_all;
      for (const auto& input : std::span(inputs).first(n)) {
        if (input.addends > 1 && codec->arithmetic() == nullptr) continue;
        Golden golden{subject, input.pattern, input.count, input.addends};
        golden.subject.options.checksum = input.count % 2 == 1;
        all.push_back(golden);
      }
      add_frames_behind(subject, subject.options.predictor == usual, all);
      if (subject.options.predictor != usual || subject.options.dims.n > 0) continue;
      for (const auto& input : longer)
        if (input.codec == info->name) all.push_back({subject, input.pattern, input.count, 1});
      for (const auto& kept : earlier) {
        if (kept.codec != info->name || !serves(subject, kept.word_bytes)) continue;
        Golden golden{subject, kept.pattern, inputs[0].count, inputs[0].addends};
        golden.subject.options.predictor = kept.predictor;
        golden.subject.options.checksum = inputs[0].count % 2 == 1;
        all.push_back(golden);
      }
    }
  }
  return all;
}

std::string golden_line(const Golden& golden, ConstBytes frame, ConstBytes values) {
  const Subject& s = golden.subject;
  char line[512];
  char references[24] = "";
  if (golden.references > 0) std::snprintf(references, sizeof references, " %zu", golden.references);
  std::snprintf(line, sizeof line,
                "%-52s %-6s %-5s %-9s %-20.17g %-6s %-8s %5zu %zu %6zu %016" PRIx64 " %016" PRIx64 "%s",
                golden.name().c_str(), s.info->name, taut::name_of(s.type), name_of(s.options.bound.kind),
                s.options.bound.value, text_of(s.options.predictor).c_str(), golden.pattern, golden.count,
                golden.addends, frame.size(), hash(frame), hash(values), references);
  return line;
}

}  // namespace taut::test
