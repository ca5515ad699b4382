#include "communication/dropin/detached_sends.hpp"

#include <list>
#include <mutex>

#include "communication/api/state/comm_registry.hpp"
#include "communication/mpi/pmpi_counts.hpp"
#include "compressor/base/status.hpp"

namespace taut::dropin {
namespace {

struct Sent {
  std::vector<std::byte> bytes;
  MPI_Request request;
};

struct SentMessages {
  std::mutex mutex;
  std::list<Sent> sent;
};

SentMessages& sent_messages() {
  static auto* const one = new SentMessages;
  return *one;
}

void clear_complete(std::list<Sent>& sent) noexcept {
  sent.remove_if([](Sent& one) {
    int done = 0;
    PMPI_Test(&one.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

void wait_for_all() noexcept {
  for (Sent& one : sent_messages().sent) PMPI_Wait(&one.request, MPI_STATUS_IGNORE);
  sent_messages().sent.clear();
}

}  // namespace

int send_detached(const p2p::MpiMessage& values) {
  std::list<Sent> one;
  Sent& sent = one.emplace_back(packed(values), MPI_REQUEST_NULL);
  if (!api::pmpi::fits(static_cast<MPI_Count>(sent.bytes.size())))
    throw Error(Status::invalid_count, "a count that needs MPI 4");
  [[maybe_unused]] static const bool once = (api::at_finalize(wait_for_all), true);
  SentMessages& here = sent_messages();
  const std::lock_guard lock(here.mutex);
  clear_complete(here.sent);
  const int code = TAUT_PMPI(Isend)(sent.bytes.data(), static_cast<api::pmpi::Count>(sent.bytes.size()),
                                    MPI_PACKED, values.peer, values.tag, values.comm, &sent.request);
  if (code == MPI_SUCCESS) here.sent.splice(here.sent.end(), one);
  return code;
}

}  // namespace taut::dropin
