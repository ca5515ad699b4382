// mpiexec -n 4 stacking [COLUMNS ROWS]: sums images of all ranks on their GPUs, every pixel within a bound.
//
// Each rank has migrated a part of the shots of a seismic survey: its image is in memory of its GPU. The
// stack is the sum of the images. One call makes it; the images do not leave the GPU uncompressed.
#include <taut/taut.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "device.hpp"

namespace {

constexpr double bound = 1e-4;

// Returns one rank's image: reflectors that dip, lit from the position of the rank's shots.
std::vector<float> image_of(int rank, int ranks, std::size_t columns, std::size_t rows) {
  std::vector<float> image(columns * rows);
  const double source = (rank + 0.5) / ranks;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) {
      const double x = double(column) / double(columns), depth = double(row) / double(rows);
      const double light = std::exp(-8 * (x - source) * (x - source));
      image[row * columns + column] = float(light * std::sin(40 * depth + 6 * x * x));
    }
  return image;
}

// Returns the greatest difference between the stack and the sum of the images in double precision.
double greatest_error(const std::vector<float>& image, const std::vector<float>& stack) {
  std::vector<double> exact(image.begin(), image.end());
  MPI_Allreduce(MPI_IN_PLACE, exact.data(), int(exact.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double error = 0;
  for (std::size_t i = 0; i < stack.size(); ++i) error = std::max(error, std::abs(stack[i] - exact[i]));
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  choose_device();
  const std::size_t columns = argc > 2 ? std::strtoul(argv[1], nullptr, 10) : 4096;
  const std::size_t rows = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1024;

  const std::vector<float> image = image_of(rank, ranks, columns, rows);
  DeviceArray on_gpu(image), stack(image.size());
  // when=always: plain MPI gets the pointers as they are, and not every MPI can read memory of a GPU.
  TAUT_Comm_set_policy(MPI_COMM_WORLD, "abs:1e-4,codec=planes,when=always,min_bytes=1");
  TAUT_Allreduce(on_gpu.data(), stack.data(), MPI_Count(image.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);

  const double error = greatest_error(image, stack.read());
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  TAUT_Comm_get_stats(MPI_COMM_WORLD, &stats);
  if (rank == 0)
    std::printf("stack of %d images of %zu x %zu: sent %.1f %% of the bytes; error %.2g, bound %.2g\n", ranks,
                columns, rows, 100.0 * double(stats.sent_bytes) / double(stats.carried_bytes), error, bound);
  TAUT_Comm_set_policy(MPI_COMM_WORLD, "");
  MPI_Finalize();
  return error <= bound ? EXIT_SUCCESS : EXIT_FAILURE;
}
