// Makes all collective calls of taut.h over MPI, blocking, nonblocking and persistent, on memory of GPUs,
// simulated or real (gpu/real). The ranks with odd numbers have their values on the host. Results equal those
// of the same calls on host memory, to the bit. No call is left to MPI, which would end the program when it
// reads the memory.
#include <taut/taut_cuda.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "mpi/gpu/calls.hpp"

namespace taut::test {
namespace {

int rank = 0, ranks = 0;
bool good = true;

void expect(bool holds, const std::string& what) {
  if (!holds) std::fprintf(stderr, "rank %d: %s\n", rank, what.c_str());
  good &= holds;
}

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  return text;
}

TAUT_Stats statistics(MPI_Comm comm) {
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  TAUT_Comm_get_stats(comm, &stats);
  return stats;
}
std::uint64_t compressed(MPI_Comm comm) { return statistics(comm).compressed_calls; }

// Values on a GPU, which may still be on their way when the object exists.
class Values {
 public:
  Values(const std::vector<float>& values, cudaStream_t stream)
      : bytes_(values.size() * sizeof(float)), memory_(stand_in_allocate(bytes_, 0)) {
    expect(cudaMemcpyAsync(memory_, values.data(), bytes_, cudaMemcpyHostToDevice, stream) == cudaSuccess,
           "cudaMemcpyAsync");
  }
  Values(const Values&) = delete;
  ~Values() { stand_in_free(memory_); }  // nothing uses it once the call has returned

  float* data() const { return static_cast<float*>(memory_); }
  void read(std::vector<float>& values) const { stand_in_copy(values.data(), memory_, bytes_); }
  void write(const std::vector<float>& values) const { stand_in_copy(memory_, values.data(), bytes_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

void call_on_gpu(const std::string& name, MPI_Comm comm, const Call& call, cudaStream_t stream,
                 const std::vector<float>& in, std::vector<float>& out) {
  const unsigned long launches = stand_in_launches();
  const Values values(in, stream), results(out, stream);
  const int code = call(values.data(), results.data(), comm);
  expect(code == MPI_SUCCESS, name + ": " + text_of(code));
  cudaStreamSynchronize(stream);  // for what a call has not used
  results.read(out);
  expect(stand_in_launches() > launches || stand_in_counts_launches() == 0, name + ": no kernel has run");
}

void compare(const std::string& name, MPI_Comm comm, const Call& call, cudaStream_t stream) {
  std::vector<float> in(static_cast<std::size_t>(count) * static_cast<std::size_t>(std::max(ranks, 2)));
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = std::sin(1e-3F * static_cast<float>(i)) + static_cast<float>(rank);
  std::vector<float> here = in, there = in;
  expect(call(in.data(), here.data(), comm) == MPI_SUCCESS, name + " on the host");
  const std::uint64_t before = compressed(comm);
  if (rank % 2 == 0)
    call_on_gpu(name, comm, call, stream, in, there);
  else
    expect(call(in.data(), there.data(), comm) == MPI_SUCCESS, name + " beside GPUs");
  expect(there == here, name + ": other bits than on the host");
  expect(compressed(comm) == before + 1, name + ": left to MPI");
}

// Makes calls on the same buffers, whose frames refer to each other. `plain`: the same without a history.
void compare_repeated(const std::string& name, MPI_Comm comm, MPI_Comm plain, const Call& call) {
  std::vector<float> in(static_cast<std::size_t>(count) * static_cast<std::size_t>(std::max(ranks, 2)));
  const Values on_gpu_in(in, nullptr), on_gpu_out(in, nullptr);
  std::vector<float> out = in, wanted = in;
  cudaStreamSynchronize(nullptr);
  for (int step = 0; step < 5; ++step) {
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<float>(i * i % 997) + 0.002F * static_cast<float>(step + rank);
    out = wanted = in;
    std::vector<float> own = in;
    expect(call(own.data(), wanted.data(), plain) == MPI_SUCCESS, name + " on the host");
    on_gpu_in.write(in);
    on_gpu_out.write(in);
    const bool on_gpu = rank % 2 == 0;
    const int code =
        call(on_gpu ? on_gpu_in.data() : in.data(), on_gpu ? on_gpu_out.data() : out.data(), comm);
    expect(code == MPI_SUCCESS, name + ", repeated: " + text_of(code));
    if (on_gpu) on_gpu_out.read(out);
    expect(out == wanted, name + ", repeated: other bits than on the host");
  }
}

void compare_all(MPI_Comm comm, const char* policy, cudaStream_t stream, const std::vector<Calls>& all) {
  expect(TAUT_Comm_set_policy(comm, policy) == MPI_SUCCESS, policy);
  expect(TAUT_Cuda_comm_set_stream(comm, stream) == MPI_SUCCESS, "TAUT_Cuda_comm_set_stream");
  constexpr const char* forms[] = {"", ", nonblocking", ", persistent"};
  for (const Calls& calls : all)
    for (std::size_t i = 0; i < std::size(forms); ++i)
      compare(calls.name + forms[i], comm, calls.forms[i], stream);
  TAUT_Comm_set_policy(comm, "");
}

void compare_histories(MPI_Comm comm, const std::string& policy, const std::vector<Calls>& all) {
  MPI_Comm plain = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &plain);
  expect(TAUT_Comm_set_policy(plain, policy.c_str()) == MPI_SUCCESS, policy);
  expect(TAUT_Comm_set_policy(comm, (policy + ",history=auto").c_str()) == MPI_SUCCESS, policy);
  const std::uint64_t before = statistics(comm).sent_bytes;
  for (const Calls& calls : all)
    for (const Call& call : calls.forms) compare_repeated(calls.name, comm, plain, call);
  expect(statistics(comm).sent_bytes - before < statistics(plain).sent_bytes, "no frame is shorter");
  TAUT_Comm_set_policy(comm, "");
  MPI_Comm_free(&plain);
}

void run() {
  cudaStream_t stream = nullptr;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "a stream");
  MPI_Comm comm = MPI_COMM_NULL, ring = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int periodic = 1;
  MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &ring);
  const char* const planes = "abs:1e-3,codec=planes,when=always,min_bytes=1";
  const char* const mpc = "lossless,codec=mpc,when=always,min_bytes=1";
  compare_all(comm, planes, nullptr, calls_of_ranks(rank, ranks));
  compare_all(comm, mpc, stream, calls_of_ranks(rank, ranks));
  compare_all(ring, planes, stream, calls_of_neighbours());
  compare_all(ring, mpc, nullptr, calls_of_neighbours());
  compare_histories(comm, planes, calls_of_ranks(rank, ranks));
  compare_histories(ring, planes, calls_of_neighbours());
  MPI_Comm_free(&ring);
  MPI_Comm_free(&comm);
  cudaStreamDestroy(stream);
  expect(TAUT_Cuda_release() == 0, "TAUT_Cuda_release");
  stand_in_finish();
  if (stand_in_is_real() != 0) return;  // which does not tell what is left
  expect(stand_in_memories() == 0 && stand_in_objects() <= stand_in_devices,
         "memory or a stream of the GPU is left");
}

}  // namespace
}  // namespace taut::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &taut::test::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &taut::test::ranks);
  taut::test::run();
  int failed = !taut::test::good, any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}
