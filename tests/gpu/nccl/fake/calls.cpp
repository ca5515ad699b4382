// Calls that move data, and groups of them.
#include <algorithm>
#include <utility>

#include "gpu/kernels/on_host/outside_work.h"
#include "gpu/nccl/fake/ranks.hpp"
#include "support/gpu_driver.h"

namespace taut::fake_nccl {
namespace {

// A call of this thread whose group has not ended.
struct Waiting {
  ncclComm_t comm;
  cudaStream_t stream;
  PartRef part;
};
thread_local int depth = 0;
thread_local std::vector<Waiting> group;

// Scope in which the device of a communicator is the current one.
class Current {
 public:
  explicit Current(int device) {
    cudaGetDevice(&before_);
    cudaSetDevice(device);
  }
  Current(const Current&) = delete;
  ~Current() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

// Returns the work of a kernel as it is enqueued or launched by a graph: its start, after the communicator's
// kernel before, and its end. `call`: the parts of the kernel.
on_host::OutsideSteps begin(ncclComm& comm, const Kernel& call, bool by_graph) {
  const auto locked = [](auto action) {
    return [=] {
      const std::lock_guard lock(shared().mutex);
      return action();
    };
  };
  const auto kernel = std::make_shared<Kernel>(Kernel{call.clique, call.rank});
  for (const PartRef& one : call.parts) {
    const PartRef& part = kernel->parts.emplace_back(std::make_shared<Part>(*one));
    part->kernel = kernel.get();
    part->by_graph = by_graph;
    if (!is_message(*part)) part->number = comm.collectives++;
  }
  kernel->open = kernel->parts.size();
  const std::lock_guard lock(shared().mutex);
  std::erase_if(shared().kernels, [](const auto& old) { return old.expired(); });
  shared().kernels.push_back(kernel);
  shared().progress = std::chrono::steady_clock::now();
  const KernelRef before = std::exchange(comm.last, kernel);
  return {{locked([=] { start(kernel); }), locked([=] { return before == nullptr || is_done(before); })},
          {[] {}, locked([=] { return is_done(kernel); })}};
}

// Enqueues a kernel. A graph that holds it holds the communicator's pointer too.
ncclResult_t enqueue(ncclComm_t comm, cudaStream_t stream, const Kernel& call) {
  const Current current(comm->device);
  const auto start = [=, holder = comm->in_graphs](bool by_graph) { return begin(*comm, call, by_graph); };
  return cudaOutsideWork(stream, start) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

// Enqueues one kernel for each communicator of the group.
ncclResult_t end_group() {
  std::vector<Waiting> all = std::exchange(group, {});
  ncclResult_t result = ncclSuccess;
  while (!all.empty()) {
    const Waiting first = all.front();
    Kernel kernel{first.comm->clique, first.comm->rank};
    for (const Waiting& one : all) {
      if (one.comm != first.comm) continue;
      if (one.stream != first.stream) return ncclInvalidUsage;  // NCCL would join the streams
      kernel.parts.push_back(one.part);
    }
    std::erase_if(all, [&](const Waiting& one) { return one.comm == first.comm; });
    if (const ncclResult_t failed = enqueue(first.comm, first.stream, kernel); failed != ncclSuccess)
      return failed;
    const std::lock_guard lock(shared().mutex);
    if (made(first.comm) != ncclSuccess) result = ncclInProgress;
  }
  return result;
}

bool fails(Kind kind) {
  const std::lock_guard lock(shared().mutex);
  ++shared().collectives[name_of(kind)];
  return counted_call();
}

ncclResult_t refused(ncclComm_t comm, const std::string& rule) {
  const std::lock_guard lock(shared().mutex);
  shared().report += "rank " + std::to_string(comm->rank) + ": " + rule + "\n";
  return ncclInvalidArgument;
}

bool usable(ncclComm_t comm, const void* at) {
  const int device = stand_in_device_of(at);
  return device == comm->device || device == stand_in_host;
}

bool overlap(const void* a, std::size_t bytes_a, const void* b, std::size_t bytes_b) {
  const auto* const x = static_cast<const std::byte*>(a);
  const auto* const y = static_cast<const std::byte*>(b);
  return x < y + bytes_b && y < x + bytes_a;
}

struct Sizes {
  std::size_t from, to;    // bytes of each side; 0: the side is not used
  std::size_t offset = 0;  // bytes from the start of the larger side at which the other is in place
};

// Checks the arguments of a call, and enqueues it unless a group is open.
ncclResult_t put(ncclComm_t comm, cudaStream_t stream, const Part& part, const Sizes& sizes) {
  if (comm == nullptr || part.type < ncclInt8 || part.type > ncclBfloat16) return ncclInvalidArgument;
  if (fails(part.kind)) return ncclInternalError;
  if (part.other < 0 || part.other >= comm->clique->size) return refused(comm, "no such peer or root");
  if (stand_in_is_pooled(part.from) || stand_in_is_pooled(part.to))
    return refused(comm, std::string(name_of(part.kind)) + ": memory of a pool, which NCCL cannot share");
  if ((sizes.from > 0 && !usable(comm, part.from)) || (sizes.to > 0 && !usable(comm, part.to)))
    return refused(comm, std::string(name_of(part.kind)) + ": memory that the GPU cannot access");
  const auto* const at =
      static_cast<const std::byte*>(sizes.from > sizes.to ? part.from : part.to) + sizes.offset;
  const bool in_place = at == (sizes.from > sizes.to ? part.to : part.from);
  if (!in_place && overlap(part.from, sizes.from, part.to, sizes.to))
    return refused(comm, std::string(name_of(part.kind)) + ": buffers overlap");
  {
    const std::lock_guard lock(shared().mutex);
    if (comm->clique->error != ncclSuccess) return comm->clique->error;
    if (in_progress(*comm)) {
      shared().report +=
          "rank " + std::to_string(comm->rank) + ": a call before the last one has been made\n";
      return ncclInvalidArgument;
    }
  }
  const auto ref = std::make_shared<Part>(part);
  if (part.op > ncclAvg) {
    const auto found = comm->factors.find(part.op);
    if (found == comm->factors.end()) return refused(comm, "no such operator");
    ref->op = ncclSum;
    ref->factor = found->second;
  }
  group.push_back({comm, stream, ref});
  return depth > 0 ? ncclSuccess : end_group();
}

}  // namespace
}  // namespace taut::fake_nccl

using namespace taut::fake_nccl;

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (depth == 0) return ncclInvalidUsage;
  return --depth > 0 ? ncclSuccess : end_group();
}

// The calls of the group count as never made.
ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* estimate) {
  if (depth == 0 || estimate == nullptr) return ncclInvalidUsage;
  if (--depth > 0) return ncclSuccess;
  estimate->estimatedTime = static_cast<float>(std::exchange(group, {}).size());
  return ncclSuccess;
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  const std::size_t bytes = count * size_of(type);
  return put(comm, stream, {Kind::send, from, nullptr, count, type, ncclSum, peer}, {bytes, 0});
}

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  const std::size_t bytes = count * size_of(type);
  return put(comm, stream, {Kind::recv, nullptr, to, count, type, ncclSum, peer}, {0, bytes});
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = count * size_of(type);
  return put(comm, stream, {Kind::all_reduce, from, to, count, type, op}, {bytes, bytes});
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t recvcount, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  if (comm == nullptr) return ncclInvalidArgument;
  const std::size_t bytes = recvcount * size_of(type), P = static_cast<std::size_t>(comm->clique->size);
  return put(comm, stream, {Kind::reduce_scatter, from, to, recvcount, type, op},
             {P * bytes, bytes, static_cast<std::size_t>(comm->rank) * bytes});
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t sendcount, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  if (comm == nullptr) return ncclInvalidArgument;
  const std::size_t bytes = sendcount * size_of(type), P = static_cast<std::size_t>(comm->clique->size);
  return put(comm, stream, {Kind::all_gather, from, to, sendcount, type},
             {bytes, P * bytes, static_cast<std::size_t>(comm->rank) * bytes});
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  if (comm == nullptr) return ncclInvalidArgument;
  const std::size_t bytes = count * size_of(type);
  return put(comm, stream, {Kind::broadcast, from, to, count, type, ncclSum, root},
             {comm->rank == root ? bytes : 0, bytes});
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAlltoAll(const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream) {
  if (comm == nullptr) return ncclInvalidArgument;
  const std::size_t bytes = count * size_of(type);
  ncclResult_t failed = ncclGroupStart();
  for (std::size_t r = 0; r < static_cast<std::size_t>(comm->clique->size); ++r) {
    const int rank = static_cast<int>(r);
    for (const ncclResult_t result :
         {ncclSend(static_cast<const std::byte*>(from) + r * bytes, count, type, rank, comm, stream),
          ncclRecv(static_cast<std::byte*>(to) + r * bytes, count, type, rank, comm, stream)})
      if (failed == ncclSuccess) failed = result;
  }
  const ncclResult_t ended = ncclGroupEnd();
  return failed != ncclSuccess ? failed : ended;
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  if (comm == nullptr) return ncclInvalidArgument;
  const std::size_t bytes = count * size_of(type);
  return put(comm, stream, {Kind::reduce, from, to, count, type, op, root},
             {bytes, comm->rank == root ? bytes : 0});
}
