#include "communication/dropin/program_endpoint.hpp"

#include <atomic>
#include <cstdio>
#include <map>

#include "communication/api/state/rule_binding.hpp"
#include "communication/dropin/counts.hpp"
#include "communication/dropin/generalized_requests.hpp"
#include "communication/dropin/interception.hpp"
#include "communication/p2p/credits.hpp"
#include "communication/p2p/probed_messages.hpp"
#include "compressor/base/options.hpp"

namespace taut::dropin {
namespace {

std::atomic<bool> inspecting{false};  // see inspects_messages()

std::string fallback_reason(const std::string& unserved) {
  if (!options().messages) return "a rule for Send needs TAUT_MESSAGES=1, on all ranks";
  if (!unserved.empty()) return "the program may call " + unserved + ", which is not served";
  return "ranks differ in TAUT_MESSAGES or in what they call";
}

// Prints why messages are plain MPI, on rank 0, if TAUT_MESSAGES or a rule asked for coded messages.
void explain_plain_messages(const std::string& unserved) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || (!options().messages && !api::rules_name_messages())) return;
  std::fprintf(stderr, "taut: messages are plain MPI's: %s\n", fallback_reason(unserved).c_str());
}

// Least length of a coded message, which padding makes longer than 64 KiB. A shorter receive buffer needs no
// inspection: every coded message is too long for it, and MPI itself reports the truncation.
constexpr std::size_t least_message_bytes = (std::size_t{64} << 10) + coded_remainder;

class Program final : public p2p::Endpoint {
 public:
  Program(const MessageFormat& format, std::shared_ptr<p2p::SegmentComm> segments)
      : Endpoint(format, false, std::move(segments)),
        credits_(Endpoint::segments()),
        decoder_(Policy{}, format, options().threads) {}

  std::size_t history_bytes() const noexcept override { return history_bytes_; }
  p2p::SharedMessageCoder& coder() noexcept override { return decoder_; }
  void count(const p2p::MpiMessage& recv, const Message& message) noexcept override {
    if (!message.failed && message.bytes >= least_value_bytes) credits_.grant(recv.comm, recv.peer, recv.tag);
    count_received(recv, message);
  }

  p2p::Credits& credits() noexcept { return credits_; }

  p2p::SharedMessageCoder& encoder(const Policy& policy) {
    const std::lock_guard lock(mutex_);
    return encoders_.try_emplace(policy.text, policy, format(), options().threads).first->second;
  }

 private:
  p2p::Credits credits_;
  const std::size_t history_bytes_ = api::history_bytes_of_messages();
  p2p::SharedMessageCoder decoder_;
  std::mutex mutex_;
  std::map<std::string, p2p::SharedMessageCoder> encoders_;  // keyed by the text of the policy
};

// Endpoint of the program's messages. It outlives static destructors, as the program's requests may.
Program* program = nullptr;

void begin_coding() {
  std::uint64_t mark = 0;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) mark = random_mark();
  PMPI_Bcast(&mark, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  program = new Program({mark, least_message_bytes}, p2p::SegmentComm::make(MPI_COMM_WORLD));
  p2p::begin_matched_probes();
  p2p::set_program_endpoint(program);
}

// Returns true if the receiver has granted credit for a coded message: a receive that Taut serves will take
// it.
bool has_credit(const p2p::MpiMessage& message) noexcept {
  return options().trusted_receives || program->credits().has(message.comm, message.peer, message.tag);
}

// Returns the policy of the rule for a message, from what its sender alone knows.
const Policy* policy_for(const Rules& rules, DType type, std::size_t bytes) {
  return match(rules, {.collective = Collective::send, .type = type, .bytes = bytes, .sites = 0});
}

}  // namespace

void begin_messages() noexcept {
  std::string unserved;
  int mine = 0, all = 0;
  try {
    if (options().messages) unserved = unserved_receive();
    mine = options().messages && options().enabled && unserved.empty();
  } catch (...) {  // messages are then not served
  }
  PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  all != 0 ? begin_coding() : explain_plain_messages(unserved);
  inspecting = begin_counting() || all != 0;
}

bool inspects_messages() noexcept { return inspecting; }

void end_messages() noexcept {
  inspecting = false;
  if (p2p::program_endpoint() == nullptr) return;
  program->credits().stop();
  p2p::finish_sends();
  p2p::end_matched_probes();
}

void assign_child_name(MPI_Comm parent, MPI_Comm made) noexcept {
  if (program != nullptr && !BypassScope::active()) program->credits().assign_child_name(parent, made);
}

void encode(p2p::Send& send) noexcept {
  if (!send.layout()->value_type.computes) return send.leave_plain(Fallback::type);
  if (p2p::program_endpoint() == nullptr) return send.leave_plain(Fallback::off);
  const p2p::MpiMessage& message = send.plain();
  const std::size_t bytes = p2p::bytes_of_values(message, *send.layout());
  try {
    const Rules& rules = api::local_rules(message.comm);
    const Policy* const policy = policy_for(rules, send.layout()->type(), bytes);
    const Fallback plain = policy == nullptr           ? Fallback::off
                           : bytes < policy->min_bytes ? Fallback::small
                           : !has_credit(message)      ? Fallback::credit
                                                       : Fallback::none;
    if (plain != Fallback::none) return send.leave_plain(plain);
    send.encode(program->encoder(*policy), program->segments().get(), static_cast<unsigned>(message.tag));
  } catch (...) {
    send.leave_plain(Fallback::memory);
  }
}

}  // namespace taut::dropin
