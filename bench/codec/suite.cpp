// taut_bench_codec: speed of the codecs beside memcpy. Google Benchmark selects and runs the benchmarks;
// alternation.hpp times them. Google Benchmark would run memcpy and a kernel minutes apart, and the load of
// the machine changes in between. Each benchmark is therefore one iteration: a whole series of memcpy and
// kernel in alternation. Each prints a row of JSON.
// Exit status: 0; 1 if a bound of Taut's is violated; 2 for a wrong command line.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>

#include "alternation.hpp"
#include "coder.hpp"
#include "compressor/base/json.hpp"
#include "operation.hpp"
#include "options.hpp"

namespace bench {
namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;
// The codecs measured by default. To limit the run time, codecs other than the first are measured
// at one size and not with 16-bit types.
const std::vector<std::string> default_codecs{"planes", "szx", "mpc"};
constexpr std::size_t size_of_others = MiB;

struct Figure {
  const Coder* coder;
  const Operation* operation;
  taut::DType type;
  std::string field;
  std::size_t bytes;

  std::string name() const {
    return coder->coding() + "/" + coder->name + "/" + operation->name + "/" + name_of(type) + "/" + field +
           "/" +
           (bytes % MiB == 0 ? std::to_string(bytes / MiB) + "MiB" : std::to_string(bytes / KiB) + "KiB");
  }
};

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

template <class All, class Name>
void check_names(const std::vector<std::string>& asked, const All& all, const Name& name_in) {
  for (const std::string& name : asked)
    if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return name_in(one) == name; }))
      throw std::invalid_argument("'" + name + "' is unknown, or not to be had here");
}

class Suite {
 public:
  explicit Suite(const Options& options) : options_(options), coders_(coders()) {
    check_names(options.codecs, coders_, [](const Coder& c) { return c.codec; });
    check_names(options.sets, coders_, [](const Coder& c) { return c.name; });
    check_names(options.fields, field_classes(), [](const FieldClass& f) { return std::string(f.name); });
    check_names(options.operations, operations(), [](const Operation& o) { return std::string(o.name); });
  }

  void register_all() {
    for (const taut::DType type : options_.types)
      for (const std::string& field : field_names())
        for (const std::size_t bytes : sizes(type))
          for (const Coder& coder : coders_) register_of(coder, type, field, bytes);
  }

  bool good() const noexcept { return good_; }

 private:
  std::vector<std::string> field_names() const {
    if (!options_.input.empty()) return {std::filesystem::path(options_.input).stem().string()};
    std::vector<std::string> names;
    for (const FieldClass& one : field_classes())
      if (wanted(options_.fields, one.name)) names.emplace_back(one.name);
    return names;
  }

  std::vector<std::size_t> sizes(taut::DType type) const {
    if (!options_.sizes.empty()) return options_.sizes;
    if (!options_.input.empty())
      return {std::filesystem::file_size(options_.input) / size_of(type) * size_of(type)};
    return {16 * KiB, 256 * KiB, MiB, 16 * MiB};
  }

  bool is_wanted(const Coder& coder) const {
    if (!wanted(options_.sets, coder.name)) return false;
    return wanted(options_.codecs.empty() ? default_codecs : options_.codecs, coder.codec);
  }

  void register_of(const Coder& coder, taut::DType type, const std::string& field, std::size_t bytes) {
    if (!is_wanted(coder) || !coder.serves(type, coder.kind)) return;
    const bool usual =
        coder.codec == default_codecs.front() && coder.name != "scalar";  // scalar kernels take longest
    const bool all_sizes = usual || !options_.sizes.empty() || !options_.input.empty();
    if (!all_sizes && bytes != size_of_others) return;
    if (!all_sizes && options_.codecs.empty() && size_of(type) < sizeof(float)) return;
    for (const Operation& operation : operations()) {
      if (!wanted(options_.operations, operation.name) || (operation.sums_frames && !coder.adds_frames))
        continue;
      const Figure figure{&coder, &operation, type, field, bytes};
      benchmark::RegisterBenchmark(figure.name().c_str(),
                                   [this, figure](benchmark::State& state) { measure(figure, state); })
          ->Iterations(1)
          ->UseManualTime();
    }
  }

