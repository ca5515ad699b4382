// taut_bench_history: runs programs that repeat a call, and prints a row of JSON for each. In each step
// the call is made by plain MPI, by Taut without and with a history, in alternating order.
//   weights   broadcast of bfloat16 weights between two steps of an optimiser, without loss (two rates)
//   heat      both neighbours' planes of the heat equation, float64: a collective of neighbours, and messages
//   kmeans    sums of the points of each cluster, float32
//   random    sums of random numbers, which no history helps
// Exit status: 0; 1 if results with and without a history differ; 2 for a wrong command line.

#include <mpi.h>
#include <taut/taut.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include "../command_line.hpp"
#include "compressor/base/json.hpp"

namespace bench {
namespace {

struct Options {
  std::string when = "always", history = "auto";
  int steps = 40;
  double scale = 1;

  std::size_t scaled(double n) const { return static_cast<std::size_t>(std::max(1.0, n * scale)); }
};

Options parse(const std::vector<std::string>& words) {
  Options o;
  const Setters setters{
      {"--when", [&o](const std::string& text) { o.when = text; }},
      {"--history", [&o](const std::string& text) { o.history = text; }},
      {"--steps", [&o](const std::string& text) { o.steps = static_cast<int>(positive_number(text)); }},
      {"--scale", [&o](const std::string& text) { o.scale = positive_number(text); }}};
  if (!take_options(words, setters).empty() || o.steps < 4)
    throw std::invalid_argument(
        "usage: taut_bench_history [--steps N] [--scale S] [--when always|profitable] [--history auto|K]; N "
        ">= 4");
  return o;
}

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

using Bytes = std::vector<unsigned char>;

// A program: step() computes, call(comm, out) makes the collective. Both are called on all ranks.
struct Program {
  std::string name, bound;
  std::size_t out_bytes;
  std::function<void()> step;
  std::function<void(MPI_Comm, void*)> call;
};

// Weights of a model, and the bfloat16 words that are sent. The update of a weight is about as large as
// Adam's.
Program weights(const Options& options, const char* name, double rate) {
  struct State {
    std::mt19937 random{1};
    std::vector<float> masters;
    std::vector<std::uint16_t> words;
    double rate = 0;

    void round() {
      for (std::size_t i = 0; i < masters.size(); ++i)
        words[i] = static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(masters[i]) + 0x8000) >> 16);
    }
  };
  const auto state = std::make_shared<State>();
  state->masters.resize(options.scaled(4 << 20));
  state->words.resize(state->masters.size());
  state->rate = rate;
  std::normal_distribution<float> normal(0, 0.02F);
  for (float& x : state->masters) x = normal(state->random);
  const auto step = [state] {
    for (float& x : state->masters) {
      const double part = static_cast<double>(state->random()) * 0x1p-31 - 1;
      x -= static_cast<float>(1.2 * state->rate * part);
    }
    state->round();
  };
  const auto call = [state](MPI_Comm comm, void* out) {
    void* const buffer = rank_of(comm) == 0 ? static_cast<void*>(state->words.data()) : out;
    TAUT_Bcast(buffer, static_cast<MPI_Count>(state->words.size()), MPI_UINT16_T, 0, comm);
  };
  return {name, "lossless", 2 * state->words.size(), step, call};
}

// Sends a plane to each neighbour in a ring, and receives its plane, by `sendrecv`. Of `sent`, the first
// plane goes to the left; of `got`, the first one comes from there.
template <class Sendrecv>
void exchange_planes(Sendrecv sendrecv, const double* sent, double* got, int n, MPI_Comm ring) {
  const int rank = rank_of(ring);
  int ranks = 0;
  MPI_Comm_size(ring, &ranks);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  sendrecv(sent, n, MPI_DOUBLE, left, 0, got + n, n, MPI_DOUBLE, right, 0, ring, MPI_STATUS_IGNORE);
  sendrecv(sent + n, n, MPI_DOUBLE, right, 1, got, n, MPI_DOUBLE, left, 1, ring, MPI_STATUS_IGNORE);
}

