// nccl_sum [COUNT]: sums arrays of all GPUs of this machine over NCCL, within a bound, without MPI.
//
// Each GPU is a rank, driven by a thread. The frames have rooms of a quarter of their values first, so that
// the calls return at once, and exact sizes then.
#include <nccl.h>
#include <taut/taut_nccl.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr double bound = 1e-4;

void check(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "%s: error %d %s\n", what, code, TAUT_Nccl_last_error());
  std::exit(EXIT_FAILURE);
}

float value_of(int rank, std::size_t i) {
  return std::sin(1e-3F * static_cast<float>(i)) + static_cast<float>(rank);
}

// Returns the greatest difference between a sum and the exact one.
double greatest_error(const std::vector<float>& sum, int ranks) {
  double worst = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    double exact = 0;
    for (int r = 0; r < ranks; ++r) exact += value_of(r, i);
    worst = std::max(worst, std::abs(sum[i] - exact));
  }
  return worst;
}

// Makes the calls of one rank. Returns the greatest error of both sums.
double run(int rank, int ranks, ncclComm_t comm, std::size_t count) {
  std::vector<float> values(count), sum(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(rank, i);
  void *x = nullptr, *total = nullptr;
  cudaStream_t stream = nullptr;
  check(cudaSetDevice(rank), "cudaSetDevice");
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaMalloc(&x, count * sizeof(float)), "cudaMalloc");
  check(cudaMalloc(&total, count * sizeof(float)), "cudaMalloc");
  check(cudaMemcpyAsync(x, values.data(), count * sizeof(float), cudaMemcpyHostToDevice, stream), "copy");

  check(TAUT_Nccl_comm_set_policy(comm, "abs:1e-4,codec=planes,predictor=delta,when=always,min_bytes=1"),
        "policy");
  double worst = 0;
  for (const double ratio : {4.0, 0.0}) {
    check(TAUT_Nccl_comm_set_capacity(comm, ratio), "capacity");
    check(TAUT_Nccl_AllReduce(x, total, count, ncclFloat32, ncclSum, comm, stream), "allreduce");
    check(TAUT_Nccl_comm_settle(comm, nullptr, stream), "settle");
    check(cudaMemcpyAsync(sum.data(), total, count * sizeof(float), cudaMemcpyDeviceToHost, stream), "copy");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    worst = std::max(worst, greatest_error(sum, ranks));
  }
  TAUT_Nccl_stats stats{};
  stats.struct_size = sizeof stats;
  check(TAUT_Nccl_comm_get_stats(comm, &stats), "stats");
  if (rank == 0 && stats.frame_bytes > 0)
    std::printf("%d ranks, ratio of the frames %.1f\n", ranks,
                double(stats.value_bytes) / double(stats.frame_bytes));
  check(TAUT_Nccl_comm_release(comm), "release");
  cudaFree(x);
  cudaFree(total);
  cudaStreamDestroy(stream);
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : std::size_t{1} << 24;
  int ranks = 0;
  check(cudaGetDeviceCount(&ranks), "cudaGetDeviceCount");
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  check(ncclCommInitAll(comms.data(), ranks, nullptr), "ncclCommInitAll");
  std::vector<double> errors(comms.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < comms.size(); ++r)
    threads.emplace_back([&, r] { errors[r] = run(static_cast<int>(r), ranks, comms[r], count); });
  for (std::thread& thread : threads) thread.join();
  for (ncclComm_t comm : comms) ncclCommDestroy(comm);
  const double error = *std::max_element(errors.begin(), errors.end());
  std::printf("error %.2g, bound %.2g\n", error, bound);
  return error <= bound ? EXIT_SUCCESS : EXIT_FAILURE;
}
