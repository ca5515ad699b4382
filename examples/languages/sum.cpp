// sum.cpp: adds the ranks' fields while each rank does other work; errors are exceptions.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <taut/taut.hpp>

static double field(int rank, std::size_t i) { return rank + std::sin(1e-4 * static_cast<double>(i)); }

static void add_fields(const taut::Communicator& comm) {
  std::vector<double> values(1000000), exact(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = field(comm.rank(), i);

  taut::Request sum = comm.iallreduce(values);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    for (int r = 0; r < comm.size(); ++r) exact[i] += field(r, i);
    if (i % 4096 == 0) sum.test();  // progresses the sum
  }
  sum.wait();

  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) worst = std::max(worst, std::fabs(values[i] - exact[i]));
  if (comm.rank() == 0) std::cout << "greatest error " << worst << (worst <= 1e-6 ? ", within 1e-6\n" : "\n");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    add_fields(taut::Communicator(MPI_COMM_WORLD, "abs:1e-6"));
  } catch (const taut::Error& error) {
    std::cerr << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
