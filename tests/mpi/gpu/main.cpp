// Calls of taut.h on memory of simulated GPUs, over MPI: blocking, nonblocking and persistent. The ranks with
// odd numbers have their values on the host. Results equal those of the same calls on host memory, to the
// bit.
#include <taut/taut.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "support/on_gpu.hpp"

namespace {

using taut::test::OnGpu;

constexpr int count = 6000;
int rank = 0, ranks = 0;
bool good = true;

void expect(bool holds, const std::string& what) {
  if (!holds) std::fprintf(stderr, "rank %d: %s\n", rank, what.c_str());
  good &= holds;
}

std::uint64_t compressed(MPI_Comm comm) {
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  TAUT_Comm_get_stats(comm, &stats);
  return stats.compressed_calls;
}

// A call on `in` and `out`, each with room for `count` values for each rank.
using Call = std::function<int(float* in, float* out, MPI_Comm comm)>;

void compare(const std::string& name, MPI_Comm comm, const Call& call) {
  const std::size_t all = static_cast<std::size_t>(count) * static_cast<std::size_t>(ranks);
  std::vector<float> in(all);
  for (std::size_t i = 0; i < all; ++i)
    in[i] = std::sin(1e-3F * static_cast<float>(i)) + static_cast<float>(rank);
  std::vector<float> here = in, there = in;
  expect(call(in.data(), here.data(), comm) == MPI_SUCCESS, name + " on the host");
  const OnGpu<float> gpu_in(in), gpu_out(there);
  const unsigned long launches = stand_in_launches();
  const std::uint64_t before = compressed(comm);
  const bool on_gpu = rank % 2 == 0;
  const int code = on_gpu ? call(gpu_in.data(), gpu_out.data(), comm) : call(in.data(), there.data(), comm);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  expect(code == MPI_SUCCESS, name + " on the GPU: " + text);
  if (on_gpu) there = gpu_out.read();
  expect(there == here, name + ": other bits than on the host");
  expect(compressed(comm) == before + 1, name + ": not compressed");
  expect(!on_gpu || stand_in_launches() > launches, name + ": no kernel has run");
}

int wait_for(int code, TAUT_Request& request) {
  return code == MPI_SUCCESS ? TAUT_Wait(&request, MPI_STATUS_IGNORE) : code;
}

void reductions(MPI_Comm comm) {
  compare("Allreduce", comm, [](float* in, float* out, MPI_Comm on) {
    return TAUT_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, on);
  });
  compare("Allreduce of means", comm, [](float* in, float* out, MPI_Comm on) {
    return TAUT_Allreduce(in, out, count, MPI_FLOAT, TAUT_Avg(), on);
  });
  compare("Iallreduce", comm, [](float* in, float* out, MPI_Comm on) {
    TAUT_Request request = TAUT_REQUEST_NULL;
    return wait_for(TAUT_Iallreduce(in, out, count, MPI_FLOAT, MPI_MAX, on, &request), request);
  });
  compare("Allreduce_init", comm, [](float* in, float* out, MPI_Comm on) {
    TAUT_Request request = TAUT_REQUEST_NULL;
    int code = TAUT_Allreduce_init(in, out, count, MPI_FLOAT, MPI_SUM, on, MPI_INFO_NULL, &request);
    if (code == MPI_SUCCESS) code = wait_for(TAUT_Start(&request), request);
    TAUT_Request_free(&request);
    return code;
  });
  compare("Reduce", comm, [](float* in, float* out, MPI_Comm on) {
    return TAUT_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, ranks - 1, on);
  });
  compare("Scan", comm, [](float* in, float* out, MPI_Comm on) {
    return TAUT_Scan(in, out, count, MPI_FLOAT, MPI_SUM, on);
  });
  // In place the blocks move to the front of the buffer, over each other.
  compare("Reduce_scatter", comm, [](float*, float* out, MPI_Comm on) {
    std::vector<MPI_Count> counts(static_cast<std::size_t>(ranks), 1000);
    counts[0] = 10;
    return TAUT_Reduce_scatter(MPI_IN_PLACE, out, counts.data(), MPI_FLOAT, MPI_SUM, on);
  });
}

void movements(MPI_Comm comm) {
  compare("Bcast", comm,
          [](float*, float* out, MPI_Comm on) { return TAUT_Bcast(out, count, MPI_FLOAT, 0, on); });
  compare("Allgather", comm, [](float* in, float* out, MPI_Comm on) {
    return TAUT_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, on);
  });
  compare("Alltoallv", comm, [](float* in, float* out, MPI_Comm on) {
    const std::vector<MPI_Count> counts(static_cast<std::size_t>(ranks), count / 2);
    std::vector<MPI_Aint> places(counts.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<MPI_Aint>(i) * count;
    return TAUT_Alltoallv(in, counts.data(), places.data(), MPI_FLOAT, out, counts.data(), places.data(),
                          MPI_FLOAT, on);
  });
  compare("Gather", comm, [](float* in, float* out, MPI_Comm on) {
    return TAUT_Gather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 1, on);
  });
  compare("Scatter", comm, [](float* in, float* out, MPI_Comm on) {
    return TAUT_Scatter(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0, on);
  });
}

// Blocks of different sizes, in an order that is not that of the ranks.
struct Blocks {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> places;
  Blocks() {
    for (int i = 0; i < ranks; ++i) {
      counts.push_back(count - 100 * i);
      places.push_back((ranks - 1 - i) * count);
    }
  }
};

void vectors(MPI_Comm comm) {
  compare("Allgatherv", comm, [](float* in, float* out, MPI_Comm on) {
    const Blocks blocks;
    return TAUT_Allgatherv(in, count - 100 * rank, MPI_FLOAT, out, blocks.counts.data(), blocks.places.data(),
                           MPI_FLOAT, on);
  });
  compare("Gatherv", comm, [](float* in, float* out, MPI_Comm on) {
    const Blocks blocks;
    return TAUT_Gatherv(in, count - 100 * rank, MPI_FLOAT, out, blocks.counts.data(), blocks.places.data(),
                        MPI_FLOAT, 0, on);
  });
  compare("Scatterv", comm, [](float* in, float* out, MPI_Comm on) {
    const Blocks blocks;
    return TAUT_Scatterv(in, blocks.counts.data(), blocks.places.data(), MPI_FLOAT, out, count - 100 * rank,
                         MPI_FLOAT, 0, on);
  });
}

void neighbours(MPI_Comm comm, const char* policy) {
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &ring);
  TAUT_Comm_set_policy(ring, policy);
  compare("Neighbor_allgather", ring, [](float* in, float* out, MPI_Comm on) {
    return TAUT_Neighbor_allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, on);
  });
  compare("Neighbor_alltoall", ring, [](float* in, float* out, MPI_Comm on) {
    return TAUT_Neighbor_alltoall(in, count, MPI_FLOAT, out, count, MPI_FLOAT, on);
  });
  MPI_Comm_free(&ring);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (const char* const policy :
       {"abs:1e-3,codec=planes,when=always,min_bytes=1", "lossless,codec=mpc,when=always,min_bytes=1"}) {
    expect(TAUT_Comm_set_policy(comm, policy) == MPI_SUCCESS, policy);
    expect(TAUT_Cuda_comm_set_stream(comm, nullptr) == MPI_SUCCESS, "TAUT_Cuda_comm_set_stream");
    reductions(comm);
    movements(comm);
    vectors(comm);
    if (ranks > 1) neighbours(comm, policy);
  }
  TAUT_Comm_set_policy(comm, "");
  MPI_Comm_free(&comm);
  int failed = !good, any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}
