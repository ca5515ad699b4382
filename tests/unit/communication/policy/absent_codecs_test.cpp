// Codecs that need a library which this build lacks.
#include <gtest/gtest.h>

#include <algorithm>

#include "communication/policy/plan/policy.hpp"

namespace taut {
namespace {

std::string refusal(const std::string& policy) {
  try {
    parse_policy(policy);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_policy);
    return error.what();
  }
  return "";
}

TEST(AbsentCodecs, AreThereOrSaidToBeMissingWithARemedy) {
  for (const AbsentCodec& absent : absent_codecs()) {
    EXPECT_EQ(find_codec(absent.name), nullptr);
    EXPECT_NE(refusal(std::string("abs:1,codec=") + absent.name).find(absent.remedy), std::string::npos);
  }
}

TEST(AbsentCodecs, ZfpIsEitherThereOrAbsent) {
  const auto is_zfp = [](const AbsentCodec& absent) { return std::string_view(absent.name) == "zfp"; };
  EXPECT_NE(find_codec("zfp") != nullptr, std::ranges::any_of(absent_codecs(), is_zfp));
}

TEST(AbsentCodecs, ARateNamesWhatItNeeds) {
  const std::string message = refusal("rate:8");
  EXPECT_EQ(message.empty(), find_codec("zfp") != nullptr) << message;
  for (const AbsentCodec& absent : absent_codecs()) EXPECT_NE(message.find(absent.remedy), std::string::npos);
}

}  // namespace
}  // namespace taut
