#include "coder.hpp"

#include <utility>

#include "compressor/simd/kernel_choice.hpp"

namespace bench {
namespace {

using Kind = taut::Bound::Kind;

constexpr double pointwise_bound = 1e-3, bits_per_value = 8;

// Returns a bound of this kind for which a codec can be made, to ask the codec for its kernel sets.
constexpr taut::Bound some_bound(Kind kind) noexcept {
  return kind == Kind::exact ? taut::Bound{} : taut::Bound{kind, kind == Kind::rate ? bits_per_value : 1e-3};
}

std::unique_ptr<taut::Codec> made(const taut::CodecInfo& codec, const std::string& kernels,
                                  taut::Bound bound) {
  taut::Coding options;
  options.bound = bound;
  options.kernels = kernels.c_str();
  return codec.make(options);
}

bool makes(const taut::CodecInfo& codec, const char* kernels, Kind kind) {
  try {
    return made(codec, kernels, some_bound(kind)) != nullptr;
  } catch (const taut::Error&) {
    return false;
  }
}

}  // namespace

const char* name_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::exact: return "exact";
    case Kind::absolute: return "absolute";
    case Kind::snap: return "snap";
    case Kind::pointwise: return "pointwise";
    case Kind::rate: return "rate";
    case Kind::range: return "range";
    case Kind::psnr: return "psnr";
  }
  return "";
}

std::string Coder::coding() const {
  return kind == Kind::pointwise || kind == Kind::rate ? codec + ":" + name_of(kind) : codec;
}

taut::Bound bound_of(Kind kind, double absolute) noexcept {
  switch (kind) {
    case Kind::absolute: return absolute;
    case Kind::pointwise: return {kind, pointwise_bound};
    case Kind::rate: return {kind, bits_per_value};
    default: return {};
  }
}

// Returns the kinds of bound at which the codec works differently. Kernels treat snapping bounds as absolute
// ones, and a codec that is exact under every bound is measured as exact only.
std::vector<Kind> measured_kinds(const taut::CodecInfo& codec) {
  std::vector<Kind> served;
  for (const Kind kind : {Kind::exact, Kind::absolute, Kind::pointwise, Kind::rate})
    if (codec.serves(taut::DType::f32, kind) || codec.serves(taut::DType::bf16, kind)) served.push_back(kind);
  if (served.size() == 4) served.resize(1);  // raw
  return served;
}

std::vector<std::string> kernel_sets(const taut::CodecInfo& codec) {
  const Kind kind = measured_kinds(codec).front();
  std::vector<std::string> sets;
  if (makes(codec, "no kernel set", kind)) return sets;  // the codec has no kernel sets: it ignores the name
  for (const char* name : taut::simd::set_names)
    if (makes(codec, name, kind)) sets.emplace_back(name);
  return sets;
}

std::vector<Coder> coders() {
  std::vector<Coder> all;
  for (const taut::CodecInfo* codec : taut::registered_codecs()) {
    std::vector<std::string> sets = kernel_sets(*codec);
    if (sets.empty()) sets.emplace_back("any");
    for (const Kind kind : measured_kinds(*codec))
      for (const std::string& set : sets)
        all.push_back({.name = set,
                       .codec = codec->name,
                       .kind = kind,
                       .adds_frames = codec->adds_frames,
                       .serves = codec->serves,
                       .make = [=](taut::Bound bound) { return made(*codec, set, bound); }});
  }
  return all;
}

}  // namespace bench
