#include "dropin/gate.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>
#include <optional>
#include <vector>

#include "dropin/handshake.hpp"
#include "dropin/messages.hpp"
#include "dropin/nonblocking.hpp"
#include "policy/options.hpp"

namespace taut::dropin {
namespace {

std::atomic<bool> on{true}, all_here{false};
std::atomic<std::uint64_t> generation{1};  // changes when a communicator may have gone
std::optional<Handshake> handshake;

// Whether all ranks of an intracommunicator are among those of MPI_COMM_WORLD, and there are several. Local.
bool in_world(MPI_Comm comm) {
  int inter = 0, size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &size);
  if (inter != 0 || size < 2) return false;
  MPI_Group world, group;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  std::vector<int> ranks(static_cast<std::size_t>(size)), there(ranks.size());
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, there.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return std::ranges::find(there, MPI_UNDEFINED) == there.end();
}

int forget(MPI_Comm, int, void*, void*) noexcept {
  ++generation;
  return MPI_SUCCESS;
}

// An attribute that says whether the communicator is served: its address is one of these.
char served, passed;

int keyval() noexcept {
  static const int ours = [] {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr);
    return key;
  }();
  return ours;
}

bool look_up(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, keyval(), &value, &found);
  if (found != 0) return value == &served;
  const bool serve = in_world(comm);
  PMPI_Comm_set_attr(comm, keyval(), serve ? &served : &passed);
  return serve;
}

int part_at_end(MPI_Comm, int, void*, void*) noexcept {
  part();
  return MPI_SUCCESS;
}

// A tool above may make MPI's MPI_Finalize of the program's, past this library; the attributes of
// MPI_COMM_SELF go first there.
void part_in_any_case() noexcept {
  int key = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, part_at_end, &key, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

constexpr const char* not_all_here =
    "taut: the program runs without Taut: some ranks were started without it, or came to MPI_Init later "
    "than TAUT_HANDSHAKE seconds after this one\n";

}  // namespace

bool serves(MPI_Comm comm) noexcept {
  struct Found {
    MPI_Comm comm = MPI_COMM_NULL;
    std::uint64_t generation = 0;
    bool serve = false;
  };
  thread_local Found last;
  if (Inside::active() || !all_here || !on || comm == MPI_COMM_NULL) return false;
  const std::uint64_t now = generation;
  if (last.comm == comm && last.generation == now) return last.serve;
  try {
    last = {comm, now, look_up(comm)};
  } catch (const std::bad_alloc&) {  // of a few bytes a rank; others find out in the agreement
    return true;
  }
  return last.serve;
}

void switch_on(bool yes) noexcept { on = yes; }

void meet_others() noexcept {
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2 || handshake) return;
  handshake.emplace(MPI_COMM_WORLD);
  part_in_any_case();
  all_here = handshake->all_have_taut(std::chrono::seconds(options().handshake));
  if (!all_here) return void(std::fputs(not_all_here, stderr));
  begin_messages();
  begin_nonblocking();
}

void part() noexcept {
  end_nonblocking();
  end_messages();
  all_here = false;
  handshake.reset();
}

}  // namespace taut::dropin
