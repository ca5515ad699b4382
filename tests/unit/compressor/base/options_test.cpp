#include "compressor/base/options.hpp"

#include <gtest/gtest.h>

namespace taut {
namespace {

Options read(std::vector<const char*> environment) { return read_options(environment); }

TEST(Options, Defaults) {
  const Options o = read({"HOME=/", "PATH=/bin", "TAUTOLOGY=1"});
  EXPECT_TRUE(o.enabled);
  EXPECT_EQ(o.kernels, "");
  EXPECT_FALSE(o.observe());
  EXPECT_TRUE(o.warnings.empty());
}

TEST(Options, AreRead) {
  EXPECT_FALSE(read({"TAUT=0"}).enabled);
  EXPECT_FALSE(read({"TAUT=off"}).enabled);
  EXPECT_TRUE(read({"TAUT=1"}).enabled);
  EXPECT_EQ(read({"TAUT_KERNELS=scalar"}).kernels, "scalar");
  EXPECT_EQ(read({"TAUT_REPORT=a=%r.json"}).report, "a=%r.json");
  EXPECT_EQ(read({"TAUT_TRACE=trace.json"}).trace, "trace.json");
  EXPECT_TRUE(read({"TAUT_SUMMARY=1"}).summary);
  EXPECT_FALSE(read({}).nccl_in_flight);
  EXPECT_TRUE(read({"TAUT_NCCL_IN_FLIGHT=1"}).nccl_in_flight);
  EXPECT_EQ(read({}).nccl_timeout, 600);
  EXPECT_EQ(read({"TAUT_NCCL_TIMEOUT=1800"}).nccl_timeout, 1800);
  EXPECT_EQ(read({"TAUT_RULES=* : off"}).rules, "* : off");
  EXPECT_EQ(read({"TAUT_CONFIG=run.toml"}).config, "run.toml");
  EXPECT_EQ(read({"TAUT_PRELOAD=/x.so"}).preload, "/x.so");
  EXPECT_FALSE(read({"TAUT_SUMMARY=0"}).observe());
  EXPECT_EQ(read({}).cuda_aware, std::nullopt);
  EXPECT_EQ(read({"TAUT_CUDA_AWARE=1"}).cuda_aware, true);
  EXPECT_EQ(read({"TAUT_CUDA_AWARE=0"}).cuda_aware, false);
  for (const char* one : {"TAUT_REPORT=x", "TAUT_TRACE=x", "TAUT_SUMMARY=1"})
    EXPECT_TRUE(read({one}).observe());
}

TEST(Options, UnknownNamesAndValuesWarn) {
  ASSERT_EQ(read({"TAUT_KERNEL=scalar"}).warnings.size(), 1u);
  EXPECT_NE(read({"TAUT_KERNEL=scalar"}).warnings[0].find("TAUT_KERNEL "), std::string::npos);
  EXPECT_NE(read({"TAUT_RULE=x"}).warnings[0].find("did you mean TAUT_RULES?"), std::string::npos);
  EXPECT_NE(read({"TAUT_COMPLETELY_OTHER=x"}).warnings[0].find("docs/configuration.md"), std::string::npos);
  EXPECT_EQ(read({"TAUT=maybe"}).warnings.size(), 1u);
  EXPECT_TRUE(read({"TAUT=maybe"}).enabled);
  EXPECT_EQ(read({"TAUT_SUMMARY=yes"}).warnings.size(), 1u);
}

TEST(Options, EveryOptionHasADescription) {
  for (const OptionInfo& option : known_options()) {
    EXPECT_NE(std::string(option.summary), "");
    EXPECT_TRUE(read({(std::string(option.name) + "=1").c_str()}).warnings.empty()) << option.name;
  }
}

}  // namespace
}  // namespace taut
