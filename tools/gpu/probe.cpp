// probe: facts about a machine with a GPU that decide what its measurements mean and which ways of
// communication work. Prints one JSON object a line. A fact that is bad news is no failure.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "timing.hpp"

namespace {

using taut::gpu::check;

constexpr unsigned most_seconds = 60;  // for two processes that may wait for each other for ever

// Outcome of one process of a pair: empty if its part works, otherwise the reason of the failure.
using Outcome = std::string;

Outcome outcome_of(cudaError_t error) { return error == cudaSuccess ? "" : cudaGetErrorString(error); }

template <class V>
bool send(int to, const V& v) {
  return write(to, &v, sizeof v) == static_cast<ssize_t>(sizeof v);
}
template <class V>
bool receive(int from, V& v) {
  return read(from, &v, sizeof v) == static_cast<ssize_t>(sizeof v);
}

// Ends a process of a pair: its status tells if it has worked, its outcome goes to the parent.
[[noreturn]] void end(int to_parent, const Outcome& outcome) {
  const Outcome line = outcome.empty() ? "" : outcome + "; ";
  const bool told = write(to_parent, line.data(), line.size()) >= 0;
  _exit(told && outcome.empty() ? 0 : 1);
}

// Runs part(rank, from, to) in two processes, which send to each other by pipes, and reports whether both
// work. The calling process must not have used CUDA: CUDA does not survive a fork.
template <class Part>
void in_two_processes(const char* name, const Part& part) {
  int pipes[3][2];  // to rank 0, to rank 1, to the parent
  for (auto& ends : pipes)
    if (pipe(ends) != 0) std::abort();
  std::fflush(stdout);
  pid_t children[2];
  for (int rank = 0; rank < 2; ++rank) {
    children[rank] = fork();
    if (children[rank] != 0) continue;
    alarm(most_seconds);
    for (int i = 0; i < 2; ++i) close(pipes[i][i == rank ? 1 : 0]);
    end(pipes[2][1], part(rank, pipes[rank][0], pipes[1 - rank][1]));
  }
  for (int i = 0; i < 2; ++i) close(pipes[i][0]), close(pipes[i][1]);
  close(pipes[2][1]);
  char why[200] = "";
  std::size_t used = 0;
  for (ssize_t got; (got = read(pipes[2][0], why + used, sizeof why - 1 - used)) > 0;)
    used += static_cast<std::size_t>(got);
  close(pipes[2][0]);
  bool works = true, late = false;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    works &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
    late |= WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  }
  if (used >= 2) why[used - 2] = 0;  // the last separator
  const char* const reason = used > 0 ? why : late ? "no end within a minute" : works ? "" : "a process died";
  std::printf("{\"probe\": \"%s\", \"works\": %s, \"why\": \"%s\"}\n", name, works ? "true" : "false",
              reason);
}

// Rank 0 opens its memory to rank 1, which reads it.
Outcome ipc(int rank, int from, int to) {
  constexpr std::size_t bytes = 1 << 20;
  cudaIpcMemHandle_t handle;
  void* memory = nullptr;
  char answer = 0;
  if (rank == 0) {
    cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaSuccess) error = cudaMemset(memory, 0x5A, bytes);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaIpcGetMemHandle(&handle, memory);
    if (error != cudaSuccess) return outcome_of(error);
    return send(to, handle) && receive(from, answer) ? "" : "the other process did not open the memory";
  }
  if (!receive(from, handle)) return "";  // the other process says why
  std::vector<unsigned char> here(bytes);
  cudaError_t error = cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess);
  if (error == cudaSuccess) error = cudaMemcpy(here.data(), memory, bytes, cudaMemcpyDefault);
  if (error == cudaSuccess) error = cudaIpcCloseMemHandle(memory);
  if (error != cudaSuccess) return outcome_of(error);
  for (const unsigned char byte : here)
    if (byte != 0x5A) return "the memory has other contents";
  return send(to, answer) ? "" : "the first process is gone";
}

// The part of NCCL's interface that is called (nccl.h), found at run time: the machine may have only the
// library that PyTorch brings.
struct Nccl {
  struct Id {
    char bytes[128];
  };
  int (*get_id)(Id*);
  int (*init)(void** comm, int ranks, Id id, int rank);
  int (*all_reduce)(const void*, void*, std::size_t, int type, int op, void* comm, cudaStream_t);
  const char* (*text)(int);

  static constexpr int float32 = 7, sum = 0;

