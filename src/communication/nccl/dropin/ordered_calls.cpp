#include "communication/nccl/dropin/ordered_calls.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "communication/team/own_thread.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"

namespace taut::nccl::dropin {
namespace {

constexpr std::chrono::microseconds poll_interval{50};
constexpr std::chrono::seconds stop_timeout{10}, timeout_check_interval{1};
// Time in which the thread of the communicator may report a timeout. After that the waiting thread reports
// it.
constexpr std::uint64_t grace_ns = 5'000'000'000;

constexpr const char* failure_format = "taut: a communicator of NCCL cannot be used any more: %s\n";
constexpr const char* timeout_text =
    "a call was not complete after TAUT_NCCL_TIMEOUT seconds: some rank has not made it, or has made another";

int device_of(ncclComm* comm) {
  int device = 0;
  check(library().CommCuDevice(comm, &device), "ncclCommCuDevice");
  return device;
}

int datatype_of(const ProgramCall& call) {
  if (const NcclCall* const collective = call.collective()) return collective->datatype;
  const auto* const message = std::get_if<Message>(&call.arguments);
  return message != nullptr ? message->datatype : 0;
}

}  // namespace

OrderedCalls::OrderedCalls(ncclComm* comm, std::optional<std::string> policy)
    : comm_(comm),
      policy_(std::move(policy)),
      services_(gpu::device_services("the memory of a call of NCCL")),
      device_(device_of(comm)) {
  check(library().CommCount(comm, &ranks_), "ncclCommCount");
  const gpu::CurrentDevice current(services_, device_);
  completed_groups_.emplace(services_);
  enqueued_groups_ = completed_groups_->value();
  stream_.emplace(services_);
  unfinished_ = 1;  // the agreement
  thread_ = start_own_thread([this] { run(); });
}

// Waits for at most a second until the stream is idle. If it is not, leaks the memory that its work uses.
OrderedCalls::~OrderedCalls() {
  stop();
  queue_.clear();
  while (completed_groups_->value() != enqueued_groups_) completed_groups_->increment();
  const gpu::CurrentDevice current(services_, device_);
  const std::uint64_t until = clock_now() + std::uint64_t{1'000'000'000};
  int idle = 0;
  while (services_.query(stream_->get(), &idle) == 0 && idle == 0 && clock_now() < until)
    std::this_thread::sleep_for(poll_interval);
  if (idle == 0) static_cast<void>(state_.release()), static_cast<void>(messages_.release());
  state_.reset();
  messages_.reset();
  stream_.reset();  // while its device is the current one
}

// ---- Functions that threads of the program call

bool OrderedCalls::await_agreement() {
  std::unique_lock lock(mutex_);
  wait(lock, [&] { return agreement_over_; });
  return failure_.empty();
}

bool OrderedCalls::failed(std::string* why) {
  const std::lock_guard lock(mutex_);
  if (why != nullptr) *why = failure_;
  return !failure_.empty();
}

bool OrderedCalls::must_queue(std::span<const ProgramCall> group) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) throw Error(Status::transport_failed, failure_);
    if (unfinished_ > 0) return true;
  }
  return std::ranges::any_of(group, [&](const ProgramCall& call) { return selects(call); });
}

bool OrderedCalls::selects(const ProgramCall& call) const {
  if (all_by_nccl_) return false;
  if (const Message* const message = call.message()) return messages_->selects(*message);
  const NcclCall* const collective = call.collective();
  return collective != nullptr && !collectives_by_nccl_ && state_->selects(*collective);
}

// Decides how a call is served, and moves it to the stream of the thread.
void OrderedCalls::prepare(ProgramCall& call) {
  Message* const message = call.message();
  if (message != nullptr && !all_by_nccl_) message->coded = messages_->make_coded(*message);
  call.by_taut = call.collective() != nullptr && selects(call);
  const bool coded = message != nullptr && message->coded != nullptr;
  const bool first = !coded && is_first(call);
  must_wait_ = must_wait_ || !options().nccl_in_flight || captured_ || first;
  call.set_stream(stream_->get());
}

