// The facade: what a user's communicator carries. Ties policy, codecs, algorithms and transport together.
#pragma once

#include <memory>
#include <vector>

#include "comm/agree.hpp"
#include "policy/plan.hpp"

namespace taut {

// A collective call on one rank.
struct Request {
  Collective collective = Collective::allreduce;
  Operands data;
  std::size_t bytes = 0;    // of the whole message (all blocks); the same on every rank
  bool coded_type = true;   // else type or operator are such as are not compressed, and `data` is empty
  bool bytes_known = true;  // else `bytes` are those that this rank sends or receives
  std::shared_ptr<const BlockLayout> layouts[2] = {};  // keep what `data` refers to
  void* move_to = nullptr;  // where `out` has to stand in the end, if not where it is

  bool any_blocks() const noexcept {
    return data.in.layout != nullptr || data.out.layout != nullptr || !bytes_known;
  }
};

// How a call ended: served (status), or left to plain MPI, for the same reason on every rank; then nothing
// was touched.
struct Verdict {
  Plain plain = Plain::no;
  Status status = Status::ok;
};

struct Statistics {
  std::uint64_t calls = 0, compressed_calls = 0;
  std::uint64_t value_bytes = 0, frame_bytes = 0;
  std::uint64_t sent_bytes = 0, sent_messages = 0;
  std::uint64_t plain_unsupported = 0, plain_small = 0, plain_no_gain = 0;

  void count_plain(Plain why) noexcept;
  Statistics& operator+=(const Statistics& other) noexcept;
};

class Communicator {
 public:
  // Throws Error when the policy cannot be served here. `place` is for scratch memory.
  Communicator(Transport& transport, Place& place, Policy policy, std::string kernels = "");

  const Policy& policy() const noexcept { return policy_; }
  const Statistics& statistics() const noexcept { return statistics_; }

  // Runs the call; every rank of the transport must do so with an equivalent request. One call at a time.
  Task<Verdict> start(Request request);
  Verdict run(const Request& request) { return start(request).wait(); }

 private:
  struct CachedCodec {
    Candidate candidate;
    Bound bound;
    std::unique_ptr<Codec> codec;
  };

  const Codec& codec(const Candidate& candidate, Bound bound);
  Plan plan(const Request& request, Bound bound);
  std::size_t block_values(const Request& request, const Plan& plan) const noexcept;
  std::uint64_t signature(const Request& request) const noexcept;
  Facts identify(const Request& request) const noexcept;
  Facts facts(const Request& request, Bound bound, Plan& plan, Status& failure);
  void prepare(const Request& request, const Plan& plan);
  float estimate_ratio(const Request& request, const Codec& coder);
  Verdict judge(const Facts& agreed, const Plan& plan, std::size_t chosen, Status failure) const noexcept;
  void account(const Verdict& verdict, const Ledger& ledger, Traffic before) noexcept;

  Transport& transport_;
  Place& place_;
  Policy policy_;
  std::string kernels_;
  std::uint64_t policy_hash_;
  CandidateTable candidates_;
  std::vector<CachedCodec> codecs_;
  unsigned calls_ = 0;  // chooses the lanes of a call
  Statistics statistics_;
};

}  // namespace taut
