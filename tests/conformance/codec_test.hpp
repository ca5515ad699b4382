// The fixture of the tests that every registered codec passes, under each kind of bound that it serves.
#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "compressor/frame/codec.hpp"
#include "support/subjects.hpp"
#include "support/values.hpp"

namespace taut::test {

inline constexpr std::size_t counts[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 1003, 4095, 4096, 4097, 20000};
inline constexpr Pattern patterns[] = {Pattern::smooth, Pattern::noisy, Pattern::sparse, Pattern::steps,
                                       Pattern::wild};
inline constexpr std::byte untouched{0xA5};

using FrameBytes = std::vector<std::byte>;

struct CodecCase {
  const CodecInfo* codec;
  Bound::Kind kind;
};

class CodecConformance : public testing::TestWithParam<CodecCase> {
 protected:
  static std::vector<DType> types() {
    std::vector<DType> served;
    for (std::uint8_t code = 1; is_dtype(code); ++code)
      if (GetParam().codec->serves(DType{code}, GetParam().kind)) served.push_back(DType{code});
    return served;
  }

  // Returns bounds from fine to coarse, of the case's kind.
  static std::vector<Bound> bounds() {
    const Bound::Kind kind = GetParam().kind;
    if (kind == Bound::Kind::exact) return {Bound()};
    if (kind == Bound::Kind::pointwise) return {{kind, 1e-6}, {kind, 1e-3}, {kind, 0.1}};
    if (kind == Bound::Kind::rate) return rates();
    return {{kind, 1e-6}, {kind, 1e-3}, {kind, 1.0}, {kind, 1e3}};
  }
  // Returns those of two rates that the codec has.
  static std::vector<Bound> rates() {
    std::vector<Bound> all{{Bound::Kind::rate, 24}, {Bound::Kind::rate, 8}};
    std::erase_if(all,
                  [](Bound rate) { return !can_be_made(*GetParam().codec, DType::f32, {.bound = rate}); });
    return all;
  }
  static Bound usual_bound() { return bounds()[bounds().size() / 2]; }

  static std::unique_ptr<Codec> make(Bound bound, bool checksum = false) {
    return GetParam().codec->make({.bound = bound, .checksum = checksum});
  }
  static std::unique_ptr<Codec> make(bool checksum = false) { return make(usual_bound(), checksum); }

  // Returns the allowed distance of the decoded value from x.
  static double allowed(const Codec& codec, double x) {
    const Bound bound = codec.contract().bound;
    if (bound.kind == Bound::Kind::rate) return std::numeric_limits<double>::infinity();
    return bound.kind == Bound::Kind::pointwise ? bound.value * std::abs(x) : bound.value;
  }

  static FrameBytes encoded(const Codec& codec, ConstSlice values) {
    FrameBytes frame(codec.max_bytes(values.type, values.count));
    const SizeOrStatus size = codec.encode(values, frame);
    EXPECT_EQ(size.status, Status::ok);
    EXPECT_LE(size.bytes, frame.size());
    frame.resize(size.bytes);
    return frame;
  }

  template <class Check>
  static void for_all_inputs(Check check) {
    std::uint64_t seed = 0;
    for (const Bound bound : bounds()) {
      const auto codec = make(bound);
      for (const DType type : types()) {
        for (const Pattern pattern : patterns) {
          for (const std::size_t count : counts) {
            SCOPED_TRACE(testing::Message() << "bound " << bound.value << " " << name_of(type) << " pattern "
                                            << static_cast<int>(pattern) << " count " << count);
            check(*codec, make_values(type, count, pattern, ++seed));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
};

// Returns each codec under each kind of bound that it serves and whose contract is `wanted`.
inline std::vector<CodecCase> codec_cases(bool (*wanted)(const Contract&) = nullptr) {
  using Kind = Bound::Kind;
  std::vector<CodecCase> cases;
  for (const CodecInfo* codec : registered_codecs()) {
    for (const Kind kind : {Kind::exact, Kind::absolute, Kind::snap, Kind::pointwise, Kind::rate}) {
      if (!codec->serves(DType::f32, kind)) continue;
      const Bound bound = kind == Kind::exact ? Bound() : Bound(kind, kind == Kind::rate ? 8 : 1);
      if (wanted == nullptr || wanted(codec->make({.bound = bound})->contract()))
        cases.push_back({codec, kind});
    }
  }
  return cases;
}

inline std::string name_of_case(const testing::TestParamInfo<CodecCase>& info) {
  constexpr const char* kinds[] = {"exact", "absolute", "snap", "pointwise", "rate"};
  return std::string(info.param.codec->name) + "_" + kinds[static_cast<int>(info.param.kind)];
}

}  // namespace taut::test
