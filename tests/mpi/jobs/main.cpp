// Communicators that extend beyond MPI_COMM_WORLD: with spawned processes, and of groups that connected
// through a port (MPI 4.0, chapter 11).
#include <taut/taut.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int count = 100000;
bool good = true;

void expect(bool holds, const char* where, const char* what) {
  if (!holds) std::fprintf(stderr, "jobs: %s: %s\n", where, what);
  good &= holds;
}

// Checks a sum over all ranks; on an intercommunicator each group gets the other group's sum.
bool sums_to(MPI_Comm comm, int ranks, double bound) {
  std::vector<float> x(count), y(count);
  for (int i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = std::sin(1e-3F * static_cast<float>(i));
  if (TAUT_Allreduce(x.data(), y.data(), count, MPI_FLOAT, MPI_SUM, comm) != MPI_SUCCESS) return false;
  for (std::size_t i = 0; i < x.size(); i += 97)
    if (std::abs(y[i] - static_cast<float>(ranks) * x[i]) > bound + 1e-5) return false;
  return true;
}

std::uint64_t compressed(MPI_Comm comm) {
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  TAUT_Comm_get_stats(comm, &stats);
  return stats.compressed_calls;
}

// Merges the two groups of `inter` and tests the result; `high` is true in one group. Frees it.
void use(MPI_Comm inter, bool high, const char* where) {
  constexpr const char* policy = "abs:1e-3,when=always";
  int theirs = 0, all = 0;
  MPI_Comm_remote_size(inter, &theirs);
  expect(TAUT_Comm_set_policy(inter, policy) == MPI_SUCCESS, where, "no policy on the intercommunicator");
  expect(sums_to(inter, theirs, 0), where, "the intercommunicator's sum is not plain MPI's");
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, high ? 1 : 0, &merged);
  MPI_Comm_size(merged, &all);
  expect(TAUT_Comm_set_policy(merged, policy) == MPI_SUCCESS, where, "no policy on the merged communicator");
  expect(sums_to(merged, all, 1e-3), where, "a value is beyond the bound");
  expect(compressed(merged) == 1, where, "the merged communicator's sum was not compressed");
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&inter);
}

void spawn(char* program) {
  char child[] = "child";
  char* arguments[] = {child, nullptr};
  MPI_Comm children = MPI_COMM_NULL;
  if (MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                     MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
    return expect(false, "spawning", "MPI_Comm_spawn failed");
  use(children, false, "spawning");
}

// The even ranks open a port, the odd ranks connect. (MPICH 5.0.2 over UCX has no room for its ports' names.)
void meet() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0 && MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS) {
    std::puts("jobs: this MPI opens no port");
    port[0] = '\0';
  }
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (port[0] == '\0') return;
  MPI_Comm half = MPI_COMM_NULL, others = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (rank % 2 == 0)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &others);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &others);
  use(others, rank % 2 != 0, "meeting");
  MPI_Comm_free(&half);
  if (rank == 0) MPI_Close_port(port);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1 && std::strcmp(argv[1], "child") == 0) {
    MPI_Comm parents = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parents);
    use(parents, true, "a child");
  } else {
    spawn(argv[0]);
    meet();
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
