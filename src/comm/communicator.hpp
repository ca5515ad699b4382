// The facade: what a user's communicator carries. Ties policy, codecs, algorithms and transport together.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "comm/agree.hpp"
#include "comm/call_record.hpp"
#include "comm/staging.hpp"
#include "comm/terms.hpp"
#include "core/nodes.hpp"

namespace taut {

// A collective call on one rank.
struct Request {
  Collective collective = Collective::allreduce;
  Operands data;
  std::size_t bytes = 0;    // of the whole message (all blocks); the same on every rank
  bool coded_type = true;   // else type or operator are such as are not compressed, and `data` is empty
  bool bytes_known = true;  // else `bytes` are those that this rank sends or receives
  std::shared_ptr<const BlockLayout> layouts[2] = {};  // keep what `data` refers to
  const void* site = nullptr;  // where the program called from, for statistics; may differ between ranks
  bool mean = false;           // the sum is divided by the number of ranks
  bool on_device = false;      // this rank's values are in memory of a GPU, and `data` must not be touched
  void* move_to = nullptr;     // where `out` has to stand in the end, if not where it is
  std::shared_ptr<const Staging> staging = {};  // of values that `data` is still to be given; null: none are

  bool any_blocks() const noexcept {
    return data.in.layout != nullptr || data.out.layout != nullptr || !bytes_known;
  }
};

// The values that this rank encodes first, and so can judge by; empty when it encodes none.
Blocks<ConstSlice> own_values(const Request& request, int rank) noexcept;

// How a call ended: served (status), or left to plain MPI, for the same reason on every rank; then nothing
// was touched.
struct Verdict {
  Plain plain = Plain::no;
  Status status = Status::ok;
};

class Communicator {
 public:
  // `rules`: a policy, or rules as they are on this communicator, the same on every rank. Throws Error when
  // they cannot be served here. `place` is for scratch memory; `nodes`: of the ranks.
  Communicator(Transport& transport, Place& place, Rules rules, const std::string& kernels = "",
               Observer observer = {}, Nodes nodes = {});
  Communicator(const Communicator&) = delete;

  const CallTable& calls() const noexcept { return *observer_.table; }

  // Why the call is for plain MPI without further ado, if it is; to be asked once for each call, in their
  // order, by every rank. Local.
  Plain plain_at_once(const Request& request) noexcept;

  // In its place for a call like the last one, where that was left to plain MPI for what its kind has shown.
  // Plain::no: it is not again, or that was not the reason; the other one will say.
  Plain plain_again() noexcept { return resting_ != nullptr ? resting_->next() : Plain::no; }
  bool rests() const noexcept { return resting_ != nullptr; }

  // Runs a call that is not for plain MPI at once; every rank of the transport must do so with an equivalent
  // request. Several may be under way: they are told apart by the order in which they are advanced for the
  // first time, the same on every rank. `served` is for calls that others may overlap: it becomes true once
  // the ranks have agreed not to leave the call to plain MPI.
  Task<Verdict> start(Request request, bool* served = nullptr);

  // Both, for one call at a time.
  Task<Verdict> run(Request request);

  // How long the last call took that was left to plain MPI; the same calls on every rank, all of those for
  // which it matters.
  void note_plain(std::size_t bytes, std::uint64_t nanoseconds) noexcept;
  bool time_matters() const noexcept { return last_ != nullptr && last_->time_matters(); }

 private:
  // What a call holds until its end, whatever others do meanwhile: memory, and a codec for each candidate.
  struct Means {
    std::array<Buffer, 2> staged;
    bool gathered = false;
    bool packed = false;  // integers are packed into the values
    Reserve place;
    std::array<std::shared_ptr<const Codec>, max_candidates> codecs;
  };
  class Lanes;
  static constexpr std::size_t calls_at_a_time = 128;

  struct Lesson;
  Experience& experience(Terms& terms, const Request& request) const noexcept {
    return terms.experiences.of(call_of(request), request.bytes_known ? request.bytes : 0);
  }
  Lesson lesson(Terms& terms, const Request& request, bool adds) noexcept;
  Call call_of(const Request& request) const noexcept;
  Task<Verdict> find_rule(Request& request, Lane lane, std::optional<Lesson>& lesson, bool adds);
  Task<Verdict> serve(Request& request, CallRecord& record, std::optional<Lesson>& lesson, bool* served);
  std::size_t block_values(const Request& request, const Plan& plan) const noexcept;
  std::uint64_t signature(const Request& request) const noexcept;
  Facts identify(const Request& request, const Policy* policy) noexcept;
  void gather(Request& request, Means& means, Status& failure) const noexcept;
  Facts facts(Request& request, const Call& call, Bound bound, Plan& plan, Means& means, Lesson& lesson,
              Status& failure);
  void prepare(const Request& request, const Plan& plan, CodecCache& codecs, Means& means);
  void look_for_packed(const Request& request, const Policy& policy, Means& means,
                       Facts& mine) const noexcept;
  float estimate_ratio(const Request& request, const Codec& coder, Place& place);
  Verdict judge(const Facts& agreed, const Plan& plan, std::size_t chosen, Status failure) const noexcept;

  Transport& transport_;
  Place& place_;
  AllTerms terms_;
  Nodes nodes_;
  // Kinds of the last call; null: not known, or not left to itself.
  Experience *last_ = nullptr, *resting_ = nullptr;
  std::uint64_t calls_ = 0;                             // that have asked for lanes
  std::array<std::uint64_t, calls_at_a_time> ended_{};  // of the calls that had the same lanes
  CallTable own_table_;
  Observer observer_;
};

}  // namespace taut
