// Ranks of a simulated communicator, and the messages that wait for each other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/nccl/fake/nccl.h"

namespace taut::fake_nccl {

enum class Kind { send, recv, all_reduce, reduce_scatter, all_gather, broadcast, reduce };
const char* name_of(Kind kind);

struct Kernel;

// Call of one rank, or its part in a message.
struct Part {
  Kind kind;
  const void* from;
  void* to;
  std::size_t count;  // as passed to the call
  ncclDataType_t type;
  ncclRedOp_t op = ncclSum;
  int other = 0;             // peer or root
  double factor = 1;         // of the values, before they are added
  std::size_t number = 0;    // of a collective: its place among the collectives of the communicator
  bool by_graph = false;     // launched by a graph
  Kernel* kernel = nullptr;  // that the part belongs to
};
using PartRef = std::shared_ptr<Part>;

inline bool is_message(const Part& part) { return part.kind == Kind::send || part.kind == Kind::recv; }

struct Clique;

// Parts of one group and communicator on one rank.
struct Kernel {
  std::shared_ptr<Clique> clique;
  int rank;
  std::vector<PartRef> parts = {};
  bool started = false;
  std::size_t open = 0;  // parts that are not complete
  bool done() const { return started && open == 0; }
};
using KernelRef = std::shared_ptr<Kernel>;

// All ranks of a communicator.
struct Clique {
  explicit Clique(int n) : size(n) {}

  using Lane = std::pair<int, int>;  // sender and receiver
  int size;
  int joined = 0;
  ncclResult_t error = ncclSuccess;
  std::map<Lane, std::deque<PartRef>> sends, recvs;                // of kernels that have started
  std::map<std::size_t, std::vector<PartRef>> collectives;         // by number, of kernels that have started
  std::map<std::size_t, std::vector<std::pair<int, int>>> splits;  // colour and key by rank, by split
  std::map<std::pair<std::size_t, int>, std::shared_ptr<Clique>> parts_of_splits;  // by split and colour
};

// State that all threads share. Code that holds the lock of the simulated runtime may take this lock; not the
// other way round.
struct Shared {
  std::mutex mutex;
  std::condition_variable joined;
  std::string report;
  std::chrono::steady_clock::time_point progress = std::chrono::steady_clock::now();
  std::chrono::duration<double> patience{20};
  unsigned long calls = 0, fail_at = 0, sent_bytes = 0, sent_messages = 0, damage_at = 0;
  std::map<std::string, unsigned long> collectives = {};  // calls by name
  std::vector<std::weak_ptr<Kernel>> kernels;             // that were enqueued
};
Shared& shared();

// The functions below expect that the caller holds the lock.

// Notes a broken rule. The communicator gets an error, and its kernels complete without moving data.
void broken(Clique& clique, const std::string& rule);

// Starts a kernel: moves the messages whose other side has started, and runs collectives that are complete.
void start(const KernelRef& kernel);

// Returns true if the kernel is complete. Reports a deadlock if nothing has moved for too long.
bool is_done(const KernelRef& kernel);

// Counts a call. Returns true if it has to fail.
bool counted_call();

// Returns what a call on the communicator returns once it has been made.
ncclResult_t made(ncclComm_t comm);

// Returns true if the last call is in progress, so that there must not be another one.
bool in_progress(const ncclComm& comm);

std::size_t size_of(ncclDataType_t type);

// Computes a collective call once all ranks have started it.
void run_collective(const std::vector<PartRef>& parts);

}  // namespace taut::fake_nccl

struct ncclComm {
  std::shared_ptr<taut::fake_nccl::Clique> clique;
  int rank, device;
  std::size_t collectives = 0, splits = 0;
  bool blocking = true;
  int queries = 0;                       // for which the last call still is in progress, unless `blocking`
  std::map<int, double> factors = {};    // of operators that the program has created
  taut::fake_nccl::KernelRef last = {};  // the kernel that was enqueued last
  // Each graph that holds a kernel of the communicator has a copy of this pointer.
  std::shared_ptr<char> in_graphs = std::make_shared<char>();
};
