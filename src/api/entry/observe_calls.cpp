// Functions of taut.h that return statistics and explanations: TAUT_Comm_get_stats and others.
#include <taut/taut.h>

#include <algorithm>
#include <cstring>

#include "api/errors.hpp"
#include "api/state/comm_registry.hpp"
#include "comm/explain.hpp"

namespace taut::api {
namespace {

TAUT_Stats stats_of(const Statistics& s) noexcept {
  const auto plain = [&](Fallback why) { return s.plain[static_cast<std::size_t>(why)]; };
  TAUT_Stats stats{};
  stats.calls = s.calls;
  stats.compressed_calls = s.compressed_calls;
  stats.value_bytes = s.value_bytes;
  stats.frame_bytes = s.frame_bytes;
  stats.sent_bytes = s.sent_bytes;
  stats.sent_messages = s.sent_messages;
  stats.plain_unsupported = s.plain_unsupported();
  stats.plain_small = plain(Fallback::small);
  stats.plain_no_gain = plain(Fallback::no_gain);
  stats.plain_off = plain(Fallback::off);
  stats.failed_calls = s.failed_calls;
  stats.message_bytes = s.message_bytes;
  stats.carried_bytes = s.carried_bytes;
  stats.call_ns = s.times[Phase::call];
  stats.encode_ns = s.times[Phase::encode];
  stats.combine_ns = s.times[Phase::combine];
  stats.decode_ns = s.times[Phase::decode];
  stats.wait_ns = s.times[Phase::wait];
  stats.agree_ns = s.times[Phase::agree];
  stats.plain_ns = s.times[Phase::plain];
  stats.plain_sender = plain(Fallback::sender);
  stats.plain_slower = plain(Fallback::slower) + plain(Fallback::trial);
  return stats;
}

void copy_text(const std::string& from, char* text, std::size_t capacity, std::size_t* needed) noexcept {
  if (needed != nullptr) *needed = from.size() + 1;
  if (capacity == 0) return;
  const std::size_t n = std::min(from.size(), capacity - 1);
  std::memcpy(text, from.data(), n);
  text[n] = '\0';
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

extern "C" {

int TAUT_Comm_get_stats(MPI_Comm comm, TAUT_Stats* stats) {
  return guard(comm, [&] {
    if (stats == nullptr || stats->struct_size < sizeof stats->struct_size)
      throw taut::Error(taut::Status::invalid_argument,
                        "TAUT_Stats: set struct_size to sizeof(TAUT_Stats) before the call");
    const CommState* const comm_state = find_comm_state(comm);
    TAUT_Stats all{};
    if (comm_state != nullptr)
      all = comm_state->observed([](const taut::CommReport& o) { return stats_of(o.calls.total()); });
    all.struct_size = stats->struct_size;
    std::memcpy(stats, &all, std::min(stats->struct_size, sizeof all));
    return MPI_SUCCESS;
  });
}

int TAUT_Comm_explain(MPI_Comm comm, char* text, size_t capacity, size_t* needed) {
  return guard(comm, [&] {
    if (text == nullptr && capacity != 0)
      throw taut::Error(taut::Status::invalid_argument, "text is NULL, and capacity is not 0");
    const CommState* const comm_state = find_comm_state(comm);
    if (comm_state == nullptr) {
      copy_text("no policy: all calls are plain MPI\n", text, capacity, needed);
    } else {
      const std::string told = comm_state->observed(
          [](const taut::CommReport& o) { return taut::explain(o.calls, o.policy, o.ranks); });
      copy_text(told, text, capacity, needed);
    }
    return MPI_SUCCESS;
  });
}

}  // extern "C"
