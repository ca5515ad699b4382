#include "communication/api/state/repeated_call.hpp"

#include "communication/api/state/comm_registry.hpp"
#include "communication/mpi/datatypes.hpp"
#include "communication/mpi/pmpi.hpp"

namespace taut::api {

bool RepeatedCall::is_like(const MpiCall& call) noexcept {
  if (!alike(last_.call, call, rank_) || observed_.flights().any()) return false;
  if (by_site_ && last_.call.site != call.site) return false;
  const auto lock = observed_.stop_others();
  CallRow& row = observed_.calls().row(last_.key);
  if (observed_.samples() && Sampler::is_due(row)) return false;
  if (last_.autotuner != nullptr && last_.autotuner->next() == Fallback::none) return false;
  row.add_call(last_.bytes);
  row.note_plain(last_.why);
  return true;
}

// Only known datatypes and operators qualify: they are predefined, so their handles always mean the same.
// Below the least size the fallback does not depend on earlier calls; a kind of call in back-off counts its
// calls. With a trace nothing is remembered, since each call needs its entry.
void RepeatedCall::remember(const MpiCall& call, const CollectiveCall& request,
                            const EarlyDecision& early) noexcept {
  if (!request.coded() || !request.bytes_known || call.info().has_counts || recorder() != nullptr) return;
  if (!known_datatype(telling_buffer(call, rank_).type)) return;
  if (early.autotuner != nullptr || rules_.never_serves(request))
    last_ = {call, request.key(), request.bytes, early.fallback, early.autotuner};
}

// The cost of the clock is noticeable for 64 KiB in shared memory. Therefore one in eight calls in back-off
// is timed, and its time stands for the calls after it.
int RepeatedCall::serve(const MpiCall& call) {
  finish_calls();
  Autotuner* const autotuner = last_.autotuner;
  if (!rules_.observed_closely() &&
      (autotuner == nullptr || !(autotuner->needs_time() || ++last_.calls % 8 == 0))) {
    if (autotuner != nullptr) observed_.add_plain_time(last_.key, last_.nanoseconds);
    return run_plain(call);
  }
  const std::uint64_t begin = clock_now();
  const int code = run_plain(call);
  const std::uint64_t end = clock_now();
  last_.nanoseconds = end - begin;
  const auto lock = observed_.stop_others();
  observed_.add_timed_call(last_.key, begin, end);
  if (autotuner != nullptr) autotuner->record(Outcome::plain, seconds(last_.nanoseconds), last_.bytes);
  return code;
}

}  // namespace taut::api
