// taut_bench_messages [POLICY [smooth|random [MIN:MAX [SECONDS]]]]: measures half the time of a ping-pong of
// floats between ranks 0 and 1 in alternation: by MPI_Send and MPI_Recv, by TAUT_Send and TAUT_Recv without a
// policy, and with the policy. SECONDS: about how long each size takes. Exit status: 0; 1 if a value is not
// within 1e-3 (`smooth` under the default policy); 2 for a wrong command line.

#include <mpi.h>
#include <taut/taut.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "../command_line.hpp"

namespace bench {
namespace {

struct Options {
  std::string policy = "abs:1e-3", data = "smooth";
  std::size_t least = 8, most = std::size_t{16} << 20;
  double seconds = 0.5;
};

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  if (arguments.size() > 0) options.policy = arguments[0];
  if (arguments.size() > 1) options.data = arguments[1];
  if (arguments.size() > 2) {
    const std::vector<std::string> sizes = split(arguments[2], ':');
    options.least = byte_size(sizes.front());
    options.most = byte_size(sizes.back());
  }
  if (arguments.size() > 3) options.seconds = positive_number(arguments[3]);
  if (arguments.size() > 4 || (options.data != "smooth" && options.data != "random"))
    throw std::invalid_argument("usage: taut_bench_messages [POLICY [smooth|random [MIN:MAX [SECONDS]]]]");
  return options;
}

// Makes a wave with noise, whose ratio is about 6 under abs:1e-3, or finite floats of random bits.
std::vector<float> make_values(const Options& options) {
  std::mt19937 random(1);
  std::vector<float> values(options.most / sizeof(float) + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double noise = static_cast<double>(random()) * 0x1p-32;
    const double wave = 10 * std::sin(0.001 * static_cast<double>(i)) + 0.02 * noise;
    values[i] = static_cast<float>(
        options.data == "smooth" ? wave : noise * std::pow(10, static_cast<double>(random() % 20) - 10));
  }
  return values;
}

struct Way {
  const char* name;
  MPI_Comm comm;
  bool taut;
};

class PingPong {
 public:
  PingPong(const Options& options, int rank) : rank_(rank), sent_(make_values(options)), got_(sent_.size()) {}

  // Returns the seconds of one message.
  double time(const Way& way, MPI_Count count, int rounds) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
      if (rank_ == 0) send(way, count);
      if (rank_ < 2) receive(way, count);
      if (rank_ == 1) send(way, count);
    }
    return (MPI_Wtime() - begin) / (2 * rounds);
  }

  double worst(std::size_t count) const {
    double worst = 0;
    for (std::size_t i = 0; i < count; ++i)
      worst = std::max(worst, static_cast<double>(std::abs(sent_[i] - got_[i])));
    return worst;
  }

 private:
  void send(const Way& way, MPI_Count count) {
    if (way.taut)
      TAUT_Send(sent_.data(), count, MPI_FLOAT, 1 - rank_, 0, way.comm);
    else
      MPI_Send(sent_.data(), static_cast<int>(count), MPI_FLOAT, 1 - rank_, 0, way.comm);
  }
  void receive(const Way& way, MPI_Count count) {
    if (way.taut)
      TAUT_Recv(got_.data(), count, MPI_FLOAT, 1 - rank_, 0, way.comm, MPI_STATUS_IGNORE);
    else
      MPI_Recv(got_.data(), static_cast<int>(count), MPI_FLOAT, 1 - rank_, 0, way.comm, MPI_STATUS_IGNORE);
  }

  int rank_;
  std::vector<float> sent_, got_;
};

double median(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// Runs rounds of all variants in turn, as many as the time allows; rank 0 decides.
void measure(PingPong& game, const Way (&ways)[3], std::size_t bytes, double seconds, int rank) {
  const auto count = static_cast<MPI_Count>(bytes / sizeof(float));
  const int rounds = bytes <= 8192 ? 20 : 1;
  std::vector<double> times[3];
  int more = 1;
  for (const double begin = MPI_Wtime(); more != 0; MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD)) {
    for (std::size_t w = 0; w < 3; ++w) times[w].push_back(game.time(ways[w], count, rounds));
    more = times[0].size() < 5 || (MPI_Wtime() - begin < seconds && times[0].size() < 20000);
  }
  if (rank != 0) return;
  double medians[3];
  for (std::size_t w = 0; w < 3; ++w) medians[w] = 1e6 * median(times[w]);
  std::printf("%10zu %12.3f %14.3f %12.3f %10.3f %8zu\n", bytes, medians[0], medians[1], medians[2],
              medians[2] / medians[0], times[0].size());
  std::fflush(stdout);
}

int run(const std::vector<std::string>& arguments) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options;
  try {
    options = parse(arguments);
    if (ranks < 2) throw std::invalid_argument("a ping-pong needs two ranks");
  } catch (const std::exception& error) {
    if (rank == 0) std::fprintf(stderr, "taut_bench_messages: %s\n", error.what());
    return 2;
  }
  MPI_Comm plain, coded;
  MPI_Comm_dup(MPI_COMM_WORLD, &plain);
  MPI_Comm_dup(MPI_COMM_WORLD, &coded);
  TAUT_Comm_set_policy(coded, options.policy.c_str());
  const Way ways[3] = {{"MPI", plain, false}, {"no policy", plain, true}, {"policy", coded, true}};
  if (rank == 0)
    std::printf("# %s, %s floats, %d ranks; microseconds a message, medians\n%10s %12s %14s %12s %10s %8s\n",
                options.policy.c_str(), options.data.c_str(), ranks, "# Size", "MPI", "Taut, no policy",
                "Taut", "Taut/MPI", "samples");
  PingPong game(options, rank);
  for (std::size_t bytes = options.least; bytes <= options.most; bytes *= bytes < 65536 ? 8 : 4)
    measure(game, ways, bytes, options.seconds, rank);
  game.time(ways[2], static_cast<MPI_Count>(options.most / sizeof(float)), 1);
  const bool judged = options.policy == "abs:1e-3" && options.data == "smooth" && rank < 2;
  const bool good = !judged || game.worst(options.most / sizeof(float)) <= 1e-3;
  if (!good) std::printf("rank %d: a value is %g off\n", rank, game.worst(options.most / sizeof(float)));
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
