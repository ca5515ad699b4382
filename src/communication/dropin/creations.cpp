#include "communication/dropin/creations.hpp"

#include <atomic>
#include <bit>

#include "communication/api/state/rule_binding.hpp"
#include "communication/dropin/interception.hpp"
#include "communication/dropin/program_endpoint.hpp"

namespace taut::dropin {
namespace {

constexpr unsigned connected_at_first = 8;  // communicators of one parent that are always connected

std::atomic<bool> connects{false};

// Creation history of a connected communicator: the communicators created from it, and its siblings.
struct Lineage {
  using Used = std::atomic<bool>;  // true if a nonblocking call on one of them has been served

  std::shared_ptr<Used> siblings;  // null for MPI_COMM_WORLD
  std::shared_ptr<Used> children = std::make_shared<Used>(false);
  unsigned children_made = 0;
  bool connects_children = true;
};

Lineage* lineage_of(MPI_Comm comm) {
  const api::CommRecord* const record = api::find_record(comm);
  return record != nullptr ? static_cast<Lineage*>(record->lineage.get()) : nullptr;
}

// Returns true if the communicator that has just been created from `parent` is to be connected. The result is
// the same on all ranks of the parent: they count alike, and compare the observed use whenever the number has
// doubled.
bool connects_next(MPI_Comm parent, Lineage& lineage) noexcept {
  const unsigned number = lineage.children_made++;
  if (number < connected_at_first || !std::has_single_bit(number)) return lineage.connects_children;
  const int mine = lineage.children->exchange(false);
  int any = 0;
  PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, parent);
  return lineage.connects_children = any != 0;
}

void connect(MPI_Comm comm, std::shared_ptr<Lineage::Used> siblings) {
  api::CommState* const comm_state = api::find_or_bind_state(comm);
  if (comm_state != nullptr) comm_state->connect(comm);
  const auto lineage = std::make_shared<Lineage>();
  lineage->siblings = std::move(siblings);
  api::record_of(comm).lineage = lineage;
}

}  // namespace

void begin_creations() noexcept {
  const BypassScope bypass;
  try {
    connects = !api::rules_match_names();
    if (connects) connect(MPI_COMM_WORLD, nullptr);
  } catch (...) {  // the calls on it fail likewise, and say why
  }
}

void end_creations() noexcept { connects = false; }

void note_creation(MPI_Comm parent, MPI_Comm made) {
  assign_child_name(parent, made);
  if (!connects || !intercepts(parent)) return;
  Lineage* const lineage = lineage_of(parent);
  const BypassScope bypass;
  if (lineage == nullptr || !connects_next(parent, *lineage) || made == MPI_COMM_NULL) return;
  try {
    if (api::ranks_in_world(made)) connect(made, lineage->children);
  } catch (...) {  // the calls on it fail likewise, and say why
  }
}

void note_nonblocking_use(MPI_Comm comm) {
  const Lineage* const lineage = lineage_of(comm);
  if (lineage != nullptr && lineage->siblings != nullptr)
    lineage->siblings->store(true, std::memory_order_relaxed);
}

}  // namespace taut::dropin
