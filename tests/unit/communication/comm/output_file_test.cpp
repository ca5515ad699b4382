#include "communication/comm/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace taut {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/taut_output_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    name_ = (folder_ / "report.json").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static bool put(std::FILE* file, const std::string& text) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size();
  }
  std::string content(const fs::path& file) const {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  std::string name_;
};

TEST_F(OutputFiles, AppearWhole) {
  EXPECT_EQ(write_file(name_, [&](std::FILE* file) { return put(file, "first") && !fs::exists(name_); }), 0);
  EXPECT_EQ(content(name_), "first");
  errno = ENOSPC;
  EXPECT_EQ(write_file(name_, [](std::FILE*) { return errno = ENOSPC, false; }), ENOSPC);
  EXPECT_EQ(content(name_), "first");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFiles, FollowNoLink) {
  const fs::path victim = folder_ / "victim";
  std::ofstream(victim) << "untouched";
  for (const fs::path& link : {fs::path(name_), fs::path(name_ + ".part")}) fs::create_symlink(victim, link);
  EXPECT_EQ(write_file(name_, [&](std::FILE* file) { return put(file, "report"); }), 0);
  EXPECT_EQ(content(victim), "untouched");
  EXPECT_EQ(content(name_), "report");
  EXPECT_FALSE(fs::is_symlink(name_));
}

TEST_F(OutputFiles, ReplaceNoDevice) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_TRUE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const std::string device = ptsname(terminal);
  EXPECT_EQ(write_file(device, [&](std::FILE* file) { return put(file, "report"); }), 0);
  char written[16] = {};
  EXPECT_EQ(::read(terminal, written, sizeof written), 6);
  EXPECT_STREQ(written, "report");
  close(terminal);
}

TEST_F(OutputFiles, GrantWhatTheUserGrants) {
  const mode_t before = umask(027);
  EXPECT_EQ(write_file(name_, [&](std::FILE* file) { return put(file, "x"); }), 0);
  umask(before);
  struct stat state {};
  ASSERT_EQ(stat(name_.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777, 0640u);
}

TEST_F(OutputFiles, WritersOfOneNameDoNotMeet) {
  const std::string texts[] = {std::string(100'000, 'a'), std::string(200'000, 'b')};
  std::vector<std::thread> writers;
  std::atomic<int> failures = 0;
  for (const std::string& text : texts)
    writers.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        failures += write_file(name_, [&](std::FILE* file) { return put(file, text); }) != 0;
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(content(name_) == texts[0] || content(name_) == texts[1]);
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace taut
