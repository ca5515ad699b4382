// sum.cpp: the ranks' fields are added while each goes on with something else; errors are exceptions.
#include <mpi.h>
#include <taut/taut.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

static void check(int code) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, &text[0], &length);
  throw std::runtime_error(text.substr(0, static_cast<std::size_t>(length)));
}

static double field(int rank, std::size_t i) { return rank + std::sin(1e-4 * static_cast<double>(i)); }

static void add_fields(MPI_Comm comm) {
  const std::size_t n = 1000000;
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = field(rank, i);

  TAUT_Request request = TAUT_REQUEST_NULL;
  check(TAUT_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<MPI_Count>(n), MPI_DOUBLE, MPI_SUM, comm,
                        &request));
  std::vector<double> exact(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (int r = 0; r < size; ++r) exact[i] += field(r, i);
    int done;
    if (i % 4096 == 0) check(TAUT_Test(&request, &done, MPI_STATUS_IGNORE));  // lets the sum go on
  }
  check(TAUT_Wait(&request, MPI_STATUS_IGNORE));

  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, std::fabs(values[i] - exact[i]));
  if (rank == 0) std::cout << "greatest error " << worst << (worst <= 1e-6 ? ", within 1e-6\n" : "\n");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  try {
    check(TAUT_Comm_set_policy(MPI_COMM_WORLD, "abs:1e-6"));
    add_fields(MPI_COMM_WORLD);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
