// Tests TAUT_PROGRESS=1: calls progress while the program blocks in MPI and makes no call of Taut.
//   progress multiple      rank 0 starts calls and sits in MPI_Barrier until the others have finished theirs
//   progress funneled      there is no thread: the program is told, and completes its calls itself
//   progress left          nobody waits: MPI_Finalize completes what is in flight
#include <taut/taut.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int n = 200000, calls = 3;

struct Sums {
  std::vector<float> in = std::vector<float>(n), out[calls];
  TAUT_Request requests[calls];
  int size = 0;

  Sums() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < n; ++i)
      in[static_cast<std::size_t>(i)] = std::sin(1e-3F * static_cast<float>(i + rank));
    for (auto& each : out) each.resize(n);
  }
  bool start() {
    bool good = true;
    for (int k = 0; k < calls; ++k)
      good &= TAUT_Iallreduce(in.data(), out[k].data(), n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                              &requests[k]) == MPI_SUCCESS;
    return good;
  }
  bool wait() { return TAUT_Waitall(calls, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS; }
  bool right() const {
    for (const auto& each : out)
      for (int i = 0; i < n; i += 17) {
        double sum = 0;
        for (int r = 0; r < size; ++r) sum += std::sin(1e-3 * (i + r));
        if (std::abs(each[static_cast<std::size_t>(i)] - sum) > 1.1e-3) return false;
      }
    return true;
  }
};

bool run(const char* what) {
  static Sums sums;  // MPI_Finalize writes the results of calls that remain in flight
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (TAUT_Comm_set_policy(MPI_COMM_WORLD, "abs:1e-3,codec=planes") != MPI_SUCCESS) return false;
  bool good = sums.start();
  if (std::strcmp(what, "left") == 0) return good;
  // Without a progress thread rank 0 would block for ever, as the others wait for its part.
  if (rank == 0 && std::strcmp(what, "multiple") == 0) MPI_Barrier(MPI_COMM_WORLD);
  good &= sums.wait() && sums.right();
  if (rank != 0 && std::strcmp(what, "multiple") == 0) MPI_Barrier(MPI_COMM_WORLD);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "multiple";
  const int wanted = std::strcmp(what, "funneled") == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
  int level = MPI_THREAD_SINGLE, all = 0;
  MPI_Init_thread(&argc, &argv, wanted, &level);
  int good = level < wanted || run(what);
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Finalize();
  if (all == 0) std::fprintf(stderr, "progress: %s failed\n", what);
  return all != 0 ? 0 : 1;
}
