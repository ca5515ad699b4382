#include "trial.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "alternation.hpp"
#include "cli/quality.hpp"
#include "coder.hpp"

namespace bench {
namespace {

using taut::cli::Quality;
using taut::json::Object;

constexpr std::size_t largest_warm = std::size_t{1} << 22;  // bytes of values that fit a cache

void expect(taut::Status status) {
  if (status != taut::Status::ok) throw taut::Error(status, describe(status));
}

// STREAM's triad a = b + q c on arrays as long as the values. Bytes are counted as in STREAM, 24 for an index
// of doubles [McCalpin, "Memory bandwidth and machine balance in current high performance computers", IEEE
// TCCA 1995].
class Triad {
 public:
  explicit Triad(std::size_t bytes) : n_(bytes / sizeof(double)), a_(n_), b_(n_, 1), c_(n_, 2) {}
  void operator()() noexcept {
    for (std::size_t i = 0; i < n_; ++i) a_[i] = b_[i] + 3 * c_[i];
    asm volatile("" ::"r"(a_.data()) : "memory");  // keeps the result alive
  }
  double bytes() const noexcept { return 24.0 * static_cast<double>(n_); }

 private:
  std::size_t n_;
  std::vector<double> a_, b_, c_;
};

// A frame and its memory.
struct Frame {
  explicit Frame(std::size_t capacity) : memory(capacity) {}
  void hold(taut::SizeOrStatus made) {
    status = made.status;
    size = made.bytes;
  }
  taut::ConstBytes bytes() const noexcept { return memory.bytes().first(size); }

  Buffer memory;
  std::size_t size = 0;
  taut::Status status = taut::Status::ok;
};

// The operations on one part of a field. The constructor makes frames of both operands.
class Bench {
 public:
  Bench(const taut::Codec& codec, const FieldPart& part)
      : codec_(codec),
        part_(part),
        a_(capacity(1)),
        b_(capacity(1)),
        out_(capacity(sums() ? 2 : 1)),
        target_(part.bytes()) {
    a_.hold(codec.encode(part.operand(0), a_.memory.bytes()));
    b_.hold(codec.encode(part.operand(1), b_.memory.bytes()));
    expect(a_.status);
    expect(b_.status);
  }

  bool sums() const noexcept { return codec_.arithmetic() != nullptr; }
  const Frame& frame() const noexcept { return a_; }
  const Frame& out() const noexcept { return out_; }
  taut::Slice target() const noexcept { return {{target_.data(), part_.count, part_.field.type()}}; }

  void copy() { std::memcpy(target_.data(), part_.operands[0].data(), part_.bytes()); }
  void encode() { out_.hold(codec_.encode(part_.operand(0), out_.memory.bytes())); }
  void decode() { status_ = codec_.decode(a_.bytes(), target()); }
  void decode_add() { status_ = codec_.reduce(b_.bytes(), target(), taut::Reduction::sum); }
  // Adds two frames by way of their values, as a codec must that cannot add frames.
  void decode_add_encode() {
    decode();
    decode_add();
    out_.hold(codec_.encode(target(), out_.memory.bytes()));
  }
  void frame_add() {
    const taut::ConstBytes both[] = {a_.bytes(), b_.bytes()};
    out_.hold(codec_.arithmetic()->sum(both, out_.memory.bytes()));
  }
  void accumulate() {
    out_.hold(codec_.arithmetic()->accumulate(b_.bytes(), part_.operand(0), out_.memory.bytes()));
  }

  // Returns the decoded values of the last frame made; throws if any of the operations failed.
  taut::Slice decoded() {
    expect(status_);
    expect(out_.status);
    expect(codec_.decode(out_.bytes(), target()));
    return target();
  }

 private:
  std::size_t capacity(std::uint32_t addends) const noexcept {
    return codec_.max_bytes(part_.field.type(), part_.count, addends);
  }

