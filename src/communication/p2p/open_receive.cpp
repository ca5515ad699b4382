#include "communication/p2p/open_receive.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "communication/p2p/bypass.hpp"

namespace taut::p2p {
namespace {

// The open receives of this process. The mutex also guards their state.
struct OpenReceives {
  std::mutex mutex;
  std::vector<OpenReceive*> receives;
};

OpenReceives& all_receives() {
  static auto* const one = new OpenReceives;
  return *one;
}

std::atomic<std::size_t> open_receives{0};

// Scope in which the functions of MPI on requests return their errors. Of a receive that is truncated,
// MPICH's MPI_Request_get_status calls the error handler of MPI_COMM_SELF or MPI_COMM_WORLD. The program's
// handler must not run before the program completes the receive, nor while Taut holds a lock.
class QuietErrors {
 public:
  QuietErrors() {
    for (std::size_t i = 0; i < comms_.size(); ++i) {
      PMPI_Comm_get_errhandler(comms_[i], &handlers_[i]);
      if (changes(i)) PMPI_Comm_set_errhandler(comms_[i], MPI_ERRORS_RETURN);
    }
  }
  ~QuietErrors() {
    for (std::size_t i = 0; i < comms_.size(); ++i) {
      if (changes(i)) PMPI_Comm_set_errhandler(comms_[i], handlers_[i]);
      PMPI_Errhandler_free(&handlers_[i]);
    }
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  // MPICH 5 takes the handler of MPI_COMM_WORLD while MPI_COMM_SELF has none. It names the missing handler
  // MPI_ERRORS_ARE_FATAL, which must not be set then.
  bool changes([[maybe_unused]] std::size_t i) const noexcept {
#ifdef OPEN_MPI
    return true;
#else
    return comms_[i] != MPI_COMM_SELF || handlers_[i] != MPI_ERRORS_ARE_FATAL;
#endif
  }

  const std::array<MPI_Comm, 2> comms_{MPI_COMM_SELF, MPI_COMM_WORLD};
  std::array<MPI_Errhandler, 2> handlers_{};
};

}  // namespace

bool may_be_segmented(const RecvBuffer& at) {
  return at.endpoint != nullptr && at.endpoint->segments() != nullptr && segments_of(room(at)) > 1;
}

OpenReceive::OpenReceive(const RecvBuffer& at, const Detached* detached, MPI_Request request)
    : at_(at), detached_(detached), request_(request) {
  const std::lock_guard lock(all_receives().mutex);
  all_receives().receives.push_back(this);
  ++open_receives;
}

OpenReceive::~OpenReceive() {
  const std::lock_guard lock(all_receives().mutex);
  std::erase(all_receives().receives, this);
  --open_receives;
}

void OpenReceive::look() noexcept {
  if (arrived_) return;
  int there = 0;
  failed_ = PMPI_Request_get_status(request_, &there, &status_) != MPI_SUCCESS;
  arrived_ = failed_ || there != 0;
}

bool OpenReceive::step() {
  if (ready_ || !arrived_) return ready_;
  if (!message_ && !failed_) message_ = segmented_message(at_, detached_, status_);
  ready_ = !message_ || message_->advance();
  if (ready_ && forgotten_) finish();
  return ready_;
}

void OpenReceive::finish() {
  if (forgotten_ && failed_) return;  // the program has freed the request: nobody reads the error
  MPI_Status status{};
  if (PMPI_Wait(&request_, &status) != MPI_SUCCESS) return;
  if (message_)
    message_->finish(status);
  else if (detached_ != nullptr)
    deliver(*detached_, at_, status);
  else
    finish_recv(at_, status);
}

void OpenReceive::forget() noexcept {
  const std::lock_guard lock(all_receives().mutex);
  forgotten_ = true;
}

bool OpenReceive::ready() {
  const BypassScope scope;
  const std::lock_guard lock(all_receives().mutex);
  if (!arrived_) {
    const QuietErrors quiet;
    look();
  }
  return step();
}

void advance_receives() {
  if (open_receives == 0) return;
  const BypassScope scope;
  const std::unique_lock lock(all_receives().mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  {
    const QuietErrors quiet;
    for (OpenReceive* const one : all_receives().receives) one->look();
  }
  for (OpenReceive* const one : all_receives().receives) one->step();
}

}  // namespace taut::p2p
