// What hangs on a user's communicator: its policy, and what is needed to serve it.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "comm/communicator.hpp"

namespace taut::api {

// A rank among others.
struct Group {
  int rank = 0, size = 1;

  bool has(int root) const noexcept { return root >= 0 && root < size; }
  std::size_t index() const noexcept { return static_cast<std::size_t>(rank); }
  std::size_t count() const noexcept { return static_cast<std::size_t>(size); }
  ConstSlice own_block(ConstSlice all) const noexcept { return block(all, index(), count()); }
};

class Attached {
 public:
  // Nothing collective happens here; the private communicator follows with connect().
  Attached(Policy policy, bool enabled, bool inter, Group group);
  Attached(const Attached& other, bool);  // for a duplicate of the communicator
  ~Attached();
  Attached& operator=(const Attached&) = delete;

  // Makes the private communicator unless it is there or not needed. Collective over `comm`.
  void connect(MPI_Comm comm);

  // Serves a call, or says why not; no request: the call is none that is compressed. Collective over `comm`.
  Verdict run(MPI_Comm comm, const std::optional<Request>& request);

  const Group& group() const noexcept { return group_; }
  Statistics statistics() const noexcept;
  void disconnect() noexcept;  // frees all that belongs to MPI

 private:
  bool usable() const noexcept { return enabled_ && !inter_ && group_.size > 1 && !policy_.off; }

  Policy policy_;
  bool enabled_, inter_;
  Group group_;
  Statistics plain_;  // of calls that did not reach the communicator below
  HostPlace place_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Communicator> communicator_;
};

// What hangs on `comm`; null when it has no policy.
Attached* find_attached(MPI_Comm comm) noexcept;

// Takes the place of what hung there before; null: nothing hangs there any more.
void attach(MPI_Comm comm, std::unique_ptr<Attached> attached);

}  // namespace taut::api
