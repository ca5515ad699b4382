// make_golden FOLDER: writes FOLDER/frames.txt and the archives FOLDER/<codec>.tar again (make golden).
// Changes of these files need a review: docs/testing.md.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "golden/archive.hpp"
#include "golden/frames.hpp"

namespace taut::test {
namespace {

constexpr std::size_t most_bytes = std::size_t{2} << 20;

void write(const std::filesystem::path& path, ConstBytes bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw Error(Status::internal, "cannot write " + path.string());
}

constexpr const char* heading =
    "# name, codec, type, bound, predictor, pattern, values, addends, bytes, FNV-1a of the frame and of the "
    "values, references\n";

// Returns the table's lines for codecs that need a library and are not built in. These lines and the codecs'
// archives are kept.
std::string lines_of_absent_codecs(const std::filesystem::path& folder) {
  std::ifstream table(folder / "frames.txt");
  std::string kept;
  for (std::string line; std::getline(table, line);) {
    std::string name, codec;
    std::istringstream(line) >> name >> codec;
    if (!line.starts_with("#") && find_codec(codec.c_str()) == nullptr) kept += line + "\n";
  }
  return kept;
}

int make(const std::filesystem::path& folder) {
  const std::string others = lines_of_absent_codecs(folder);
  std::string table = heading;
  std::map<std::string, Archive> archives;
  std::size_t frames = 0, bytes = 0;
  for (const Golden& golden : golden_frames()) {
    std::vector<std::byte> frame = golden.encode("scalar");
    table += golden_line(golden, frame, golden.decode(frame, "scalar")) + "\n";
    ++frames;
    bytes += frame.size();
    archives[golden.subject.info->name].emplace_back(golden.name() + ".taut", std::move(frame));
  }
  table += others;
  write(folder / "frames.txt", std::as_bytes(std::span(table)));
  for (const auto& [codec, archive] : archives) write_archive(folder / (codec + ".tar"), archive);
  std::printf("%zu frames, %zu bytes\n", frames, bytes);
  return bytes <= most_bytes
             ? 0
             : (std::fprintf(stderr, "more than %zu bytes: make them fewer\n", most_bytes), 1);
}

}  // namespace
}  // namespace taut::test

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: make_golden FOLDER\n"), 2;
  try {
    return taut::test::make(argv[1]);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "make_golden: %s\n", error.what()), 1;
  }
}
