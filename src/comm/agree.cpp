#include "comm/agree.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "core/frame.hpp"

namespace taut {

static_assert(std::is_trivially_copyable_v<Facts> && sizeof(Facts) == 152);
static_assert(offsetof(Facts, checksum) + sizeof(Facts::checksum) == sizeof(Facts));

namespace {

std::uint32_t checksum_of(const Facts& facts) noexcept {
  return crc32c(std::as_bytes(std::span(&facts, 1)).first(offsetof(Facts, checksum)));
}

}  // namespace

void Facts::seal() noexcept { checksum = checksum_of(*this); }
bool Facts::intact() const noexcept { return checksum == checksum_of(*this); }

void Facts::merge(const Facts& other) noexcept {
  signature_low = std::min(signature_low, other.signature_low);
  signature_high = std::max(signature_high, other.signature_high);
  for (std::size_t i = 0; i < max_candidates; ++i) ratio_low[i] = std::min(ratio_low[i], other.ratio_low[i]);
  range.merge(other.range);
  bytes_high = std::max(bytes_high, other.bytes_high);
  sites &= other.sites;
  type_low = std::min(type_low, other.type_low);
  type_high = std::max(type_high, other.type_high);
  obstacles |= other.obstacles;
  for (std::size_t i = 0; i < std::size(pace_low); ++i)
    pace_low[i] = std::min(pace_low[i], other.pace_low[i]);
}

namespace {

// As something of which the least counts; 0: not known.
float coded(float pace, bool most_counts) noexcept {
  return most_counts ? -pace : pace > 0 ? pace : Facts::unknown_pace;
}
float decoded(float low, bool most_counts) noexcept {
  return most_counts ? -low : low < Facts::unknown_pace ? low : 0;
}

}  // namespace

void Facts::set_pace(const Pace& pace, bool rooted) noexcept {
  pace_low[0] = coded(pace.plain, rooted);
  pace_low[1] = coded(pace.coded, rooted);
  pace_low[2] = coded(pace.foretold, false);
  pace_low[3] = coded(pace.other, rooted);
  pace_low[4] = coded(pace.asked, rooted);
}

Pace Facts::pace(bool rooted) const noexcept {
  return {decoded(pace_low[0], rooted), decoded(pace_low[1], rooted), decoded(pace_low[2], false),
          decoded(pace_low[3], rooted), decoded(pace_low[4], rooted)};
}

Task<Facts> agree(Transport& transport, Lane lane, Facts mine) {
  const int P = transport.size(), me = transport.rank();

  // Before the round of distance d, `mine` covers the ranks me-d+1 .. me (modulo P).
  for (int d = 1; d < P; d *= 2) {
    Facts other, sent = mine;
    sent.seal();
    Pending receiving = transport.recv(std::as_writable_bytes(std::span(&other, 1)), (me - d + P) % P, lane);
    Pending sending = transport.send(std::as_bytes(std::span(&sent, 1)), (me + d) % P, lane);
    const Sized moved = co_await receiving;
    co_await sending;
    const bool readable = moved.status == Status::ok && moved.bytes == sizeof other &&
                          other.version == mine.version && other.intact();
    if (readable) {
      mine.merge(other);
    } else {  // another version of this library, another call altogether, or damaged
      mine.signature_low = 0;
      mine.signature_high = ~std::uint64_t{0};
    }
  }
  co_return mine;
}

std::uint64_t hash(ConstBytes bytes, std::uint64_t seed) noexcept {
  for (const std::byte b : bytes) seed = (seed ^ static_cast<std::uint64_t>(b)) * 0x100000001B3;
  return seed;
}

}  // namespace taut
