#include "communication/dropin/counts.hpp"

#include <atomic>
#include <unordered_map>

#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/finalize_reports.hpp"
#include "communication/comm/agree.hpp"
#include "communication/comm/call_site.hpp"
#include "communication/dropin/program_endpoint.hpp"
#include "communication/mpi/describe.hpp"
#include "communication/mpi/lasting.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::dropin {

// ---- Messages

namespace {

CallKey key_of(Collective direction, DType type, std::size_t bytes, const void* site) noexcept {
  return Call{.collective = direction, .type = type, .bytes = bytes, .site = site}.key();
}

// Samples the values of a message. Called once the row of the message exists, before the message is counted
// in the row.
void sample(CallRow& row, const p2p::MpiMessage& message, const api::DatatypeLayout& kind) noexcept {
  static Sampler sampler(options().kernels);
  if (options().report.empty() || !Sampler::is_due(row)) return;
  if (!kind.dense || api::on_device(message.buf, message.type)) return;
  const std::size_t n = static_cast<std::size_t>(message.count) * kind.values_per_element;
  std::uint64_t stream = 0;
  mix(stream, message.comm);
  mix(stream, message.peer);
  mix(stream, message.tag);
  mix(stream, n);
  sampler.look(row, {{{message.buf, n, kind.type()}}, stream});
}

}  // namespace

bool counts_calls() noexcept {
  static const bool asked = options().observe() && api::program_report() != nullptr;
  return asked;
}

const void* reported_site(const void* return_address) noexcept {
  return options().report.empty() ? nullptr : program_site(return_address);
}

bool begin_counting() noexcept {
  return counts_calls() && api::free_at_finalize();  // which also writes the report
}

void count_sent(const p2p::Send& send) noexcept {
  if (!counts_calls() || !send.layout()) return;
  const p2p::BypassScope bypass;
  const auto& layout = *send.layout();
  const Message& message = send.message();
  const std::size_t bytes = p2p::bytes_of_values(send.plain(), layout);
  api::ProgramReport& seen = *api::program_report();
  const std::lock_guard lock(seen.mutex);
  CallRow& row = seen.messages.calls.row(key_of(Collective::send, layout.type(), bytes, send.plain().site));
  sample(row, send.plain(), layout);
  row.add_call(bytes);
  note_sent(message, row);
  row.sum.times[Phase::call] += message.end - message.begin;
}

void count_received(const p2p::MpiMessage& recv, const Message& message) noexcept {
  if (!counts_calls() || message.failed || message.bytes < least_value_bytes) return;
  const auto known = api::known_datatype(recv.type);
  const DType type = message.coded() ? *message.type : known ? known->type : DType{};
  const std::uint64_t nanoseconds = message.end - message.begin;
  api::ProgramReport& seen = *api::program_report();
  const std::lock_guard lock(seen.mutex);
  CallRow& row =
      seen.messages.calls.count(key_of(Collective::recv, type, message.bytes, recv.site), message.bytes);
  if (!message.coded()) return row.note_plain(Fallback::sender);
  ++row.sum.compressed_calls;
  row.sum.times[Phase::decode] += nanoseconds;
  row.sum.times[Phase::call] += nanoseconds;
}

// ---- Nonblocking calls

