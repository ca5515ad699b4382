// taut_exhaustive: checks every codec and bound over every float32, every half, and 10^9 float64 of all signs
// and exponents.
//
//   --journal FILE   where to note progress, and to resume from        (exhaustive.journal)
//   --json FILE      result                                            (none)
//   --only TEXT      proofs whose name contains it                     (all)
//   --limit N        patterns of each proof, evenly spread             (all)
//   --threads N      (all cores)
//   --identity TEXT  of the build: a journal of another build is refused (none)
//   --list           names the proofs
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

#include "compressor/base/json.hpp"
#include "exhaustive/patterns.hpp"
#include "exhaustive/progress.hpp"

namespace taut::exhaustive {
namespace {

struct Options {
  std::string journal = "exhaustive.journal", json, only, identity;
  std::uint64_t limit = ~std::uint64_t{0};
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  bool list = false;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--list") {
      options.list = true;
      continue;
    }
    if (i + 1 == argc)
      throw std::runtime_error("'" + name + "' is no option, or lacks its value; see main.cpp");
    const std::string value = argv[++i];
    if (name == "--journal")
      options.journal = value;
    else if (name == "--json")
      options.json = value;
    else if (name == "--only")
      options.only = value;
    else if (name == "--identity")
      options.identity = value;
    else if (name == "--limit")
      options.limit = std::stoull(value);
    else if (name == "--threads")
      options.threads = static_cast<unsigned>(std::stoul(value));
    else
      throw std::runtime_error("'" + name + "' is no option; see main.cpp");
  }
  return options;
}

constexpr std::uint64_t slice = std::uint64_t{1} << 20;  // patterns of a thread between two notes

// Checks the next slices of a proof, one for each thread; a limited run spreads its slices over all patterns.
void step(const Proof& proof, const Options& options, Progress& progress, std::uint64_t total) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t all = patterns_of(proof.type), stride = all / total;
  std::vector<Findings> findings(options.threads);
  std::vector<std::thread> threads;
  const std::uint64_t from = progress.next,
                      each = std::min(slice, (total - from + options.threads - 1) / options.threads);
  for (unsigned t = 0; t < options.threads; ++t) {
    const std::uint64_t first = std::min(total, from + t * each), count = std::min(each, total - first);
    if (count == 0) break;
    threads.emplace_back([&, first, count, t] {
      const auto codec = codec_of(proof);
      findings[t] = prove(proof, *codec, std::min(first * stride, all - count), count);
    });
    progress.next = first + count;
  }
  for (std::thread& thread : threads) thread.join();
  for (const Findings& found : findings) progress.findings.add(found);
  progress.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void show(const Proof& proof, const Progress& progress, std::uint64_t total) {
  if (isatty(STDERR_FILENO) == 0 && progress.next < total) return;
  std::fprintf(stderr, "\r%-40s %6.2f %%  %7.0f s  worst %.6f  violations %llu ", proof.name().c_str(),
               100.0 * static_cast<double>(progress.next) / static_cast<double>(total), progress.seconds,
               progress.findings.worst, static_cast<unsigned long long>(progress.findings.violations));
}

void write_json(const std::string& path, const Options& options, const std::vector<Proof>& proofs,
                Journal& journal) {
  const std::string rows = taut::json::list(proofs, [&journal](const Proof& proof) {
    const Progress& p = journal.of(proof.name());
    taut::json::Object row;
    row.add("proof", proof.name()).add("patterns", p.next).add("of", patterns_of(proof.type));
    row.add("values", p.findings.values).add("violations", p.findings.violations);
    return row.add("worst", p.findings.worst).add("seconds", p.seconds).text();
  });
  std::ofstream file(path);
  file << taut::json::Object().add("identity", options.identity).add_text("rows", rows).text() << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

int run(const Options& options) {
  std::vector<Proof> proofs = all_proofs();
  std::erase_if(proofs, [&](const Proof& p) { return p.name().find(options.only) == std::string::npos; });
  if (proofs.empty()) throw std::runtime_error("no proof is named '" + options.only + "'; see --list");
  if (options.list) {
    for (const Proof& proof : proofs) std::puts(proof.name().c_str());
    return 0;
  }
  Journal journal(options.journal, options.identity);
  std::uint64_t violations = 0;
  for (const Proof& proof : proofs) {
    Progress& progress = journal.of(proof.name());
    const std::uint64_t total = std::min(options.limit, patterns_of(proof.type));
    for (unsigned round = 1; progress.next < total; ++round) {
      step(proof, options, progress, total);
      if (progress.next < total) show(proof, progress, total);
      if (round % 16 == 0) journal.save();
    }
    show(proof, progress, total);
    std::fprintf(stderr, " %s\n", progress.findings.first_example.c_str());
    violations += progress.findings.violations;
    journal.save();
    if (!options.json.empty()) write_json(options.json, options, proofs, journal);
  }
  std::printf("%zu proofs, %llu violations\n", proofs.size(), static_cast<unsigned long long>(violations));
  return violations == 0 ? 0 : 1;
}

}  // namespace
}  // namespace taut::exhaustive

int main(int argc, char** argv) {
  try {
    return taut::exhaustive::run(taut::exhaustive::read_options(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taut_exhaustive: %s\n", error.what());
    return 2;
  }
}
