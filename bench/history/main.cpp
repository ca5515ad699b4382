// taut_bench_history: runs programs that repeat a call, and prints a row of JSON for each. In each step
// the call is made by plain MPI, by Taut without and with a history, in alternating order.
//   weights          broadcast of bfloat16 weights after a step of an optimiser, without loss (three rates)
//   heat, Jacobi     both neighbours' planes of a box, float64: a collective of neighbours, and messages
//   k-means          sums of the points of each cluster, float32, in the twelfth iteration
//   96 % zeros       broadcast without loss, which needs no history
//   gradients, CG    sums of random numbers; a gathered direction: no history helps
// Programs that iterate go on with the values that arrive compressed.
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
#include <numeric>
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

// A program: step() computes, call(comm, out) makes the collective, take(out) takes what arrived. All are
// called on all ranks.
struct Program {
  std::string name, policy;
  std::size_t out_bytes;
  std::function<void()> step;
  std::function<void(MPI_Comm, void*)> call;
  std::function<void(const Bytes&)> take = [](const Bytes&) {};
  int steps = 0, from = 0;  // steps, and the first one that counts; 0: as the options say
};

// Weights of a model on rank 0, and the bfloat16 words that are sent. `deviation`: of the updates, over the
// rate. It changes as many words as AdamW did in a measured training: 53, 8.5 and 1.4 % at rates of 3e-4,
// 1e-5 and 1e-6.
Program weights(const Options& options, const char* name, double rate, double deviation) {
  struct State {
    std::mt19937 random{1};
    std::vector<float> masters;
    std::vector<std::uint16_t> words;
    std::normal_distribution<float> update;

    void round() {
      for (std::size_t i = 0; i < masters.size(); ++i)
        words[i] = static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(masters[i]) + 0x8000) >> 16);
    }
  };
  const auto state = std::make_shared<State>();
  state->masters.resize(options.scaled(1 << 20));
  state->words.resize(state->masters.size());
  state->update = std::normal_distribution<float>(0, static_cast<float>(rate * deviation));
  std::normal_distribution<float> normal(0, 0.035F);
  for (float& x : state->masters) x = normal(state->random);
  const auto step = [state] {
    if (rank_of(MPI_COMM_WORLD) > 0) return;
    for (float& x : state->masters) x -= state->update(state->random);
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

// Returns an absolute bound: this share of the range of a message, on the rank where that is smallest.
std::string bound_of(double share, const std::vector<double>& values) {
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  double range = *greatest - *least;
  MPI_Allreduce(MPI_IN_PLACE, &range, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  char text[40];
  std::snprintf(text, sizeof text, "abs:%.3g", share * range);
  return text;
}

// Slabs of 24 planes of n x n on each rank, between two planes of the neighbours. A step is one of the heat
// equation, or one Jacobi iteration of Poisson's equation, with what the neighbours sent. The edges of each
// plane keep their values.
struct Slabs {
  static constexpr std::size_t planes = 26;
  std::size_t n;
  bool jacobi;
  std::vector<double> now, next, source, sent, got;

  Slabs(std::size_t extent, bool iterates) : n(extent), jacobi(iterates) {
    std::mt19937 random(7 + static_cast<unsigned>(rank_of(MPI_COMM_WORLD)));
    std::normal_distribution<double> normal(0, 1);
    now.assign(planes * n * n, 0);
    source = now;
    sent.resize(2 * n * n);
    got.resize(2 * n * n);
    std::vector<double>& field = jacobi ? source : now;
    for_cells(0, [&](std::size_t i) { field[i] = normal(random); });
    for (int pass = 0; pass < (jacobi ? 2 : 3); ++pass) smooth(field);
    for (double& x : field) x *= jacobi ? 5 : 20;
    next = now;
    show();
  }

  // Calls update(i) for each cell of this rank that is `edge` cells or more from the edges of its plane.
  template <class Update>
  void for_cells(std::size_t edge, Update update) {
    for (std::size_t z = 1; z + 1 < planes; ++z)
      for (std::size_t y = edge; y + edge < n; ++y)
        for (std::size_t x = edge; x + edge < n; ++x) update((z * n + y) * n + x);
  }
  // Replaces each cell by the mean of three, along one axis after the other, as if the slab were periodic.
  void smooth(std::vector<double>& u) {
    const std::size_t plane = n * n, own = (planes - 2) * plane;
    for (const std::size_t stride : {plane, n, std::size_t{1}}) {
      const std::size_t period = stride == plane ? own : n * stride;
      std::vector<double> out = u;
      for_cells(0, [&](std::size_t i) {
        const std::size_t place = i - plane, line = place - place % period, at = place % period;
        const double below = u[plane + line + (at + period - stride) % period],
                     above = u[plane + line + (at + stride) % period];
        out[i] = (u[i] + below + above) / 3;
      });
      u.swap(out);
    }
  }
  void show() {
    const auto plane = static_cast<std::ptrdiff_t>(n * n);
    std::copy_n(now.begin() + plane, n * n, sent.begin());
    std::copy_n(now.end() - 2 * plane, n * n, sent.begin() + plane);
  }
  void step() {
    const auto plane = static_cast<std::ptrdiff_t>(n * n);
    std::copy_n(got.begin(), n * n, now.begin());
    std::copy_n(got.begin() + plane, n * n, now.end() - plane);
    next = now;
    for_cells(1, [&](std::size_t i) {
      const double sum = now[i - n * n] + now[i + n * n] + now[i - n] + now[i + n] + now[i - 1] + now[i + 1];
      next[i] = jacobi ? (sum + source[i]) / 6 : now[i] + 0.15 * (sum - 6 * now[i]);
    });
    now.swap(next);
    show();
  }
};

// The planes at the ends of slabs, for both neighbours: by a collective of neighbours, or as messages. The
// slabs go on with the values that arrive compressed.
Program halo(const Options& options, const char* name, bool jacobi, bool by_messages, double share) {
  const std::size_t n = std::max<std::size_t>(8, options.scaled(160));
  const auto slabs = std::make_shared<Slabs>(n, jacobi);
  for (int warm = 0; warm < 240; ++warm) {
    exchange_planes(MPI_Sendrecv, slabs->sent.data(), slabs->got.data(), static_cast<int>(n * n),
                    MPI_COMM_WORLD);
    slabs->step();
  }
  std::copy_n(slabs->sent.begin(), 2 * n * n, slabs->got.begin());  // until the first planes arrive
  const auto call = [slabs, n, by_messages](MPI_Comm comm, void* out) {
    const auto plane = static_cast<MPI_Count>(n * n);
    if (by_messages)
      exchange_planes(TAUT_Sendrecv, slabs->sent.data(), static_cast<double*>(out), static_cast<int>(plane),
                      comm);
    else
      TAUT_Neighbor_alltoall(slabs->sent.data(), plane, MPI_DOUBLE, out, plane, MPI_DOUBLE, comm);
  };
  const auto take = [slabs](const Bytes& out) { std::memcpy(slabs->got.data(), out.data(), out.size()); };
  Program program{name, bound_of(share, slabs->sent), 16 * n * n, [slabs] { slabs->step(); }, call};
  program.policy += ",min_bytes=0,dims=" + std::to_string(n) + "x" + std::to_string(n);
  program.take = take;
  return program;
}

// Lloyd's k-means; the sums of each cluster are added up over the ranks. The twelfth iteration counts.
Program kmeans(const Options& options) {
  struct State {
    std::size_t k, dims = 32, points;
    std::vector<float> x, centres, sums, total, counts, distances;  // centres: all of a dimension in a row

    std::size_t nearest(const float* point) {
      std::fill(distances.begin(), distances.end(), 0.0F);
      for (std::size_t d = 0; d < dims; ++d)
        for (std::size_t c = 0; c < k; ++c) {
          const float e = point[d] - centres[d * k + c];
          distances[c] += e * e;
        }
      return static_cast<std::size_t>(std::min_element(distances.begin(), distances.end()) -
                                      distances.begin());
    }
    void step() {
      std::fill(sums.begin(), sums.end(), 0.0F);
      std::fill(counts.begin(), counts.end(), 0.0F);
      for (std::size_t p = 0; p < points; ++p) {
        const std::size_t c = nearest(&x[p * dims]);
        for (std::size_t d = 0; d < dims; ++d) sums[c * dims + d] += x[p * dims + d];
        ++counts[c];
      }
      MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(k), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    void move_centres() {
      for (std::size_t c = 0; c < k; ++c)
        for (std::size_t d = 0; d < dims && counts[c] > 0; ++d)
          centres[d * k + c] = total[c * dims + d] / counts[c];
    }
  };
  const auto state = std::make_shared<State>();
  state->k = std::max<std::size_t>(16, options.scaled(1024));
  state->points = 10 * state->k;
  state->x.resize(state->points * state->dims);
  state->sums.resize(state->k * state->dims);
  state->total = state->centres = state->sums;
  state->counts.resize(state->k);
  state->distances.resize(state->k);
  constexpr std::size_t blobs = 200;
  std::mt19937 same(3), own(11 + static_cast<unsigned>(rank_of(MPI_COMM_WORLD)));
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> middles(blobs * state->dims);
  for (float& m : middles) m = 3 * normal(same);
  for (std::size_t p = 0; p < state->points; ++p) {
    const std::size_t blob = own() % blobs;
    for (std::size_t d = 0; d < state->dims; ++d)
      state->x[p * state->dims + d] = middles[blob * state->dims + d] + normal(own);
  }
  for (std::size_t c = 0; c < state->k; ++c)
    for (std::size_t d = 0; d < state->dims; ++d)
      state->centres[d * state->k + c] = state->x[c * state->dims + d];
  MPI_Bcast(state->centres.data(), static_cast<int>(state->centres.size()), MPI_FLOAT, 0, MPI_COMM_WORLD);
  const auto call = [state](MPI_Comm comm, void* out) {
    TAUT_Allreduce(state->sums.data(), out, static_cast<MPI_Count>(state->sums.size()), MPI_FLOAT, MPI_SUM,
                   comm);
  };
  const auto take = [state](const Bytes& out) {
    std::memcpy(state->total.data(), out.data(), out.size());
    state->move_centres();
  };
  state->step();
  std::vector<double> sums(state->sums.begin(), state->sums.end());
  Program program{"k-means", bound_of(4e-4, sums), 4 * sums.size(), [state] { state->step(); }, call};
  program.policy += ",min_bytes=0";
  program.take = take;
  program.steps = 12;
  program.from = 11;
  return program;
}

// Gradients, of which none is like the last: sums of random numbers.
Program gradients(const Options& options) {
  const auto values = std::make_shared<std::vector<float>>(options.scaled(1 << 18));
  const auto random = std::make_shared<std::mt19937>(5 + static_cast<unsigned>(rank_of(MPI_COMM_WORLD)));
  const auto step = [values, random] {
    std::normal_distribution<float> normal(0, 1);
    for (float& x : *values) x = normal(*random);
  };
  const auto call = [values](MPI_Comm comm, void* out) {
    TAUT_Allreduce(values->data(), out, static_cast<MPI_Count>(values->size()), MPI_FLOAT, MPI_SUM, comm);
  };
  return {"gradients", "abs:1e-1", 4 * values->size(), step, call};
}

// Messages of which 96 % are zeros, at other places each time.
Program zeros(const Options& options) {
  const auto values = std::make_shared<std::vector<float>>(options.scaled(1 << 18));
  const auto random = std::make_shared<std::mt19937>(9);
  const auto step = [values, random] {
    std::normal_distribution<float> normal(0, 1);
    for (float& x : *values) x = (*random)() % 25 == 0 ? normal(*random) : 0.0F;
  };
  const auto call = [values](MPI_Comm comm, void* out) {
    void* const buffer = rank_of(comm) == 0 ? static_cast<void*>(values->data()) : out;
    TAUT_Bcast(buffer, static_cast<MPI_Count>(values->size()), MPI_FLOAT, 0, comm);
  };
  return {"96 % zeros", "lossless", 4 * values->size(), step, call};
}

// Conjugate gradients for Poisson's equation on a square, whose rows are spread: the direction is gathered.
Program conjugate_gradients(const Options& options) {
  struct State {
    std::size_t n, first, rows;
    std::vector<double> x, residual, direction, whole, product;
    double squares = 0;

    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
      double sum = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return sum;
    }
    void multiply() {
      for (std::size_t y = 0; y < rows; ++y)
        for (std::size_t c = 0; c < n; ++c) {
          const std::size_t r = first + y;
          double sum = (4 + 1e-3) * whole[r * n + c];
          if (r > 0) sum -= whole[(r - 1) * n + c];
          if (r + 1 < n) sum -= whole[(r + 1) * n + c];
          if (c > 0) sum -= whole[r * n + c - 1];
          if (c + 1 < n) sum -= whole[r * n + c + 1];
          product[y * n + c] = sum;
        }
    }
    void step() {
      multiply();
      const double length = squares / dot(direction, product), before = squares;
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] += length * direction[i];
        residual[i] -= length * product[i];
      }
      squares = dot(residual, residual);
      for (std::size_t i = 0; i < x.size(); ++i) direction[i] = residual[i] + squares / before * direction[i];
    }
  };
  const auto state = std::make_shared<State>();
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  state->rows = std::max<std::size_t>(4, options.scaled(512) / static_cast<std::size_t>(ranks));
  state->n = state->rows * static_cast<std::size_t>(ranks);
  state->first = state->rows * static_cast<std::size_t>(rank_of(MPI_COMM_WORLD));
  state->whole.resize(state->n * state->n);
  for (auto* part : {&state->x, &state->residual, &state->product}) part->resize(state->rows * state->n);
  std::mt19937 random(3 + static_cast<unsigned>(rank_of(MPI_COMM_WORLD)));
  std::normal_distribution<double> normal(0, 1);
  for (double& r : state->residual) r = normal(random);
  state->direction = state->residual;
  state->squares = State::dot(state->residual, state->residual);
  const auto call = [state](MPI_Comm comm, void* out) {
    const auto own = static_cast<MPI_Count>(state->direction.size());
    TAUT_Allgather(state->direction.data(), own, MPI_DOUBLE, out, own, MPI_DOUBLE, comm);
  };
  const auto take = [state](const Bytes& out) { std::memcpy(state->whole.data(), out.data(), out.size()); };
  Program program{"CG, Poisson", bound_of(1e-4, state->direction), 8 * state->whole.size(),
                  [state] { state->step(); }, call};
  MPI_Allgather(state->direction.data(), static_cast<int>(state->direction.size()), MPI_DOUBLE,
                state->whole.data(), static_cast<int>(state->direction.size()), MPI_DOUBLE, MPI_COMM_WORLD);
  program.take = take;
  return program;
}