// Returns true for the first call of its kind, and for a call larger than all of its kind before.
bool OrderedCalls::is_first(const ProgramCall& call) {
  const std::size_t bytes = call.bytes(ranks_);
  const auto [found, added] = largest_calls_.try_emplace({call.function, datatype_of(call)}, bytes);
  const bool larger = added || found->second < bytes;
  found->second = std::max(found->second, bytes);
  return larger;
}

void OrderedCalls::enqueue(std::vector<ProgramCall> calls) {
  const gpu::CurrentDevice current(services_, device_);
  Group group{std::move(calls), {}};
  std::vector<void*> streams;
  for (ProgramCall& call : group.calls) {
    void* stream = nullptr;
    if (call.has_stream(stream) && std::ranges::find(streams, stream) == streams.end())
      streams.push_back(stream);
    prepare(call);
  }
  for (void* const stream : streams)
    group.begins.push_back(std::make_unique<gpu::StreamPoint>(services_, stream));
  ++enqueued_groups_;
  // The host waits for the call if a stream cannot wait for the counter.
  for (void* const stream : streams)
    if (!must_wait_ && completed_groups_->block(stream, enqueued_groups_) != Status::ok) must_wait_ = true;
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(group));
  ++unfinished_;
  changed_.notify_all();
}

// Throws the error of the thread here: the program reads the results next.
void OrderedCalls::await_calls() {
  if (!std::exchange(must_wait_, false)) return;
  drain();
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw Error(Status::transport_failed, failure_);
  if (unfinished_ > 0) throw Error(Status::transport_failed, "the communicator was aborted");
}

void OrderedCalls::drain() {
  std::unique_lock lock(mutex_);
  wait(lock, [&] { return unfinished_ == 0; });
}

// Waits for `done`, a failure, or the end of the thread. The thread of the communicator reports a timeout
// itself; while a function of NCCL blocks that thread, the waiting thread reports it.
void OrderedCalls::wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done) {
  while (
      !changed_.wait_for(lock, timeout_check_interval, [&] { return done() || !failure_.empty() || ended_; }))
    if (limits_.expired(grace_ns)) {
      failure_ = limits_.timeout_text;
      std::fprintf(stderr, failure_format, failure_.c_str());
    }
}

void OrderedCalls::note_captured(const ProgramCall& call) {
  if (all_by_nccl_) return;
  drain();
  if (call.message() != nullptr && selects(call))
    throw Error(
        Status::invalid_argument,
        "a rule selects a message in a captured stream: exclude such messages from the rules for Send");
  captured_ = true;
  collectives_by_nccl_ = collectives_by_nccl_ || call.collective() != nullptr;
}

bool OrderedCalls::stop() {
  limits_.aborted = true;
  {
    std::unique_lock lock(mutex_);
    changed_.notify_all();
    if (!changed_.wait_for(lock, stop_timeout, [&] { return ended_; })) return false;
  }
  if (thread_.joinable()) thread_.join();
  return true;
}

bool OrderedCalls::is_captured(void* stream) const { return nccl::is_captured(services_, stream); }

std::unique_ptr<CommReport> OrderedCalls::report() const {
  if (state_ == nullptr || !state_->agreed()) return nullptr;
  auto report =
      std::make_unique<CommReport>(CommReport{.policy = "rules", .name = {"nccl"}, .ranks = ranks_});
  report->calls = state_->calls();
  return report;
}

std::unique_ptr<CommReport> OrderedCalls::last_report() {
  limits_.aborted = true;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  return unfinished_ == 0 ? report() : nullptr;
}

// ---- Functions of the thread that makes the calls

