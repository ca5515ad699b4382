// Calls that are repeated on the same buffers with frames of a fixed size, directly and by graphs.
#pragma once

#include <atomic>

#include "gpu/nccl/calls.hpp"
#include "gpu/runtime/gpu.hpp"

namespace taut::test {

// Number of allocations that may be left at the end (support/gpu_leaks.cpp).
extern std::atomic<unsigned long> most_kept;

// A call of all ranks. `count`: as NCCL counts.
struct Repeated {
  Collective collective = Collective::allreduce;
  std::string policy = "block:8";
  int P = 3;
  std::size_t count = 193;
  int op = ncclSum;
  bool with_residual = false, in_place = false;
  double ratio = 2;  // of capacity mode

  std::string whole_policy() const { return policy + ",when=always,min_bytes=1"; }
  std::size_t blocks_in() const {
    return collective == Collective::reduce_scatter ? static_cast<std::size_t>(P) : 1;
  }
  std::size_t blocks_out() const {
    return collective == Collective::allgather ? static_cast<std::size_t>(P) : 1;
  }
};

// The ranks of a call, and the memory that it works on.
template <class T>
class RepeatedCalls {
 public:
  using R = ComputedIn<T>;
  explicit RepeatedCalls(const Repeated& repeated)
      : of_(repeated), ranks_(of_.P, of_.whole_policy(), of_.with_residual ? 0 : of_.ratio) {
    const std::size_t in = of_.count * of_.blocks_in(), out = of_.count * of_.blocks_out();
    for (int r = 0; r < of_.P; ++r) {
      in_.push_back(std::make_unique<OnGpu<T>>(in));
      out_.push_back(std::make_unique<OnGpu<T>>(of_.in_place ? std::max(in, out) : out));
      residuals_.push_back(std::make_unique<OnGpu<R>>(std::vector<R>(in)));
      reset(r);
    }
  }

  NcclRanks& ranks() { return ranks_; }

  // Writes the operands of a step, whose results do not matter any more.
  void fill(int rank, int step) {
    const auto r = static_cast<std::size_t>(rank);
    std::vector<T> x(of_.count * of_.blocks_in());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto k = static_cast<double>((7 * i + 3 * r + 5 * static_cast<std::size_t>(step)) % 11);
      x[i] = static_cast<T>(static_cast<R>(i % 4 == 0 ? 1 - 0.2 * k : 0.003 * (1 + k)));
    }
    stand_in_copy(in(rank), x.data(), x.size() * sizeof(T));
  }
  // Sets results and residuals back.
  void reset(int rank) {
    const auto r = static_cast<std::size_t>(rank);
    const std::vector<T> out(out_[r]->size());
    const std::vector<R> residual(residuals_[r]->size());
    stand_in_copy(out_[r]->data(), out.data(), out.size() * sizeof(T));
    stand_in_copy(residuals_[r]->data(), residual.data(), residual.size() * sizeof(R));
  }

  int call(const NcclRank& me) {
    using enum Collective;
    void *const from = in(me.rank), *const to = out(me.rank);
    const int type = nccl_type(dtype_of<T>), op = of_.op;
    R* const residual = residuals_[static_cast<std::size_t>(me.rank)]->data();
    if (of_.with_residual) {
      const auto sum = of_.collective == reduce_scatter ? TAUT_Nccl_ReduceScatter_with_residual
                                                        : TAUT_Nccl_AllReduce_with_residual;
      return sum(from, to, of_.count, type, op, residual, me.comm, me.stream);
    }
    switch (of_.collective) {
      case allreduce: return TAUT_Nccl_AllReduce(from, to, of_.count, type, op, me.comm, me.stream);
      case reduce_scatter: return TAUT_Nccl_ReduceScatter(from, to, of_.count, type, op, me.comm, me.stream);
      case allgather: return TAUT_Nccl_AllGather(from, to, of_.count, type, me.comm, me.stream);
      default: return TAUT_Nccl_Broadcast(from, to, of_.count, type, of_.P - 1, me.comm, me.stream);
    }
  }

