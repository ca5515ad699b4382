// Every registered codec in every way in which it can be made: what suites and fuzz targets run through, so
// that a new codec, type or bound is tested without an edit of theirs.
#pragma once

#include <string>
#include <vector>

#include "core/codec.hpp"

namespace taut::test {

inline constexpr DType all_types[] = {DType::f32, DType::f64};
inline constexpr double all_bounds[] = {0, 0x1p-10, 0.37};  // 0: exact
inline constexpr const char* all_kernels[] = {"scalar", "avx2", "avx512"};

// A codec and the options that it is made with.
struct Subject {
  const CodecInfo* info = nullptr;
  DType type = DType::f32;
  CodecOptions options;

  std::unique_ptr<Codec> make() const { return info->make(options); }
  std::unique_ptr<Codec> make_with(const char* kernels) const {
    CodecOptions other = options;
    other.kernels = kernels;
    return info->make(other);
  }
  std::string name() const {
    std::string text = std::string(info->name) + " " + name_of(type) + " bound " +
                       std::to_string(options.bound) + " predictor " + options.predictor;
    if (options.kernels[0] != 0) text += std::string(" kernels ") + options.kernels;
    return text + (options.checksum ? " checksum" : "");
  }
};

inline bool can_be_made(const CodecInfo& info, const CodecOptions& options) {
  try {
    return info.make(options) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

// The kernel sets that this processor runs.
inline std::vector<const char*> kernels_of(const CodecInfo& info, CodecOptions options) {
  std::vector<const char*> names;
  for (const char* kernels : all_kernels) {
    options.kernels = kernels;
    if (can_be_made(info, options)) names.push_back(kernels);
  }
  return names;
}

// All types and bounds, with each predictor that the codec names.
inline std::vector<Subject> subjects_of(const CodecInfo& info, bool checksum) {
  std::vector<Subject> all;
  std::vector<const char*> predictors(info.predictors.begin(), info.predictors.end());
  if (predictors.empty()) predictors.push_back("auto");
  for (const DType type : all_types) {
    for (const double bound : all_bounds) {
      for (const char* predictor : predictors) {
        const CodecOptions options{.bound = bound, .checksum = checksum, .predictor = predictor};
        if (can_be_made(info, options)) all.push_back({&info, type, options});
      }
    }
  }
  return all;
}

// A bound of the kind with this number (of an unknown number: some kind), and the scale at which it
// quantises.
inline double bound_of(std::uint8_t kind, double value) noexcept { return kind % 2 == 0 ? value : 0; }
inline std::uint8_t kind_of(double bound) noexcept { return bound > 0 ? 0 : 1; }
inline double unit_of(double bound) noexcept { return bound > 0 ? bound : 1; }

// |x - x'| that the contract allows; 0 for codecs that lose nothing.
inline double allowed_error(const Contract& contract, double /*x*/) noexcept {
  return contract.loss == Contract::Loss::none ? 0 : contract.bound;
}

}  // namespace taut::test
