#include "api/all_attached.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "api/at_end.hpp"
#include "api/average.hpp"
#include "api/errors.hpp"
#include "api/progress_thread.hpp"

namespace taut::api {
namespace {

// All that hang somewhere or that requests hold, in the order of their making, which ranks share. At
// MPI_Finalize the attributes of MPI_COMM_SELF go first, while MPI still works: that is when the private
// communicators are freed.
std::mutex mutex;
std::vector<Attached*>& living() {
  static auto* const list = new std::vector<Attached*>;  // outlives static destructors
  return *list;
}

std::atomic<bool> driven{false};  // by a thread that blocks in no call

std::atomic<int> keyval{MPI_KEYVAL_INVALID};

// Changes whenever some communicator gets, inherits or loses what hangs on it.
std::atomic<std::uint64_t> generation{0};

// What the attribute points to, as long as there is the communicator, whatever policies it gets.
struct Holder {
  std::shared_ptr<Attached> attached;  // null: no policy
  std::shared_ptr<bool> freed = std::make_shared<bool>(false);
};

int copy_attached(MPI_Comm, int, void*, void* from, void* to, int* copied) {
  try {
    const Holder& original = *static_cast<Holder*>(from);
    *copied = original.attached != nullptr && original.attached->inherited();
    if (*copied == 0) return MPI_SUCCESS;
    auto holder = std::make_unique<Holder>();
    holder->attached = std::make_shared<Attached>(*original.attached, holder->freed);
    *static_cast<void**>(to) = holder.release();
    ++generation;
    return MPI_SUCCESS;
  } catch (...) {
    *copied = 0;
    return MPI_ERR_NO_MEM;
  }
}

int delete_attached(MPI_Comm, int, void* held, void*) {
  const std::unique_ptr<Holder> holder(static_cast<Holder*>(held));
  *holder->freed = true;
  ++generation;
  return MPI_SUCCESS;
}

// Calls that nobody has waited for are completed: other ranks may be waiting for them.
int finalize(MPI_Comm, int, void*, void*) {
  end_progress_thread();
  driven_by_thread(false);
  for (Backoff backoff; calls_in_flight(); backoff.pause()) progress(nullptr);
  {
    const std::lock_guard lock(mutex);
    for (Attached* const attached : living()) attached->disconnect();
  }
  free_average();
  write_observed();
  return MPI_SUCCESS;
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

Holder* find_holder(MPI_Comm comm) noexcept {
  const int ours = keyval;
  void* holder = nullptr;
  int found = 0;
  if (ours == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL) return nullptr;
  PMPI_Comm_get_attr(comm, ours, &holder, &found);
  return found != 0 ? static_cast<Holder*>(holder) : nullptr;
}

}  // namespace

std::atomic<std::size_t> in_process{0};

void enlist(Attached& attached) {
  const std::lock_guard lock(mutex);
  living().push_back(&attached);
}

void strike(const Attached& attached) noexcept {
  const std::lock_guard lock(mutex);
  std::erase(living(), &attached);
}

void progress_others(const Attached* self) noexcept {
  const std::unique_lock lock(mutex, std::try_to_lock);  // else another thread is at it
  if (!lock.owns_lock()) return;
  for (Attached* const attached : living())
    if (attached != self) attached->progress();
}

bool free_at_finalize() noexcept {
  int initialized = 0;
  PMPI_Initialized(&initialized);
  if (initialized == 0) return false;
  try {
    make_keyvals();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void write_observed() noexcept {
  const std::lock_guard lock(mutex);
  try {
    std::vector<const Observed*> all;
    for (const Attached* const attached : living())
      attached->observed([&](const Observed& observed) { all.push_back(&observed); });
    write_at_end(all);
  } catch (const std::bad_alloc&) {
    write_at_end({});
  }
}

void progress(Attached* first) noexcept {
  if (!calls_in_flight()) return;
  if (first != nullptr) first->progress();
  progress_others(first);
}

void finish_own_calls() noexcept {
  const auto open = [me = std::this_thread::get_id()] {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(living(), [me](const Attached* a) { return a->has_calls_of(me); });
  };
  if (driven) return;
  for (Backoff backoff; calls_in_flight() && open(); backoff.pause()) progress(nullptr);
}

void driven_by_thread(bool yes) noexcept { driven = yes; }

// A thread's calls mostly use the communicator of the one before.
const Found& look_up(MPI_Comm comm) noexcept {
  thread_local Found last;
  const std::uint64_t now = generation;
  if (last.comm == comm && last.generation == now) return last;
  const Holder* const holder = find_holder(comm);
  last = {comm, holder != nullptr ? holder->attached.get() : nullptr, holder != nullptr, now};
  return last;
}

void attach(MPI_Comm comm, std::shared_ptr<Attached> attached) {
  make_keyvals();
  Holder* holder = find_holder(comm);
  if (holder == nullptr) {
    auto made = std::make_unique<Holder>();
    check(PMPI_Comm_set_attr(comm, keyval, made.get()), "MPI_Comm_set_attr");
    holder = made.release();
  }
  if (attached != nullptr) attached->belong_to(holder->freed);
  holder->attached = std::move(attached);
  ++generation;
}

}  // namespace taut::api
