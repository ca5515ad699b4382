// taut: the command line program. Each command has its own file and an entry here.
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "cli/command.hpp"

namespace taut::cli {
namespace {

void print_help() {
  std::printf("taut: %s\n\nusage: taut COMMAND [ARGUMENTS]\n\n", program_summary);
  for (const Command* command : all_commands()) std::printf("  %-12s  %s\n", command->name, command->summary);
  std::puts("\nin the Python package; report and trace run wherever python3 is:");
  for (const PythonCommand& command : python_commands())
    std::printf("  %-12s  %s\n", command.name, command.summary);
  std::printf("\ntaut COMMAND --help tells more; taut --version names the version.\n%s", exit_codes);
}

void print_help(const Command& command) {
  std::printf("taut %s: %s\n\nusage: taut %s %s\n\n%s  -h, --help              this text\n\n%s%s",
              command.name, command.summary, command.name, command.synopsis,
              describe(command.options).c_str(), command.details, exit_codes);
}

Exit run(const Command& command, std::span<const char* const> words) {
  const auto asks_help = [](std::string_view word) { return word == "--help" || word == "-h"; };
  if (std::ranges::any_of(words, asks_help)) {
    print_help(command);
    return Exit::ok;
  }
  return command.run(Arguments(command.options, words, command.takes_command));
}

// Says where a command of the Python package is found. The package starts this program for other commands
// only.
Exit name_python_package(const PythonCommand& command) {
  const std::string extra =
      command.extra[0] == 0 ? "" : std::string(" with its extra [") + command.extra + "]";
  std::fprintf(stderr,
               "taut %s: is a command of the Python package, which this installation lacks; install it%s "
               "(docs/start/python.md)\n",
               command.name, extra.c_str());
  return Exit::usage;
}

// Becomes the command of the modules that are installed with this program, if they are there.
Exit become_python3(const PythonCommand& command, std::span<const char* const> words) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::canonical("/proc/self/exe", error);
  const std::string modules = (program.parent_path().parent_path() / "share/taut/python").string();
  if (!std::filesystem::exists(modules, error)) return name_python_package(command);
  // Isolated from the user's modules, and without files of compiled code in the installation.
  std::vector<const char*> line{"python3", "-IB", modules.c_str(), command.name};
  line.insert(line.end(), words.begin(), words.end());
  line.push_back(nullptr);
  execvp(line[0], const_cast<char* const*>(line.data()));
  std::fprintf(stderr, "taut %s: python3 cannot be started: %s\n", command.name, std::strerror(errno));
  return Exit::failed;
}

Exit dispatch(std::span<const char* const> words) {
  const std::string_view first = words.empty() ? "--help" : words[0];
  for (const Command* command : all_commands())
    if (first == command->name)
      return reported(command->name, [&] { return run(*command, words.subspan(1)); });
  if (first == "--version") {
    int major = 0, minor = 0, patch = 0;
    TAUT_Get_version(&major, &minor, &patch);
    std::printf("taut %d.%d.%d\n", major, minor, patch);
    return Exit::ok;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    print_help();
    return Exit::ok;
  }
  for (const PythonCommand& command : python_commands())
    if (first == command.name)
      return command.is_alone ? become_python3(command, words.subspan(1)) : name_python_package(command);
  std::fprintf(stderr, "taut: unknown command '%.*s'; taut --help lists them\n",
               static_cast<int>(first.size()), first.data());
  return Exit::usage;
}

}  // namespace
}  // namespace taut::cli

int main(int argc, char** argv) {
  const std::span<const char* const> words(argv + 1, argc > 1 ? static_cast<std::size_t>(argc - 1) : 0);
  const auto code = taut::cli::dispatch(words);
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return static_cast<int>(written ? code : taut::cli::Exit::failed);
}
