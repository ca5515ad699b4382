#include "dropin/coded_message.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include "comm/message_coder.hpp"
#include "core/frame.hpp"
#include "policy/options.hpp"

namespace taut::dropin {
namespace {

std::uint64_t mark = 0;

using Head = std::array<std::uint64_t, 3>;
static_assert(sizeof(Head) == coded_head_bytes && coded_head_bytes == envelope_bytes);

constexpr std::uint64_t low(std::uint64_t word, unsigned bits) noexcept {
  return word & ((std::uint64_t{1} << bits) - 1);
}

std::uint32_t checksum(Head head, ConstBytes frames) noexcept {
  head[2] = low(head[2], 32);
  return crc32c(frames, crc32c(std::as_bytes(std::span(head))));
}

struct Coder {
  explicit Coder(const Policy& with)
      : policy(with), coder(policy, place, options().kernels, std::max(options().threads, 1)) {}

  Policy policy;
  HostPlace place;
  MessageCoder coder;
};

// One message at a time.
struct All {
  std::mutex mutex;
  std::map<std::string, Coder> coders;  // by the texts of their policies
  Coder decoder{Policy{}};
};

All& all() {
  static auto* const one = new All;
  return *one;
}

// A multiple of the size of any value: MPICH takes no message that ends within a number.
constexpr std::size_t coded_length(std::size_t bytes) noexcept {
  if (bytes <= least_coded_bytes) return least_coded_bytes;
  return least_coded_bytes + (bytes - least_coded_bytes + coded_step - 1) / coded_step * coded_step;
}
static_assert(coded_step % 16 == 0 && least_coded_bytes % 16 == 0);

// Frames and head in memory of their own, with zeros behind them.
CodedMessage finished(const EncodedMessage& made, ConstSlice values) {
  CodedMessage message;
  const std::size_t bytes = coded_length(made.bytes);
  if (bytes >= values.bytes()) return message;
  message.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
  message.bytes = bytes;
  Head head{mark, values.bytes() | std::uint64_t{static_cast<std::uint8_t>(values.type)} << 56,
            bytes - made.bytes};
  const ConstBytes frames = made.buffer.bytes().first(made.bytes).subspan(coded_head_bytes);
  head[2] |= std::uint64_t{checksum(head, frames)} << 32;
  std::memcpy(message.memory.get(), head.data(), coded_head_bytes);
  std::memcpy(message.memory.get() + coded_head_bytes, frames.data(), frames.size());
  std::memset(message.memory.get() + made.bytes, 0, bytes - made.bytes);
  return message;
}

}  // namespace

void set_mark(std::uint64_t of_the_job) noexcept { mark = of_the_job; }

CodedMessage encode(const Policy& policy, ConstSlice values, int tag, EncodedMessage& made) noexcept {
  try {
    All& here = all();
    const std::lock_guard lock(here.mutex);
    Coder& with = here.coders.try_emplace(policy.text, policy).first->second;
    made = with.coder.encode(values, static_cast<unsigned>(tag));
    if (made.plain != Plain::no) return {};
    CodedMessage message = finished(made, values);
    if (!message) made.plain = Plain::no_gain;
    return message;
  } catch (...) {  // no memory: as it is
    made.plain = Plain::memory;
    return {};
  }
}

bool has_mark(ConstBytes begin) noexcept {
  return begin.size() >= sizeof mark && std::memcmp(begin.data(), &mark, sizeof mark) == 0;
}

std::optional<Opened> open(ConstBytes message) noexcept {
  Head head;
  if (!has_mark(message) || message.size() < coded_head_bytes) return {};
  std::memcpy(head.data(), message.data(), coded_head_bytes);
  const std::size_t padding = low(head[2], 32);
  const ConstBytes rest = message.subspan(coded_head_bytes);
  if (padding > rest.size()) return {};
  const ConstBytes frames = rest.first(rest.size() - padding);
  if (checksum(head, frames) != head[2] >> 32) return {};
  return Opened{low(head[1], 56), static_cast<std::uint8_t>(head[1] >> 56), frames};
}

Status decode(const Opened& opened, Bytes values) noexcept {
  try {
    All& here = all();
    const std::lock_guard lock(here.mutex);
    return here.decoder.coder.decode(opened.frames, opened.type, values);
  } catch (...) {
    return Status::out_of_memory;
  }
}

}  // namespace taut::dropin