// The heat equation in slabs of planes of n x n, periodic; explicit steps from smoothed noise.
Program heat(const Options& options, bool by_messages) {
  struct State {
    std::size_t n, planes = 24;
    std::vector<double> now, next, sent, got;

    double at(std::size_t z, std::size_t y, std::size_t x) const { return now[(z * n + y % n) * n + x % n]; }
    void step() {
      std::copy_n(got.begin(), n * n, now.begin());
      std::copy_n(got.begin() + static_cast<std::ptrdiff_t>(n * n), n * n,
                  now.end() - static_cast<std::ptrdiff_t>(n * n));
      for (std::size_t z = 1; z + 1 < planes; ++z)
        for (std::size_t y = 0; y < n; ++y)
          for (std::size_t x = 0; x < n; ++x) {
            const double around = at(z - 1, y, x) + at(z + 1, y, x) + at(z, y + n - 1, x) + at(z, y + 1, x) +
                                  at(z, y, x + n - 1) + at(z, y, x + 1);
            next[(z * n + y) * n + x] = at(z, y, x) + 0.15 * (around - 6 * at(z, y, x));
          }
      now.swap(next);
      std::copy_n(now.begin() + static_cast<std::ptrdiff_t>(n * n), n * n, sent.begin());
      std::copy_n(now.end() - static_cast<std::ptrdiff_t>(2 * n * n), n * n,
                  sent.begin() + static_cast<std::ptrdiff_t>(n * n));
    }
  };
  const auto state = std::make_shared<State>();
  const std::size_t n = state->n = std::max<std::size_t>(8, options.scaled(160));
  state->now.resize(state->planes * n * n);
  state->sent.resize(2 * n * n);
  state->got.resize(2 * n * n);
  std::mt19937 random(7 + static_cast<unsigned>(rank_of(MPI_COMM_WORLD)));
  for (double& x : state->now) x = static_cast<double>(random()) * 0x1p-32;
  state->next = state->now;
  const auto step = [state] {
    state->step();
    exchange_planes(MPI_Sendrecv, state->sent.data(), state->got.data(),
                    static_cast<int>(state->n * state->n), MPI_COMM_WORLD);
  };
  for (int warm = 0; warm < 60; ++warm) step();
  const auto call = [state, by_messages](MPI_Comm comm, void* out) {
    const auto planes = static_cast<MPI_Count>(state->n * state->n);
    if (by_messages)
      exchange_planes(TAUT_Sendrecv, state->sent.data(), static_cast<double*>(out), static_cast<int>(planes),
                      comm);
    else
      TAUT_Neighbor_alltoall(state->sent.data(), planes, MPI_DOUBLE, out, planes, MPI_DOUBLE, comm);
  };
  return {by_messages ? "heat, messages" : "heat", "abs:1e-5", 16 * n * n, step, call};
}

