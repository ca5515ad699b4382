// Functions of taut.h that return statistics and explanations: TAUT_Comm_get_stats and others.
#include <taut/taut.h>

#include <algorithm>
#include <cstring>

#include "communication/api/state/comm_registry.hpp"
#include "communication/comm/explain.hpp"
#include "communication/mpi/errors.hpp"

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

void expect_room(const char* text, std::size_t capacity) {
  if (text == nullptr && capacity != 0)
    throw Error(Status::invalid_argument, "text is NULL, and capacity is not 0");
}

void copy_text(const std::string& from, char* text, std::size_t capacity, std::size_t* needed) noexcept {
  if (needed != nullptr) *needed = from.size() + 1;
  if (capacity == 0) return;
  const std::size_t n = std::min(from.size(), capacity - 1);
  std::memcpy(text, from.data(), n);
  text[n] = '\0';
}

// Returns the sum of a communicator's statistics under all its policies.
Statistics total_of(MPI_Comm comm) {
  Statistics sum;
  const CommRecord* const record = find_record(comm);
  if (record == nullptr) return sum;
  if (record->comm_state != nullptr)
    sum = record->comm_state->observed([](const CommReport& observed) { return observed.calls.total(); });
  for (const CommReport& earlier : record->earlier) sum += earlier.calls.total();
  return sum;
}

// Returns the statistics of a communicator under each of its policies; first the policy in force, or nothing
// if there is neither policy nor rules.
std::vector<CommReport> reports_of(MPI_Comm comm) {
  std::vector<CommReport> all;
  const CommRecord* const record = find_record(comm);
  if (record == nullptr) return all;
  if (record->comm_state != nullptr)
    all.push_back(record->comm_state->observed([](const CommReport& observed) { return observed; }));
  for (const CommReport& earlier : record->earlier)
    if (!all.empty() && all[0].policy == earlier.policy)
      all[0].calls.merge(earlier.calls);
    else
      all.push_back(earlier);
  return all;
}

std::string told(MPI_Comm comm) {
  std::string text = find_comm_state(comm) == nullptr ? "no policy: all calls are plain MPI\n" : "";
  for (const CommReport& one : reports_of(comm)) text += explain(one.calls, one.policy, one.ranks);
  return text;
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
    TAUT_Stats all = stats_of(total_of(comm));
    all.struct_size = stats->struct_size;
    std::memcpy(stats, &all, std::min(stats->struct_size, sizeof all));
    return MPI_SUCCESS;
  });
}

int TAUT_Comm_get_policy(MPI_Comm comm, char* text, size_t capacity, size_t* needed) {
  return guard(comm, [&] {
    expect_room(text, capacity);
    const CommState* const comm_state = find_comm_state(comm);
    const bool has_policy = comm_state != nullptr && comm_state->has_policy();
    copy_text(has_policy ? comm_state->policy().text : "", text, capacity, needed);
    return MPI_SUCCESS;
  });
}

int TAUT_Comm_explain(MPI_Comm comm, char* text, size_t capacity, size_t* needed) {
  return guard(comm, [&] {
    expect_room(text, capacity);
    copy_text(told(comm), text, capacity, needed);
    return MPI_SUCCESS;
  });
}

}  // extern "C"