  const taut::Codec& codec_;
  const FieldPart& part_;
  Frame a_, b_, out_;
  Buffer target_;
  taut::Status status_ = taut::Status::ok;
};

// Returns the exact sum of both operands, rounded to the type.
Buffer exact_sum(const FieldPart& part) {
  Buffer sum(part.bytes());
  std::memcpy(sum.data(), part.operands[0].data(), part.bytes());
  reduce_values({{sum.data(), part.count, part.field.type()}}, part.operand(1), taut::Reduction::sum);
  return sum;
}

double ratio(const FieldPart& part, const Frame& frame) {
  return static_cast<double>(part.bytes()) / static_cast<double>(frame.size);
}

// Adds the quality of the sum in the last frame made to `row`. Returns false if the error is beyond the
// bounds of both addends.
bool add_quality_of_sum(Object& row, const std::string& name, const FieldPart& part, Bench& bench,
                        const Buffer& exact, taut::Bound bound) {
  // A sum of two fill values is twice the fill value.
  const auto fill = part.field.fill();
  Quality quality({bound.kind, 2 * bound.value}, fill ? std::optional(2 * *fill) : std::nullopt);
  const taut::Slice got = bench.decoded();
  quality.compare({{exact.data(), part.count, part.field.type()}}, got);
  row.add(name + "_ratio", ratio(part, bench.out()));
  row.add(name + "_max_error", quality.max_error()).add(name + "_psnr", quality.psnr());
  // The computed and the exact sum are each rounded to the type, by at most the spacing of the largest value.
  const double largest = std::max(std::fabs(quality.range().least), std::fabs(quality.range().greatest));
  const double spacing = part.field.type() == taut::DType::f64 ? 0x1p-52 : 0x1p-23;
  return !(quality.max_error() > 2 * bound.value + 2 * spacing * largest);
}

struct Call {
  const char* name;
  void (Bench::*run)();
};
constexpr Call of_all[] = {{"memcpy", &Bench::copy},
                           {"encode", &Bench::encode},
                           {"decode", &Bench::decode},
                           {"decode_add", &Bench::decode_add},
                           {"decode_add_encode", &Bench::decode_add_encode}};
constexpr Call of_sums[] = {{"frame_add", &Bench::frame_add}, {"accumulate", &Bench::accumulate}};

// Adds the speeds to `row`, in GB/s of one operand's values.
void add_speeds(Object& row, Bench& bench, const FieldPart& part, Clock clock, double seconds) {
  std::vector<Call> calls(std::begin(of_all), std::end(of_all));
  if (bench.sums()) calls.insert(calls.end(), std::begin(of_sums), std::end(of_sums));
  std::vector<std::function<void()>> runs;
  for (const Call& call : calls) runs.emplace_back([&bench, run = call.run] { (bench.*run)(); });
  Triad triad(part.bytes());
  runs.emplace_back([&triad] { triad(); });
  int samples = 0;
  const std::vector<double> times = medians(runs, part.bytes() <= largest_warm, clock, seconds, &samples);
  for (std::size_t i = 0; i < calls.size(); ++i)
    row.add(std::string(calls[i].name) + "_gb_per_s", static_cast<double>(part.bytes()) / times[i] * 1e-9);
  row.add("triad_gb_per_s", triad.bytes() / times.back() * 1e-9).add("samples", samples);
}

std::string set_of(const taut::CodecInfo& codec) {
  const std::vector<std::string> sets = kernel_sets(codec);
  return sets.empty() ? "any" : sets.front();
}

}  // namespace

FieldPart::FieldPart(const RealField& of, std::string called, std::size_t values)
    : field(of), name(std::move(called)), count(values) {
  const std::size_t first = (of.count() - values) / 2;  // the middle: edges of fields often vary little
  for (unsigned k = 0; k < 2; ++k) operands[k] = of.part(first + k * of.shift(), values);
}

TrialResult run_trial(const Trial& trial, const FieldPart& part, double seconds) {
  taut::Coding options;
  options.bound = trial.bound;
  options.threads = trial.threads;
  if (trial.knows_dims) options.dims = part.field.dims();
  const std::unique_ptr<taut::Codec> codec = trial.codec.make(options);
  Bench bench(*codec, part);

  Object row;
  row.add("codec", trial.codec.name).add("set", set_of(trial.codec)).add("dims", trial.knows_dims);
  row.add("field", part.field.name()).add("type", name_of(part.field.type())).add("part", part.name);
  row.add("bytes", part.bytes()).add("threads", trial.threads);
  row.add("bound_kind", name_of(trial.bound.kind)).add("bound", trial.bound.value);
  row.add("of_range", trial.of_range).add("ratio", ratio(part, bench.frame()));

  bench.encode();
  Quality quality(trial.bound, part.field.fill());
  quality.compare(part.operand(0), bench.decoded());
  row.add("max_error", quality.max_error()).add("psnr", quality.psnr()).add("nrmse", quality.nrmse());
  bool kept = quality.beyond() == 0;
  if (bench.sums()) {
    const Buffer exact = exact_sum(part);
    bench.frame_add();
    kept = add_quality_of_sum(row, "frame_add", part, bench, exact, trial.bound) && kept;
    bench.decode_add_encode();  // adds one more bound, that of the second encoding
    add_quality_of_sum(row, "decode_add_encode", part, bench, exact, trial.bound);
  }
  row.add("within_bound", kept);
  add_speeds(row, bench, part, trial.threads == 1 ? Clock::thread : Clock::wall, seconds);
  bench.decoded();  // throws if a call failed

  return {row.text(), kept};
}

}  // namespace bench
