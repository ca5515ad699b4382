// taut info: prints the contents of a .taut file.
#include <cstdio>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "compressor/base/json.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/file/file_format.hpp"
#include "compressor/file/files.hpp"

namespace taut::cli {
namespace {

constexpr Option options[] = {
    {"frames", 0, "", "list the frames too; reads them all and checks their checksums"},
    {"json", 0, "", "print it as JSON"},
};

constexpr const char* details =
    "FILE -: standard input. Without --frames only the first frame is read, whose codec and bound are "
    "shown.\n"
    "Example: taut info wave.f32.taut\n\n";

struct FrameLine {
  FrameEntry entry;
  FrameFacts facts;
};

// Reads the codec and bound of the first frame, or of all frames.
std::vector<FrameLine> read_lines(FrameReader& reader, bool all, const std::string& path) {
  std::vector<FrameLine> lines;
  for (const FrameEntry& entry : reader.entries()) {
    if (!all && !lines.empty()) break;
    FrameLine& line = lines.emplace_back(FrameLine{entry, {}});
    if (!read_facts(reader.next(), line.facts)) fail(path + ": is damaged (a frame); get the file again");
  }
  return lines;
}

double ratio(const Array& array, std::uint64_t bytes) {
  return static_cast<double>(array.bytes()) / static_cast<double>(bytes);
}

// Returns a state number as `info` shows it.
std::string state_text(std::uint64_t state) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state));
  return text;
}

std::string states_text(const FrameFacts& facts) {
  std::string all;
  for (const std::uint64_t state : facts.states) all.append(all.empty() ? "" : " ").append(state_text(state));
  return all.empty() ? "none" : all;
}

std::string json_of(const FrameLine& line) {
  json::Object frame;
  frame.add("values", line.entry.values).add("bytes", line.entry.bytes);
  frame.add("codec", line.facts.codec).add("bound", text_of(line.facts.bound));
  if (!line.facts.states.empty())
    frame.add_text("references",
                   json::list(line.facts.states, [](auto state) { return json::text(state_text(state)); }));
  return frame.text();
}

const char* name_of(Form form) {
  return form == Form::raw ? "raw" : form == Form::npy ? "npy" : "npy (Fortran order)";
}

void print_json(const InputFile& file, const FrameReader& reader, std::span<const FrameLine> lines,
                bool all_frames) {
  const Array& array = reader.array();
  json::Object all;
  all.add("file", file.path()).add("dtype", taut::name_of(array.type)).add("form", name_of(array.form));
  all.add_text("shape", json::list(array.shape, [](auto extent) { return json::text(extent); }));
  all.add("values", array.count()).add("value_bytes", array.bytes()).add("file_bytes", file.size());
  all.add("ratio", ratio(array, file.size()))
      .add("bound", reader.coding())
      .add("frames", reader.entries().size())
      .add("references", reader.references());
  if (!lines.empty()) all.add_text("first_frame", json_of(lines[0]));
  if (all_frames) all.add_text("all_frames", json::list(lines, json_of));
  std::puts(all.text().c_str());
}

void print(const InputFile& file, const FrameReader& reader, std::span<const FrameLine> lines,
           bool all_frames) {
  const Array& array = reader.array();
  std::printf("%s\n  values     %s %s, %llu bytes, from %s\n  coded      %s\n", file.path().c_str(),
              text_of(array.shape).c_str(), taut::name_of(array.type),
              static_cast<unsigned long long>(array.bytes()), name_of(array.form), reader.coding().c_str());
  std::printf("  ratio      %.2f, %llu bytes\n  frames     %zu", ratio(array, file.size()),
              static_cast<unsigned long long>(file.size()), reader.entries().size());
  if (!lines.empty())
    std::printf("; the first: %s, %s", lines[0].facts.codec.c_str(), text_of(lines[0].facts.bound).c_str());
  std::puts("");
  const bool refers = reader.references() > 0;
  if (refers)
    std::printf("  refers     to %s\n", reader.references() == 1
                                            ? "an earlier file, which decompress needs"
                                            : "two earlier files, which decompress needs");
  if (!all_frames) return;
  std::printf("\n  %-7s %-10s %-12s %-8s %-8s %s%s\n", "frame", "values", "bytes", "ratio", "codec", "bound",
              refers ? "; states of the values referred to" : "");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const FrameLine& line = lines[i];
    const double values_bytes =
        static_cast<double>(line.entry.values) * static_cast<double>(size_of(array.type));
    std::printf("  %-7zu %-10u %-12llu %-8.2f %-8s %s%s%s\n", i, line.entry.values,
                static_cast<unsigned long long>(line.entry.bytes),
                values_bytes / static_cast<double>(line.entry.bytes), line.facts.codec.c_str(),
                text_of(line.facts.bound).c_str(), refers ? "; " : "",
                refers ? states_text(line.facts).c_str() : "");
  }
}

Exit show(const Arguments& arguments, const std::string& name) {
  const InputFile file(name);
  FrameReader reader(file);
  const bool all = arguments.has("frames");
  const std::vector<FrameLine> lines = read_lines(reader, all, file.path());
  (arguments.has("json") ? print_json : print)(file, reader, lines, all);
  return Exit::ok;
}

Exit run(const Arguments& arguments) {
  return each_reported("info", input_names(arguments, "FILE"),
                       [&](const std::string& name) { return show(arguments, name); });
}

}  // namespace

extern constinit const Command info_command{
    "info", "what a .taut file holds", "FILE... [--frames] [--json]", details, options, run};

}  // namespace taut::cli
