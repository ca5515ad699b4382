#include "communication/transports/mpi.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include "communication/transports/memory_kinds.hpp"
#include "communication/transports/mpi_failures.hpp"

// An extension of Open MPI and MPICH; null in other MPIs.
extern "C" int MPIX_Query_cuda_support(void) __attribute__((weak));

namespace taut {
namespace {

static_assert(sizeof(MPI_Request) <= sizeof(std::uint64_t));

std::uint64_t operation_of(MPI_Request request) noexcept {
  std::uint64_t operation = 0;
  std::memcpy(&operation, &request, sizeof request);
  return operation;
}

MPI_Request request_of(std::uint64_t operation) noexcept {
  MPI_Request request;
  std::memcpy(&request, &operation, sizeof request);
  return request;
}

bool is_truncation(int code) noexcept {
  int error_class = MPI_SUCCESS;
  return PMPI_Error_class(code, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE;
}

#if MPI_VERSION < 4
// Before MPI 4 a message has at most INT_MAX bytes; plans divide longer messages into segments.
int int_count(std::size_t bytes) {
  if (bytes > INT_MAX) throw Error(Status::invalid_count, "a message beyond 2 GiB needs MPI 4");
  return static_cast<int>(bytes);
}
#endif

class PrivateCommTransport final : public MpiTransport {
 public:
  PrivateCommTransport(MPI_Comm parent, std::shared_ptr<const bool> parent_freed)
      : parent_(parent), parent_freed_(std::move(parent_freed)) {
    int rank = 0;
    check(PMPI_Comm_rank(parent, &rank), "MPI_Comm_rank");
    // MPI_Comm_split, not MPI_Comm_dup: attributes and their callbacks stay with the user's communicator.
    check(PMPI_Comm_split(parent, 0, rank, &comm_), "MPI_Comm_split");
    check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(PMPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(PMPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }
  ~PrivateCommTransport() override {
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (finalized == 0 && comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
  }
  PrivateCommTransport(const PrivateCommTransport&) = delete;
  PrivateCommTransport& operator=(const PrivateCommTransport&) = delete;

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  MPI_Comm communicator() const noexcept override { return comm_; }

 private:
  std::uint64_t start_send(ConstBytes bytes, int to, Lane lane) override {
    MPI_Request request;
#if MPI_VERSION >= 4
    attempt(
        PMPI_Isend_c(bytes.data(), static_cast<MPI_Count>(bytes.size()), MPI_BYTE, to, lane, comm_, &request),
        "MPI_Isend_c");
#else
    attempt(PMPI_Isend(bytes.data(), int_count(bytes.size()), MPI_BYTE, to, lane, comm_, &request),
            "MPI_Isend");
#endif
    return operation_of(request);
  }

  std::uint64_t start_recv(Bytes capacity, int from, Lane lane) override {
    MPI_Request request;
#if MPI_VERSION >= 4
    attempt(PMPI_Irecv_c(capacity.data(), static_cast<MPI_Count>(capacity.size()), MPI_BYTE, from, lane,
                         comm_, &request),
            "MPI_Irecv_c");
#else
    const std::size_t most = std::min<std::size_t>(capacity.size(), INT_MAX);
    attempt(PMPI_Irecv(capacity.data(), int_count(most), MPI_BYTE, from, lane, comm_, &request), "MPI_Irecv");
#endif
    return operation_of(request);
  }

  bool poll(std::uint64_t& operation, SizeOrStatus& moved) override {
    MPI_Request request = request_of(operation);
    MPI_Status status;
    int done = 0;
    const int code = PMPI_Test(&request, &done, &status);
    operation = operation_of(request);
    if (code != MPI_SUCCESS && is_truncation(code)) {
      moved = {Status::frame_mismatch, 0};
      return true;
    }
    attempt(code, "MPI_Test");
    if (done == 0) {
      look_at_parent();
      return false;
    }
#if MPI_VERSION >= 4
    MPI_Count bytes = 0;
    check(PMPI_Get_count_c(&status, MPI_BYTE, &bytes), "MPI_Get_count_c");
#else
    int bytes = 0;
    check(PMPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
#endif
    moved = {Status::ok, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
    return true;
  }

  void abandon(std::uint64_t operation) noexcept override {
    // Cancels the operation; called after a failure only. A send may still read its buffer afterwards, which
    // MPI offers no way to prevent.
    MPI_Request request = request_of(operation);
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (request == MPI_REQUEST_NULL || finalized != 0) return;
    if (revoked_) {  // MPI ends the operation
      PMPI_Wait(&request, MPI_STATUS_IGNORE);
      return;
    }
    PMPI_Cancel(&request);
    PMPI_Request_free(&request);
  }

  // Throws MpiError unless `code` is MPI_SUCCESS. After the failure of a process it revokes the private
  // communicator first, so that all ranks that wait for this rank get an error as well.
  void attempt(int code, const char* call) {
    if (code != MPI_SUCCESS && is_process_failure(code) && !revoked_ && PMPIX_Comm_revoke != nullptr)
      revoked_ = PMPIX_Comm_revoke(comm_) == MPI_SUCCESS;
    check(code, call);
  }

  // Throws MpiError if the program has revoked its communicator: ranks that have left the call do not return
  // to it. Asks MPI in every 1024th call only.
  void look_at_parent() {
    if (parent_freed_ != nullptr && ++looks_ % 1024 == 0 && !*parent_freed_)
      attempt(code_if_revoked(parent_), "MPI_Test");
  }

  MPI_Comm parent_;
  std::shared_ptr<const bool> parent_freed_;
  bool revoked_ = false;
  unsigned looks_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 0;
};

}  // namespace

std::unique_ptr<MpiTransport> make_mpi_transport(MPI_Comm comm, std::shared_ptr<const bool> freed) {
  return std::make_unique<PrivateCommTransport>(comm, std::move(freed));
}

Nodes find_nodes(MPI_Comm comm, int ranks_per_node) {
  int rank = 0, size = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  if (size < 3) return {};  // fewer ranks are never several nodes, one of them with several ranks
  MPI_Comm node = MPI_COMM_NULL;
  int node_id = rank;  // the lowest rank of the node
  check(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check(PMPI_Bcast(&node_id, 1, MPI_INT, 0, node), "MPI_Bcast");
  check(PMPI_Comm_free(&node), "MPI_Comm_free");
  if (ranks_per_node > 0)
    node_id = rank / ranks_per_node;  // after the collective calls: ranks may differ in this
  std::vector<int> node_of(static_cast<std::size_t>(size));
  check(PMPI_Allgather(&node_id, 1, MPI_INT, node_of.data(), 1, MPI_INT, comm), "MPI_Allgather");
  return Nodes(node_of);
}

bool accesses_cuda_memory(MPI_Comm comm) {
  MPI_Info info = MPI_INFO_NULL;
  check(PMPI_Comm_get_info(comm, &info), "MPI_Comm_get_info");
  char kinds[MPI_MAX_INFO_VAL + 1] = {};
  int found = 0;
#if MPI_VERSION >= 4
  int length = MPI_MAX_INFO_VAL;
  PMPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, kinds, &found);
#else
  PMPI_Info_get(info, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, kinds, &found);
#endif
  PMPI_Info_free(&info);
  if (found != 0 && lists_cuda_devices(kinds)) return true;
  return MPIX_Query_cuda_support != nullptr && MPIX_Query_cuda_support() != 0;
}

}  // namespace taut
