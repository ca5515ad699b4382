#include "nccl/library.hpp"

#include <dlfcn.h>

#include <string>

#include "core/status.hpp"

namespace taut::nccl {
namespace {

constexpr const char* name = "libnccl.so.2";

// Returns the handle in which to look for functions. A program may have loaded NCCL for itself alone, as
// Python does, so the name is tried before a second copy would be opened.
void* find_library() {
  if (dlsym(RTLD_DEFAULT, "ncclCommCount") != nullptr) return RTLD_DEFAULT;
  if (void* const loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
  if (void* const opened = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return opened;
  const char* const why = dlerror();
  throw Error(Status::invalid_argument, std::string("NCCL is not loaded, and ") + name +
                                            " could not be opened (" +
                                            (why != nullptr ? why : "unknown reason") +
                                            "): link NCCL, or have its folder in LD_LIBRARY_PATH");
}

template <class Function>
void find(void* handle, const char* symbol, Function& function) {
  *reinterpret_cast<void**>(&function) = dlsym(handle, symbol);
  if (function == nullptr)
    throw Error(Status::invalid_argument,
                std::string("this NCCL has no ") + symbol + ": Taut needs NCCL 2.7 or later");
}

Library found() {
  void* const handle = find_library();
  Library nccl{};
  find(handle, "ncclGetErrorString", nccl.GetErrorString);
  find(handle, "ncclCommCount", nccl.CommCount);
  find(handle, "ncclCommUserRank", nccl.CommUserRank);
  find(handle, "ncclCommCuDevice", nccl.CommCuDevice);
  find(handle, "ncclCommGetAsyncError", nccl.CommGetAsyncError);
  find(handle, "ncclGroupStart", nccl.GroupStart);
  find(handle, "ncclGroupEnd", nccl.GroupEnd);
  find(handle, "ncclSend", nccl.Send);
  find(handle, "ncclRecv", nccl.Recv);
  find(handle, "ncclAllReduce", nccl.AllReduce);
  find(handle, "ncclReduceScatter", nccl.ReduceScatter);
  find(handle, "ncclAllGather", nccl.AllGather);
  find(handle, "ncclBroadcast", nccl.Broadcast);
  find(handle, "ncclReduce", nccl.Reduce);
  return nccl;
}

}  // namespace

// A search that fails is repeated by the next call.
const Library& library() {
  static const Library known = found();
  return known;
}

void check(int result, const char* call) {
  if (result != success)
    throw Error(Status::transport_failed, std::string(call) + ": " + library().GetErrorString(result));
}

DType dtype_of_nccl(int type) noexcept {
  constexpr DType types[] = {DType::i8,  DType::u8,  DType::i32, DType::u32, DType::i64,
                             DType::u64, DType::f16, DType::f32, DType::f64, DType::bf16};
  return type >= 0 && type < static_cast<int>(std::size(types)) ? types[type] : DType{};
}

}  // namespace taut::nccl
