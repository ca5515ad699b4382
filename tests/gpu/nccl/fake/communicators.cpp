// Communicators: threads meet by a unique identifier.
#include <algorithm>
#include <cstring>

#include "gpu/nccl/fake/ranks.hpp"

namespace taut::fake_nccl {
namespace {

std::map<unsigned long, std::shared_ptr<Clique>>& meetings() {
  static auto* const all = new std::map<unsigned long, std::shared_ptr<Clique>>;
  return *all;
}

int current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

// Waits until there is what all ranks make together. Returns false if ranks are missing for too long.
template <class Condition>
bool meet(std::unique_lock<std::mutex>& lock, Clique& clique, const char* what, Condition condition) {
  shared().joined.notify_all();
  if (shared().joined.wait_for(lock, shared().patience, condition)) return true;
  broken(clique, std::string("deadlock: ranks are missing in ") + what);
  return false;
}

// Returns the rank in its part: ranks of one colour are ordered by key, then by rank.
int rank_in_part(const std::vector<std::pair<int, int>>& answers, int rank) {
  const auto [colour, key] = answers[static_cast<std::size_t>(rank)];
  int before = 0;
  for (int r = 0; r < static_cast<int>(answers.size()); ++r) {
    const auto [other, its_key] = answers[static_cast<std::size_t>(r)];
    before += other == colour && (its_key < key || (its_key == key && r < rank));
  }
  return before;
}

constexpr std::pair<int, int> no_answer{-2, 0};

// Ends the kernels of this rank, whatever their messages wait for. The communicator gets an error.
void end_kernels(const ncclComm& comm) {
  for (const auto& weak : shared().kernels)
    if (const KernelRef kernel = weak.lock();
        kernel != nullptr && kernel->clique == comm.clique && kernel->rank == comm.rank)
      kernel->open = 0;
  comm.clique->error = ncclRemoteError;
}

// NCCL waits in ncclCommDestroy until no graph holds a call of the communicator.
bool is_in_graphs(const ncclComm& comm) { return comm.in_graphs.use_count() > 1; }

bool is_blocking(const ncclConfig_t* config, bool otherwise) {
  return config == nullptr || config->blocking == NCCL_CONFIG_UNDEF_INT ? otherwise : config->blocking != 0;
}

}  // namespace

ncclResult_t made(ncclComm_t comm) {
  constexpr int some = 3;
  comm->queries = comm->blocking ? 0 : some;
  return comm->blocking ? ncclSuccess : ncclInProgress;
}

bool in_progress(const ncclComm& comm) { return comm.queries > 0 || comm.clique->joined < comm.clique->size; }

}  // namespace taut::fake_nccl

using namespace taut::fake_nccl;