void OrderedCalls::run() {
  std::string why;
  const auto serve = [&] {
    agree();
    for (;;) {
      Group group;
      {
        std::unique_lock lock(mutex_);
        --unfinished_;
        agreement_over_ = true;
        changed_.notify_all();
        changed_.wait(lock, [&] { return limits_.aborted || !queue_.empty(); });
        if (limits_.aborted) break;
        group = std::move(queue_.front());
        queue_.pop_front();
      }
      run_group(group);
      completed_groups_->increment();
    }
  };
  guarded(serve, [&](Status, const char* text) { why = text; });
  if (!why.empty() && !limits_.aborted) fail(why);
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void OrderedCalls::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) std::fprintf(stderr, failure_format, why.c_str());
  failure_ = why;
}

// Agrees with the other ranks on the rules, and connects all pairs of ranks. If the rules differ, all ranks
// leave all calls to NCCL.
void OrderedCalls::agree() {
  const gpu::CurrentDevice current(services_, device_);
  limits_.set_timeout(
      options().handshake,
      "other ranks do not take part: they may run without Taut, without rules or without libtaut_cuda");
  try {
    state_ = std::make_unique<CommState>(comm_, &limits_);
    state_->agree(policy_ ? &*policy_ : nullptr, stream_->get());
    messages_ = std::make_unique<CodedMessages>(services_, state_->rules(), state_->rank(), ranks_, device_);
    all_by_nccl_ = state_->off() && messages_->codes_nothing();
    if (!all_by_nccl_) {
      state_->connect(stream_->get());
      messages_->load_kernels(stream_->get());
    }
  } catch (const Error& error) {
    if (error.status() != Status::rank_mismatch) throw;
    int rank = 0;
    library().CommUserRank(comm_, &rank);
    if (rank == 0) std::fprintf(stderr, "taut: NCCL serves all calls of a communicator: %s\n", error.what());
    all_by_nccl_ = true;
  }
  limits_.clear_timeout();
}

// Makes the calls of a group: first those of NCCL, as one group of NCCL, then those that Taut may serve.
void OrderedCalls::run_group(Group& group) {
  const gpu::CurrentDevice current(services_, device_);
  for (const auto& begin : group.begins) {
    while (!begin->ready()) {
      limits_.check();
      std::this_thread::sleep_for(poll_interval);
    }
    if (begin->result() != Status::ok) throw Error(begin->result(), describe(begin->result()));
  }
  limits_.set_timeout(options().nccl_timeout, timeout_text);
  const auto for_taut =
      std::ranges::stable_partition(group.calls, [](const ProgramCall& call) { return !call.by_taut; });
  run_group_by_nccl(std::span(group.calls.begin(), for_taut.begin()));
  for (const ProgramCall& call : for_taut) {
    const bool compressed = state_->serve(*call.collective(), true);
    count(call.function, compressed ? Service::by_taut : Service::by_nccl, call.bytes(ranks_));
  }
  state_->wait(stream_->get());
  for (const ProgramCall& call : group.calls)
    if (const Message* const message = call.message(); message != nullptr && message->coded != nullptr)
      message->coded->check();
  limits_.clear_timeout();
}

// Makes calls as one group of NCCL. Frames move in place of the values of coded messages.
void OrderedCalls::run_group_by_nccl(std::span<const ProgramCall> calls) {
  if (calls.empty()) return;
  const auto for_coded = [&](bool sends, auto action) {
    for (const ProgramCall& call : calls)
      if (const Message* const message = call.message();
          message != nullptr && message->coded != nullptr && message->sends == sends)
        (*message->coded.*action)(*message);
  };
  for_coded(true, &CodedMessage::encode);
  check(library().GroupStart(), "ncclGroupStart");
  int failed = success;
  for (const ProgramCall& call : calls)
    if (failed == success) failed = run_by_nccl(call, ranks_);
  const int ended = library().GroupEnd();
  check(failed, "a call of NCCL");
  check(ended, "ncclGroupEnd");
  for_coded(false, &CodedMessage::decode);
}

}  // namespace taut::nccl::dropin
