#include "compressor/frame/references.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "compressor/base/unaligned.hpp"

namespace taut {
namespace {

// Constants of the hash state_number_of(), which docs/spec/frame.md specifies.
constexpr std::size_t lanes = 8, word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t multiplier = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, rounded to an odd number

// Returns the hash after one more word.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
  return std::rotl(hash ^ word, 29) * multiplier;
}

}  // namespace

StateNumbers state_numbers_of(References references) noexcept {
  StateNumbers states;
  for (const Reference& reference : references) states.number[states.n++] = reference.state;
  return states;
}

bool fit_values(References references, ConstSlice values) noexcept {
  return references.size() <= max_references && std::ranges::all_of(references, [&](const Reference& r) {
           return r.values.type == values.type && r.values.count == values.count &&
                  (r.values.data != nullptr || values.count == 0);
         });
}

bool begin_with_named(References references, const StateNumbers& named, ConstSlice values) noexcept {
  return fit_values(references, values) && references.size() >= named.n &&
         state_numbers_of(references.first(named.n)) == named;
}

bool read_state_numbers(const FrameHeader& header, ConstBytes& payload, StateNumbers& states) noexcept {
  StateNumbers found{.n = reference_count(header)};
  if (found.n > max_references || payload.size() < found.bytes()) return false;
  std::memcpy(found.number, payload.data(), found.bytes());
  payload = payload.subspan(found.bytes());
  states = found;
  return true;
}

std::byte* write_state_numbers(const StateNumbers& states, std::byte* to) noexcept {
  std::memcpy(to, states.number, states.bytes());
  return to + states.bytes();
}

// Hashes words of 8 bytes in as many lanes as the multiplications of a processor overlap. Each step is a
// bijection of the lane and of the word, so that arrays that differ in one word have different numbers.
std::uint64_t state_number_of(ConstSlice values) noexcept {
  const ConstBytes bytes = values.as_bytes();
  std::uint64_t lane[lanes];
  for (std::size_t k = 0; k < lanes; ++k) lane[k] = k;
  std::size_t at = 0;
  for (; at + lanes * word_bytes <= bytes.size(); at += lanes * word_bytes)
    for (std::size_t k = 0; k < lanes; ++k)
      lane[k] = mixed(lane[k], load<std::uint64_t>(bytes.data() + at + k * word_bytes));
  std::byte rest[lanes * word_bytes] = {};
  if (at < bytes.size()) std::memcpy(rest, bytes.data() + at, bytes.size() - at);
  for (std::size_t k = 0; k < lanes; ++k)
    lane[k] = mixed(lane[k], load<std::uint64_t>(rest + k * word_bytes));
  std::uint64_t hash = mixed(values.count, static_cast<std::uint64_t>(values.type));
  for (const std::uint64_t one : lane) hash = mixed(hash, one);
  hash = (hash ^ hash >> 32) * multiplier;
  return hash ^ hash >> 29;
}

}  // namespace taut
