// Ranks in one process for tests: collectives, and their runs on loopback.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "communication/team/hierarchical.hpp"
#include "support/loopback.hpp"
#include "support/values.hpp"

namespace taut::test {

// A collective on P ranks: inputs, outputs, and the exact result of each output element.
class Job {
 public:
  Job(Collective collective, int P, std::size_t count, DType type, Pattern pattern, std::uint64_t seed,
      Reduction op = Reduction::sum, int root = 0, bool in_place = false)
      : collective_(collective),
        P_(P),
        op_(op),
        root_(root),
        in_place_(in_place && !of_neighbours(collective)) {
    if (equal_blocks()) count = count / ranks() * ranks();
    const std::vector<double> unset(count * components_of(type), -7777);
    for (int r = 0; r < P; ++r) {
      all_ranks_.from.push_back(r);
      all_ranks_.to.push_back(r);
      inputs.push_back(make_values(type, count, pattern, seed * 131 + static_cast<std::uint64_t>(r)));
      outputs.push_back(Values(type, count));
      outputs.back().set(0, unset);
    }
    for (int r = 0; r < P; ++r)
      if (collective == Collective::bcast ? r == root : in_place_) outputs[index(r)] = inputs[index(r)];
  }

  // Returns the call as plans see it.
  taut::Call call(const Nodes& nodes) const {
    return {.collective = collective_,
            .type = inputs[0].type(),
            .bytes = bytes(),
            .ranks = P_,
            .nodes = nodes.count(),
            .leaders = nodes.leaders()};
  }

  std::size_t count() const noexcept { return inputs[0].count(); }
  std::size_t bytes() const noexcept { return count() * size_of(inputs[0].type()); }

  Operands operands(int rank) {
    const std::size_t r = index(rank);
    const Slice out = outputs[r].slice();
    const ConstSlice in = in_place_ ? ConstSlice(out) : std::as_const(inputs[r]).slice();
    Operands data{in, out, op_, root_, of_neighbours(collective_) ? &all_ranks_ : nullptr};
    if (collective_ == Collective::reduce_scatter) data.out = block(out, r, ranks());
    if (gathers_everywhere()) data.in = block(in, r, ranks());
    if (collective_ == Collective::bcast && rank != root_) data.in = {};
    if (collective_ == Collective::scatter) {
      data.out = block(out, r, ranks());
      if (rank != root_) data.in = {};
      if (in_place_ && rank == root_) data.out.data = nullptr;
    }
    if (collective_ == Collective::gather) data.in = block(in, r, ranks());
    if (to_root() && rank != root_) data.out.data = nullptr;
    if (collective_ == Collective::exscan && rank == 0) data.out.data = nullptr, data.out.count = 0;
    return data;
  }

  // Returns the part of outputs[rank] that the call defines.
  Range defined(int rank) const noexcept {
    const bool one_block = collective_ == Collective::reduce_scatter || collective_ == Collective::scatter;
    if ((to_root() && rank != root_) || addends(rank) == 0) return {0, 0};
    return one_block ? part_range(count(), index(rank), ranks()) : Range{0, count()};
  }

  // Returns the number of ranks, from rank 0 on, whose values are in the result of `rank`.
  std::size_t addends(int rank) const noexcept {
    if (collective_ == Collective::exscan) return index(rank);
    return collective_ == Collective::scan ? index(rank) + 1 : ranks();
  }

  Reference exact(int rank, std::size_t i) const {  // exact value of number i
    if (reduces(collective_)) return reduce_exactly(std::span(inputs).first(addends(rank)), i, op_);
    std::size_t source = index(root_);
    const std::size_t parts = components_of(inputs[0].type());
    const bool from_all = gathers_everywhere() || collective_ == Collective::gather || exchanges();
    if (from_all)
      for (source = 0; i / parts >= part_range(count(), source, ranks()).first +
                                        part_range(count(), source, ranks()).count;)
        ++source;
    if (exchanges())  // block `source` here is block `rank` there
      i = i + (index(rank) - source) * (count() / ranks()) * parts;
    const long double x = inputs[source].at(i);
    return {x, std::abs(x)};
  }

  // Returns the first number of `rank` that is further than `bound` + rounding from the exact result; "" when
  // there is none. `roundings`: number of roundings of a sum besides that of the result. Raises `worst` to
  // the greatest error / bound, where rounding does not matter.
  std::string check(int rank, double bound, int roundings, double* worst = nullptr) const {
    const Values& out = outputs[index(rank)];
    Range range = defined(rank);
    range.first *= components_of(out.type());
    range.count *= components_of(out.type());
    for (std::size_t i = range.first; i < range.first + range.count; ++i) {
      const Reference want = exact(rank, i);
      const long double error = std::abs(out.at(i) - want.value);
      const bool sums = reduces(collective_) && op_ == Reduction::sum;
      const long double size = roundings == 0 ? std::abs(want.value) : want.magnitude;
      const long double rounding =
          sums ? spacing(out.type(), static_cast<double>(size) + bound) * (0.5001L + roundings) : 0;
      const long double allowed = bound + rounding;
      if (worst != nullptr && rounding < 0.001 * bound)
        *worst = std::max(*worst, static_cast<double>(error / bound));
      if (!(error <= allowed))
        return "rank " + std::to_string(rank) + ", element " + std::to_string(i) + ": " +
               std::to_string(out.at(i)) + " instead of " + std::to_string(want.value) + ", bound " +
               std::to_string(bound);
    }
    return "";
  }

