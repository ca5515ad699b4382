#include "cli/arguments.hpp"

#include <filesystem>
#include <set>

#include "compressor/file/files.hpp"

namespace taut::cli {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& name) {
  std::error_code ignored;
  return name.ends_with('/') || fs::is_directory(name, ignored);
}

void make_folder(const std::string& name) {
  std::error_code error;
  fs::create_directories(name, error);
  if (error) throw Failure(Exit::failed, name + ": this folder cannot be made: " + error.message());
}

std::string output_in_folder(const std::string& folder, const std::string& input,
                             std::string (*default_output)(const std::string&)) {
  if (input == standard_stream)
    reject("--output: " + folder + " is a folder; name the file for standard input");
  return fs::path(folder) / fs::path(default_output(input)).filename();
}

}  // namespace

const std::vector<std::string>& input_names(const Arguments& arguments, const char* what) {
  if (arguments.names().empty()) reject(std::string(what) + " is missing; --help shows the arguments");
  return arguments.names();
}

std::vector<FileNames> file_names(const Arguments& arguments,
                                  std::string (*default_output)(const std::string& input)) {
  const std::vector<std::string>& inputs = input_names(arguments, "IN");
  const auto output = arguments.value("output");
  const bool to_folder = output && is_folder(*output);
  if (output && !to_folder && inputs.size() > 1)
    reject("--output " + *output + ": is one file for " + std::to_string(inputs.size()) +
           " inputs; name a folder, " + *output + "/");
  std::vector<FileNames> all;
  std::set<std::string> outputs;
  for (const std::string& input : inputs) {
    const bool piped = !output && input == standard_stream;
    all.push_back({input, to_folder ? output_in_folder(*output, input, default_output)
                          : output  ? *output
                          : piped   ? standard_stream
                                    : default_output(input)});
    if (!outputs.insert(all.back().output).second)
      reject(input + ": would go to " + all.back().output + ", as another input does; give them one by one");
  }
  if (to_folder && !fs::is_directory(*output)) make_folder(*output);
  return all;
}

}  // namespace taut::cli
