// mpiexec -n 2 halo [COLUMNS ROWS [EXCHANGES]]: exchanges the halos of a field that is in memory of GPUs.
//
// The field is divided into slabs of planes along its slowest axis, as in finite differences; the ranks form
// a ring. Each rank keeps a copy of its neighbours' nearest planes, its halos. Messages go from plane to
// halo, both on the GPU.
#include <taut/taut.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "device.hpp"

namespace {

constexpr std::size_t planes = 16;  // of one rank

float value_at(std::size_t plane, std::size_t i, std::size_t count) {
  const double x = 6.3 * double(i) / double(count);
  return float(std::sin(x + 0.1 * double(plane)) + 0.2 * std::cos(5 * x));
}

// The planes of one rank, between two halos.
class Slab {
 public:
  explicit Slab(std::size_t plane_values) : count_(plane_values), field_((planes + 2) * count_) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    std::vector<float> values((planes + 2) * count_);
    for (std::size_t plane = 0; plane < planes; ++plane)
      for (std::size_t i = 0; i < count_; ++i)
        values[(plane + 1) * count_ + i] = value_at(own(plane), i, count_);
    check(cudaMemcpy(field_.data(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  }

  void exchange() {
    const int before = (rank_ + ranks_ - 1) % ranks_, behind = (rank_ + 1) % ranks_;
    pass_on(plane_of(planes), behind, plane_of(0), before);
    pass_on(plane_of(1), before, plane_of(planes + 1), behind);
  }

  // Returns the greatest error of a halo.
  double greatest_error() const {
    const std::vector<float> values = field_.read();
    const std::size_t all = planes * static_cast<std::size_t>(ranks_);
    double error = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const float before = value_at((own(0) + all - 1) % all, i, count_);
      const float behind = value_at(own(planes) % all, i, count_);
      error = std::max({error, std::abs(double(values[i]) - before),
                        std::abs(double(values[(planes + 1) * count_ + i]) - behind)});
    }
    return error;
  }

 private:
  // Returns the number in the whole field of a plane of this rank.
  std::size_t own(std::size_t plane) const { return static_cast<std::size_t>(rank_) * planes + plane; }
  float* plane_of(std::size_t plane) { return field_.data() + plane * count_; }

  void pass_on(const float* plane, int to, float* halo, int from) {
    const auto count = static_cast<MPI_Count>(count_);
    TAUT_Sendrecv(plane, count, MPI_FLOAT, to, 0, halo, count, MPI_FLOAT, from, 0, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE);
  }

  int rank_ = 0, ranks_ = 1;
  std::size_t count_;
  DeviceArray field_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  choose_device();
  const auto argument = [&](int i, std::size_t otherwise) {
    return argc > i ? std::size_t(std::strtoul(argv[i], nullptr, 10)) : otherwise;
  };
  const std::size_t count = argument(1, 1024) * argument(2, 1024), exchanges = argument(3, 20);
  double error = 0;
  {
    Slab slab(count);
    // when=always: plain MPI gets the pointers as they are, and not every MPI can read memory of a GPU.
    TAUT_Comm_set_policy(MPI_COMM_WORLD, "abs:1e-3,codec=planes,when=always,min_bytes=1");
    const double start = MPI_Wtime();
    for (std::size_t turn = 0; turn < exchanges; ++turn) slab.exchange();
    const double seconds = MPI_Wtime() - start;
    error = slab.greatest_error();
    TAUT_Stats stats{};
    stats.struct_size = sizeof stats;
    TAUT_Comm_get_stats(MPI_COMM_WORLD, &stats);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
      std::printf(
          "%zu exchanges of 2 x %zu values: %.3g ms each; sent %.1f %% of the bytes; error %.2g, bound "
          "1e-3\n",
          exchanges, count, 1e3 * seconds / double(exchanges),
          100.0 * double(stats.sent_bytes) / double(stats.carried_bytes), error);
    TAUT_Comm_set_policy(MPI_COMM_WORLD, "");
  }
  MPI_Finalize();
  return error <= 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
