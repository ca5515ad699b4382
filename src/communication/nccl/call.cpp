#include "communication/nccl/call.hpp"

#include <string>

#include "communication/gpu/memory.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::nccl {
namespace {

std::optional<Reduction> reduction_of(int op) noexcept {
  switch (op) {
    case op_sum:
    case op_avg: return Reduction::sum;
    case op_min: return Reduction::min;
    case op_max: return Reduction::max;
    default: return {};
  }
}

void expect_on_gpu(const char* argument, const void* at) {
  if (!on_device(at))
    throw Error(Status::invalid_argument, std::string(argument) +
                                              " is not memory of a GPU: pass memory of cudaMalloc, or "
                                              "call NCCL itself on this communicator");
}

// Enqueues an alltoall as messages, which every NCCL has.
int alltoall_by_messages(const Library& nccl, const NcclCall& call, int ranks) {
  const DType type = dtype_of_nccl(call.datatype);
  if (type == DType{}) return invalid_argument;
  const std::size_t bytes = call.count * size_of(type);
  const auto* from = static_cast<const std::byte*>(call.sendbuff);
  auto* to = static_cast<std::byte*>(call.recvbuff);
  int failed = nccl.GroupStart();
  if (failed != success) return failed;
  for (int r = 0; r < ranks && failed == success; ++r, from += bytes, to += bytes) {
    failed = nccl.Send(from, bytes, uint8, r, call.comm, call.stream);
    if (failed == success) failed = nccl.Recv(to, bytes, uint8, r, call.comm, call.stream);
  }
  const int ended = nccl.GroupEnd();
  return failed != success ? failed : ended;
}

}  // namespace

void check_arguments(const NcclCall& call, int rank, int ranks) {
  const auto root = has_root(call.collective) ? call.root : 0;
  if (root < 0 || root >= ranks)
    throw Error(Status::invalid_argument, "root is not a rank of the communicator");
  if (call.count == 0) return;
  const bool sends = call.collective != Collective::bcast || rank == root;
  const bool receives = call.collective != Collective::reduce || rank == root;
  if (sends) expect_on_gpu("sendbuff", call.sendbuff);
  if (receives) expect_on_gpu("recvbuff", call.recvbuff);
  if (call.collective == Collective::alltoall && call.sendbuff == call.recvbuff)
    throw Error(Status::invalid_argument, "recvbuff is sendbuff: an alltoall needs two buffers");
}

void check_residual(const NcclCall& call) {
  const DType type = dtype_of_nccl(call.datatype);
  if (type == DType{} || info_of(type).family != Family::real)
    throw Error(Status::invalid_type,
                "datatype of a sum with a residual is none of float32, float64, float16 and bfloat16");
  if (call.op != op_sum && call.op != op_avg)
    throw Error(Status::invalid_argument, "op of a call with a residual is neither ncclSum nor ncclAvg");
  if (call.count == 0) return;
  if (call.residual == nullptr)
    throw Error(Status::invalid_argument,
                "residual is NULL: pass memory that was set to 0 before the first call");
  expect_on_gpu("residual", call.residual);
  if (reinterpret_cast<std::uintptr_t>(call.residual) % size_of(residual_type(type)) != 0)
    throw Error(Status::invalid_argument, "residual is not aligned to its type");
}

std::optional<CollectiveCall> describe(const NcclCall& call, int rank, int ranks) {
  const DType type = dtype_of_nccl(call.datatype);
  const auto op = reduces(call.collective) ? reduction_of(call.op) : Reduction::sum;
  const bool known = call.collective != Collective::gather && call.collective != Collective::scatter;
  if (type == DType{} || !op || call.count == 0 || !known) return {};
  const auto P = static_cast<std::size_t>(ranks);
  const std::size_t all = counts_one_block(call.collective) ? P * call.count : call.count;
  const bool gathers = call.collective == Collective::allgather;
  const bool scatters = call.collective == Collective::reduce_scatter;
  Operands data{ConstSlice{{call.sendbuff, gathers ? call.count : all, type}},
                Slice{{call.recvbuff, scatters ? call.count : all, type}}, *op, call.root};
  if (call.collective == Collective::bcast && rank != call.root) data.in = {};
  if (call.collective == Collective::reduce && rank != call.root) data.out.data = nullptr;
  CollectiveCall described(call.collective, data, all * size_of(type));
  described.mean = reduces(call.collective) && call.op == op_avg;
  return described;
}

bool is_captured(const gpu::DeviceServices& services, void* stream) {
  int captured = 0;
  gpu::check(services, services.is_captured(stream, &captured));
  return captured != 0;
}

void expect_no_capture(const gpu::DeviceServices& services, void* stream, const char* what) {
  if (is_captured(services, stream))
    throw Error(Status::invalid_argument,
                std::string(what) + ", which cannot be captured in a graph: end the capture first");
}

int call_nccl(const Library& nccl, const NcclCall& call, int ranks) {
  const auto& [collective, from, to, count, type, op, root, comm, stream, residual] = call;
  switch (collective) {
    case Collective::allreduce: return nccl.AllReduce(from, to, count, type, op, comm, stream);
    case Collective::reduce_scatter: return nccl.ReduceScatter(from, to, count, type, op, comm, stream);
    case Collective::allgather: return nccl.AllGather(from, to, count, type, comm, stream);
    case Collective::bcast: return nccl.Broadcast(from, to, count, type, root, comm, stream);
    case Collective::reduce: return nccl.Reduce(from, to, count, type, op, root, comm, stream);
    case Collective::gather: return nccl.Gather(from, to, count, type, root, comm, stream);
    case Collective::scatter: return nccl.Scatter(from, to, count, type, root, comm, stream);
    case Collective::alltoall:
      if (nccl.AlltoAll == nullptr) return alltoall_by_messages(nccl, call, ranks);
      return nccl.AlltoAll(from, to, count, type, comm, stream);
    default: return invalid_argument;
  }
}

void run_plain(const Library& nccl, const NcclCall& call, int ranks) {
  check(call_nccl(nccl, call, ranks), name_of(call.collective));
}

}  // namespace taut::nccl