  // Returns why the library cannot be used; empty if it can.
  Outcome open() {
    const char* const named = std::getenv("NCCL_LIBRARY");
    void* const library = dlopen(named != nullptr && *named != 0 ? named : "libnccl.so.2", RTLD_NOW);
    if (library == nullptr) return "there is no libnccl.so.2";
    const auto find = [library](const char* name, auto& function) {
      *reinterpret_cast<void**>(&function) = dlsym(library, name);
      return function != nullptr;
    };
    const bool all = find("ncclGetUniqueId", get_id) && find("ncclCommInitRank", init) &&
                     find("ncclAllReduce", all_reduce) && find("ncclGetErrorString", text);
    return all ? "" : "libnccl.so.2 lacks a call";
  }
};

// Two ranks of NCCL on one GPU add an array. NCCL refuses two ranks on a GPU of one host, so each rank claims
// a host of its own.
Outcome nccl(int rank, int from, int to) {
  setenv("NCCL_HOSTID", rank == 0 ? "r0" : "r1", 1);
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  setenv("NCCL_MAX_CTAS", "2", 1);
  setenv("NCCL_NET_GDR_LEVEL", "LOC", 1);
  Nccl calls{};
  if (const Outcome missing = calls.open(); !missing.empty()) return rank == 0 ? missing : "";
  Nccl::Id id;
  if (rank == 0) {
    if (const int status = calls.get_id(&id); status != 0) return calls.text(status);
    if (!send(to, id)) return "the other rank is gone";
  } else if (!receive(from, id)) {
    return "";
  }
  const std::vector<float> own(1 << 16, static_cast<float>(rank + 1));
  std::vector<float> sum(own.size());
  void *comm = nullptr, *memory = nullptr;
  const std::size_t bytes = own.size() * sizeof(float);
  if (const int status = calls.init(&comm, 2, id, rank); status != 0) return calls.text(status);
  cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaSuccess) error = cudaMemcpy(memory, own.data(), bytes, cudaMemcpyDefault);
  if (error != cudaSuccess) return outcome_of(error);
  const int status = calls.all_reduce(memory, memory, own.size(), Nccl::float32, Nccl::sum, comm, nullptr);
  if (status != 0) return calls.text(status);
  error = cudaMemcpy(sum.data(), memory, bytes, cudaMemcpyDefault);
  if (error != cudaSuccess) return outcome_of(error);
  for (const float x : sum)
    if (x != 3) return "the sum is wrong";
  return "";
}

void device() {
  cudaDeviceProp p{};
  int driver = 0, runtime = 0;
  check(cudaGetDeviceProperties(&p, 0));
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));
  std::printf(
      "{\"probe\": \"device\", \"name\": \"%s\", \"compute\": \"%d.%d\", \"multiprocessors\": %d, "
      "\"memory\": %zu, "
      "\"l2\": %d, \"shared_of_multiprocessor\": %zu, \"pools\": %s, \"cuda_of_driver\": %d, "
      "\"cuda_of_runtime\": %d}\n",
      p.name, p.major, p.minor, p.multiProcessorCount, p.totalGlobalMem, p.l2CacheSize,
      p.sharedMemPerMultiprocessor, p.memoryPoolsSupported != 0 ? "true" : "false", driver, runtime);
}

// Rates between pinned memory and the device.
void copies(std::size_t bytes) {
  using namespace taut::gpu;
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Pinned here(bytes);
  std::memset(here.at(), 0x5A, bytes);
  const Device there(here.at(), bytes);
  for (const bool up : {true, false}) {
    std::vector<double> seconds;
    for (int i = 0; i < 12; ++i) {
      const Event before, after;
      before.record(stream);
      check(cudaMemcpyAsync(up ? there.at() : here.at(), up ? here.at() : there.at(), bytes,
                            cudaMemcpyDefault, stream));
      after.record(stream);
      after.wait();
      seconds.push_back(after.seconds_since(before));
    }
    std::sort(seconds.begin(), seconds.end());
    std::printf("{\"probe\": \"pinned %s\", \"bytes\": %zu, \"GB/s\": %.1f}\n", up ? "to device" : "to host",
                bytes, static_cast<double>(bytes) / seconds[seconds.size() / 2] / 1e9);
  }
  check(cudaStreamDestroy(stream));
}

}  // namespace

int main(int argc, char** argv) {
  in_two_processes("ipc", ipc);
  in_two_processes("nccl on one GPU", nccl);
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  device();
  copies(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{64} << 20);
  return 0;
}
