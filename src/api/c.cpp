// The collective calls of taut.h: from MPI's arguments to a request, or on to plain MPI.
#include <taut/taut.h>

#include <atomic>
#include <cstdio>

#include "api/attached.hpp"
#include "api/datatypes.hpp"
#include "api/plain.hpp"
#include "policy/options.hpp"

namespace taut::api {
namespace {

using Described = std::optional<Request>;  // nothing: not a call that is compressed, on any rank

// ---- Memory

Slice slice(void* data, MPI_Count count, DType type) noexcept {
  return {{data, static_cast<std::size_t>(count), type}};
}
ConstSlice slice(const void* data, MPI_Count count, DType type) noexcept {
  return {{data, static_cast<std::size_t>(count), type}};
}

// Bytes of `blocks` blocks of `count` elements; nothing when the arguments are for MPI to complain about.
std::optional<std::size_t> message_bytes(MPI_Count count, MPI_Datatype type, int blocks) {
  int element = 0;
  std::size_t bytes = 0;
  if (count < 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &element) != MPI_SUCCESS || element < 0)
    return {};
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), static_cast<std::size_t>(element), &bytes))
    return {};
  if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(blocks), &bytes)) return {};
  return bytes;
}

// ---- Requests

Described describe_reduction(Collective collective, const void* sendbuf, void* recvbuf, MPI_Count count,
                             MPI_Datatype type, MPI_Op op, int blocks) {
  const auto reducing = known_reduction(type, op);
  const auto bytes = message_bytes(count, type, blocks);
  if (!bytes) return {};
  if (!reducing) return Request{collective, {}, *bytes, false};
  const void* const in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  Operands data{slice(in, count * blocks, reducing->type), slice(recvbuf, count, reducing->type),
                reducing->op};
  return Request{collective, data, *bytes};
}

// A call that moves data; `data` counts only if its type is known here. It may be another one with the same
// signature on another rank, so that all ask the others.
Described describe_move(Collective collective, MPI_Count count, MPI_Datatype type, int blocks, int root,
                        bool same_types, Operands data) {
  const auto bytes = message_bytes(count, type, blocks);
  if (!bytes) return {};
  const bool coded = dtype_of_mpi(type).has_value() && same_types;
  if (!coded) data = {};
  data.root = root;
  return Request{collective, data, *bytes, coded};
}

Described describe_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, int size) {
  if (!message_bytes(recvcount, recvtype, size)) return {};
  const DType type = dtype_of_mpi(recvtype).value_or(DType::f32);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  Operands data;
  data.out = slice(recvbuf, recvcount * size, type);
  data.in = slice(sendbuf, recvcount, type);
  if (in_place) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    data.in = block(ConstSlice(data.out), static_cast<std::size_t>(rank), static_cast<std::size_t>(size));
  }
  const bool same = in_place || (sendtype == recvtype && sendcount == recvcount);
  return describe_move(Collective::allgather, recvcount, recvtype, size, 0, same, data);
}

Described describe_scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, bool at_root, int size) {
  if (!message_bytes(at_root ? sendcount : recvcount, at_root ? sendtype : recvtype, size)) return {};
  Operands data;
  if (!at_root) {
    data.out = slice(recvbuf, recvcount, dtype_of_mpi(recvtype).value_or(DType::f32));
    return describe_move(Collective::scatter, recvcount, recvtype, size, root, true, data);
  }
  const DType type = dtype_of_mpi(sendtype).value_or(DType::f32);
  const bool in_place = recvbuf == MPI_IN_PLACE;
  data.in = slice(sendbuf, sendcount * size, type);
  data.out = slice(in_place ? nullptr : recvbuf, sendcount, type);
  const bool same = in_place || (sendtype == recvtype && sendcount == recvcount);
  return describe_move(Collective::scatter, sendcount, sendtype, size, root, same, data);
}

// ---- Service

// Describes the call and serves it by frames, or else by `plain`. Inlined, so that it sees where the program
// called from.
template <class Describe, class PlainCall>
[[gnu::always_inline]] inline int serve(MPI_Comm comm, Describe describe, PlainCall plain) noexcept {
  const void* const site = __builtin_return_address(0);
  return guard(comm, [&] {
    Attached* const attached = find_attached(comm);
    if (attached == nullptr) return plain();
    Described request = describe(attached->size());
    if (request) request->site = site;
    const Verdict verdict = attached->run(comm, request);
    if (verdict.plain != Plain::no) return attached->run_plain(request, plain);
    return verdict.status == Status::ok ? MPI_SUCCESS : raise(comm, verdict.status);
  });
}

