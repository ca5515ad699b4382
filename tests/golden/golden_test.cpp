// Tests of the golden frames: the library still writes them byte for byte, and still decodes them to the same
// bits, with every kernel set.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "golden/archive.hpp"
#include "golden/frames.hpp"

namespace taut::test {
namespace {

const std::filesystem::path folder = TAUT_GOLDEN_FOLDER;
constexpr const char* remedy =
    "If that is meant: make golden, review the changes of tests/golden/frames.txt, commit them.";

std::vector<std::string> table() {
  std::vector<std::string> lines;
  std::ifstream file(folder / "frames.txt");
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with("#")) lines.push_back(line);
  return lines;
}

// Returns the archive of each codec that is built in, by the codec's name.
std::map<std::string, Archive> archives() {
  std::map<std::string, Archive> all;
  for (const CodecInfo* info : registered_codecs())
    all[info->name] = read_archive(folder / (std::string(info->name) + ".tar"));
  return all;
}

std::vector<const char*> kernels_of(const Golden& golden) {
  std::vector<const char*> names;
  for (const char* kernels : set_names) {
    Coding options = golden.subject.options;
    options.kernels = kernels;
    if (can_be_made(*golden.subject.info, golden.subject.type, options)) names.push_back(kernels);
  }
  return names;
}

TEST(Golden, EveryFrameDecodesToItsValuesAndIsWrittenAgain) {
  const std::vector<std::string> lines = table();
  const std::map<std::string, Archive> stored = archives();
  for (const Golden& golden : golden_frames()) {
    const ConstBytes frame = find_member(stored.at(golden.subject.info->name), golden.name() + ".taut");
    if (frame.empty()) continue;  // reported by the test below
    for (const char* kernels : kernels_of(golden)) {
      SCOPED_TRACE(golden.name() + ", " + kernels + ". " + remedy);
      EXPECT_TRUE(std::ranges::equal(golden.encode(kernels), frame));
      const std::string line = golden_line(golden, frame, golden.decode(frame, kernels));
      EXPECT_TRUE(std::ranges::find(lines, line) != lines.end()) << line;
    }
  }
}

// The table must match the codecs that are built in; some codecs need an external library.
TEST(Golden, TheTableNamesEveryCodecTypeAndBoundAndNothingElse) {
  std::vector<std::string> named, built_in, expected;
  for (const std::string& line : table()) {
    std::string name, codec;
    std::istringstream(line) >> name >> codec;
    named.push_back(name);
    if (find_codec(codec.c_str()) != nullptr) built_in.push_back(name);
  }
  for (const Golden& golden : golden_frames()) expected.push_back(golden.name());
  EXPECT_EQ(built_in, expected) << remedy;
  EXPECT_GE(named.size(), 200u);
  std::vector<std::string> archived;
  for (const auto& [codec, archive] : archives())
    for (const auto& [name, contents] : archive) archived.push_back(name);
  for (std::string& name : built_in) name += ".taut";
  std::ranges::sort(archived);
  std::ranges::sort(built_in);
  EXPECT_EQ(archived, built_in) << remedy;
}

// A decoder that reads all of them reads all that mpc writes of grids.
TEST(Golden, GridsHaveEveryForm) {
  std::set<std::pair<std::size_t, unsigned>> forms;  // bytes of a number, flags
  const std::map<std::string, Archive> stored = archives();
  for (const Golden& golden : golden_frames()) {
    if (golden.subject.options.predictor.name != "grid") continue;
    FrameHeader header;
    const ConstBytes frame = find_member(stored.at("mpc"), golden.name() + ".taut");
    ASSERT_EQ(read_header(frame, header), Status::ok) << golden.name();
    const std::size_t bytes = size_of(component_of(golden.subject.type));
    forms.emplace(bytes, header.parameters[0] & 0x70);
    forms.emplace(bytes, header.parameters[1] & 0x80);  // codes of integers alone
  }
  for (const std::size_t bytes : {4, 8})
    for (const unsigned form : {0x10, 0x20, 0x50, 0x60, 0x80, 0x00})
      EXPECT_TRUE(forms.contains({bytes, form})) << bytes << ", " << form;
}

TEST(Golden, FormulasGiveTheNumbersTheyShould) {
  EXPECT_EQ(float_bits({3, -1}, layout_of(DType::f32)), 0x3FC00000u);
  EXPECT_EQ(float_bits({-5, -140}, layout_of(DType::f32)), 0x80000A00u);
  EXPECT_EQ(float_bits({3, 100}, layout_of(DType::f64)), 0x4648000000000000u);
  EXPECT_EQ(float_bits({1, -24}, layout_of(DType::f16)), 1u);
  EXPECT_EQ(float_bits({2047, -1}, layout_of(DType::f16)), 0x63FFu);
  EXPECT_EQ(float_bits({3, 100}, layout_of(DType::f16)), 0x7C00u);
  EXPECT_EQ(float_bits({0, 0, GoldenNumber::nan}, layout_of(DType::bf16)), 0x7FC0u);
}

}  // namespace
}  // namespace taut::test
