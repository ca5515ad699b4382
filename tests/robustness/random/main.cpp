// taut_random: runs random configurations on loopback, and with --faults random faults. taut_random_gpus: the
// same, on memory of simulated GPUs.
//
//   --count N    how many                                           (300)
//   --seed S     which ones                                         (1)
//   --first N    number of the first one                            (0)
//   --only N     this one alone, and say what it is
//   --kind TEXT  teams (taut_random), communicators or faults alone (all but faults, in turn)
//   --faults     the same as --kind faults
//   --limit N    seconds that one may take before it counts as hung (60)
//
// TEST_ONE_IN=n in the environment runs the n-th part of them.
//
// A failure ends the run and prints the command that repeats it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "robustness/random/configurations.hpp"
#include "robustness/random/last_words.hpp"
#include "robustness/random/watchdog.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace {

struct Options {
  std::uint64_t count = 300, seed = 1, first = 0;
  std::string program, kind;
  int limit = 60;
  bool alone = false;
};

Options read_options(int argc, char** argv) {
  Options options;
  options.program = std::string(argv[0]).substr(std::string(argv[0]).rfind('/') + 1);
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--faults") {
      options.kind = "faults";
      continue;
    }
    if (i + 1 == argc)
      throw std::runtime_error("'" + name + "' is no option, or lacks its value; see main.cpp");
    const std::string value = argv[++i];
    if (name == "--count")
      options.count = std::stoull(value);
    else if (name == "--seed")
      options.seed = std::stoull(value);
    else if (name == "--first")
      options.first = std::stoull(value);
    else if (name == "--only")
      options.first = std::stoull(value), options.count = 1, options.alone = true;
    else if (name == "--kind")
      options.kind = value;
    else if (name == "--limit")
      options.limit = std::stoi(value);
    else
      throw std::runtime_error("'" + name + "' is no option; see main.cpp");
  }
  if (!options.alone) options.count = sampled_part(options.count);
  return options;
}

// Returns the configuration of the kind that is asked for, else of all kinds but the last one in turn.
Configuration kind_of(const Options& options, std::uint64_t number) {
  const std::span<const Kind> all = kinds();
  if (options.kind.empty()) return all[number % (all.size() - 1)].run;
  const auto found = std::ranges::find(all, options.kind, [](const Kind& kind) { return kind.name; });
  if (found == all.end()) throw std::runtime_error("no kind is named '" + options.kind + "'; see main.cpp");
  return found->run;
}

class Run {
 public:
  explicit Run(const Options& options) : options_(options), watchdog_(options.limit) {}

  bool go() {
    for (std::uint64_t number = options_.first; number < options_.first + options_.count; ++number) {
      const std::string again = reproduction(number);
      watchdog_.begin(again);
      std::string what;
      LastWords::set("FAILED " + again + "\n  crashed", &what);
      const std::string wrong = run(number, what);
      if (options_.alone) std::printf("%s\n", what.c_str());
      if (!wrong.empty()) {
        std::printf("FAILED %s\n  %s\n  %s\n", again.c_str(), what.c_str(), wrong.c_str());
        return false;
      }
      show(number + 1 - options_.first, false);
    }
    watchdog_.end();
    LastWords::set("FAILED at the end of the program");
    show(options_.count, true);
    return !vacuous();
  }

 private:
  // Returns true if many configurations proved little: most calls fell back, or no error came near its bound.
  bool vacuous() const {
    const bool enough = tally_.plain < tally_.calls / 2 && tally_.exactness.worst > 0.1;
    if (options_.count < 300 || enough) return false;
    std::printf("FAILED: most calls were left to plain MPI, or no error came near its bound\n");
    return true;
  }
  std::string run(std::uint64_t number, std::string& what) {
    Draw draw(options_.seed, number);
    try {
      return kind_of(options_, number)(machine(), draw, tally_, what);
    } catch (const std::exception& error) {
      return std::string("threw: ") + error.what();
    }
  }
  std::string reproduction(std::uint64_t number) const {
    return options_.program + " --seed " + std::to_string(options_.seed) + " --only " +
           std::to_string(number) + (options_.kind.empty() ? "" : " --kind " + options_.kind);
  }
  void show(std::uint64_t done, bool last) {
    const auto now = std::chrono::steady_clock::now();
    if (!last && now - shown_ < std::chrono::seconds(isatty(1) != 0 ? 1 : 30)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    std::printf(
        "%llu of %llu configurations, %llu calls (%llu left to plain MPI), worst error %.4f of its bound",
        number(done), number(options_.count), number(tally_.calls), number(tally_.plain),
        tally_.exactness.worst);
    if (options_.kind == "faults")
      std::printf("; %llu ended by a status, %llu with the job", number(tally_.errors), number(tally_.ended));
    std::printf(", %.0f s%s\n", seconds, last ? ": no failure" : "");
    if (last) {
      std::printf("%s", work_of_machine().c_str());
      show_faults();
    }
    std::fflush(stdout);
  }
  void show_faults() const {
    for (std::size_t i = 0; i < tally_.drawn.size(); ++i)
      if (tally_.drawn[i] != 0)
        std::printf("  %s: %llu, of which %llu struck\n", name_of_fault(i), number(tally_.drawn[i]),
                    number(tally_.struck[i]));
  }
  static unsigned long long number(std::uint64_t n) noexcept { return n; }

  Options options_;
  LastWords last_words_;
  Watchdog watchdog_;
  Tally tally_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), shown_ = began_;
};

}  // namespace
}  // namespace taut::test

int main(int argc, char** argv) {
  try {
    return taut::test::Run(taut::test::read_options(argc, argv)).go() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taut_random: %s\n", error.what());
    return 2;
  }
}