// A ring of all ranks, so that it also serves calls between neighbours. Reports know it by the program's
// name.
MPI_Comm ring_with(const std::string& name, const std::string& policy) {
  int ranks = 0;
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Comm_set_name(ring, name.c_str());
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

// Makes the program's calls in all ways.
bool measure(const Options& options, const Program& program) {
  const std::string policy = program.policy + ",when=" + options.when;
  const int steps = program.steps > 0 ? program.steps : options.steps;
  const int from = program.steps > 0 ? program.from : steps / 4;
  const auto with = [&](const std::string& of) { return Way{ring_with(program.name, of), {}, {}}; };
  std::array<Way, 3> ways{with("off"), with(policy), with(policy + ",history=" + options.history)};
  std::array<std::array<double, 2>, 3> before{};
  int same = 1;
  for (int step = 0; step < steps; ++step) {
    program.step();
    if (step == from)
      for (std::size_t w = 0; w < ways.size(); ++w) before[w] = sent_by_all(ways[w].comm);
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      Way& way = ways[(turn + static_cast<std::size_t>(step)) % ways.size()];
      way.out.resize(program.out_bytes);
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      program.call(way.comm, way.out.data());
      MPI_Barrier(MPI_COMM_WORLD);
      if (step >= from) way.ms.push_back(1e3 * (MPI_Wtime() - begin));
    }
    if (options.when == "always" && ways[1].out != ways[2].out) same = 0;  // else some calls may go plain
    program.take(ways[2].out);
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
  good &= measure(options, weights(options, "weights, lr 3e-4", 3e-4, 0.3));
  good &= measure(options, weights(options, "weights, lr 1e-5", 1e-5, 0.55));
  good &= measure(options, weights(options, "weights, lr 1e-6", 1e-6, 0.6));
  good &= measure(options, halo(options, "heat", false, false, 1e-4));
  good &= measure(options, halo(options, "heat, messages", false, true, 1e-4));
  good &= measure(options, halo(options, "Jacobi", true, false, 1e-5));
  good &= measure(options, kmeans(options));
  good &= measure(options, zeros(options));
  good &= measure(options, gradients(options));
  good &= measure(options, conjugate_gradients(options));
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
