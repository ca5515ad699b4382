#include "cli/jobs/calculation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/input.hpp"
#include "cli/jobs/environment.hpp"
#include "communication/comm/coding_speeds.hpp"
#include "communication/comm/explain.hpp"
#include "communication/policy/plan/cost_model.hpp"
#include "communication/policy/plan/plan.hpp"
#include "compressor/base/json.hpp"
#include "compressor/base/options.hpp"
#include "compressor/frame/parallel_chunks.hpp"

namespace taut::cli {
namespace {

constexpr std::uint64_t openmp_spin_ns = 3'000'000;  // idle time after which threads of OpenMP sleep
constexpr double worthwhile = 0.95;  // greatest share of the time for which more threads are proposed

Collective collective_of(const std::string& name) {
  std::string names;
  for (const Collective one : all_collectives) {
    if (one == Collective::send || one == Collective::recv || of_neighbours(one)) continue;
    if (name == name_of(one)) return one;
    names.append(names.empty() ? "" : ", ").append(name_of(one));
  }
  reject("--call: '" + name + "' is none of " + names);
}

std::size_t bytes_of(const std::string& text) {
  try {
    return read_size({.name = "size", .value = text});
  } catch (const Error&) {
    reject("--size: '" + text + "' is no size; give one such as 65536, 64KiB or 16MiB");
  }
}

// Returns the numbers of threads to compare, in ascending order.
std::vector<int> threads_of(const Arguments& arguments) {
  std::vector<int> all;
  const auto list = arguments.value("threads");
  if (!list) {
    for (int n = 1; n <= std::min(usable_cores(), max_threads); n *= 2) all.push_back(n);
    return all;
  }
  for (const std::string& number : split(*list, ',')) {
    if (!read_number(number, all.emplace_back()) || all.back() < 1 || all.back() > max_threads)
      reject("--threads: give numbers from 1 to " + std::to_string(max_threads) + ", as 1,2,4");
  }
  std::ranges::sort(all);
  return all;
}

// Calculation of one call: the engine's plan, and the speeds of the codings among which the engine chooses.
class Calculation {
 public:
  // Throws Failure if the call would go to plain MPI.
  Calculation(const Policy& policy, const Call& call, const NodeMemory& memory, const Subject& subject)
      : policy_(policy), call_(call), memory_(memory), values_(subject.slice()) {
    const Coding& coding = policy.coding;
    bound_ = bound_for(call.type, coding.bound);
    if (is_relative(bound_)) bound_ = resolved(bound_, range_of(values_, coding.fill, coding.bits));
    plan_ = plan({});
    if (plan_.fallback != Fallback::none)
      fail("such calls go to plain MPI: " + std::string(describe(plan_.fallback)));
  }

  Plan plan(MeasuredChoice choice) {
    return make_plan(policy_, call_, bound_, candidates_, {.coding = choice});
  }

  // Measures the codings with so many threads on frames as long as those of the call.
  MeasuredCall measured(int threads) {
    MeasuredCall made{call_, coding_work(policy_, call_, plan_, 0), {}, plan_.by_nodes, memory_};
    const std::size_t frame = call_.count() / std::max<std::size_t>(1, std::lround(1 / made.work.share));
    const SpeedTest test{.values_a_piece = std::max<std::size_t>(1, frame / made.work.segments),
                         .pause = openmp_spin_ns};
    CodecCache codecs(options().kernels);
    for (std::size_t i = 0; i < MeasuredChoice::codecs; ++i) {
      const MeasuredChoice choice{static_cast<MeasuredChoice::Codec>(i)};
      if (choice.codec == MeasuredChoice::Codec::fast && !made.work.may_use_fast) continue;
      const auto known = candidates_of(policy_, call_, *plan_.algorithm, plan_.bound, choice, candidates_);
      if (known.empty()) continue;
      std::vector<Coding> able(known.begin(), known.end());
      for (Coding& one : able) one.threads = threads;
      const Coding& best = able[best_of(able, codecs)];
      made.speeds[i] = measure_speeds(*codecs.find_or_make(best, plan_.bound), values_, place_, test);
    }
    if (!made.speeds[0].known()) fail("no codec codes these values within the bound");
    return made;
  }

 private:
  // Returns the index of the candidate that the engine would choose.
  std::size_t best_of(std::span<const Coding> able, CodecCache& codecs) {
    std::vector<float> ratios;
    for (const Coding& one : able)
      ratios.push_back(measure_speeds(*codecs.find_or_make(one, plan_.bound), values_, place_).ratio);
    return best_candidate(able, ratios);
  }

