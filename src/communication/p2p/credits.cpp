#include "communication/p2p/credits.hpp"

#include <array>
#include <new>
#include <span>

#include "communication/comm/agree.hpp"
#include "communication/mpi/errors.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/p2p/endpoint.hpp"

namespace taut::p2p {
namespace {

// Greatest number of keys of a communicator, granted and held each. Messages with further keys are not coded.
constexpr std::size_t max_keys = 65536;

constexpr std::uint64_t key_of(int rank, int tag) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(rank)} << 32 | static_cast<std::uint32_t>(tag);
}

}  // namespace

Credits::Credits(std::shared_ptr<SegmentComm> private_comm) : private_comm_(std::move(private_comm)) {
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_freed, &keyval_, this),
        "MPI_Comm_create_keyval");
  private_comm_->use_credits();
  private_comm_->credits().set_key_handler([this](const Credit& credit) { add_held(credit); });
  assign_name(MPI_COMM_WORLD, 0);
}

// MPI's delete callback of the attribute: the program frees the communicator.
int Credits::on_comm_freed(MPI_Comm comm, int, void*, void* credits) noexcept {
  auto& self = *static_cast<Credits*>(credits);
  const std::lock_guard lock(self.mutex_);
  if (const auto found = self.comms_.find(comm); found != self.comms_.end()) {
    self.by_name_.erase(found->second.name);
    self.comms_.erase(found);
  }
  return MPI_SUCCESS;
}

void Credits::assign_name(MPI_Comm comm, std::uint64_t name) {
  NamedComm made{.name = name};
  PMPI_Comm_rank(comm, &made.rank);
  check(PMPI_Comm_set_attr(comm, keyval_, nullptr), "MPI_Comm_set_attr");
  const std::lock_guard lock(mutex_);
  by_name_[name] = &(comms_[comm] = std::move(made));
}

void Credits::assign_child_name(MPI_Comm parent, MPI_Comm made) noexcept {
  const BypassScope scope;
  std::array<std::uint64_t, 2> path;
  {
    const std::lock_guard lock(mutex_);
    const auto found = comms_.find(parent);
    if (found == comms_.end()) return;
    path = {found->second.name, ++found->second.children};
  }
  try {
    if (made != MPI_COMM_NULL) assign_name(made, hash(std::as_bytes(std::span(path))));
  } catch (...) {  // without a name, messages on `made` are not coded
  }
}

bool Credits::contains(MPI_Comm comm, std::uint64_t key, Keys NamedComm::*keys) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = comms_.find(comm);
  return found != comms_.end() && (found->second.*keys).contains(key);
}

// Adds the key to those granted, and fills in its credit. Returns true if the credit has to be sent.
bool Credits::add_granted(MPI_Comm comm, std::uint64_t key, Credit& credit) {
  const std::lock_guard lock(mutex_);
  const auto found = comms_.find(comm);
  if (finished_ || found == comms_.end()) return false;
  NamedComm& named = found->second;
  if (named.granted.size() >= max_keys) return false;
  credit.name = named.name;
  credit.rank = named.rank;
  return named.granted.insert(key).second;
}

void Credits::grant(MPI_Comm comm, int source, int tag) noexcept {
  const BypassScope scope;
  const std::uint64_t key = key_of(source, tag);
  if (contains(comm, key, &NamedComm::granted)) return;
  try {
    Credit credit{.tag = tag};
    if (!private_comm_->credits().open() || !add_granted(comm, key, credit)) return;
    const int dest = private_comm_->rank_of(comm, source);
    if (dest >= 0) private_comm_->credits().send(dest, credit);
  } catch (const std::bad_alloc&) {  // without credit, the messages are not coded
  }
}

bool Credits::has(MPI_Comm comm, int dest, int tag) noexcept {
  const std::uint64_t key = key_of(dest, tag);
  if (contains(comm, key, &NamedComm::held)) return true;
  private_comm_->credits().receive();
  return contains(comm, key, &NamedComm::held);
}

// Adds the key of a received credit to those held.
void Credits::add_held(const Credit& credit) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(credit.name);
  if (found == by_name_.end() || found->second->held.size() >= max_keys) return;
  try {
    found->second->held.insert(key_of(credit.rank, credit.tag));
  } catch (const std::bad_alloc&) {  // without credit, the messages are not coded
  }
}

void Credits::stop() noexcept {
  const std::lock_guard lock(mutex_);
  finished_ = true;
}

}  // namespace taut::p2p
