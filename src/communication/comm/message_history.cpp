#include "communication/comm/message_history.hpp"

#include <algorithm>
#include <cstring>

#include "communication/comm/agree.hpp"

namespace taut {
namespace {

constexpr std::size_t most_states = 16384;  // that have no credit, or that the receiver holds
// A stream whose receiver sends no credit: the states that it leaves beyond the depth, and then the number of
// messages of which one leaves a state.
constexpr std::size_t max_unanswered = 8, retry_interval = 64;
// Recent streams of a kind by which a new one is judged.
constexpr std::size_t recent_streams = 8;

}  // namespace

ChosenReferences HeldReferences::at(std::size_t offset, std::size_t count) const noexcept {
  ChosenReferences chosen;
  for (; chosen.n < n && chosen.n < max_references; ++chosen.n) {
    const ConstSlice all = states[chosen.n]->values();
    chosen.reference[chosen.n] = {numbers[chosen.n], {all.part(offset / size_of(all.type), count)}};
  }
  return chosen;
}

// ---- The sender

SentStates::Stream* SentStates::find(std::uint64_t key) noexcept {
  const auto found = std::ranges::find(streams_, key, &Stream::key);
  return found != streams_.end() ? &*found : nullptr;
}

// Returns the stream of a key, a new one if there is none, as the one that was used last.
SentStates::Stream& SentStates::of(const MessageStream& stream) {
  const auto found = std::ranges::find(streams_, stream.key, &Stream::key);
  if (found != streams_.end()) {
    streams_.splice(streams_.begin(), streams_, found);
    return streams_.front();
  }
  streams_.push_front({.key = stream.key, .kind = stream.kind});
  if (streams_.size() > most_streams) {
    while (!streams_.back().numbers.empty()) release_oldest(streams_.back());
    streams_.pop_back();
  }
  return streams_.front();
}

// Returns the period at which a recent stream of this kind gains; 0: none does.
std::size_t SentStates::expected_period(std::uint64_t kind) const noexcept {
  std::size_t seen = 0, used_once = 0, period = 0;
  for (const Stream& one : streams_) {
    if (one.kind != kind) continue;
    if (period == 0) period = one.pieces.period();
    used_once += one.numbers.size() <= 1;
    if (++seen == recent_streams + 1) break;  // and the new one
  }
  return 2 * used_once <= seen ? period : 0;
}

HistoryForecast SentStates::look(const MessageStream& stream, ConstSlice values, const Codec& codec,
                                 std::size_t depth, double min_saving) {
  const std::lock_guard lock(mutex_);
  Stream& mine = of(stream);
  if (sent_.size() >= most_states) return {};
  if (mine.unanswered > depth + max_unanswered && ++mine.passed % retry_interval != 0) return {};
  const bool is_new = mine.numbers.empty() && mine.pieces.size() == 0;
  HistoryForecast found;
  if (!mine.pieces.rests()) found = mine.pieces.forecast(values, false, codec, depth, nullptr, min_saving);
  mine.numbers.push_front(0);
  while (mine.numbers.size() > depth + 1) release_oldest(mine);
  if (is_new) found.period = expected_period(stream.kind);
  return found;
}

// The first number is that of the message itself, which has not left its state yet.
HeldReferences SentStates::references(const MessageStream& stream, std::size_t period) noexcept {
  const std::lock_guard lock(mutex_);
  HeldReferences chosen;
  const Stream* const mine = find(stream.key);
  if (mine == nullptr || period == 0) return chosen;
  const auto take = [&](std::size_t distance) {
    if (distance >= mine->numbers.size()) return;
    const auto found = sent_.find(mine->numbers[distance]);
    if (found == sent_.end() || !found->second.credit || found->second.state == nullptr) return;
    ++found->second.uses;
    chosen.pinned = true;
    chosen.numbers[chosen.n] = found->first;
    chosen.states[chosen.n++] = found->second.state;
  };
  std::size_t distance = 0;
  while (chosen.n == 0 && (distance += period) < mine->numbers.size()) take(distance);
  if (chosen.n == 1) take(2 * distance);
  return chosen;
}

std::shared_ptr<MessageState> SentStates::make_state(const MessageStream& stream, ConstSlice values,
                                                     std::size_t limit) {
  const std::lock_guard lock(mutex_);
  Stream* const mine = find(stream.key);
  if (mine == nullptr || values.bytes() > limit) return nullptr;
  for (auto one = streams_.rbegin(); one != streams_.rend(); ++one)
    for (const std::size_t own = &*one == mine; bytes_ + values.bytes() > limit && one->numbers.size() > own;)
      release_oldest(*one);
  if (bytes_ + values.bytes() > limit) return nullptr;
  return std::make_shared<MessageState>(values);
}

StateNotice SentStates::leave(const MessageStream& stream, std::shared_ptr<const MessageState> state,
                              HeldReferences& references) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t words[]{nonce_, ++drawn_};
  StateNotice notice{.number = hash(std::as_bytes(std::span(words))) | 1, .source = source_};
  const std::size_t bytes = state->values().bytes();
  if (!sent_.try_emplace(notice.number, Sent{stream.key, stream.dest, std::move(state), references.numbers})
           .second)
    throw std::bad_alloc();  // a number was drawn twice
  bytes_ += bytes;
  references.pinned = false;  // until the state has credit
  if (Stream* const mine = find(stream.key); mine != nullptr && !mine->numbers.empty()) {
    mine->numbers.front() = notice.number;
    ++mine->unanswered;
  } else {
    release(notice.number);
  }
  std::deque<std::uint64_t>& dropped = dropped_[stream.dest];
  for (std::uint64_t& number : notice.dropped) {
    if (dropped.empty()) break;
    number = dropped.front();
    dropped.pop_front();
  }
  return notice;
}

