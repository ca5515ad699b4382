#include "api/attached.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include "policy/options.hpp"
#include "transports/mpi.hpp"

namespace taut::api {
namespace {

// All that hang somewhere, in the order of their making, which ranks share. At MPI_Finalize the attributes of
// MPI_COMM_SELF go first, while MPI still works: that is when the private communicators are freed.
std::mutex mutex;
std::vector<Attached*>& living() {
  static auto* const list = new std::vector<Attached*>;  // outlives static destructors
  return *list;
}

std::atomic<int> keyval{MPI_KEYVAL_INVALID};

int copy_attached(MPI_Comm, int, void*, void* from, void* to, int* copied) {
  try {
    *static_cast<void**>(to) = new Attached(*static_cast<Attached*>(from), true);
    *copied = 1;
    return MPI_SUCCESS;
  } catch (...) {
    *copied = 0;
    return MPI_ERR_NO_MEM;
  }
}

int delete_attached(MPI_Comm, int, void* attached, void*) {
  delete static_cast<Attached*>(attached);
  return MPI_SUCCESS;
}

int finalize(MPI_Comm, int, void*, void*) {
  const std::lock_guard lock(mutex);
  for (Attached* const attached : living()) attached->disconnect();
  return MPI_SUCCESS;
}

void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw Error(Status::transport_failed, call);
}

void make_keyvals() {
  static std::once_flag once;
  std::call_once(once, [] {
    int ours = MPI_KEYVAL_INVALID, at_end = MPI_KEYVAL_INVALID;
    check(PMPI_Comm_create_keyval(copy_attached, delete_attached, &ours, nullptr), "MPI_Comm_create_keyval");
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &at_end, nullptr),
          "MPI_Comm_create_keyval");
    check(PMPI_Comm_set_attr(MPI_COMM_SELF, at_end, nullptr), "MPI_Comm_set_attr");
    keyval = ours;
  });
}

}  // namespace

Attached::Attached(Policy policy, bool enabled, bool inter, Group group)
    : policy_(std::move(policy)), enabled_(enabled), inter_(inter), group_(group) {
  const std::lock_guard lock(mutex);
  living().push_back(this);
}

Attached::Attached(const Attached& other, bool)
    : Attached(other.policy_, other.enabled_, other.inter_, other.group_) {}

Attached::~Attached() {
  disconnect();
  const std::lock_guard lock(mutex);
  std::erase(living(), this);
}

void Attached::disconnect() noexcept {
  if (communicator_ != nullptr) plain_ += communicator_->statistics();
  communicator_.reset();
  transport_.reset();
}

void Attached::connect(MPI_Comm comm) {
  if (communicator_ != nullptr || !usable()) return;
  transport_ = make_mpi_transport(comm);
  communicator_ = std::make_unique<Communicator>(*transport_, place_, policy_, options().kernels);
}

Verdict Attached::run(MPI_Comm comm, const std::optional<Request>& request) {
  Verdict verdict{Plain::unsupported};
  if (!enabled_ || policy_.off) {
    verdict.plain = Plain::off;
  } else if (request.has_value() && usable()) {
    if (request->bytes_known)
      verdict.plain = plain_at_once(policy_, request->bytes, group_.size);
    else
      verdict.plain = Plain::no;
  }
  if (verdict.plain != Plain::no) {
    ++plain_.calls;
    plain_.count_plain(verdict.plain);
    return verdict;
  }
  connect(comm);
  return communicator_->run(*request);
}

Statistics Attached::statistics() const noexcept {
  Statistics sum = plain_;
  if (communicator_ != nullptr) sum += communicator_->statistics();
  return sum;
}

Attached* find_attached(MPI_Comm comm) noexcept {
  const int ours = keyval;
  void* attached = nullptr;
  int found = 0;
  if (ours == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL) return nullptr;
  PMPI_Comm_get_attr(comm, ours, &attached, &found);
  return found != 0 ? static_cast<Attached*>(attached) : nullptr;
}

void attach(MPI_Comm comm, std::unique_ptr<Attached> attached) {
  make_keyvals();
  if (attached == nullptr) {
    if (find_attached(comm) != nullptr) check(PMPI_Comm_delete_attr(comm, keyval), "MPI_Comm_delete_attr");
    return;
  }
  check(PMPI_Comm_set_attr(comm, keyval, attached.get()), "MPI_Comm_set_attr");
  attached.release();
}

}  // namespace taut::api