ncclResult_t ncclGetVersion(int* version) {
  *version = 22809;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* texts[] = {"no error",
                                   "unhandled cuda error",
                                   "unhandled system error",
                                   "internal error",
                                   "invalid argument",
                                   "invalid usage",
                                   "remote process error or a rule that was broken",
                                   "NCCL operation in progress"};
  return result >= 0 && result <= ncclInProgress ? texts[result] : "unknown result code";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static unsigned long last = 0;
  const std::lock_guard lock(shared().mutex);
  ++last;
  *id = {};
  std::memcpy(id->internal, &last, sizeof last);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (comm == nullptr || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  const int device = current_device();
  unsigned long number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  std::unique_lock lock(shared().mutex);
  auto& meeting = meetings()[number];
  if (meeting == nullptr) meeting = std::make_shared<Clique>(ranks);
  const std::shared_ptr<Clique> clique = meeting;
  if (clique->size != ranks) return ncclInvalidUsage;
  ++clique->joined;
  const bool blocking = is_blocking(config, true);
  if (blocking && !meet(lock, *clique, "ncclCommInitRank", [&] { return clique->joined == clique->size; }))
    return ncclRemoteError;
  *comm = new ncclComm{clique, rank, device};
  (*comm)->blocking = blocking;
  return made(*comm);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int devices, const int* list) {
  if (comms == nullptr || devices < 1) return ncclInvalidArgument;
  const auto clique = std::make_shared<Clique>(devices);
  clique->joined = devices;
  for (int r = 0; r < devices; ++r) comms[r] = new ncclComm{clique, r, list != nullptr ? list[r] : r};
  return ncclSuccess;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t* config) {
  if (comm == nullptr || part == nullptr || color < NCCL_SPLIT_NOCOLOR) return ncclInvalidArgument;
  std::unique_lock lock(shared().mutex);
  if (counted_call()) return ncclInternalError;
  const std::shared_ptr<Clique> clique = comm->clique;
  const std::size_t number = comm->splits++;
  auto& answers = clique->splits[number];
  answers.resize(static_cast<std::size_t>(clique->size), no_answer);
  answers[static_cast<std::size_t>(comm->rank)] = {color, key};
  const auto all = [&] { return std::ranges::find(answers, no_answer) == answers.end(); };
  if (!meet(lock, *clique, "ncclCommSplit", all)) return ncclRemoteError;
  *part = nullptr;
  if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
  auto& clique_of_part = clique->parts_of_splits[{number, color}];
  const auto ranks = std::ranges::count(answers, color, &std::pair<int, int>::first);
  if (clique_of_part == nullptr) {
    clique_of_part = std::make_shared<Clique>(static_cast<int>(ranks));
    clique_of_part->joined = clique_of_part->size;
  }
  *part = new ncclComm{clique_of_part, rank_in_part(answers, comm->rank), comm->device};
  (*part)->blocking = is_blocking(config, comm->blocking);
  made(*part);
  return made(comm);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) { return comm != nullptr ? ncclSuccess : ncclInvalidArgument; }

// The kernels that were enqueued still run.
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclInvalidArgument;
  if (is_in_graphs(*comm)) {
    const std::lock_guard lock(shared().mutex);
    shared().report += "rank " + std::to_string(comm->rank) +
                       ": ncclCommDestroy would wait for ever for graphs that hold calls\n";
    return ncclInvalidUsage;
  }
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclInvalidArgument;
  const std::lock_guard lock(shared().mutex);
  end_kernels(*comm);
  if (!is_in_graphs(*comm)) delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommRevoke(ncclComm_t comm, int) {
  if (comm == nullptr) return ncclInvalidArgument;
  const std::lock_guard lock(shared().mutex);
  end_kernels(*comm);
  return ncclSuccess;
}

ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int n, ncclComm_t* rest, ncclConfig_t* config,
                            int flags) {
  if (comm == nullptr || excluded == nullptr || rest == nullptr) return ncclInvalidArgument;
  std::unique_lock lock(shared().mutex);
  const std::shared_ptr<Clique> whole = comm->clique;
  if (flags == NCCL_SHRINK_ABORT) end_kernels(*comm);
  const auto before = std::count_if(excluded, excluded + n, [&](int rank) { return rank < comm->rank; });
  auto& made_so_far = whole->parts_of_splits[{comm->splits++, NCCL_SPLIT_NOCOLOR}];
  if (made_so_far == nullptr) made_so_far = std::make_shared<Clique>(whole->size - n);
  const std::shared_ptr<Clique> clique = made_so_far;
  ++clique->joined;
  if (!meet(lock, *clique, "ncclCommShrink", [&] { return clique->joined == clique->size; }))
    return ncclRemoteError;
  *rest = new ncclComm{clique, comm->rank - static_cast<int>(before), comm->device};
  (*rest)->blocking = is_blocking(config, comm->blocking);
  return made(*rest);
}

ncclResult_t ncclCommGrow(ncclComm_t comm, int ranks, const ncclUniqueId* id, int rank, ncclComm_t* grown,
                          ncclConfig_t* config) {
  if (id == nullptr || (comm == nullptr) == (rank < 0)) return ncclInvalidArgument;
  return ncclCommInitRankConfig(grown, ranks, *id, comm != nullptr ? comm->rank : rank, config);
}

ncclResult_t ncclCommSuspend(ncclComm_t comm, int) {
  if (comm == nullptr) return ncclInvalidArgument;
  const std::lock_guard lock(shared().mutex);
  if (comm->last == nullptr || is_done(comm->last)) return ncclSuccess;
  shared().report +=
      "rank " + std::to_string(comm->rank) + " suspends a communicator with calls in progress\n";
  return ncclInvalidUsage;
}

ncclResult_t ncclCommResume(ncclComm_t comm) { return comm != nullptr ? ncclSuccess : ncclInvalidArgument; }

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (comm == nullptr) return ncclInvalidArgument;
  const std::lock_guard lock(shared().mutex);
  *error = comm->clique->error == ncclSuccess && in_progress(*comm) ? ncclInProgress : comm->clique->error;
  if (comm->queries > 0) --comm->queries;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* ranks) {
  if (comm == nullptr) return ncclInvalidArgument;
  *ranks = comm->clique->size;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (comm == nullptr) return ncclInvalidArgument;
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  if (comm == nullptr) return ncclInvalidArgument;
  *device = comm->device;
  return ncclSuccess;
}