namespace {

// Description of a call that MPI serves, made while its datatypes are valid: the program may free them soon.
struct LeftCall {
  ArrayCopies copies;  // of the arrays of the call
  api::RankAndSize group;
  std::shared_ptr<const api::Topology> topology;  // of a call on neighbours
  std::optional<CollectiveCall> request;          // nothing: rules never serve such calls
};

// Persistent requests of MPI whose starts are counted. Never destroyed, as the program's requests may outlive
// static objects.
struct CountedRequests {
  std::mutex mutex;
  std::unordered_map<MPI_Request, LeftCall> calls;
};
constexpr auto counted_requests = lasting<CountedRequests>;

std::atomic<bool> has_requests{false};  // without requests no lock is needed

// Throws std::bad_alloc, and Error for arguments that MPI refuses.
LeftCall described(const CallMaker& make) {
  LeftCall left;
  api::MpiCall call = make(left.copies);
  if (!options().report.empty()) call.site = program_site(call.site);
  left.group = api::rank_and_size_of(call.comm);
  if (of_neighbours(call.info().collective))
    left.topology = api::topology_of(call.comm, api::pairs_by_direction(call, false));
  left.request = api::describe(call, left.group, left.topology.get());
  if (left.request && !left.request->coded()) left.request.reset();
  return left;
}

// Samples the values of a call. Called before the call is counted in its row.
void sample(CallRow& row, const CollectiveCall& request, const api::RankAndSize& group) noexcept {
  static Sampler sampler(options().kernels);
  const Blocks<ConstSlice> values = own_values(request, group.rank);
  const bool readable = values.data != nullptr && !taut::on_device(values.data);
  if (!options().report.empty() && row.key == request.key() && Sampler::is_due(row) && readable)
    sampler.look(row,
                 sampled_call(request, group.rank, true,
                              has_input_in_result(request.collective, request.data, group.rank, group.size)));
}

void count(const LeftCall& call) {
  if (!call.request) return;
  const auto& [copies, group, topology, request] = call;
  api::ProgramReport& seen = *api::program_report();
  const std::lock_guard lock(seen.mutex);
  CommReport& report = seen.nonblocking[group.size];
  if (report.needs == nullptr)
    report = {
        .policy = "rules", .name = {"nonblocking calls"}, .ranks = group.size, .needs = "TAUT_NONBLOCKING=1"};
  CallRow& row = report.calls.row(request->key());
  sample(row, *request, group);
  row.add_call(request->bytes);
  row.note_plain(Fallback::off);
}

}  // namespace

void count_left(MPI_Comm comm, CallMaker make) {
  if (!counts_calls() || !intercepts(comm)) return;
  const BypassScope bypass;
  try {
    count(described(make));
  } catch (const Error&) {  // the call is MPI's in any case
  } catch (const std::bad_alloc&) {
  }
}

void count_starts_of(MPI_Comm comm, MPI_Request request, CallMaker make) {
  if (!counts_calls() || !intercepts(comm)) return;
  const BypassScope bypass;
  try {
    LeftCall left = described(make);
    const std::lock_guard lock(counted_requests().mutex);
    counted_requests().calls.insert_or_assign(request, std::move(left));
    has_requests = true;
  } catch (const Error&) {  // its starts are not counted
  } catch (const std::bad_alloc&) {
  }
}

void count_start(MPI_Request request) noexcept {
  if (!has_requests) return;
  const BypassScope bypass;
  try {
    const std::lock_guard lock(counted_requests().mutex);
    const auto found = counted_requests().calls.find(request);
    if (found != counted_requests().calls.end()) count(found->second);
  } catch (...) {  // the start is MPI's in any case
  }
}

void forget_starts_of(MPI_Request request) noexcept {
  if (!has_requests) return;
  const std::lock_guard lock(counted_requests().mutex);
  counted_requests().calls.erase(request);
}

// ---- Unserved calls

namespace {

std::array<std::atomic<std::uint64_t>, std::size(wrapped_names)> unserved_calls{};

std::vector<UnservedCalls> counted() {
  std::vector<UnservedCalls> all;
  for (std::size_t i = 0; i < unserved_calls.size(); ++i)
    if (unserved_calls[i] != 0) all.push_back({wrapped_names[i], unserved_calls[i]});
  return all;
}

}  // namespace

void count_unserved(Wrapped function) noexcept {
  unserved_calls[static_cast<std::size_t>(function)].fetch_add(1, std::memory_order_relaxed);
}

void begin_counting_unserved() noexcept { api::tell_unserved(counted); }

}  // namespace taut::dropin
