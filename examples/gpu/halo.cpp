// mpiexec -n 2 halo [COLUMNS ROWS [EXCHANGES]]: exchanges the halos of a field that is in memory of GPUs.
//
// The field is divided into slabs of planes along its slowest axis, as in finite differences; the ranks form
// a ring. Each rank keeps a copy of its neighbours' nearest planes, its halos. Its own outer planes are
// copied beside each other on a stream. One call sends them, without a wait of the host between copy and
// call.
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
  Slab(std::size_t plane_values, cudaStream_t stream)
      : count_(plane_values),
        stream_(stream),
        field_((planes + 2) * count_),
        faces_(2 * count_),
        halos_(2 * count_) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    std::vector<float> values((planes + 2) * count_);
    for (std::size_t plane = 0; plane < planes; ++plane)
      for (std::size_t i = 0; i < count_; ++i)
        values[(plane + 1) * count_ + i] = value_at(own(plane), i, count_);
    check(cudaMemcpy(field_.data(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks_, &periodic, 0, &ring_);
  }

  MPI_Comm ring() const { return ring_; }

  void exchange() {
    copy(faces_.data(), plane_of(1));
    copy(faces_.data() + count_, plane_of(planes));
    const auto count = static_cast<MPI_Count>(count_);
    TAUT_Neighbor_alltoall(faces_.data(), count, MPI_FLOAT, halos_.data(), count, MPI_FLOAT, ring_);
    copy(plane_of(0), halos_.data());
    copy(plane_of(planes + 1), halos_.data() + count_);
  }

  // Returns the greatest error of a halo.
  double greatest_error() const {
    check(cudaStreamSynchronize(stream_));
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
  void copy(float* to, const float* from) {
    check(cudaMemcpyAsync(to, from, count_ * sizeof(float), cudaMemcpyDeviceToDevice, stream_));
  }

  int rank_ = 0, ranks_ = 1;
  std::size_t count_;
  cudaStream_t stream_;
  DeviceArray field_, faces_, halos_;
  MPI_Comm ring_ = MPI_COMM_NULL;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  choose_device();
  const auto argument = [&](int i, std::size_t otherwise) {
    return argc > i ? std::size_t(std::strtoul(argv[i], nullptr, 10)) : otherwise;
  };
  const std::size_t count = argument(1, 1024) * argument(2, 1024), exchanges = argument(3, 20);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  double error = 0;
  {
    Slab slab(count, stream);
    TAUT_Comm_set_policy(slab.ring(), "abs:1e-3,codec=planes,when=always,min_bytes=1");
    TAUT_Cuda_comm_set_stream(slab.ring(), stream);
    const double start = MPI_Wtime();
    for (std::size_t turn = 0; turn < exchanges; ++turn) slab.exchange();
    const double seconds = MPI_Wtime() - start;
    error = slab.greatest_error();
    TAUT_Stats stats{};
    stats.struct_size = sizeof stats;
    TAUT_Comm_get_stats(slab.ring(), &stats);
    int rank = 0;
    MPI_Comm_rank(slab.ring(), &rank);
    if (rank == 0)
      std::printf(
          "%zu exchanges of 2 x %zu values: %.3g ms each; sent %.1f %% of the bytes; error %.2g, bound "
          "1e-3\n",
          exchanges, count, 1e3 * seconds / double(exchanges),
          100.0 * double(stats.sent_bytes) / double(stats.carried_bytes), error);
    MPI_Comm ring = slab.ring();
    MPI_Comm_free(&ring);
  }
  check(cudaStreamDestroy(stream));
  MPI_Finalize();
  return error <= 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