bool is_root(MPI_Comm comm, int root) {
  int rank = 0, inter = 0;
  if (comm == MPI_COMM_NULL) return false;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_rank(comm, &rank);
  return inter != 0 ? root == MPI_ROOT : rank == root;
}

// ---- Policies

// What the ranks compare when a policy is set; combined by minimum.
struct Vote {
  std::uint64_t hash, not_hash, good, enabled;
};

// What the policy string says, or why it cannot be served here.
std::optional<Error> read_policy(const char* text, Policy& policy) noexcept {
  try {
    policy = parse_policy(text == nullptr ? "" : text, options().kernels);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (...) {
    return Error(Status::out_of_memory, describe(Status::out_of_memory));
  }
}

void print_warnings_once(int rank) {
  static std::atomic_flag printed;
  if (printed.test_and_set() || rank != 0) return;
  for (const std::string& warning : options().warnings) std::fprintf(stderr, "taut: %s\n", warning.c_str());
}

int set_policy(MPI_Comm comm, const char* text) {
  int rank = 0, size = 0, inter = 0;
  if (const int code = PMPI_Comm_rank(comm, &rank); code != MPI_SUCCESS) return code;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_test_inter(comm, &inter);
  print_warnings_once(rank);

  Policy policy;
  const std::optional<Error> unreadable = read_policy(text, policy);
  const std::string_view given = text == nullptr ? "" : text;
  const std::uint64_t hashed = hash(std::as_bytes(std::span(given)), Facts::tag);
  Vote vote{hashed, ~hashed, !unreadable, options().enabled}, agreed = vote;
  if (const int code = PMPI_Allreduce(&vote, &agreed, 4, MPI_UINT64_T, MPI_MIN, comm); code != MPI_SUCCESS)
    return code;

  if (agreed.hash != hashed || agreed.not_hash != ~hashed)
    throw Error(Status::rank_mismatch, "the ranks set different policies");
  if (agreed.good == 0) throw unreadable.value_or(Error(Status::peer_failed, describe(Status::peer_failed)));
  if (given.empty()) {
    attach(comm, nullptr);
    return MPI_SUCCESS;
  }
  auto attached = std::make_unique<Attached>(std::move(policy), agreed.enabled != 0, inter != 0, size);
  attached->connect(comm);
  attach(comm, std::move(attached));
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

extern "C" {

int TAUT_Comm_set_policy(MPI_Comm comm, const char* policy) {
  return guard(comm, [&] { return set_policy(comm, policy); });
}

int TAUT_Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) {
  return serve(
      comm,
      [&](int) {
        return describe_reduction(taut::Collective::allreduce, sendbuf, recvbuf, count, type, op, 1);
      },
      [&] { return plain::allreduce(sendbuf, recvbuf, count, type, op, comm); });
}

int TAUT_Reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm) {
  return serve(
      comm,
      [&](int size) {
        return describe_reduction(taut::Collective::reduce_scatter, sendbuf, recvbuf, recvcount, type, op,
                                  size);
      },
      [&] { return plain::reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm); });
}

int TAUT_Allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(
      comm,
      [&](int size) {
        return describe_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, size);
      },
      [&] { return plain::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
}

int TAUT_Bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return serve(
      comm,
      [&](int size) -> Described {
        if (root < 0 || root >= size || count < 0) return {};
        taut::Operands data;
        data.out = slice(buffer, count, dtype_of_mpi(type).value_or(taut::DType::f32));
        return describe_move(taut::Collective::bcast, count, type, 1, root, true, data);
      },
      [&] { return plain::bcast(buffer, count, type, root, comm); });
}

int TAUT_Scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  const bool at_root = is_root(comm, root);
  return serve(
      comm,
      [&](int size) -> Described {
        if (root < 0 || root >= size) return {};
        return describe_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, at_root,
                                size);
      },
      [&] {
        return plain::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                              at_root);
      });
}

int TAUT_Error_status(int mpi_error_code) { return static_cast<int>(status_of(mpi_error_code)); }

}  // extern "C"
