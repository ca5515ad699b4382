#include "communication/api/state/observed_calls.hpp"

#include "communication/api/state/comm_registry.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/base/guarded.hpp"

namespace taut::api {

void ObservedCalls::read_identity(MPI_Comm comm) noexcept {
  char text[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  PMPI_Comm_get_name(comm, text, &length);
  const auto lock = stop_others();
  std::string_view(text).copy(report_->name.data(), report_->name.size() - 1);
  if (samples_ && report_->group == 0) report_->group = hash_of_ranks(comm);
}

void ObservedCalls::sample(const CollectiveCall& request, int rank, bool in_flight, bool in_place) noexcept {
  const CallKey key = request.key();
  const auto lock = stop_others();
  CallRow& row = calls().row(key);
  const Blocks<ConstSlice> values = own_values(request, rank);
  if (row.key == key && Sampler::is_due(row) && values.data != nullptr && !taut::on_device(values.data))
    sampler_.look(row, sampled_call(request, rank, in_flight, in_place));
}

void ObservedCalls::count_plain(const std::optional<CollectiveCall>& request, Fallback why) noexcept {
  const auto lock = stop_others();
  CallRow& row = request ? calls().count(request->key(), request->bytes) : calls().count(CallKey{}, 0);
  row.note_plain(why);
}

void ObservedCalls::add_plain_time(const CallKey& key, std::uint64_t nanoseconds) noexcept {
  PhaseTimes& times = calls().row(key).sum.times;
  times[Phase::plain] += nanoseconds;
  times[Phase::call] += nanoseconds;
}

void ObservedCalls::add_timed_call(const CallKey& key, std::uint64_t begin, std::uint64_t end) noexcept {
  CallRow& row = calls().row(key);
  const std::uint64_t gap = last_end_ == 0 ? PlainTime::unknown : begin - last_end_;
  last_end_ = end;
  if (samples_ && row.key == key && row.sum.calls > 0)
    row.plain_times.note(row.sum.calls - 1, {end - begin, gap});
  add_plain_time(key, end - begin);
}

bool ObservedCalls::copy_report(unsigned round) noexcept {
  wanted_round_ = round;
  const std::unique_lock lock(flights_.driving(), std::try_to_lock);
  if (lock.owns_lock()) copy_if_wanted();
  return copied_round_ == round;
}

// The caller keeps all others from counting in calls in flight.
void ObservedCalls::copy_if_wanted() noexcept {
  if (wanted_round_ == copied_round_) return;
  const std::lock_guard lock(counting_);
  guarded([&] { copied_ = *report_; });  // the previous copy stays if there is no memory
  copied_round_ = wanted_round_.load();
}

CommReport ObservedCalls::copied_report() const {
  const std::lock_guard lock(counting_);
  return copied_;
}

}  // namespace taut::api
