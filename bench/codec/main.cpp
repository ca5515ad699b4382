// taut_bench_codec: speed of the codecs beside memcpy. Google Benchmark selects and runs the benchmarks;
// alternation.hpp times them. Google Benchmark would run memcpy and a kernel minutes apart, and the load of
// the machine changes in between. Each benchmark is therefore one iteration: a whole series of memcpy and
// kernel in alternation.
// Exit status: 0; 1 if a bound of Taut's is violated; 2 for a wrong command line.
#include <cstdio>
#include <exception>

#include "suite.hpp"

namespace {

int run(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  if (options.help) {
    std::fputs(bench::usage(), stdout);
    return 0;
  }
  return bench::run_suite(options, argc, argv) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taut_bench_codec: %s\n%s", error.what(), bench::usage());
    return 2;
  }
}
