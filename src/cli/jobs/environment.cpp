#include "cli/jobs/environment.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "cli/arguments.hpp"
#include "compressor/base/options.hpp"

namespace taut::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_output = 65536;
constexpr int timeout_ms = 10'000;

// Reads until the end of the output, `most_output` bytes or the time limit. Returns false in the last case.
bool drain(int descriptor, std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  while (text.size() < most_output) {
    const auto gone =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    pollfd waiting{descriptor, POLLIN, 0};
    const int left = timeout_ms - static_cast<int>(gone.count());
    if (left <= 0 || poll(&waiting, 1, left) == 0) return false;
    char buffer[4096];
    const ssize_t n = read(descriptor, buffer, sizeof buffer);
    if (n <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return true;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::string variable(std::string_view name) {
  for (const char* const entry : environment()) {
    const std::string_view text = entry;
    if (text.starts_with(name) && text.substr(name.size()).starts_with('='))
      return std::string(text.substr(name.size() + 1));
  }
  return "";
}

int usable_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::optional<std::string> find_preload() {
  std::error_code error;
  if (!options().preload.empty()) {
    if (!fs::exists(options().preload, error)) return std::nullopt;
    return fs::absolute(options().preload, error).string();
  }
  const fs::path program = fs::canonical("/proc/self/exe", error);
  const fs::path prefix = program.parent_path().parent_path();
  std::vector<fs::path> folders = {prefix / "lib/taut", prefix / "lib64/taut", prefix / "lib", prefix};
  for (const auto& entry : fs::directory_iterator(prefix / "lib", error))  // lib/x86_64-linux-gnu/taut
    if (entry.is_directory(error)) folders.push_back(entry.path() / "taut");
  for (const fs::path& at : folders)
    if (fs::exists(at / "libtaut_preload.so", error)) return (at / "libtaut_preload.so").string();
  return std::nullopt;
}

std::string missing_preload_message() {
  if (!options().preload.empty())
    return "TAUT_PRELOAD=" + options().preload +
           ": there is no such file; name libtaut_preload.so, or unset it";
  return "libtaut_preload.so is not beside this program (../lib/taut); name it with TAUT_PRELOAD=/path/to/it";
}

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos)
    return access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  for (const fs::path folder : split(variable("PATH"), ':'))
    if (std::error_code error;
        access((folder / name).c_str(), X_OK) == 0 && !fs::is_directory(folder / name, error))
      return (folder / name).string();
  return std::nullopt;
}

namespace {

volatile std::sig_atomic_t running = 0;  // process that run_to_end() waits for

extern "C" void pass_on(int signal) { kill(running, signal); }

}  // namespace

int run_to_end(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& set) {
  std::vector<std::string> words = command, variables;
  for (const auto& [name, value] : set) variables.push_back(name + "=" + value);  // the first of two counts
  variables.insert(variables.end(), environment().begin(), environment().end());
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int one : {SIGINT, SIGQUIT}) sigaddset(&defaults, one);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  for (const int one : {SIGINT, SIGQUIT}) std::signal(one, SIG_IGN);
  pid_t child = -1;
  const int code = posix_spawnp(&child, command[0].c_str(), nullptr, &attributes, pointers(words).data(),
                                pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  if (code != 0) fail(command[0] + ": cannot be started: " + std::strerror(code));
  running = child;
  for (const int one : {SIGTERM, SIGHUP}) std::signal(one, pass_on);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Output output_of(const std::vector<std::string>& command, const std::vector<std::string>& more_environment) {
  Output output;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return output;
  std::vector<std::string> words = command, variables(environment().begin(), environment().end());
  // The first of two equal names takes effect.
  variables.insert(variables.begin(), more_environment.begin(), more_environment.end());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = -1;
  const int code = posix_spawnp(&child, command[0].c_str(), &actions, nullptr, pointers(words).data(),
                                pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (code == 0) {
    const bool ended = drain(ends[0], output.text);
    if (!ended) kill(child, SIGKILL);
    int status = 0;
    const bool waited = waitpid(child, &status, 0) == child;
    if (ended && waited && WIFEXITED(status)) output.status = WEXITSTATUS(status);
  }
  close(ends[0]);
  return output;
}

}  // namespace taut::cli
