// Runs a fuzz target without libFuzzer: first the given inputs, then mutations of them. Accepts these options
// of libFuzzer and ignores others:
//
//   -runs=N -seed=N -max_total_time=SECONDS -timeout=SECONDS -max_len=BYTES -artifact_prefix=PATH
//   FILE|FOLDER...
//
// A crash, a broken promise or an input that takes longer than -timeout ends the program; the driver writes
// the input to PATHcrash-NUMBER. The driver has no coverage feedback: a run with libFuzzer finds more.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "mutation.hpp"
#include "support/test_size.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace {

using taut::fuzz::Bytes8;
using Clock = std::chrono::steady_clock;

struct Options {
  std::uint64_t runs = 0, seed = 1, seconds = 0, timeout = 10, most_bytes = 65536;
  std::string artifacts;
  std::vector<std::string> paths;
};

// The input that a signal handler writes to a file when the program dies, and its number.
const Bytes8* current = nullptr;
volatile std::uint64_t current_number = 0;
std::uint64_t seconds_for_input = 0;
char artifact[4096];
std::size_t artifact_prefix = 0;  // characters of `artifact` before the number

void name_artifact(std::uint64_t number) noexcept {
  char digits[20];
  std::size_t n = 0, at = artifact_prefix;
  do digits[n++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) > 0);
  while (n > 0) artifact[at++] = digits[--n];
  artifact[at] = 0;
}

void save_input() {
  if (current == nullptr) return;
  name_artifact(current_number);
  const int file = open(artifact, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  const bool written = write(file, current->data(), current->size()) == static_cast<ssize_t>(current->size());
  close(file);
  current = nullptr;
  constexpr std::string_view told = "Test unit written to ";
  if (!written || write(2, told.data(), told.size()) < 0 ||
      write(2, artifact, std::char_traits<char>::length(artifact)) < 0 || write(2, "\n", 1) < 0)
    _exit(78);
}

// Returns true if the current input has run for longer than the limit. The timer's signal calls this function
// each second.
bool took_too_long() noexcept {
  static std::uint64_t before = 0, seconds = 0;
  seconds = std::exchange(before, current_number) == current_number ? seconds + 1 : 0;
  return current != nullptr && seconds > seconds_for_input;
}

void on_signal(int signal) {
  if (signal == SIGALRM) {
    if (!took_too_long()) return;
    constexpr std::string_view told = "ERROR: timeout: this input takes too long\n";
    if (write(2, told.data(), told.size()) < 0) _exit(78);
  }
  save_input();
  _exit(77);
}

void watch(const Options& options) {
  seconds_for_input = options.timeout;
  std::snprintf(artifact, sizeof artifact - 20, "%scrash-%llu-", options.artifacts.c_str(),
                static_cast<unsigned long long>(options.seed));
  artifact_prefix = std::char_traits<char>::length(artifact);
  for (const int signal : {SIGABRT, SIGALRM, SIGILL, SIGTRAP}) std::signal(signal, on_signal);
  if (__sanitizer_set_death_callback != nullptr)
    __sanitizer_set_death_callback(save_input);
  else
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, on_signal);
  const itimerval each_second{{1, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &each_second, nullptr);
}

void run(const Bytes8& input, std::uint64_t number) {
  current_number = number;
  current = &input;
  LLVMFuzzerTestOneInput(input.data(), input.size());
  current = nullptr;
}

Bytes8 read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Reads the inputs in the order of their names, so that a run can be repeated.
std::vector<Bytes8> read_inputs(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Bytes8> inputs;
  for (const auto& file : files) inputs.push_back(read_file(file));
  return inputs;
}

Options read_options(int argc, char** argv) {
  Options options;
  struct {
    std::string_view name;
    std::uint64_t* value;
  } const numbers[] = {{"-runs=", &options.runs},
                       {"-seed=", &options.seed},
                       {"-max_total_time=", &options.seconds},
                       {"-timeout=", &options.timeout},
                       {"-max_len=", &options.most_bytes}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("-")) options.paths.emplace_back(argument);
    if (argument.starts_with("-artifact_prefix="))
      options.artifacts = argument.substr(argument.find('=') + 1);
    for (const auto& [name, value] : numbers)
      if (argument.starts_with(name)) *value = std::strtoull(argv[i] + name.size(), nullptr, 10);
  }
  options.runs = taut::test::sampled_part(options.runs);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  const std::vector<Bytes8> corpus = read_inputs(options.paths);
  if (corpus.empty()) {
    std::fprintf(stderr, "no inputs; usage: %s [-runs=N] [-max_total_time=S] FILE|FOLDER...\n", argv[0]);
    return 2;
  }
  watch(options);
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::uint64_t done = 0;
  for (const Bytes8& input : corpus) run(input, done++);
  taut::fuzz::Mutation mutation(corpus, options.most_bytes, options.seed);
  double told = 0;
  const auto more = [&] {
    if (options.seconds == 0) return done < options.runs;
    return done % 64 != 0 || elapsed() < static_cast<double>(options.seconds);
  };
  while (more()) {
    run(mutation.next(), done++);
    if (done % 64 != 0 || elapsed() - told < 10) continue;
    told = elapsed();
    std::fprintf(stderr, "#%llu after %.0f s\n", static_cast<unsigned long long>(done), told);
  }
  std::fprintf(stderr, "Done %llu runs in %.1f s\nstat::number_of_executed_units: %llu\n",
               static_cast<unsigned long long>(done), elapsed(), static_cast<unsigned long long>(done));
  return 0;
}