  const Field& field(const Figure& figure) {
    if (!field_ || field_->name() != figure.field || field_type_ != figure.type) {
      subject_.reset();
      field_type_ = figure.type;
      field_.emplace(make_field(figure));
    }
    return *field_;
  }
  Field make_field(const Figure& figure) const {
    if (!options_.input.empty())
      return field_of_file(options_.input, figure.type, options_.bound, options_.of_range);
    for (const FieldClass& one : field_classes())
      if (one.name == figure.field) return one.make(figure.type);
    throw std::invalid_argument("'" + figure.field + "' is no class of fields");
  }

  // Returns the input of a figure. All kernel sets write the same frames and share one subject.
  Subject& subject(const Figure& figure, const taut::Codec& codec) {
    const Field& source = field(figure);
    if (!subject_ || subject_coding_ != figure.coder->coding() || subject_->bytes() != figure.bytes) {
      subject_.reset();
      subject_coding_ = figure.coder->coding();
      subject_.emplace(source, figure.type, figure.bytes, codec, codec.arithmetic() ? most_addends : 1);
    }
    return *subject_;
  }

  void measure(const Figure& figure, benchmark::State& state) {
    const std::unique_ptr<taut::Codec> codec =
        figure.coder->make(bound_of(figure.coder->kind, field(figure).bound()));
    Subject& s = subject(figure, *codec);
    std::memset(s.target.data(), 0, s.bytes());
    std::size_t result_bytes = 0;
    const std::function<void()> call = [&] { result_bytes = figure.operation->run(*codec, s).bytes; };
    const std::function<void()> copy = [&] {
      std::memcpy(s.copy.data(), s.values.data(), s.bytes());
      benchmark::ClobberMemory();
    };
    for (auto unused : state) {
      (void)unused;
      const bool warm = figure.bytes <= 16 * MiB;
      const Alternation times = alternate(call, copy, warm, options_.seconds);
      state.SetIterationTime(times.seconds);
      record(figure, *codec, s, times, result_bytes);
    }
  }

  void record(const Figure& figure, const taut::Codec& codec, Subject& s, const Alternation& times,
              std::size_t result_bytes) {
    const double bytes = static_cast<double>(s.bytes());
    const Check result = check(*figure.operation, codec, s);
    const taut::Bound bound = codec.contract().bound;
    taut::json::Object row;
    row.add("codec", figure.coder->codec)
        .add("coding", figure.coder->coding())
        .add("set", figure.coder->name);
    row.add("kernel", figure.operation->name).add("type", name_of(figure.type)).add("field", figure.field);
    row.add("bytes", s.bytes()).add("bound", bound.value).add("bound_kind", name_of(bound.kind));
    row.add("ratio", s.ratio());
    row.add("result_ratio",
            figure.operation->makes_frame ? bytes / static_cast<double>(result_bytes) : s.ratio());
    row.add("max_error", result.max_error).add("within_bound", result.within_bound);
    row.add("gb_per_s", bytes / times.seconds * 1e-9);
    row.add("memcpy_gb_per_s", bytes / times.copy_seconds * 1e-9);
    row.add("share_of_memcpy", times.copy_seconds / times.seconds).add("samples", times.samples);
    std::puts(row.text().c_str());
    std::fflush(stdout);
    good_ = good_ && result.within_bound;
  }

  const Options& options_;
  std::vector<Coder> coders_;
  bool good_ = true;
  std::optional<Field> field_;
  taut::DType field_type_{};
  std::optional<Subject> subject_;
  std::string subject_coding_;
};

// Says nothing: the suite prints its rows itself.
class Silence final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

int run(const std::vector<std::string>& words) {
  if (asks_for_help(words)) {
    std::fputs(usage, stdout);
    return 0;
  }
  Options options;
  std::vector<std::string> others = parse(options, words);
  std::vector<char*> pointers{const_cast<char*>("taut_bench_codec")};
  for (std::string& word : others) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) throw std::invalid_argument(std::string("unknown option '") + pointers[1] + "'");
  Suite suite(options);
  suite.register_all();
  Silence silence;
  benchmark::RunSpecifiedBenchmarks(&silence);
  return suite.good() ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taut_bench_codec: %s\n%s", error.what(), bench::usage);
    return 2;
  }
}
