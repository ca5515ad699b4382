// Calls of many kinds, whose reports and traces observe_test.py reads.
#include <taut/taut.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int n = 1 << 18;  // values of float: 1 MiB

using Values = std::vector<float>;

// A function name that the program exports.
extern "C" [[gnu::visibility("default"), gnu::noinline]] int smooth_sum(const Values& in, Values& out,
                                                                        MPI_Comm comm) {
  const int code = TAUT_Allreduce(in.data(), out.data(), n, MPI_FLOAT, MPI_SUM, comm);
  return code == MPI_SUCCESS ? 0 : 1;
}

static int many_kinds(const Values& in, Values& out, MPI_Comm comm) {
  int failed = 0;
  for (int i = 0; i < 5; ++i) failed += smooth_sum(in, out, comm);
  for (int i = 0; i < 7; ++i) failed += TAUT_Allreduce(in.data(), out.data(), 2, MPI_FLOAT, MPI_SUM, comm);
  std::vector<int> ints(n, 1), sums(n);
  failed += TAUT_Allreduce(ints.data(), sums.data(), n, MPI_INT, MPI_SUM, comm);
  std::vector<double> noise(n / 2);
  std::uint64_t state = 1;
  for (double& x : noise) x = 1e9 * static_cast<double>((state = state * 6364136223846793005u + 1) >> 33);
  MPI_Comm choosy;
  MPI_Comm_dup(comm, &choosy);
  MPI_Comm_set_name(choosy, "choosy");
  failed += TAUT_Comm_set_policy(choosy, "abs:1e-4");
  failed += TAUT_Bcast(noise.data(), n / 2, MPI_DOUBLE, 0, choosy);
  return failed;
}

// Calls without a policy and without rules.
static int plain_calls(const Values& in, Values& out) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "plain");
  int failed = 0;
  for (int i = 0; i < 5; ++i) failed += smooth_sum(in, out, comm);
  std::vector<int> ints(n, 1);
  failed += TAUT_Bcast(ints.data(), n, MPI_INT, 0, comm);
  failed += TAUT_Allreduce(in.data(), out.data(), 2, MPI_FLOAT, MPI_SUM, comm);
  return failed;
}

// Creates more communicators than a report has room for.
static int communicators_that_go(const Values& in, Values& out) {
  int failed = 0;
  for (int i = 0; i < 70; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    failed += TAUT_Comm_set_policy(comm, "abs:1e-2,min_bytes=0,when=always");
    failed += TAUT_Allreduce(in.data(), out.data(), 1000, MPI_FLOAT, MPI_MAX, comm);
    MPI_Comm_free(&comm);
  }
  return failed;
}

// Makes calls for two seconds; then the job is killed.
static void die(const Values& in, Values& out, MPI_Comm comm) {
  const double begin = MPI_Wtime();
  while (MPI_Wtime() < begin + 2) smooth_sum(in, out, comm);
  std::raise(SIGKILL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Values in(n), out(n);
  for (int i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = std::sin(0.001f * static_cast<float>(i));
  MPI_Comm solver;
  MPI_Comm_dup(MPI_COMM_WORLD, &solver);
  MPI_Comm_set_name(solver, "solver \"1\"");
  int failed = TAUT_Comm_set_policy(solver, "abs:1e-4,segments=4,when=always");
  if (argc > 1) die(in, out, solver);
  failed += many_kinds(in, out, solver);
  failed += plain_calls(in, out);
  failed += communicators_that_go(in, out);
  MPI_Finalize();
  return failed != 0;
}
