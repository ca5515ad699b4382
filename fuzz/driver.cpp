// Runs a fuzz target without libFuzzer: first the given inputs, then mutations of them. Accepts these options
// of libFuzzer and ignores others:
//
//   -runs=N -seed=N -max_total_time=SECONDS -timeout=SECONDS -max_len=BYTES -artifact_prefix=PATH
//   FILE|FOLDER...
//
// A crash, a broken promise or an input that takes longer than -timeout ends the program; the driver writes
// the input to PATHcrash-NUMBER. The driver has no coverage feedback: a run with libFuzzer finds more.
#include <fcntl.h>
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

// The input that a signal handler writes to a file when the program dies.
const Bytes8* current = nullptr;
char artifact[4096];

void save_input() {
  if (current == nullptr) return;
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

void on_signal(int signal) {
  if (signal == SIGALRM) {
    constexpr std::string_view told = "ERROR: timeout: this input takes too long\n";
    if (write(2, told.data(), told.size()) < 0) _exit(78);
  }
  save_input();
  _exit(77);
}

void watch() {
  for (const int signal : {SIGABRT, SIGALRM, SIGILL, SIGTRAP}) std::signal(signal, on_signal);
  if (__sanitizer_set_death_callback != nullptr)
    __sanitizer_set_death_callback(save_input);
  else
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, on_signal);
}

void run(const Bytes8& input, const Options& options, std::uint64_t number) {
  std::snprintf(artifact, sizeof artifact, "%scrash-%llu-%llu", options.artifacts.c_str(),
                static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(number));
  current = &input;
  alarm(static_cast<unsigned>(options.timeout));
  const Bytes8 exact(input);  // a copy without spare capacity, for sanitizers
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  alarm(0);
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
  watch();
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::uint64_t done = 0;
  for (const Bytes8& input : corpus) run(input, options, done++);
  taut::fuzz::Mutation mutation(corpus, options.most_bytes, options.seed);
  double told = 0;
  const auto more = [&] {
    return options.seconds > 0 ? elapsed() < static_cast<double>(options.seconds) : done < options.runs;
  };
  while (more()) {
    run(mutation.next(), options, done++);
    if (elapsed() - told < 10) continue;
    told = elapsed();
    std::fprintf(stderr, "#%llu after %.0f s\n", static_cast<unsigned long long>(done), told);
  }
  std::fprintf(stderr, "Done %llu runs in %.1f s\nstat::number_of_executed_units: %llu\n",
               static_cast<unsigned long long>(done), elapsed(), static_cast<unsigned long long>(done));
  return 0;
}