void SentStates::give_credit(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = sent_.find(number);
  if (found == sent_.end() || std::exchange(found->second.credit, true)) return;
  if (Stream* const stream = find(found->second.stream)) stream->unanswered = stream->passed = 0;
  const auto refers_to = found->second.refers_to;
  drop_if_free(number);
  for (const std::uint64_t used : refers_to) unpin(used);
}

void SentStates::give_up(HeldReferences& references) noexcept {
  if (!std::exchange(references.pinned, false)) return;
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t used : references.numbers) unpin(used);
}

// Ends a use of a state. 0 is no state.
void SentStates::unpin(std::uint64_t number) noexcept {
  const auto found = sent_.find(number);
  if (found == sent_.end()) return;
  --found->second.uses;
  drop_if_free(number);
}

void SentStates::release_oldest(Stream& stream) noexcept {
  release(stream.numbers.back());
  stream.numbers.pop_back();
}

// Gives up a state: no further message will refer to it.
void SentStates::release(std::uint64_t number) noexcept {
  const auto found = sent_.find(number);
  if (found == sent_.end() || found->second.state == nullptr) return;
  bytes_ -= found->second.state->values().bytes();
  found->second.state.reset();
  drop_if_free(number);
}

// Tells the receiver to forget a state that nobody needs: the sender has given it up, and every message that
// refers to it has been decoded. A state without credit may still get some.
void SentStates::drop_if_free(std::uint64_t number) noexcept {
  const auto found = sent_.find(number);
  if (found->second.state != nullptr || !found->second.credit || found->second.uses > 0) return;
  try {
    dropped_[found->second.dest].push_back(number);
  } catch (const std::bad_alloc&) {  // the receiver keeps the state in vain
  }
  sent_.erase(found);
}

// ---- The receiver

std::optional<HeldReferences> ReceivedStates::named(const StateNumbers& states, DType type,
                                                    std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  HeldReferences named;
  for (; named.n < states.n; ++named.n) {
    const auto found = held_.find(states.number[named.n]);
    if (found == held_.end()) return {};
    const ConstSlice values = std::as_const(*found->second).values();
    if (values.type != type || values.bytes() != bytes) return {};
    named.numbers[named.n] = found->first;
    named.states[named.n] = found->second;
  }
  return named;
}

bool ReceivedStates::keep(std::uint64_t number, ConstSlice values, std::size_t limit) noexcept {
  try {
    {
      const std::lock_guard lock(mutex_);
      if (values.bytes() > limit - std::min(limit, bytes_)) return false;
    }
    const auto state = std::make_shared<MessageState>(values);
    std::memcpy(state->values().data, values.data, values.bytes());
    const std::lock_guard lock(mutex_);
    if (!held_.try_emplace(number, state).second) return false;
    bytes_ += values.bytes();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void ReceivedStates::forget(const StateNotice& notice) noexcept {
  if (notice.number == 0) return;
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t number : notice.dropped) {
    const auto found = held_.find(number);
    if (found == held_.end()) continue;
    bytes_ -= std::as_const(*found->second).values().bytes();
    held_.erase(found);
  }
}

std::size_t ReceivedStates::bytes() noexcept {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace taut
