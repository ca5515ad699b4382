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
  try {
    std::vector<const Observed*> all;
    for (const Attached* const attached : living()) all.push_back(&attached->observed());
    write_at_end(all);
  } catch (const std::bad_alloc&) {
    write_at_end({});
  }
  return MPI_SUCCESS;
}

void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw Error(Status::transport_failed, call);
}

void read_name(MPI_Comm comm, Observed::Name& name) noexcept {
  char text[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  PMPI_Comm_get_name(comm, text, &length);
  std::string_view(text).copy(name.data(), name.size() - 1);
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
    : policy_(std::move(policy)),
      enabled_(enabled),
      inter_(inter),
      group_(group),
      observed_(new Observed{.policy = policy_.text, .ranks = group.size}) {
  const std::lock_guard lock(mutex);
  living().push_back(this);
}

Attached::Attached(const Attached& other, bool)
    : Attached(other.policy_, other.enabled_, other.inter_, other.group_) {}

Attached::~Attached() {
  disconnect();
  const std::lock_guard lock(mutex);
  std::erase(living(), this);
  keep(std::move(observed_));
}

void Attached::disconnect() noexcept {
  communicator_.reset();
  transport_.reset();
}

void Attached::connect(MPI_Comm comm) {
  if (communicator_ != nullptr) return;
  read_name(comm, observed_->name);
  if (!usable()) return;
  transport_ = make_mpi_transport(comm);
  communicator_ = std::make_unique<Communicator>(*transport_, place_, policy_, options().kernels,
                                                 Observer{&observed_->calls, recorder()});
}

Verdict Attached::run(MPI_Comm comm, const std::optional<Request>& request) {
  Verdict verdict{request.has_value() && !usable() ? Plain::communicator : Plain::unsupported};
  if (!enabled_ || policy_.off) {
    verdict.plain = Plain::off;
  } else if (request.has_value() && usable()) {
    if (request->bytes_known)
      verdict.plain = plain_at_once(policy_, request->bytes, group_.size);
    else
      verdict.plain = Plain::no;
  }
  if (verdict.plain != Plain::no) {
    count_plain(request, verdict.plain);
    return verdict;
  }
  connect(comm);
  return communicator_->run(*request);
}

void Attached::count_plain(const std::optional<Request>& request, Plain why) noexcept {
  CallRow& row =
      request ? observed_->calls.count(kind_of(*request), request->bytes) : observed_->calls.count({}, 0);
  row.sum.count_plain(why);
  row.plain = why;
}

void Attached::ran_plain(const Request& request, std::uint64_t begin, const CallTag& tag) noexcept {
  const std::uint64_t end = clock_now();
  Times& times = observed_->calls.row(kind_of(request)).sum.times;
  times[Verb::plain] += end - begin;
  times[Verb::call] += end - begin;
  tag.add(Verb::plain, 0, begin, end, request.bytes);
  if (tag.recorder != nullptr) tag.recorder->close(tag);
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
