// taut decompress: restores the array file from a .taut file.
#include <cstdio>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/earlier_files.hpp"
#include "cli/progress.hpp"
#include "compressor/base/json.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/file/file_format.hpp"
#include "compressor/file/npy.hpp"

namespace taut::cli {
namespace {

constexpr Option options[] = {
    {"output", 'o', "OUT",
     "file to write, or a folder for all IN; default: IN without its ending .taut;\n-: standard output"},
    {"form", 0, "raw|npy", "of OUT; default: as what was compressed"},
    {"reference", 0, "OLD",
     "earlier file to which IN refers, as compress had it; also twice, the newest first"},
    {"series", 0, "",
     "each IN may refer to the one before, as compress --series had them; the first one\n"
     "refers to none"},
    {"force", 'f', "", "replace OUT if there is one"},
    {"quiet", 'q', "", "print nothing but errors"},
    {"json", 0, "", "print the summary as JSON"},
};

constexpr const char* details =
    "IN is a .taut file; -: standard input. Example: taut decompress wave.npy.taut -o wave.npy\n\n";

std::string usual_output(const std::string& input) {
  const std::string ending = ".taut";
  if (!input.ends_with(ending) || input.size() == ending.size())
    reject(input + ": does not end in .taut; name the output with -o");
  return input.substr(0, input.size() - ending.size());
}

Form output_form(const Arguments& arguments, Form original) {
  const auto text = arguments.value("form");
  if (!text) return original;
  if (*text != "raw" && *text != "npy") reject("--form: '" + *text + "' is unknown; use raw or npy");
  return *text == "raw" ? Form::raw : is_npy(original) ? original : Form::npy;
}

// Throws Failure unless --reference names as many files as the frames refer to, or the series has one.
void check_references(const FrameReader& reader, const EarlierFiles& earlier, const FileSeries* series,
                      const std::string& input) {
  const std::string needed = std::to_string(reader.references());
  if (earlier.size() == reader.references()) return;
  if (series != nullptr && reader.references() == 1)
    reject(input + ": refers to an earlier file, and " +
           (series->last().empty()
                ? "is the first one; begin with one that refers to none (taut info)"
                : series->last() + " cannot be that file: it holds other values or another number of "
                                   "them; give all files in the order of taut compress"));
  if (reader.references() == 0) reject("--reference: " + input + " refers to no other file; leave it out");
  reject(input + ": refers to " +
         (needed == "1" ? "an earlier file; name it" : "two earlier files; name both") +
         " with --reference, as for taut compress");
}

[[noreturn]] void fail_at_frame(const FrameReader& reader, const FileSeries* series,
                                const std::string& input) {
  if (reader.references() == 0) fail(input + ": is damaged (a frame); get the file again");
  if (series != nullptr)
    fail(input + ": refers to other values than those of " + series->last() +
         " before it, or is damaged; give all files in the order of taut compress");
  fail(
      input +
      ": refers to other values than --reference names, or is damaged; name the file that taut compress had");
}

// Decodes and writes all values; returns the seconds that decoding took.
double write_values(FrameReader& reader, EarlierFiles& earlier, FileSeries* series, OutputFile& output,
                    Progress& progress, const std::string& input) {
  const DType type = reader.array().type;
  std::size_t most = 0;
  for (const FrameEntry& entry : reader.entries()) most = std::max<std::size_t>(most, entry.values);
  const Room room(most * size_of(type));
  double seconds = 0;
  for (const FrameEntry& entry : reader.entries()) {
    const ConstBytes frame = reader.next();
    const Bytes values = room.first(entry.values * size_of(type));
    const EarlierValues before = earlier.next(entry.values);
    const auto start = Clock::now();
    if (!decode(frame, entry.values, type, values, before)) fail_at_frame(reader, series, input);
    seconds += seconds_since(start);
    if (series != nullptr) series->add(values);
    output.write(values);
    progress.advance(values.size());
  }
  return seconds;
}

// `series`: null if the file stands alone.
Exit decompress(const Arguments& arguments, const FileNames& names, FileSeries* series) {
  const InputFile file(names.input);
  FrameReader reader(file);
  Array array = reader.array();
  const bool refers_to_last = series != nullptr && reader.references() > 0;
  EarlierFiles earlier(arguments, array, file.path(), refers_to_last ? series : nullptr);
  check_references(reader, earlier, series, file.path());
  array.form = output_form(arguments, array.form);
  OutputFile output(names.output, arguments.has("force"));
  if (is_npy(array.form)) {
    const std::string header = npy_header(array);
    output.write(std::as_bytes(std::span(header)));
  }
  const bool as_json = arguments.has("json"), quiet = arguments.has("quiet");
  double seconds = 0;
  if (series != nullptr) series->begin(array);
  {
    Progress progress("decompressing", array.bytes(), quiet || as_json);
    seconds = write_values(reader, earlier, series, output, progress, file.path());
  }
  output.commit();
  if (series != nullptr) series->end(array, file.path());

  const double rate = static_cast<double>(array.bytes()) / seconds * 1e-9;
  if (as_json) {
    json::Object all;
    all.add("input", file.path()).add("output", output.path()).add("dtype", name_of(array.type));
    all.add_text("shape", json::list(array.shape, [](auto extent) { return json::text(extent); }));
    all.add("input_bytes", file.size()).add("output_bytes", output.written()).add("decode_gb_s", rate);
    std::fprintf(summary_stream(output), "%s\n", all.text().c_str());
  } else if (!quiet) {
    std::fprintf(
        summary_stream(output), "%s -> %s\n  values     %s %s, %llu bytes\n  speed      decode %s GB/s\n",
        file.path().c_str(), output.path().c_str(), text_of(array.shape).c_str(), name_of(array.type),
        static_cast<unsigned long long>(output.written()), rounded(rate, 3).c_str());
  }
  return Exit::ok;
}

Exit run(const Arguments& arguments) {
  check_one_refers(arguments);
  FileSeries series(0);
  return each_reported("decompress", file_names(arguments, usual_output), [&](const FileNames& names) {
    return decompress(arguments, names, arguments.has("series") ? &series : nullptr);
  });
}

}  // namespace

extern constinit const Command decompress_command{
    "decompress",
    "give back the array of a .taut file",
    "IN... [-o OUT] [--form raw|npy] [--reference OLD | --series]",
    details,
    options,
    run};

}  // namespace taut::cli
