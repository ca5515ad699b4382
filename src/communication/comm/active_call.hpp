// Active call: the state of one collective of a communicator from its start to its end.
#pragma once

#include "communication/comm/communicator.hpp"
#include "communication/gpu/device_values.hpp"
#include "communication/policy/plan/cost_model.hpp"
#include "communication/team/hierarchical.hpp"

namespace taut {

class Communicator::ActiveCall {
 public:
  ActiveCall(Communicator& comm, CollectiveCall call, const EarlyDecision& early, bool* compressed) noexcept;
  ~ActiveCall();

  // The phases, in this order: find the rule; keep to the decision of a tuning period; continue a trial of
  // plain MPI; make a relative bound absolute, and find that of an exact sum; choose the coding by speed;
  // fill this rank's record; agree; execute. Every rank gets the same verdict. If the verdict is not good(),
  // later phases are skipped: the call is left to plain MPI, or fails. `lane`: the first of the lanes (tags)
  // of the call's messages. `earlier`: a failure of this rank before the call, or ok.
  Task<Verdict> resolve_rule(std::uint64_t number, Lane lane, Status earlier);
  Task<Verdict> resolve_period();
  Task<Verdict> resolve_trial();
  Task<Verdict> resolve_bound();
  Task<Verdict> resolve_coding();
  AgreementMessage plan();
  Task<Verdict> agree(AgreementMessage mine);
  Task<Verdict> execute();

  // Records the outcome and its time.
  void end(const Verdict& verdict) noexcept;

 private:
  // Returns true if the program has set no policy: it may know nothing of Taut.
  bool under_rules() const noexcept { return comm_.tuner_.rules().single_policy() == nullptr; }
  const Policy& policy() const noexcept { return early_.policy_state->policy; }
  int ranks() const noexcept { return comm_.transport_.size(); }
  int rank() const noexcept { return comm_.transport_.rank(); }
  bool opens_period() const noexcept { return early_.position && early_.position->opens(); }

  // ---- The phase `plan` (active_call_plan.cpp). It communicates nothing, and leaves the user's memory
  // unchanged.
  std::uint64_t signature() const noexcept;
  AgreementMessage local_message(const Policy* policy) noexcept;
  ValueRange range_of_own(const Coding& coding) noexcept;
  ValueRange units_of_own() const noexcept;
  bool seeks_units() const noexcept { return bound_.exact() && may_sum_exactly(policy(), call_); }
  void pack_staged() noexcept;
  void plan(AgreementMessage& mine);
  std::size_t block_values() const noexcept;
  bool follows_nodes() const noexcept;
  int place_of(int rank) const noexcept;
  const char* problem_of_arguments() const noexcept;
  void reserve();
  void reserve_buffers(std::size_t largest, std::size_t frames, const Scratch& scratch,
                       const MemoryByNodes& by_nodes);
  void reserve_in(Place& place, std::size_t bytes, std::size_t count);
  bool moves_on_node() const noexcept;
  std::shared_ptr<const Codec> codec_of(const Coding& candidate);
  bool takes_samples() const noexcept { return plan_.min_ratio != 0 || plan_.candidates.size() > 1; }
  std::optional<gpu::SampledParts> copies_to_sample(ConstSlice own);
  void sample(ConstSlice sampled, AgreementMessage& mine);
  void look_for_packed(ConstSlice sampled, AgreementMessage& mine) noexcept;
  bool rounds_packed_integers() const noexcept;
  float estimate_ratio(const Codec& coder, ConstSlice sampled);
  static std::optional<gpu::DeviceValues> device_of(Communicator& comm, CollectiveCall& call) noexcept;

  // ---- The history of the call (history.hpp)
  bool has_series() const noexcept;
  OperandPlaces operand_places() const;
  std::uint64_t series_key(std::uint64_t signature) const noexcept;
  bool sums_by_frames() const noexcept;
  void offer_history(AgreementMessage& mine);
  void forecast(ConstSlice looked_at, AgreementMessage& mine);
  HistoryForecast look_for_references(ConstSlice looked_at);
  void agree_on_history(const AgreementMessage& agreed) noexcept;
  Coding referring_coding() const;
  Task<> run_algorithm(const Codec& codec);
  Task<> run_in_series(const Codec& usual);
  bool is_timed_with_history() const noexcept;
  void record_history(std::uint64_t began) noexcept;
  void leave_state(std::optional<CallState> state) noexcept;

  // ---- The phase `resolve_coding`
  Plan usual_plan() noexcept;
  void add_speeds(const Plan& usual, AgreementMessage& mine) noexcept;
  CodingSpeeds speeds_of(const Plan& usual, MeasuredChoice::Codec codec, ConstSlice values);
  void choose_coding(const Plan& usual, const AgreementMessage& agreed) noexcept;

  // ---- The agreement
  Task<AgreementMessage> exchange(const AgreementMessage& mine);
  bool has_kernels() const;
  Verdict conclude(const AgreementMessage& agreed) const noexcept;
  void learn(const AgreementMessage& agreed, Verdict& verdict) noexcept;
  Status finish() noexcept;

  Communicator& comm_;
  CollectiveCall call_;
  EarlyDecision early_;
  bool* compressed_;  // null: the call is not in flight
  CallRecord record_;
  std::uint64_t number_ = 0;  // of the call on its communicator, the same on all ranks
  Lane lane_ = 0;
  int rounds_ = 0;  // of agreement
  Bound bound_;     // of the result, not relative
  Plan plan_;
  std::size_t chosen_ = 0;               // candidate
  std::optional<FrameEstimate> frames_;  // empty: some rank has its values on a GPU
  Status failure_ = Status::ok;
  const char* problem_ = nullptr;  // what is wrong with the arguments of this rank

  // Resources that the call owns until it completes, independent of other calls.
  std::optional<gpu::DeviceValues> device_;  // empty: the values are on the host, or out of reach
  std::array<Buffer, 2> staged_;
  bool staged_packed_ = false;
  bool packed_ = false;             // integers are packed into the values
  std::shared_ptr<Series> series_;  // null: the call belongs to no series
  std::optional<OperandPlaces> places_;
  HeldStates states_;                    // those of the series that all ranks hold
  bool refers_ = false;                  // the series has the states that the ranks want
  std::size_t needed_ = 0;               // number of states that references at the agreed distance need
  std::uint64_t offer_nanoseconds_ = 0;  // nanoseconds that the offer of this rank took
  bool alone_ = false;                   // the call is timed without a history
  bool looks_ = false;                   // the call has a forecast
  HistoryForecast forecast_;             // of this rank's values
  bool leaves_state_ = false;
  bool tries_history_ = false;      // not all ranks know yet how long calls with a history take
  std::uint64_t state_number_ = 0;  // number of the state that the call leaves
  Reserve place_;
  std::array<std::shared_ptr<const Codec>, max_candidates> codecs_;  // by candidate; null: no kernels
};

}  // namespace taut
