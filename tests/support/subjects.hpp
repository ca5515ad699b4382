// Every registered codec with all its options, for test suites and fuzz targets. A new codec or type is
// tested without changes in the suites, and a new kind of bound by one line here.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "compressor/frame/codec.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut::test {

inline constexpr Bound all_bounds[] = {
    {},
    {Bound::Kind::absolute, 0x1p-10},
    {Bound::Kind::absolute, 0.37},
    {Bound::Kind::snap, 0x1p-6},
    {Bound::Kind::pointwise, 0x1p-9},
    {Bound::Kind::rate, 11},
    {Bound::Kind::rate, 8},  // this and the following are for codecs that have few rates
    {Bound::Kind::rate, 6},
    {Bound::Kind::rate, 4},
};
inline constexpr Dims all_dims[] = {{}, {{5, 13}, 2}, {{3, 5, 7}, 3}};  // the extents that a codec uses
using simd::set_names;

inline constexpr const char* kind_names[] = {"exact", "absolute", "snap", "pointwise", "rate"};
constexpr const char* name_of(Bound::Kind kind) noexcept {
  return kind_names[static_cast<std::size_t>(kind)];
}

// A codec, a type that it serves and the options that it is made with.
struct Subject {
  const CodecInfo* info = nullptr;
  DType type = DType::f32;
  Coding options;

  std::unique_ptr<Codec> make() const { return info->make(options); }
  std::string name() const {
    return std::string(info->name) + " " + taut::name_of(type) + " " + name_of(options.bound.kind) + ":" +
           std::to_string(options.bound.value) + " predictor " + text_of(options.predictor) +
           (options.dims.n > 0 ? " dims " + std::to_string(options.dims.n) : "") +
           (options.checksum ? " checksum" : "");
  }
};

inline bool can_be_made(const CodecInfo& info, DType type, const Coding& options) {
  try {
    return info.serves(type, options.bound.kind) && info.make(options) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

// Returns true if the codec is tested at another rate: those of few rates are not for codecs that have all.
inline bool has_all_rates(const CodecInfo& info, DType type, Bound bound) {
  return bound.kind == Bound::Kind::rate && bound.value <= 8 &&
         can_be_made(info, type, {.bound = {Bound::Kind::rate, 11}});
}

// Returns one instance for each kernel set that this processor runs, the scalar set first.
inline std::vector<std::unique_ptr<Codec>> with_all_kernels(const CodecInfo& info, Coding options) {
  std::vector<std::unique_ptr<Codec>> instances;
  for (const char* kernels : std::views::reverse(set_names)) {
    options.kernels = kernels;
    try {
      instances.push_back(info.make(options));
    } catch (const Error&) {
    }
  }
  return instances;
}

// True if the frames of a codec depend on the extents of the field.
inline bool uses_dims(const Subject& subject) {
  constexpr std::size_t count = 1365;  // whole rows and planes of all_dims
  std::vector<std::byte> values(count * size_of(subject.type));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::byte(i * i % 64);
  const auto encoded = [&](const Coding& options) {
    const auto codec = subject.info->make(options);
    std::vector<std::byte> frame(codec->max_bytes(subject.type, count));
    frame.resize(codec->encode({{values.data(), count, subject.type}}, frame).bytes);
    return frame;
  };
  Coding without = subject.options;
  without.dims = {};
  return encoded(subject.options) != encoded(without);
}

// Returns the names, of static lifetime, of the predictors that a codec offers for fields of these extents.
inline std::vector<const char*> predictors_of(const CodecInfo& info, const Dims& dims) {
  static std::set<std::string> names;
  std::vector<const char*> offered;
  if (info.automatic == nullptr) return offered;
  for (const NamedPredictor& predictor : info.automatic(dims))
    offered.push_back(names.insert(text_of(predictor)).first->c_str());
  return offered;
}

// Returns up to three predictors: with extents two that need the extents; `auto` if there is no choice.
inline std::vector<const char*> predictors_to_try(const CodecInfo& info, const Dims& dims) {
  std::vector<const char*> offered = predictors_of(info, dims);
  if (dims.n > 0 && !offered.empty()) {
    const std::vector<const char*> any = predictors_of(info, {});
    std::erase_if(offered, [&](const char* name) { return std::ranges::find(any, name) != any.end(); });
    if (offered.size() > 2) offered.erase(offered.begin(), offered.end() - 2);
    return offered;
  }
  if (offered.size() > 3) offered.erase(offered.begin() + 2, offered.end() - 1);
  return offered.empty() ? std::vector<const char*>{"auto"} : offered;
}

// Returns all types and bounds that the codec serves, with each predictor that it names and with the extents
// that it uses. Bounds that the codec serves by keeping a stricter promise are left out: exact frames are
// tested as such.
inline std::vector<Subject> subjects_of(const CodecInfo& info, bool checksum) {
  std::vector<Subject> all;
  for (std::uint8_t code = 1; is_dtype(code); ++code) {
    const DType type{code};
    for (const Bound bound : all_bounds) {
      for (const Dims dims : all_dims) {
        for (const char* predictor : predictors_to_try(info, dims)) {
          const Coding options{.bound = bound, .checksum = checksum, .predictor = predictor, .dims = dims};
          if (has_all_rates(info, type, bound) || !can_be_made(info, type, options) ||
              info.make(options)->contract().bound != bound)
            continue;
          const Subject subject{&info, type, options};
          if (dims.n == 0 || !info.predictors.empty() || uses_dims(subject)) all.push_back(subject);
        }
      }
    }
  }
  return all;
}

// Returns a bound of any kind that frames store, from a number of any size above 0.
inline Bound bound_of(std::uint8_t kind, double value) noexcept {
  const auto known = static_cast<Bound::Kind>(kind % frame_bound_kinds);
  if (known == Bound::Kind::exact) return {};
  return {known, known == Bound::Kind::rate ? std::clamp(std::ceil(value), 1.0, 64.0) : value};
}

// Returns the |x - x'| that a bound allows.
inline long double allowed_error(Bound bound, double x) noexcept {
  if (bound.kind == Bound::Kind::rate) return std::numeric_limits<long double>::infinity();
  return bound.kind == Bound::Kind::pointwise ? static_cast<long double>(bound.value) * std::abs(x)
                                              : bound.value;
}

}  // namespace taut::test
