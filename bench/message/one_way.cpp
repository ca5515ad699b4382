// taut_bench_one_way [POLICY [BYTES [SECONDS]]]: compares the time of a long message of floats from rank 0 to
// rank 1 with the times of its steps: encoding, sending the frame by MPI, decoding, each alone. If the steps
// overlap, the message takes hardly longer than the longest of them. Rounds of all four measurements
// alternate. POLICY: one with a bound that TAUT_Encode reads too. Exit status: 0; 2 for a wrong command line.

#include <mpi.h>
#include <taut/taut.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "../command_line.hpp"

namespace bench {
namespace {

// Makes a wave with noise, whose ratio is about 8 under abs:1e-3.
std::vector<float> make_values(std::size_t count) {
  std::mt19937 random(1);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(10 * std::sin(0.001 * static_cast<double>(i)) +
                                   0.006 * static_cast<double>(random()) * 0x1p-32);
  return values;
}

class Steps {
 public:
  Steps(std::string policy, std::size_t bytes, int rank)
      : policy_(std::move(policy)), rank_(rank), values_(make_values(bytes / sizeof(float))), got_(values_) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    TAUT_Comm_set_policy(comm_, policy_.c_str());
    frame_.resize(TAUT_Max_bytes(TAUT_FLOAT32, values_.size(), 1));
    encode();
  }

  void encode() {
    TAUT_Encode(values_.data(), values_.size(), TAUT_FLOAT32, policy_.c_str(), frame_.data(), frame_.size(),
                &size_);
  }
  void decode() { TAUT_Decode(frame_.data(), size_, got_.data(), got_.size(), TAUT_FLOAT32); }

  // Sends to the other rank and back; half of it is one way.
  void wire() {
    const int bytes = static_cast<int>(size_);
    if (rank_ == 0) MPI_Send(frame_.data(), bytes, MPI_BYTE, 1, 0, comm_);
    MPI_Recv(frame_.data(), bytes, MPI_BYTE, 1 - rank_, 0, comm_, MPI_STATUS_IGNORE);
    if (rank_ == 1) MPI_Send(frame_.data(), bytes, MPI_BYTE, 0, 0, comm_);
  }
  void message() {
    const auto count = static_cast<MPI_Count>(values_.size());
    if (rank_ == 0) TAUT_Send(values_.data(), count, MPI_FLOAT, 1, 0, comm_);
    TAUT_Recv(got_.data(), count, MPI_FLOAT, 1 - rank_, 0, comm_, MPI_STATUS_IGNORE);
    if (rank_ == 1) TAUT_Send(values_.data(), count, MPI_FLOAT, 0, 0, comm_);
  }

  double ratio() const {
    return static_cast<double>(values_.size() * sizeof(float)) / static_cast<double>(size_);
  }
  std::size_t segments() const { return std::max<std::size_t>(values_.size() * sizeof(float) >> 20, 1); }

 private:
  std::string policy_;
  int rank_;
  std::vector<float> values_, got_;
  std::vector<unsigned char> frame_;
  std::size_t size_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

template <class Action>
double milliseconds(Action action) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  action();
  return 1e3 * (MPI_Wtime() - begin);
}

double at_share(std::vector<double> times, double share) {
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
}

void report(const Steps& steps, const std::vector<double> (&times)[4]) {
  std::printf("# ratio %.2f, %zu segments, %zu rounds; milliseconds: least, quartile, median\n",
              steps.ratio(), steps.segments(), times[0].size());
  const char* const names[] = {"encode", "wire", "decode", "message"};
  for (std::size_t i = 0; i < 4; ++i)
    std::printf("%-8s %8.2f %8.2f %8.2f\n", names[i], at_share(times[i], 0), at_share(times[i], 0.25),
                at_share(times[i], 0.5));
  std::printf("%-8s", "limit");
  for (const double share : {0.0, 0.25, 0.5}) {
    const double e = at_share(times[0], share), w = at_share(times[1], share), d = at_share(times[2], share);
    std::printf(" %8.2f", 1.1 * std::max({e, w, d}) + (e + w + d) / static_cast<double>(steps.segments()));
  }
  std::printf("  1.1 x the longest step + one segment\n");
}

int run(const std::vector<std::string>& arguments) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (arguments.size() > 3 || ranks != 2) {
    if (rank == 0) std::fprintf(stderr, "usage: taut_bench_one_way [POLICY [BYTES [SECONDS]]], on 2 ranks\n");
    return 2;
  }
  const std::string policy = arguments.size() > 0 ? arguments[0] : "abs:1e-3";
  Steps steps(policy, arguments.size() > 1 ? byte_size(arguments[1]) : std::size_t{16} << 20, rank);
  const double seconds = arguments.size() > 2 ? positive_number(arguments[2]) : 5;
  std::vector<double> times[4];
  int more = 1;
  for (const double begin = MPI_Wtime(); more != 0; MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD)) {
    times[0].push_back(milliseconds([&] { steps.encode(); }));
    times[1].push_back(milliseconds([&] { steps.wire(); }) / 2);
    times[2].push_back(milliseconds([&] { steps.decode(); }));
    times[3].push_back(milliseconds([&] { steps.message(); }) / 2);
    more = MPI_Wtime() - begin < seconds;
  }
  if (rank == 0) report(steps, times);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = bench::run({argv + 1, argv + argc});
  MPI_Finalize();
  return status;
}
