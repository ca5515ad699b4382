#include "suite.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>

#include "alternation.hpp"
#include "coder.hpp"
#include "operation.hpp"
#include "report.hpp"

namespace bench {
namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;
// The codecs measured by default. To limit the run time, codecs other than the first, and peers, are measured
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
    return coder->coding() + "/" + (coder->peer ? "" : coder->name + "/") + operation->name + "/" +
           name_of(type) + "/" + field + "/" +
           (bytes % MiB == 0 ? std::to_string(bytes / MiB) + "MiB" : std::to_string(bytes / KiB) + "KiB");
  }
};

bool serves(const Coder& coder, Operation::Needs needs) {
  return needs == Operation::Needs::frame_sums ? coder.adds_frames
                                               : needs == Operation::Needs::nothing || !coder.peer;
}

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

  std::vector<std::string> sets() const {
    std::vector<std::string> names;
    for (const Coder& coder : coders_)
      if (is_wanted(coder) && std::ranges::find(names, coder.name) == names.end())
        names.push_back(coder.name);
    return names;
  }
  const std::vector<Row>& rows() const { return rows_; }

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
    return options_.codecs.empty() ? coder.peer || wanted(default_codecs, coder.codec)
                                   : wanted(options_.codecs, coder.codec);
  }

  void register_of(const Coder& coder, taut::DType type, const std::string& field, std::size_t bytes) {
    if (!is_wanted(coder) || !coder.serves(type, coder.kind)) return;
    const bool usual =
        coder.codec == default_codecs.front() && coder.name != "scalar";  // scalar kernels take longest
    const bool all_sizes = usual || !options_.sizes.empty() || !options_.input.empty();
    if (!all_sizes && bytes != size_of_others) return;
    if (!all_sizes && options_.codecs.empty() && size_of(type) < sizeof(float)) return;
    for (const Operation& operation : operations()) {
      if (!wanted(options_.operations, operation.name) || !serves(coder, operation.needs)) continue;
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
    Row row;
    row.codec = figure.coder->codec;
    row.coding = figure.coder->coding();
    row.peer = figure.coder->peer;
    row.set = figure.coder->name;
    row.kernel = figure.operation->name;
    row.type = figure.type;
    row.field = figure.field;
    row.bytes = s.bytes();
    row.bound = codec.contract().bound;
    row.ratio = s.ratio();
    row.result_ratio = figure.operation->makes_frame
                           ? static_cast<double>(s.bytes()) / static_cast<double>(result_bytes)
                           : row.ratio;
    row.seconds = times.seconds;
    row.copy_seconds = times.copy_seconds;
    row.samples = times.samples;
    const Check result = check(*figure.operation, codec, s);
    row.max_error = result.max_error;
    row.within_bound = result.within_bound;
    rows_.push_back(row);
  }

  const Options& options_;
  std::vector<Coder> coders_;
  std::vector<Row> rows_;
  std::optional<Field> field_;
  taut::DType field_type_{};
  std::optional<Subject> subject_;
  std::string subject_coding_;
};

// Passes each row to the table when Google Benchmark reports that it is complete.
class Reporter final : public benchmark::BenchmarkReporter {
 public:
  explicit Reporter(const Suite& suite) : suite_(suite) {}
  bool ReportContext(const Context&) override {
    table_.emplace(suite_.sets());
    if (const std::string missing = missing_peers(); !missing.empty())
      std::printf("# Left out, not found when this was built: %s\n", missing.c_str());
    return true;
  }
  void ReportRuns(const std::vector<Run>&) override {
    while (printed_ < suite_.rows().size()) table_->add(suite_.rows()[printed_++]);
  }
  void Finalize() override { table_->finish(); }

 private:
  const Suite& suite_;
  std::optional<Table> table_;
  std::size_t printed_ = 0;
};

}  // namespace

bool run_suite(const Options& options, int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc > 1) throw std::invalid_argument(std::string("unknown option '") + argv[1] + "'");
  Suite suite(options);
  suite.register_all();
  Reporter reporter(suite);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  if (!suite.rows().empty()) write_json(options, suite.sets(), suite.rows());
  return std::all_of(suite.rows().begin(), suite.rows().end(),
                     [](const Row& row) { return row.within_bound || row.peer; });
}

}  // namespace bench
