#include "communication/comm/statistics.hpp"

#include <algorithm>
#include <new>

#include "communication/policy/plan/cost_model.hpp"

namespace taut {

std::uint64_t Statistics::plain_unsupported() const noexcept {
  std::uint64_t n = 0;
  for (const Fallback why :
       {Fallback::unsupported, Fallback::communicator, Fallback::type, Fallback::memory, Fallback::credit,
        Fallback::device, Fallback::packed, Fallback::mismatch, Fallback::arguments, Fallback::failed})
    n += plain[static_cast<std::size_t>(why)];
  return n;
}

double Statistics::ratio() const noexcept {
  return frame_bytes == 0 ? 0 : static_cast<double>(value_bytes) / static_cast<double>(frame_bytes);
}

Statistics& Statistics::operator+=(const Statistics& other) noexcept {
  calls += other.calls;
  compressed_calls += other.compressed_calls;
  failed_calls += other.failed_calls;
  message_bytes += other.message_bytes;
  value_bytes += other.value_bytes;
  frame_bytes += other.frame_bytes;
  carried_bytes += other.carried_bytes;
  sent_bytes += other.sent_bytes;
  sent_messages += other.sent_messages;
  packed_calls += other.packed_calls;
  referring_calls += other.referring_calls;
  for (std::size_t i = 0; i < fallback_reasons; ++i) plain[i] += other.plain[i];
  times += other.times;
  return *this;
}

Compressibility& Compressibility::operator+=(const Compressibility& other) noexcept {
  samples += other.samples;
  packed += other.packed;
  in_place += other.in_place;
  pickles += other.pickles;
  constant += other.constant;
  least = std::min(least, other.least);
  greatest = std::max(greatest, other.greatest);
  for (std::size_t i = 0; i < bounds; ++i) {
    sums[i].value_bytes += other.sums[i].value_bytes;
    sums[i].frame_bytes += other.sums[i].frame_bytes;
    sums[i].nanoseconds += other.sums[i].nanoseconds;
  }
  return *this;
}

double Repetition::gain(double share) const noexcept {
  constexpr std::size_t lossy = Compressibility::bounds - 1;
  std::array<double, Compressibility::bounds> gains;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    const Sum& sum = sums[i];
    gains[i] = sum.referring_bytes == 0
                   ? 1
                   : static_cast<double>(sum.alone_bytes) / static_cast<double>(sum.referring_bytes);
  }
  if (!(share > 0)) return gains[lossy];
  const double least = Compressibility::relative[lossy - 1];
  return interpolated_ratio(Compressibility::relative, std::span(gains).first(lossy), std::max(share, least));
}

Repetition& Repetition::operator+=(const Repetition& other) noexcept {
  samples += other.samples;
  period = std::max(period, other.period);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].value_bytes += other.sums[i].value_bytes;
    sums[i].alone_bytes += other.sums[i].alone_bytes;
    sums[i].referring_bytes += other.sums[i].referring_bytes;
    sums[i].nanoseconds += other.sums[i].nanoseconds;
  }
  return *this;
}

void PlainTimes::forget() noexcept {
  kept_ = {};
  lost_ = true;
}

void PlainTimes::note(std::uint64_t call, PlainTime time) noexcept {
  if (lost_ || call % every_ != 0) return;
  while (call / every_ >= most) {  // keep every other one
    for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize((kept_.size() + 1) / 2);
    every_ *= 2;
    if (call % every_ != 0) return;
  }
  try {
    kept_.resize(std::max<std::size_t>(kept_.size(), call / every_ + 1));
    kept_[call / every_] = time;
  } catch (const std::bad_alloc&) {
    forget();
  }
}

CallRow* CallTable::add(const CallKey& key) noexcept {
  if (rows_.size() == most_kinds) return nullptr;
  try {
    rows_.reserve(rows_.size() + 1);
    keys_.push_back(key);
    rows_.push_back({key, {}, {}});
    return &rows_.back();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

CallRow& CallTable::find(const CallKey& key) noexcept {
  const auto found = std::ranges::find(keys_, key);
  last_ = static_cast<std::size_t>(found - keys_.begin());
  if (last_ < keys_.size()) return rows_[last_];
  CallRow* const added = key == rest_.key ? nullptr : add(key);
  return added != nullptr ? *added : rest_;
}

Statistics CallTable::total() const noexcept {
  Statistics sum = rest_.sum;
  for (const CallRow& row : rows_) sum += row.sum;
  return sum;
}

void CallTable::merge(const CallTable& other) noexcept {
  const auto take = [this](const CallRow& from) {
    CallRow& to = row(from.key);
    to.sum += from.sum;
    to.values += from.values;
    to.repetition += from.repetition;
    to.plain_times.forget();
    to.checks += from.checks;
    if (from.decision.codec != nullptr) to.decision = from.decision;
    if (from.fallback != Fallback::none) to.fallback = from.fallback;
    if (from.expected_ratio != 0) to.expected_ratio = from.expected_ratio;
  };
  for (const CallRow& row : other.rows_) take(row);
  take(other.rest_);
}

}  // namespace taut
