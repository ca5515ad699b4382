// Fixture for tests of every registered codec with each kind of bound that it serves. Each test iterates over
// the codec's types, bounds, predictors and kernel sets.
#pragma once

#include <gtest/gtest.h>

#include "support/group.hpp"
#include "support/guarded.hpp"
#include "support/subjects.hpp"

namespace taut::test {

struct SubjectCase {
  const CodecInfo* info;
  Bound::Kind kind;
};

using FrameBytes = std::vector<std::byte>;

class EverySubject : public testing::TestWithParam<SubjectCase> {
 protected:
  // Calls check with each subject of the test case.
  template <class Check>
  static void for_subjects(bool checksum, Check check) {
    for (const Subject& subject : subjects_of(*GetParam().info, checksum)) {
      if (subject.options.bound.kind != GetParam().kind) continue;
      SCOPED_TRACE(subject.name());
      check(subject);
      if (HasFatalFailure()) return;
    }
  }

  // Calls check with each subject of the test case, its codec and its frame of some data of this size.
  template <class Check>
  static void for_frames(bool checksum, const std::vector<std::size_t>& counts, Check check) {
    for_subjects(checksum, [&](const Subject& subject) {
      const auto codec = subject.make();
      for (const std::size_t count : counts) {
        SCOPED_TRACE(testing::Message() << count << " values");
        const Values values = data(subject.type, count, count);
        check(subject, values, encoded(*codec, values));
        if (HasFatalFailure()) return;
      }
    });
  }

  // Returns incompressible noise, some zeros, and values that codecs treat as exceptions.
  static Values data(DType type, std::size_t count, std::uint64_t seed) {
    Values values = make_values(type, count, Pattern::noisy, seed);
    for (std::size_t i = 20; i < count; i += 97) values.set(i, i % 2 == 0 ? 1e30 : INFINITY);
    for (std::size_t i = 40; i < std::min<std::size_t>(count, 60); ++i) values.set(i, 0);
    return values;
  }

  static FrameBytes encoded(const Codec& codec, const Values& values) {
    FrameBytes frame(codec.max_bytes(values.type(), values.count()));
    const SizeOrStatus size = codec.encode(values.slice(), frame);
    EXPECT_EQ(size.status, Status::ok);
    frame.resize(size.bytes);
    return frame;
  }
};

inline std::vector<SubjectCase> subject_cases(bool adding_only = false) {
  std::vector<SubjectCase> cases;
  for (const CodecInfo* info : registered_codecs()) {
    for (const Subject& subject : subjects_of(*info, false)) {
      const SubjectCase one{info, subject.options.bound.kind};
      const bool known = std::ranges::any_of(
          cases, [&](const SubjectCase& other) { return other.info == info && other.kind == one.kind; });
      if (!known && (!adding_only || subject.make()->arithmetic() != nullptr)) cases.push_back(one);
    }
  }
  return cases;
}

inline std::string name_of_subject(const testing::TestParamInfo<SubjectCase>& info) {
  return std::string(info.param.info->name) + "_" + name_of(info.param.kind);
}

}  // namespace taut::test