// Lloyd's k-means on points around as many centres; the sums of each cluster are added up over the ranks.
Program kmeans(const Options& options) {
  struct State {
    std::size_t k, dims = 64, points;
    std::vector<float> x, centres, sums, total;
    std::vector<float> counts;

    void step() {
      std::fill(sums.begin(), sums.end(), 0.0F);
      std::fill(counts.begin(), counts.end(), 0.0F);
      for (std::size_t p = 0; p < points; ++p) {
        std::size_t best = 0;
        float least = 1e30F;
        for (std::size_t c = 0; c < k; ++c) {
          float distance = 0;
          for (std::size_t d = 0; d < dims; ++d) {
            const float e = x[p * dims + d] - centres[c * dims + d];
            distance += e * e;
          }
          if (distance < least) least = distance, best = c;
        }
        for (std::size_t d = 0; d < dims; ++d) sums[best * dims + d] += x[p * dims + d];
        ++counts[best];
      }
      std::vector<float> all(counts.size());
      MPI_Allreduce(sums.data(), total.data(), static_cast<int>(sums.size()), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
      MPI_Allreduce(counts.data(), all.data(), static_cast<int>(all.size()), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
      for (std::size_t c = 0; c < k; ++c)
        for (std::size_t d = 0; d < dims && all[c] > 0; ++d)
          centres[c * dims + d] = total[c * dims + d] / all[c];
    }
  };
  const auto state = std::make_shared<State>();
  state->k = std::max<std::size_t>(4, options.scaled(512));
  state->points = 8 * state->k;
  state->x.resize(state->points * state->dims);
  state->centres.resize(state->k * state->dims);
  state->sums.resize(state->centres.size());
  state->total.resize(state->centres.size());
  state->counts.resize(state->k);
  std::mt19937 same(3), own(11 + static_cast<unsigned>(rank_of(MPI_COMM_WORLD)));
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> blobs(state->centres.size());
  for (float& b : blobs) b = normal(same);
  for (std::size_t p = 0; p < state->points; ++p) {
    const std::size_t blob = own() % state->k;
    for (std::size_t d = 0; d < state->dims; ++d)
      state->x[p * state->dims + d] = blobs[blob * state->dims + d] + 0.7F * normal(own);
  }
  for (float& c : state->centres) c = normal(same);
  const auto call = [state](MPI_Comm comm, void* out) {
    TAUT_Allreduce(state->sums.data(), out, static_cast<MPI_Count>(state->sums.size()), MPI_FLOAT, MPI_SUM,
                   comm);
  };
  return {"kmeans", "abs:1e-2", 4 * state->sums.size(), [state] { state->step(); }, call};
}

Program random_sums(const Options& options) {
  const auto values = std::make_shared<std::vector<float>>(options.scaled(1 << 20));
  const auto random = std::make_shared<std::mt19937>(5 + static_cast<unsigned>(rank_of(MPI_COMM_WORLD)));
  const auto step = [values, random] {
    std::normal_distribution<float> normal(0, 1);
    for (float& x : *values) x = normal(*random);
  };
  const auto call = [values](MPI_Comm comm, void* out) {
    TAUT_Allreduce(values->data(), out, static_cast<MPI_Count>(values->size()), MPI_FLOAT, MPI_SUM, comm);
  };
  return {"random", "abs:1e-2", 4 * values->size(), step, call};
}

// A ring of all ranks, so that it also serves calls between neighbours.
MPI_Comm ring_with(const std::string& policy) {
  int ranks = 0;
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  TAUT_Comm_set_policy(ring, policy.c_str());
  return ring;
}

struct Way {
  MPI_Comm comm;
  Bytes out;
  std::vector<double> ms;
  double ratio = 1;
};

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Returns the bytes that all ranks sent in compressed calls, and those that these stand for.
std::array<double, 2> sent_by_all(MPI_Comm comm) {
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  TAUT_Comm_get_stats(comm, &stats);
  const double mine[2] = {static_cast<double>(stats.sent_bytes), static_cast<double>(stats.carried_bytes)};
  std::array<double, 2> all{};
  MPI_Allreduce(mine, all.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// Makes the program's calls in all ways. The first quarter of the steps is not counted.
bool measure(const Options& options, const Program& program) {
  const std::string policy = program.bound + ",when=" + options.when;
  std::array<Way, 3> ways{Way{ring_with("off"), {}, {}}, Way{ring_with(policy), {}, {}},
                          Way{ring_with(policy + ",history=" + options.history), {}, {}}};
  std::array<std::array<double, 2>, 3> before{};
  int same = 1;
  for (int step = 0; step < options.steps; ++step) {
    program.step();
    if (step == options.steps / 4)
      for (std::size_t w = 0; w < ways.size(); ++w) before[w] = sent_by_all(ways[w].comm);
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      Way& way = ways[(turn + static_cast<std::size_t>(step)) % ways.size()];
      way.out.resize(program.out_bytes);
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      program.call(way.comm, way.out.data());
      MPI_Barrier(MPI_COMM_WORLD);
      if (step >= options.steps / 4) way.ms.push_back(1e3 * (MPI_Wtime() - begin));
    }
    if (options.when == "always" && ways[1].out != ways[2].out) same = 0;  // else some calls may go plain
  }
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  for (std::size_t w = 1; w < ways.size(); ++w) {
    const auto after = sent_by_all(ways[w].comm);
    ways[w].ratio = (after[1] - before[w][1]) / std::max(1.0, after[0] - before[w][0]);
  }
  taut::json::Object row;
  row.add("program", program.name);
  row.add("policy", policy);
  row.add("bytes", program.out_bytes);
  row.add("mpi_ms", median(ways[0].ms));
  row.add("off_ms", median(ways[1].ms));
  row.add("on_ms", median(ways[2].ms));
  row.add("on_over_off", median(ways[2].ms) / median(ways[1].ms));
  row.add("off_ratio", ways[1].ratio);
  row.add("on_ratio", ways[2].ratio);
  row.add("same_bits", same == 1);
  if (rank_of(MPI_COMM_WORLD) == 0) std::puts(row.text().c_str());
  std::fflush(stdout);
  for (Way& way : ways) MPI_Comm_free(&way.comm);
  return same == 1;
}

int run(const std::vector<std::string>& arguments) {
  Options options;
  try {
    options = parse(arguments);
  } catch (const std::exception& error) {
    if (rank_of(MPI_COMM_WORLD) == 0) std::fprintf(stderr, "taut_bench_history: %s\n", error.what());
    return 2;
  }
  bool good = true;
  good &= measure(options, weights(options, "weights 1e-6", 1e-6));
  good &= measure(options, weights(options, "weights 1e-5", 1e-5));
  good &= measure(options, heat(options, false));
  good &= measure(options, heat(options, true));
  good &= measure(options, kmeans(options));
  good &= measure(options, random_sums(options));
  return good ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = bench::run({argv + 1, argv + argc});
  MPI_Finalize();
  return status;
}
