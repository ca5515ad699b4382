// ResultCopy: private memory for the result of a collective call on this rank, in the layout of the program's
// buffer. Plain MPI makes the call into it while Taut makes the same call into the program's buffer.
#pragma once

#include <memory>

#include "communication/mpi/call_buffers.hpp"
#include "communication/mpi/topology.hpp"

namespace taut::api {

class ResultCopy {
 public:
  // Allocates the memory, and copies the values of a call that reads its receive buffer (MPI_IN_PLACE, the
  // root of a broadcast). `topology`: of a neighbourhood collective. The arguments of the call must be
  // described (describe()). Throws std::bad_alloc, and Error if values are in memory of a GPU.
  ResultCopy(const MpiCall& call, const RankAndSize& group, const Topology* topology);
  ResultCopy(const ResultCopy&) = delete;

  // Returns the call that writes its result to the copy.
  const MpiCall& call() const noexcept { return call_; }

  // Passes the values of the copy and those of the program's buffer to `look`, block by block. Throws Error.
  template <class Look>
  void each_block(Look look) const {
    if (!result_ || !result_->known()) return;
    const std::size_t n = blocks_of(*result_);
    std::vector<std::byte> packed[2];
    for (std::size_t i = 0; i < n; ++i) {
      if (result_->count_of(i, n) == 0) continue;
      const ConstSlice theirs = values_of_block(*result_, i, n, packed[1]);
      look(values_of_block(shifted(*result_), i, n, packed[0]), theirs);
    }
  }

 private:
  static std::size_t blocks_of(const CallBuffer& buffer) noexcept {
    return buffer.blocks != nullptr ? buffer.blocks->counts.size() : 1;
  }
  static ConstSlice values_of_block(const CallBuffer& buffer, std::size_t i, std::size_t n,
                                    std::vector<std::byte>& packed);
  CallBuffer shifted(CallBuffer buffer) const noexcept;
  void allocate(const CallBuffer& touched);
  void copy_values(const CallBuffer& touched) const;

  MpiCall call_;
  std::optional<CallBuffer> result_;  // in the program's memory; empty: this rank has no result
  std::unique_ptr<std::byte[]> memory_;
  std::ptrdiff_t shift_ = 0;  // from the program's memory to the copy
};

}  // namespace taut::api