  // Returns the part of outputs[rank] that is the input of this rank and stays, in a call in place that moves
  // data.
  Range owned(int rank) const noexcept {
    const bool at_root = collective_ == Collective::bcast || collective_ == Collective::scatter;
    const bool own_block = collective_ == Collective::allgather || collective_ == Collective::alltoall ||
                           (collective_ == Collective::gather && rank == root_);
    if (in_place_ && own_block) return part_range(count(), index(rank), ranks());
    return {0, in_place_ && at_root && rank == root_ ? count() : 0};
  }

  // True if the input of a rank that is in place is as it was before the call.
  bool input_stayed(int rank) const noexcept {
    return same_bytes(outputs[index(rank)], inputs[index(rank)], owned(rank));
  }
  bool inputs_stayed() const noexcept {
    for (int r = 0; r < P_; ++r)
      if (!input_stayed(r)) return false;
    return true;
  }

  // True if all ranks hold the same bits where they have received the same elements; with `owners` also where
  // the elements are the input of a rank, in place.
  bool same_bits(bool owners = false) const noexcept {
    if (!same_everywhere(collective_)) return true;
    const bool of_all = collective_ == Collective::allgather, owned = in_place_ && !reduces(collective_);
    for (int b = 0; b < (of_all ? P_ : 1); ++b) {
      const int left_out = !owned || owners ? -1 : of_all ? b : root_, first = left_out == 0 ? 1 : 0;
      const Range block = of_all ? part_range(count(), index(b), ranks()) : Range{0, count()};
      for (int r = first; r < P_; ++r)
        if (r != left_out && !same_bytes(outputs[index(r)], outputs[index(first)], block)) return false;
    }
    return true;
  }

  // Returns true if all ranks get the same values.
  static bool same_everywhere(Collective c) noexcept {
    return c == Collective::allreduce || c == Collective::allgather || c == Collective::bcast ||
           c == Collective::neighbor_allgather;
  }

  std::vector<Values> inputs, outputs;

 private:
  bool equal_blocks() const noexcept {
    return collective_ == Collective::scatter || collective_ == Collective::gather || exchanges() ||
           collective_ == Collective::neighbor_allgather;
  }
  // In the neighbourhood collectives of a job, all ranks are neighbours of all ranks, themselves included.
  bool gathers_everywhere() const noexcept {
    return collective_ == Collective::allgather || collective_ == Collective::neighbor_allgather;
  }
  bool exchanges() const noexcept {
    return collective_ == Collective::alltoall || collective_ == Collective::neighbor_alltoall;
  }
  static bool same_bytes(const Values& a, const Values& b, Range range) noexcept {
    const ConstSlice here{a.slice().part(range.first, range.count)};
    const ConstSlice there{b.slice().part(range.first, range.count)};
    return range.count == 0 || std::memcmp(here.data, there.data, here.bytes()) == 0;
  }
  bool to_root() const noexcept {
    return collective_ == Collective::reduce || collective_ == Collective::gather;
  }
  static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }
  std::size_t ranks() const noexcept { return static_cast<std::size_t>(P_); }

  Collective collective_;
  int P_;
  Reduction op_;
  int root_;
  bool in_place_;
  Neighbours all_ranks_;
};

// Runs the task make_task(rank) for each rank on the hub.
template <class T, class Make>
std::vector<T> run_all(LoopbackHub& hub, Make make_task) {
  std::vector<T> results(static_cast<std::size_t>(hub.size()));
  std::vector<Task<>> tasks;
  auto store = [](auto task, T& result) -> Task<> { result = co_await std::move(task); };
  for (int r = 0; r < hub.size(); ++r)
    tasks.push_back(store(make_task(r), results[static_cast<std::size_t>(r)]));
  hub.run(tasks);
  for (Task<>& task : tasks) task.result();
  return results;
}

// Runs an algorithm on all ranks of a hub, as under same_bits=off; returns the call counters of each rank.
inline std::vector<CallCounters> run_algorithm(LoopbackHub& hub, const AlgorithmInfo& algorithm,
                                               const Codec& codec, Arithmetic how, int segments, Job& job,
                                               const std::function<Place&(int)>& place_of = nullptr,
                                               const Nodes* nodes = nullptr, bool frames_on_node = false) {
  const auto P = static_cast<std::size_t>(hub.size());
  std::vector<CallCounters> ledgers(P);
  std::vector<std::unique_ptr<HostPlace>> places;
  std::vector<Task<>> tasks;
  for (std::size_t r = 0; r < P; ++r) {
    const int rank = static_cast<int>(r);
    places.push_back(std::make_unique<HostPlace>());
    Place& place = place_of ? place_of(rank) : *places.back();
    const Team team(hub.transport(rank), codec, place, ledgers[r], how, 0);
    Operands data = job.operands(rank);
    leave_input(algorithm.collective, data, rank, hub.size());
    if (nodes != nullptr && moves_between_ranks(job.call(*nodes))) data.between = nodes;
    data.frames_on_node = frames_on_node;
    tasks.push_back(pipelined(algorithm, team, data, segments, nodes));
  }
  hub.run(tasks);
  for (Task<>& task : tasks) task.result();
  return ledgers;
}

}  // namespace taut::test
