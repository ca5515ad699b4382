#include "communication/nccl/comm_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "communication/policy/plan/cost_model.hpp"
#include "compressor/base/options.hpp"

namespace taut::nccl {
namespace {

// Staging for buffers that Taut cannot use. It fails, so that the ranks agree to let NCCL serve the call.
class UnreachableValues final : public Staging {
  bool on_device() const noexcept override { return true; }
  std::array<Buffer, 2> pack(Place&, Operands&) const override { throw Error(Status::internal, "no values"); }
  void unpack(const Operands&) const override {}
};

}  // namespace

CommState::CommState(ncclComm* comm, const WaitLimits* limits)
    : nccl_(library()),
      services_(gpu::device_services("the memory of a call of NCCL")),
      transport_(nccl_, services_, comm, limits),
      capacity_mode_(nccl_, services_, transport_, comm) {}

void CommState::agree(const std::string* policy) {
  const gpu::CurrentDevice current(services_, transport_.device());
  const gpu::OwnStream stream(services_);
  agree(policy, stream.get());
}

void CommState::agree(const std::string* policy, void* stream) {
  const gpu::CurrentDevice current(services_, transport_.device());
  transport_.begin_call(stream);
  std::vector<int> node_of;
  rules_ = agreed_rules(policy == nullptr ? process_rules() : read_policy([&] { return *policy; }), node_of);
  const Nodes nodes = agreed_nodes(node_of);
  transport_.set_devices(nullptr);
  transport_.set_nodes(nodes);
  const std::string card = rules_.off() ? "" : agreed_card();
  const auto node_count = static_cast<int>(std::set(node_of.begin(), node_of.end()).size());
  const taut::Call sample_call{
      .ranks = transport_.size(), .nodes = node_count, .over_nccl = true, .card = card};
  rules_ = rules_.with_min_bytes(min_bytes_over_nccl(device_call(sample_call)));
  communicator_ =
      std::make_unique<Communicator>(transport_, place_, rules_, options().kernels, Observer{}, nodes);
  communicator_->keep_frames_on_devices();
  communicator_->set_gpus_of_nccl(card, node_count == 1 && transport_.size() > 1);
  transport_.set_devices(&communicator_->devices());
}

// Returns the rules that all ranks have; none if some rank runs with TAUT=0. Sets `node_of` to the node of
// each rank. Throws the Error of rules that this rank cannot read, and Error(rank_mismatch) if the rules
// differ, or cannot be read on some other rank.
Rules CommState::agreed_rules(const RankRules& mine, std::vector<int>& node_of) {
  Settings agreed(mine, transport_.rank());
  const std::vector<Settings> all = transport_.allgather_value(agreed);
  for (std::size_t r = 0; r < all.size(); ++r) {
    agreed.merge(all[r]);
    std::size_t first = 0;
    while (all[first].node.least != all[r].node.least) ++first;
    node_of.push_back(static_cast<int>(first));
  }
  if (mine.fault) throw *mine.fault;
  if (!agreed.rules.same() || agreed.readable == 0)
    throw Error(Status::rank_mismatch, "the ranks have different policies or rules, or some cannot be read");
  if (agreed.enabled == 0) return {};
  if (mine.rules.single_policy() != nullptr) return mine.rules;
  return mine.rules.for_comm({.ranks = transport_.size(), .several_nodes = !agreed.node.same()});
}

// Returns the nodes for calls by nodes; none if some rank's NCCL cannot split a communicator.
Nodes CommState::agreed_nodes(std::span<const int> node_of) {
  const Nodes nodes(node_of);
  if (!nodes.several() || rules_.off()) return {};
  const std::vector<int> able = transport_.allgather_value(static_cast<int>(NodeComm::can_split(nccl_)));
  return std::ranges::find(able, 0) == able.end() ? nodes : Nodes();
}

// Returns the name of the ranks' GPUs; an empty one if they differ.
std::string CommState::agreed_card() {
  using Name = std::array<char, 64>;
  Name mine{};
  gpu::check(services_, services_.name_of(transport_.device(), mine.data(), mine.size()));
  const std::vector<Name> all = transport_.allgather_value(mine);
  return std::ranges::count(all, mine) == transport_.size() ? mine.data() : "";
}

bool CommState::matches(ncclComm* comm) const {
  int ranks = 0, rank = 0, device = 0;
  return nccl_.CommCount(comm, &ranks) == success && ranks == transport_.size() &&
         nccl_.CommUserRank(comm, &rank) == success && rank == transport_.rank() &&
         nccl_.CommCuDevice(comm, &device) == success && device == transport_.device();
}

void CommState::set_capacity(double ratio) {
  const std::lock_guard lock(call_mutex_);
  const gpu::CurrentDevice current(services_, transport_.device());
  const gpu::OwnStream stream(services_);
  transport_.begin_call(stream.get());
  const std::vector<double> ratios = transport_.allgather_value(ratio);
  if (!(ratio == 0 || (ratio >= 1 && std::isfinite(ratio))))
    throw Error(Status::invalid_argument, "ratio is neither 0 nor a number from 1 on");
  if (std::ranges::any_of(ratios, [&](double other) { return other != ratio; }))
    throw Error(Status::rank_mismatch, "the ranks state different ratios");
  capacity_mode_.set_ratio(ratio);
}

bool CommState::serve(const NcclCall& call, bool plain_if_unreachable) {
  const std::lock_guard lock(call_mutex_);
  const bool compressed = serve_now(call, plain_if_unreachable);
  capacity_mode_.expect_no_late_failure();
  return compressed;
}

bool CommState::serve_now(const NcclCall& call, bool plain_if_unreachable) {
  const gpu::CurrentDevice current(services_, transport_.device());
  std::optional<CollectiveCall> described = describe(call, transport_.rank(), transport_.size());
  if (!described || rules_.off()) return run_plain(nccl_, call, transport_.size()), false;
  communicator_->complete(*described);
  try {
    check_arguments(call, transport_.rank(), transport_.size());
  } catch (const Error&) {
    if (!plain_if_unreachable) throw;
    described->data.in.data = described->data.out.data = nullptr;
    described->staging = std::make_shared<UnreachableValues>();
  }
  return serve(call, *described);
}

bool CommState::serve(const NcclCall& call, const CollectiveCall& described) {
  return capacity_mode_.serve(call, described, rules_, communicator_->nodes(),
                              [&] { return serve_exactly(call, described); });
}

// Serves a call with exact sizes, or by NCCL.
bool CommState::serve_exactly(const NcclCall& call, const CollectiveCall& described) {
  const Verdict verdict = run(described, call.stream);
  if (verdict.fallback != Fallback::none) return run_plain_timed(call, verdict.plain_times), false;
  if (verdict.status != Status::ok) throw Error(verdict.status, verdict.text());
  return true;
}

bool CommState::selects(const NcclCall& call) const {
  std::optional<CollectiveCall> described = describe(call, transport_.rank(), transport_.size());
  if (!described || rules_.off() || described->bytes < rules_.min_bytes()) return false;
  if (call.root < 0 || call.root >= transport_.size()) return false;  // NCCL reports it
  described->ranks = transport_.size();
  return match(rules_, *described) != nullptr;
}

void CommState::connect(void* stream) {
  const gpu::CurrentDevice current(services_, transport_.device());
  transport_.begin_call(stream);
  while (!transport_.run_round(true)) {
  }
}

void CommState::wait(void* stream) {
  transport_.begin_call(stream);
  transport_.wait();
}

// Advances a call, and runs rounds of messages, until the call is complete on all ranks. If a call needs no
// message on one rank, it needs none on any.
Verdict CommState::run(CollectiveCall call, void* stream) {
  transport_.begin_call(stream);
  communicator_->set_stream(stream);
  Task<Verdict> task = communicator_->run(std::move(call));
  for (bool complete = false;;) {
    for (Backoff backoff; !complete && !transport_.needs_round(); backoff.pause()) complete = task.advance();
    if ((complete && !transport_.has_messages()) || transport_.run_round(complete)) return task.result();
  }
}

void CommState::run_plain_timed(const NcclCall& call, RecentTimes* times) {
  const std::uint64_t begin = clock_now();
  run_plain(nccl_, call, transport_.size());
  if (times == nullptr) return;
  transport_.begin_call(call.stream);
  transport_.wait();
  const std::size_t blocks =
      counts_one_block(call.collective) ? static_cast<std::size_t>(transport_.size()) : 1;
  times->note(static_cast<double>(clock_now() - begin) * 1e-9,
              blocks * call.count * size_of(dtype_of_nccl(call.datatype)));
}

void CommState::serve(std::span<const NcclMessage> messages) {
  const std::lock_guard lock(call_mutex_);
  if (rules_.off()) return run_plain(nccl_, messages);
  expect_no_capture(services_, messages[0].stream, "a message under a policy waits for its peer");
  const gpu::CurrentDevice current(services_, transport_.device());
  transport_.begin_call(messages[0].stream);
  MessageGroup(nccl_, services_, transport_, rules_, message_states_, messages, message_memory_).run();
}

std::size_t CommState::settle(void* stream) {
  const std::lock_guard lock(call_mutex_);
  expect_no_capture(services_, stream, "TAUT_Nccl_comm_settle waits for the ranks");
  const gpu::CurrentDevice current(services_, transport_.device());
  return capacity_mode_.settle(stream);
}

void CommState::end_nodes_after_error() noexcept {
  const std::lock_guard lock(call_mutex_);
  transport_.abort_node_after_error();
  if (before_ != nullptr) before_->end_nodes_after_error();
}

void CommState::expect_no_late_failure() {
  const std::lock_guard lock(call_mutex_);
  capacity_mode_.expect_no_late_failure();
}

void CommState::continue_after(const std::shared_ptr<CommState>& before) {
  const std::lock_guard lock(before->call_mutex_);
  capacity_mode_.continue_after(before->capacity_mode_);
  before_ = before->capacity_mode_.has_graphs() ? before : before->before_;
}

}  // namespace taut::nccl
