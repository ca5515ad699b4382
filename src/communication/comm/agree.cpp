#include "communication/comm/agree.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "compressor/frame/frame.hpp"

namespace taut {

static_assert(std::is_trivially_copyable_v<AgreementMessage> && sizeof(AgreementMessage) == 184);
static_assert(offsetof(AgreementMessage, checksum) + sizeof(AgreementMessage::checksum) ==
              sizeof(AgreementMessage));

namespace {

std::uint32_t checksum_of(const AgreementMessage& facts) noexcept {
  return crc32c(std::as_bytes(std::span(&facts, 1)).first(offsetof(AgreementMessage, checksum)));
}

}  // namespace

void AgreementMessage::seal() noexcept { checksum = checksum_of(*this); }
bool AgreementMessage::intact() const noexcept { return checksum == checksum_of(*this); }

void AgreementMessage::merge(const AgreementMessage& other) noexcept {
  signature_low = std::min(signature_low, other.signature_low);
  signature_high = std::max(signature_high, other.signature_high);
  for (std::size_t i = 0; i < max_candidates; ++i)
    measured_low[i] = std::min(measured_low[i], other.measured_low[i]);
  frame_low = std::min(frame_low, other.frame_low);
  frame_high = std::max(frame_high, other.frame_high);
  history_low = std::min(history_low, other.history_low);
  history_high = std::max(history_high, other.history_high);
  history_depth = std::min(history_depth, other.history_depth);
  history_period = std::min(history_period, other.history_period);
  range.merge(other.range);
  bytes_high = std::max(bytes_high, other.bytes_high);
  sites &= other.sites;
  type_low = std::min(type_low, other.type_low);
  type_high = std::max(type_high, other.type_high);
  obstacles |= other.obstacles;
  for (std::size_t i = 0; i < std::size(timing_low); ++i)
    timing_low[i] = std::min(timing_low[i], other.timing_low[i]);
  for (std::size_t i = 0; i < std::size(history_times_low); ++i)
    history_times_low[i] = std::min(history_times_low[i], other.history_times_low[i]);
}

namespace {

// coded() returns a timing in a form whose minimum is the wanted merge (negated if the greatest counts);
// decoded() reverts it. 0: not known.
float coded(float timing, bool most_counts) noexcept {
  return most_counts ? -timing : timing > 0 ? timing : AgreementMessage::unknown_timing;
}
float decoded(float low, bool most_counts) noexcept {
  return most_counts ? -low : low < AgreementMessage::unknown_timing ? low : 0;
}

}  // namespace

void AgreementMessage::set_timing(const Timing& timing, bool rooted) noexcept {
  timing_low[0] = coded(timing.plain, rooted);
  timing_low[1] = coded(timing.coded, rooted);
  timing_low[2] = coded(timing.predicted, false);
  timing_low[3] = coded(timing.tried, rooted);
  timing_low[4] = coded(timing.declined, rooted);
}

Timing AgreementMessage::timing(bool rooted) const noexcept {
  return {decoded(timing_low[0], rooted), decoded(timing_low[1], rooted), decoded(timing_low[2], false),
          decoded(timing_low[3], rooted), decoded(timing_low[4], rooted)};
}

void AgreementMessage::set_history_times(const HistoryTimes& times, bool rooted) noexcept {
  history_times_low[0] = coded(times.without_history, rooted);
  history_times_low[1] = coded(times.with_history, rooted);
}

HistoryTimes AgreementMessage::history_times(bool rooted) const noexcept {
  return {decoded(history_times_low[0], rooted), decoded(history_times_low[1], rooted)};
}

namespace {

// Messages of one rank to the rank at some distance, and from the rank at that distance before it.
struct Exchanged {
  AgreementMessage sent, other;
  Pending receiving, sending;

  void start(Transport& transport, Lane lane, int distance) {
    const int P = transport.size(), me = transport.rank();
    sent.seal();
    receiving = transport.recv(std::as_writable_bytes(std::span(&other, 1)), (me - distance + P) % P, lane);
    sending = transport.send(std::as_bytes(std::span(&sent, 1)), (me + distance) % P, lane);
  }

  // Merges the message that has arrived.
  void merge_into(AgreementMessage& mine, const SizeOrStatus& moved) const noexcept {
    const bool readable = moved.status == Status::ok && moved.bytes == sizeof other &&
                          other.version == mine.version && other.intact();
    if (readable) {
      mine.merge(other);
    } else {  // another version of this library, a different call, or a damaged message
      mine.note_unreadable();
    }
  }
};

Task<AgreementMessage> agree_at_once(Transport& transport, Lane lane, AgreementMessage mine) {
  std::vector<Exchanged> all(static_cast<std::size_t>(transport.size() - 1));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].sent = mine;
    all[i].start(transport, lane, static_cast<int>(i) + 1);
  }
  for (Exchanged& exchanged : all) {
    const SizeOrStatus moved = co_await exchanged.receiving;
    co_await exchanged.sending;
    exchanged.merge_into(mine, moved);
  }
  co_return mine;
}

}  // namespace

Task<AgreementMessage> agree(Transport& transport, Lane lane, AgreementMessage mine) {
  if (transport.sends_to_all_at_once()) co_return co_await agree_at_once(transport, lane, mine);
  // Before the round of distance d, `mine` covers the ranks me-d+1 .. me (modulo P).
  for (int d = 1; d < transport.size(); d *= 2) {
    Exchanged exchanged{.sent = mine, .other = {}, .receiving = {}, .sending = {}};
    exchanged.start(transport, lane, d);
    const SizeOrStatus moved = co_await exchanged.receiving;
    co_await exchanged.sending;
    exchanged.merge_into(mine, moved);
  }
  co_return mine;
}

std::uint64_t hash(ConstBytes bytes, std::uint64_t seed) noexcept {
  for (const std::byte b : bytes) seed = (seed ^ static_cast<std::uint64_t>(b)) * 0x100000001B3;
  return seed;
}

}  // namespace taut
