#include "api/messages.hpp"

#include <algorithm>

#include "api/all_attached.hpp"
#include "api/wire.hpp"
#include "comm/envelope.hpp"
#include "policy/options.hpp"

namespace taut::api {
namespace {

bool matches(const ProbedMessage& message, int source, int tag) noexcept {
  return (source == MPI_ANY_SOURCE || source == message.source) && (tag == MPI_ANY_TAG || tag == message.tag);
}

// 0 for what has no envelope: whoever receives it will be told.
Envelope envelope_of(const ProbedMessage& message) noexcept {
  Envelope envelope;
  const ConstBytes all = message.message();
  if (all.size() < envelope_bytes ||
      read_envelope(all.first(envelope_bytes), all.subspan(envelope_bytes), envelope) != Status::ok)
    return {};
  return envelope;
}

int threads_of(const Policy& policy) noexcept { return std::max(policy.coding.threads, 1); }

}  // namespace

int wait_for(MPI_Request& request, MPI_Status* status) noexcept {
  if (!calls_in_flight()) return PMPI_Wait(&request, status);
  for (Backoff backoff;; backoff.pause()) {
    int done = 0;
    const int code = PMPI_Test(&request, &done, status);
    if (done != 0 || code != MPI_SUCCESS) return code;
    progress(nullptr);
  }
}

Messages::Messages(const Policy& policy) : coder_(policy, place_, options().kernels, threads_of(policy)) {}

void Messages::disconnect() noexcept {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  for (const auto& message : probed_)
    if (finalized == 0) PMPI_Wait(&message->request, MPI_STATUS_IGNORE);
  probed_.clear();
  for (Slot& slot : slots_)
    if (slot.type != MPI_DATATYPE_NULL && finalized == 0) PMPI_Type_free(&slot.type);
}

const Slot& Messages::slot(std::size_t bytes) {
  Slot& slot = slots_[bytes <= slots_[0].room ? 0 : 1];
  if (slot.type != MPI_DATATYPE_NULL) return slot;
  const int lengths[] = {static_cast<int>(envelope_bytes), static_cast<int>(slot.room)};
  const MPI_Aint places[] = {0, static_cast<MPI_Aint>(Slot::payload_at)};
  const bool made = PMPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &slot.type) == MPI_SUCCESS &&
                    PMPI_Type_commit(&slot.type) == MPI_SUCCESS;
  if (!made) throw Error(Status::transport_failed, "MPI made no datatype for messages");
  return slot;
}

Messages::Probed::iterator Messages::first(int source, int tag) noexcept {
  return std::ranges::find_if(probed_, [=](const auto& message) { return matches(*message, source, tag); });
}

// Starts to take a message from MPI, if one is there. Its memory first: what is taken cannot be given back.
int Messages::pull(MPI_Comm comm, int source, int tag, bool& found) {
  int there = 0;
  MPI_Status status;
  if (const int code = PMPI_Iprobe(source, tag, comm, &there, &status); code != MPI_SUCCESS || there == 0)
    return code;
  probed_.reserve(probed_.size() + 1);
  auto made = std::make_unique<ProbedMessage>();
  made->source = status.MPI_SOURCE;
  made->tag = status.MPI_TAG;
  made->bytes = bytes_of(status);
  made->buffer = place_.scratch(made->bytes);
  const Wire wire = Wire::of(made->buffer.data(), made->bytes);
  MPI_Message message = MPI_MESSAGE_NULL;
  int code = PMPI_Improbe(made->source, made->tag, comm, &there, &message, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS || there == 0) return code;
  code = TAUT_PMPI(Imrecv)(wire.at(), wire.count(), wire.type(), &message, &made->request);
  if (code != MPI_SUCCESS) return code;
  probed_.push_back(std::move(made));
  found = true;
  return MPI_SUCCESS;
}

// One with another tag may have been sent before the one that a receive of any tag finds here, and still be
// MPI's: so the next one from there is taken as well, and the sequence tells.
Messages::Probed::iterator Messages::match(MPI_Comm comm, int source, int tag) {
  auto found = first(source, tag);
  if (found == probed_.end() || tag != MPI_ANY_TAG) return found;
  const int from = (*found)->source;
  bool another = false;
  pull(comm, from, MPI_ANY_TAG, another);
  auto earliest = probed_.end();
  for (auto i = probed_.begin(); i != probed_.end(); ++i) {
    if ((*i)->source != from) continue;
    wait_for((*i)->request, MPI_STATUS_IGNORE);
    if (earliest == probed_.end() || is_before(envelope_of(**i).sequence, envelope_of(**earliest).sequence))
      earliest = i;
  }
  return earliest;
}

int Messages::probe(MPI_Comm comm, int source, int tag, bool& found, MPI_Status* status) {
  auto message = match(comm, source, tag);
  if (message == probed_.end()) {
    bool pulled = false;
    if (const int code = pull(comm, source, tag, pulled); code != MPI_SUCCESS || !pulled) return code;
    message = probed_.end() - 1;
  }
  ProbedMessage& probed = **message;
  int arrived = 0;
  if (const int code = PMPI_Test(&probed.request, &arrived, MPI_STATUS_IGNORE); code != MPI_SUCCESS)
    return code;
  found = arrived != 0;
  if (!found || status == MPI_STATUS_IGNORE) return MPI_SUCCESS;
  status->MPI_SOURCE = probed.source;
  status->MPI_TAG = probed.tag;
  set_bytes(*status, static_cast<std::size_t>(envelope_of(probed).bytes));
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}

std::unique_ptr<ProbedMessage> Messages::take(MPI_Comm comm, int source, int tag) {
  if (probed_.empty()) return nullptr;
  const auto found = match(comm, source, tag);
  if (found == probed_.end()) return nullptr;
  auto message = std::move(*found);
  probed_.erase(found);
  return message;
}

}  // namespace taut::api
