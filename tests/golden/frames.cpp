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

// Predictors that the conformance tests no longer try, but that frames of earlier versions have.
constexpr struct {
  std::string_view codec;
  const char* predictor;
} earlier[] = {{"mpc", "d8"}};

// Returns the FNV-1a hash. A CRC-32C would not do: it is the same for every header that ends in its own CRC.
std::uint64_t hash(ConstBytes bytes) noexcept {
  std::uint64_t h = 0xCBF29CE484222325;
  for (const std::byte b : bytes) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001B3;
  return h;
}

std::vector<std::byte> checked(std::vector<std::byte>&& frame, Sized size, const Golden& golden) {
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
  return addends == 1 ? text : text + "_sum" + std::to_string(addends);
}

std::vector<std::byte> Golden::encode(const char* kernels) const {
  Coding options = subject.options;
  options.kernels = kernels;
  const auto codec = subject.info->make(options);
  const std::size_t most = codec->max_bytes(subject.type, count, static_cast<std::uint32_t>(addends));
  std::vector<std::vector<std::byte>> frames;
  for (std::size_t series = 0; series < addends; ++series) {
    const std::vector<std::byte> values = golden_values(subject.type, pattern, count, series);
    std::vector<std::byte> frame(most);
    const Sized size = codec->encode({{values.data(), count, subject.type}}, frame);
    frames.push_back(checked(std::move(frame), size, *this));
  }
  if (addends == 1) return frames[0];
  std::vector<std::byte> total(most);
  const Sized size = codec->arithmetic()->sum(std::vector<ConstBytes>(frames.begin(), frames.end()), total);
  return checked(std::move(total), size, *this);
}

std::vector<std::byte> Golden::decode(ConstBytes frame, const char* kernels) const {
  Coding options = subject.options;
  options.kernels = kernels;
  std::vector<std::byte> values(count * size_of(subject.type));
  const Status status = subject.info->make(options)->decode(frame, {{values.data(), count, subject.type}});
  if (status != Status::ok) throw Error(status, name() + ": " + describe(status));
  return values;
}

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
      if (subject.options.predictor != usual || subject.options.dims.n > 0) continue;
      for (const auto& kept : earlier) {
        if (kept.codec != info->name) continue;
        Golden golden{subject, inputs[0].pattern, inputs[0].count, inputs[0].addends};
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
  std::snprintf(line, sizeof line,
                "%-52s %-6s %-5s %-9s %-20.17g %-6s %-8s %5zu %zu %6zu %016" PRIx64 " %016" PRIx64,
                golden.name().c_str(), s.info->name, taut::name_of(s.type), name_of(s.options.bound.kind),
                s.options.bound.value, text_of(s.options.predictor).c_str(), golden.pattern, golden.count,
                golden.addends, frame.size(), hash(frame), hash(values));
  return line;
}

}  // namespace taut::test