  const Policy& policy_;
  Call call_;
  NodeMemory memory_;
  ConstSlice values_;
  Bound bound_;
  CandidateTable candidates_;
  Plan plan_;
  HostPlace place_;
};

// Sets the ratio of the best candidate; the ratios of other codings change in proportion.
void set_ratio(MeasuredCall& measured, double ratio) noexcept {
  const double factor = ratio / measured.speeds[0].ratio;
  for (CodingSpeeds& speeds : measured.speeds) speeds.ratio *= static_cast<float>(factor);
}

struct Row {
  int threads;
  MeasuredCall measured;
  Forecast forecast;
};

void print_head(const Call& call, const Policy& policy, const CalculatedNodes& on, const Subject& subject) {
  const std::string full = on.ranks_a_node > 1 ? " of " + std::to_string(on.ranks_a_node) + " ranks" : "";
  std::printf("%s %s of %s on %d nodes%s, link %s GB/s of each; %s on the %s\nvalues: %s\n\n",
              name_of(call.collective), taut::name_of(call.type), size_text(call.bytes).c_str(), on.nodes,
              full.c_str(), rounded(on.link / 1e9, 3).c_str(), taut::text_of(policy.coding.bound).c_str(),
              policy.on == Policy::On::input ? "input" : "result", subject.name.c_str());
  std::printf("%7s %8s %8s %8s %8s %10s %10s %7s  %s\n", "threads", "ratio", "encode", "decode", "add",
              "plain, s", "Taut, s", "gain", "how");
}

void print(const Row& row, Calculation& calculation) {
  const MeasuredChoice choice = row.forecast.choice;
  const CodingSpeeds& speeds = row.measured.speeds[static_cast<std::size_t>(choice.codec)];
  const Plan plan = calculation.plan(choice);
  const double add = choice.by_values || speeds.accumulate == 0 ? speeds.reduce : speeds.accumulate;
  const std::string sums = reduces(row.measured.call.collective) ? rounded(add / 1e9, 3) : "-";
  std::printf("%7d %8s %8s %8s %8s %10s %10s %6sx  %s, %s%s by %s, %d segments\n", row.threads,
              rounded(speeds.ratio, 3).c_str(), rounded(speeds.encode / 1e9, 3).c_str(),
              rounded(speeds.decode / 1e9, 3).c_str(), sums.c_str(),
              rounded(row.forecast.plain_seconds, 3).c_str(), rounded(row.forecast.coded_seconds, 3).c_str(),
              rounded(row.forecast.gain(), 3).c_str(), plan.candidates[0].codec->name, plan.algorithm->name,
              plan.by_nodes ? " of nodes" : "", name_of(plan.arithmetic), plan.segments);
}

void print_break_even(const Row& row, double link) {
  const double ratio = break_even_ratio(row.measured, link), fastest = break_even_link(row.measured);
  std::printf("%d thread%s: ", row.threads, row.threads == 1 ? "" : "s");
  if (std::isinf(ratio))
    std::printf("on this link no ratio pays at these speeds; ");
  else
    std::printf("on this link ratios from %s on pay; ",
                rounded(std::max(ratio, worthwhile_ratio), 3).c_str());
  if (fastest == 0)
    std::printf("this ratio pays on no link\n");
  else
    std::printf("this ratio pays on links of up to %s Gbit/s\n", rounded(fastest * 8e-9, 3).c_str());
}

// Proposes more threads than the fewest if they save time, and the call gains. `rows`: by threads.
void propose(const std::vector<Row>& rows) {
  const Row* chosen = &rows[0];
  for (const Row& row : rows)
    if (row.forecast.coded_seconds < worthwhile * chosen->forecast.coded_seconds) chosen = &row;
  if (chosen->forecast.gain() < 1) return;
  if (chosen != &rows[0])
    std::printf("add \",threads=%d\" to the policy, if each rank has %d cores for itself\n", chosen->threads,
                chosen->threads);
  else if (rows.size() > 1)
    std::printf("more threads gain nothing\n");
}

}  // namespace

Exit calculate(const Arguments& arguments, const Policy& policy, const CalculatedNodes& on) {
  const Subject subject =
      arguments.names().empty() ? built_in_subject() : subject_of(arguments.only_name("FILE"), arguments);
  const auto ratio = arguments.value("ratio");
  const double asked = ratio ? positive_number("ratio", *ratio) : 0;
  if (ratio && asked < 1) reject("--ratio: give a number from 1 on");
  const Call call{.collective = collective_of(arguments.value("call").value_or("allreduce")),
                  .type = subject.type,
                  .bytes = bytes_of(arguments.value("size").value_or("16MiB")),
                  .ranks = on.nodes * on.ranks_a_node,
                  .nodes = on.ranks_a_node > 1 ? on.nodes : 0};
  Calculation calculation(policy, call, on.memory, subject);
  std::vector<Row> rows;
  for (const int threads : threads_of(arguments)) {
    MeasuredCall measured = calculation.measured(threads);
    if (ratio) set_ratio(measured, asked);
    rows.push_back({threads, measured, forecast(measured, on.link)});
  }
  print_head(call, policy, on, subject);
  for (const Row& row : rows) print(row, calculation);
  std::printf(
      "\nGB/s are of values, on frames of this call. Plain MPI is taken at the full rate of the link.\n");
  for (const Row& row : rows) print_break_even(row, on.link);
  propose(rows);
  return Exit::ok;
}

}  // namespace taut::cli
