#include "communication/nccl/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "compressor/base/status.hpp"

namespace taut::nccl {
namespace {

// Names of NCCL, and of AMD's RCCL, which has NCCL's functions under NCCL's names.
constexpr const char* library_names[] = {"libnccl.so.2", "librccl.so.1"};

// Returns the handle in which dlsym() finds the functions of NCCL. A program may have loaded NCCL with
// RTLD_LOCAL, as Python does, so the loaded library is looked for by its name before one is opened.
void* find_library() {
  if (dlsym(RTLD_DEFAULT, "pncclCommCount") != nullptr) return RTLD_DEFAULT;
  for (const int already : {RTLD_NOLOAD, 0})
    for (const char* const name : library_names)
      if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL | already)) return library;
  dlopen(library_names[0], RTLD_NOW | RTLD_LOCAL);  // for its message
  const char* const why = dlerror();
  throw Error(Status::invalid_argument, std::string("NCCL is not loaded, and ") + library_names[0] +
                                            " could not be opened (" +
                                            (why != nullptr ? why : "unknown reason") +
                                            "): link NCCL, or have its folder in LD_LIBRARY_PATH");
}

struct Handle {
  void* handle = find_library();
};

// Returns the handle of the process. If NCCL is not found, the next call looks for it again.
void* library_handle() {
  static const Handle known;
  return known.handle;
}

// Sets `function` to NCCL's function of a name. Throws Error if there is none.
template <class Function>
void find(const char* symbol, Function& function) {
  *reinterpret_cast<void**>(&function) = find_function(symbol);
  if (function == nullptr)
    throw Error(Status::invalid_argument,
                std::string("this NCCL has no p") + symbol + ": Taut needs NCCL 2.7 or later");
}

Library find_functions() {
  Library nccl{};
  find("ncclGetErrorString", nccl.GetErrorString);
  find("ncclCommCount", nccl.CommCount);
  find("ncclCommUserRank", nccl.CommUserRank);
  find("ncclCommCuDevice", nccl.CommCuDevice);
  find("ncclCommGetAsyncError", nccl.CommGetAsyncError);
  find("ncclGroupStart", nccl.GroupStart);
  find("ncclGroupEnd", nccl.GroupEnd);
  find("ncclSend", nccl.Send);
  find("ncclRecv", nccl.Recv);
  find("ncclAllReduce", nccl.AllReduce);
  find("ncclReduceScatter", nccl.ReduceScatter);
  find("ncclAllGather", nccl.AllGather);
  find("ncclBroadcast", nccl.Broadcast);
  find("ncclReduce", nccl.Reduce);
  *reinterpret_cast<void**>(&nccl.AlltoAll) = find_function("ncclAlltoAll");
  *reinterpret_cast<void**>(&nccl.Gather) = find_function("ncclGather");
  *reinterpret_cast<void**>(&nccl.Scatter) = find_function("ncclScatter");
  *reinterpret_cast<void**>(&nccl.CommSplit) = find_function("ncclCommSplit");
  *reinterpret_cast<void**>(&nccl.CommDestroy) = find_function("ncclCommDestroy");
  *reinterpret_cast<void**>(&nccl.CommAbort) = find_function("ncclCommAbort");
  return nccl;
}

}  // namespace

void* find_function(const char* symbol) {
  return dlsym(library_handle(), (std::string("p") + symbol).c_str());
}

const Library& library() {
  static const Library known = find_functions();
  return known;
}

void check(int result, const char* call) {
  if (result != success)
    throw Error(Status::transport_failed, std::string(call) + ": " + library().GetErrorString(result));
}

namespace {
// Types by ncclDataType_t.
constexpr DType types[] = {DType::i8,  DType::u8,  DType::i32, DType::u32, DType::i64,
                           DType::u64, DType::f16, DType::f32, DType::f64, DType::bf16};
}  // namespace

DType dtype_of_nccl(int type) noexcept {
  return type >= 0 && type < static_cast<int>(std::size(types)) ? types[type] : DType{};
}

int nccl_type_of(DType type) noexcept {
  return static_cast<int>(std::ranges::find(types, type) - std::begin(types));
}

int nccl_op_of(Reduction op) noexcept {
  return op == Reduction::min ? op_min : op == Reduction::max ? op_max : op_sum;
}

}  // namespace taut::nccl