  // Returns a graph of the call, which was made once before.
  std::unique_ptr<Graph> captured(const NcclRank& me) {
    most_kept += 16;  // scratch memory of a captured stream, which libtaut_cuda never frees
    auto graph =
        std::make_unique<Graph>(me.stream, [&] { EXPECT_EQ(call(me), 0) << TAUT_Nccl_last_error(); });
    EXPECT_EQ(graph->ended(), cudaSuccess);
    return graph;
  }

  // Returns the bytes of a rank's results and residual.
  std::vector<std::byte> results(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    std::vector<std::byte> all = bytes_of(*out_[r]);
    if (!of_.with_residual) return all;
    const std::vector<std::byte> residual = bytes_of(*residuals_[r]);
    all.insert(all.end(), residual.begin(), residual.end());
    return all;
  }

  // Runs steps on all ranks, each by action(rank), and returns what results of each, by rank and step.
  template <class Action>
  std::vector<std::vector<std::byte>> run(int steps, const Action& action) {
    std::vector<std::vector<std::byte>> all(static_cast<std::size_t>(of_.P * steps));
    ranks_.run([&](NcclRank& me) {
      for (int step = 0; step < steps; ++step) {
        fill(me.rank, step);
        EXPECT_EQ(action(me), 0) << TAUT_Nccl_last_error();
        me.finish();
        all[static_cast<std::size_t>(me.rank * steps + step)] = results(me.rank);
      }
    });
    return all;
  }

 private:
  template <class V>
  static std::vector<std::byte> bytes_of(const OnGpu<V>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(V));
    stand_in_copy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  T* in(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    if (!of_.in_place) return in_[r]->data();
    return out_[r]->data() + (of_.collective == Collective::allgather ? r * of_.count : 0);
  }
  T* out(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return out_[r]->data() +
           (of_.in_place && of_.collective == Collective::reduce_scatter ? r * of_.count : 0);
  }

  Repeated of_;
  NcclRanks ranks_;
  std::vector<std::unique_ptr<OnGpu<T>>> in_, out_;
  std::vector<std::unique_ptr<OnGpu<R>>> residuals_;
};

// Graphs of a call, one on each rank.
template <class T>
class CapturedCalls {
 public:
  explicit CapturedCalls(RepeatedCalls<T>& calls) : graphs_(static_cast<std::size_t>(calls.ranks().size())) {
    calls.ranks().run([&](NcclRank& me) {
      calls.fill(me.rank, 0);
      EXPECT_EQ(calls.call(me), 0) << TAUT_Nccl_last_error();
      me.finish();
      calls.reset(me.rank);
      graphs_[static_cast<std::size_t>(me.rank)] = calls.captured(me);
    });
  }

  int launch(const NcclRank& me) const {
    return graphs_[static_cast<std::size_t>(me.rank)]->launch(me.stream);
  }

 private:
  std::vector<std::unique_ptr<Graph>> graphs_;
};

// Expects that a graph of the call gives the bits of direct calls in every step.
template <class T>
void expect_bits_of_direct_calls(const Repeated& repeated, int steps = 50) {
  SCOPED_TRACE(testing::Message() << name_of(repeated.collective) << " of " << repeated.count << ' '
                                  << name_of(dtype_of<T>) << " under " << repeated.policy << " on "
                                  << repeated.P << (repeated.in_place ? " in place" : "")
                                  << (repeated.with_residual ? " with a residual" : ""));
  RepeatedCalls<T> replayed(repeated), direct(repeated);
  const CapturedCalls<T> graphs(replayed);
  const auto by_graphs = replayed.run(steps, [&](const NcclRank& me) { return graphs.launch(me); });
  const auto directly = direct.run(steps, [&](const NcclRank& me) { return direct.call(me); });
  EXPECT_TRUE(by_graphs == directly);
  EXPECT_NE(directly[0], directly[1]);
  EXPECT_EQ(fake_nccl::take_report(), "");
}

}  // namespace taut::test
