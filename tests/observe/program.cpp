// Calls of many kinds, for observe_test.py to look at what is written at the end. An argument stands for a
// policy of the whole program's communicator.
#include <taut/taut.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int n = 1 << 18;  // values of float: 1 MiB

// Offsets of functions with names that the program exports.
extern "C" [[gnu::visibility("default"), gnu::noinline]] int smooth_sum(const float* in, float* out,
                                                                         MPI_Comm comm) {
  const int code = TAUT_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, comm);
  return code == MPI_SUCCESS ? 0 : 1;
}

int many_kinds(MPI_Comm comm, std::vector<float>& in, std::vector<float>& out) {
  int failed = 0;
  for (int i = 0; i < 5; ++i) failed += smooth_sum(in.data(), out.data(), comm);
  for (int i = 0; i < 7; ++i) failed += TAUT_Allreduce(in.data(), out.data(), 2, MPI_FLOAT, MPI_SUM, comm);
  std::vector<int> ints(n, 1), sums(n);
  for (int i = 0; i < 2; ++i)
    failed += TAUT_Allreduce(ints.data(), sums.data(), n, MPI_INT, MPI_SUM, comm);
  std::vector<double> noise(n / 2);
  std::uint64_t state = 1;
  for (double& x : noise) x = 1e9 * static_cast<double>((state = state * 6364136223846793005u + 1) >> 33);
  failed += TAUT_Bcast(noise.data(), n / 2, MPI_DOUBLE, 0, comm);
  return failed;
}

int communicators_that_go(std::vector<float>& in, std::vector<float>& out) {
  int failed = 0;
  for (int i = 0; i < 70; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    failed += TAUT_Comm_set_policy(comm, "abs:1e-2,min_bytes=0");
    failed += TAUT_Allreduce(in.data(), out.data(), 1000, MPI_FLOAT, MPI_MAX, comm);
    MPI_Comm_free(&comm);
  }
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = std::sin(0.001f * static_cast<float>(i));
  MPI_Comm solver;
  MPI_Comm_dup(MPI_COMM_WORLD, &solver);
  MPI_Comm_set_name(solver, "solver");
  int failed = TAUT_Comm_set_policy(solver, "abs:1e-4,segments=4");
  failed += many_kinds(solver, in, out);
  failed += communicators_that_go(in, out);
  char text[1 << 14];
  std::size_t needed = 0;
  failed += TAUT_Comm_explain(solver, text, sizeof text, &needed);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fputs(text, stdout);
  MPI_Finalize();
  return failed != 0 || needed > sizeof text;
}
