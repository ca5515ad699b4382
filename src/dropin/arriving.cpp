#include "dropin/arriving.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "api/elements.hpp"
#include "api/errors.hpp"
#include "api/wire.hpp"
#include "dropin/gate.hpp"
#include "dropin/messages.hpp"

namespace taut::dropin {

// What is seen to.
struct Watched {
  Expected expected;
  CodedMessage sent;  // of a send; then there is nothing expected
  bool persistent = false;
  bool kept_type = false;
  bool looked_at = false;  // decoded before its completion
  std::size_t bytes = 0;   // of the values; then
};

namespace {

// ---- A message that is there

// By a function that MPICH 4.0 has as well.
void set_bytes(MPI_Status& status, std::size_t bytes) noexcept {
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

bool lies_together(const Expected& at) noexcept {
  const auto elements = api::elements_of(at.type);
  return elements && elements->dense;
}

std::vector<std::byte> packed(const Expected& at, MPI_Count count) {
  std::vector<std::byte> all(static_cast<std::size_t>(api::bytes_of(count, at.type)));
  api::pack_values(at.buf, count, at.type, all);
  return all;
}

// As many elements as hold the mark.
bool begins_with_mark(const Expected& at) {
  if (lies_together(at)) return has_mark({static_cast<const std::byte*>(at.buf), sizeof(std::uint64_t)});
  const MPI_Count element = std::max<MPI_Count>(api::bytes_of(1, at.type), 1);
  return has_mark(packed(at, std::min(at.count, 8 / element + 1)));
}

void check(Status status) {
  if (status != Status::ok) throw Error(status, describe(status));
}

// Frames in the user's memory make room first: they are shorter than the values.
void decode_together(const Opened& opened, const Expected& at) {
  const std::vector<std::byte> frames(opened.frames.begin(), opened.frames.end());
  const Bytes values{static_cast<std::byte*>(at.buf), opened.bytes};
  const bool aligned = reinterpret_cast<std::uintptr_t>(at.buf) % 16 == 0;
  if (aligned) return check(decode({opened.bytes, opened.type, frames}, values));
  const auto apart = std::make_unique_for_overwrite<std::byte[]>(opened.bytes);
  check(decode({opened.bytes, opened.type, frames}, {apart.get(), opened.bytes}));
  std::memcpy(at.buf, apart.get(), opened.bytes);
}

// What stands behind the values is written as it was.
void decode_apart(const Opened& opened, const Expected& at, std::vector<std::byte> all) {
  const auto values = std::make_unique_for_overwrite<std::byte[]>(opened.bytes);
  check(decode(opened, {values.get(), opened.bytes}));
  std::memcpy(all.data(), values.get(), opened.bytes);
  api::unpack_values(all, at.buf, at.count, at.type);
}

int put(const Expected& at, std::size_t bytes, MPI_Status& status) {
  const bool together = lies_together(at);
  std::vector<std::byte> all;
  if (!together) all = packed(at, at.count);
  const ConstBytes message =
      together ? ConstBytes{static_cast<const std::byte*>(at.buf), bytes} : ConstBytes(all).first(bytes);
  const auto opened = open(message);
  if (!opened) throw Error(Status::corrupt_frame, "a message that the drop-in has coded came damaged");
  if (opened->bytes > static_cast<std::size_t>(api::bytes_of(at.count, at.type)))
    return api::raise(at.comm, MPI_ERR_TRUNCATE);
  if (together)
    decode_together(*opened, at);
  else
    decode_apart(*opened, at, std::move(all));
  set_bytes(status, opened->bytes);
  return MPI_SUCCESS;
}

// ---- Requests

struct All {
  std::mutex mutex;
  std::unordered_map<MPI_Request, std::unique_ptr<Watched>> watched;
};

All& all() {
  static auto* const one = new All;
  return *one;
}

std::atomic<std::size_t> open_requests{0};

void insert(MPI_Request request, std::unique_ptr<Watched> watched) noexcept {
  All& here = all();
  const std::lock_guard lock(here.mutex);
  here.watched.insert_or_assign(request, std::move(watched));
  open_requests = here.watched.size();
}

std::unique_ptr<Watched> take(All& here, MPI_Request request) noexcept {
  const auto found = here.watched.find(request);
  if (found == here.watched.end()) return nullptr;
  std::unique_ptr<Watched> watched = std::move(found->second);
  here.watched.erase(found);
  open_requests = here.watched.size();
  return watched;
}

void drop(std::unique_ptr<Watched>& watched) noexcept {
  if (watched->kept_type) PMPI_Type_free(&watched->expected.type);
  watched.reset();
}

int settle_watched(const Watched& watched, MPI_Status& status) noexcept {
  if (watched.sent) return MPI_SUCCESS;
  if (!watched.looked_at) return settle(watched.expected, status);
  set_bytes(status, watched.bytes);
  return MPI_SUCCESS;
}

}  // namespace

bool may_be_coded(const Expected& expected) noexcept {
  if (!messages_may_be_coded()) return false;
  const MPI_Count bytes = api::bytes_of(expected.count, expected.type);
  return bytes >= static_cast<MPI_Count>(least_coded_bytes);
}

int settle(const Expected& expected, MPI_Status& status) noexcept {
  const Inside inside;
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  const std::size_t bytes = cancelled == 0 ? api::bytes_of(status) : 0;
  if (bytes < least_coded_bytes) return MPI_SUCCESS;
  return api::guard(expected.comm,
                    [&] { return begins_with_mark(expected) ? put(expected, bytes, status) : MPI_SUCCESS; });
}

void expect(MPI_Request request, const Expected& expected, bool persistent) noexcept {
  const Inside inside;
  auto watched =
      std::make_unique<Watched>(Watched{.expected = expected, .sent = {}, .persistent = persistent});
  // The program may free it before the message comes.
  if (api::is_derived(expected.type))
    watched->kept_type = PMPI_Type_dup(expected.type, &watched->expected.type) == MPI_SUCCESS;
  insert(request, std::move(watched));
}

void keep_until_sent(MPI_Request request, CodedMessage message) noexcept {
  insert(request, std::make_unique<Watched>(Watched{.expected = {}, .sent = std::move(message)}));
}

void forget(MPI_Request request) noexcept {
  if (open_requests == 0) return;
  All& here = all();
  std::unique_lock lock(here.mutex);
  auto watched = take(here, request);
  lock.unlock();
  if (!watched) return;
  if (watched->sent) return void(watched->sent.memory.release());  // MPI may still read it
  drop(watched);
}

Completion::Completion(std::span<const MPI_Request> requests) noexcept : requests_(requests) {
  if (open_requests == 0) return;
  All& here = all();
  const std::lock_guard lock(here.mutex);
  const auto known = [&](MPI_Request request) { return here.watched.contains(request); };
  if (std::ranges::none_of(requests, known)) return;
  for (const MPI_Request request : requests) mine_.push_back({request, take(here, request)});
}

// What has not been completed is seen to as before.
Completion::~Completion() {
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    One& one = mine_[i];
    if (!one.watched) continue;
    if (requests_[i] == one.request)
      insert(one.request, std::move(one.watched));
    else
      drop(one.watched);
  }
}

int Completion::settle(std::size_t i, MPI_Status& status) noexcept {
  auto& watched = mine_[i].watched;
  if (!watched) return MPI_SUCCESS;
  const int code = settle_watched(*watched, status);
  watched->looked_at = false;
  if (!watched->persistent) drop(watched);
  return code;
}

void Completion::forget(std::size_t i) noexcept {
  auto& watched = mine_[i].watched;
  if (watched && !watched->persistent) drop(watched);
}

int Completion::look(std::size_t i, MPI_Status& status) noexcept {
  auto& watched = mine_[i].watched;
  if (!watched) return MPI_SUCCESS;
  const int code = settle_watched(*watched, status);
  watched->looked_at = true;
  watched->bytes = api::bytes_of(status);
  return code;
}

}  // namespace taut::dropin
