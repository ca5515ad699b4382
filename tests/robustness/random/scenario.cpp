#include "robustness/random/scenario.hpp"

#include <cmath>

#include "support/damage.hpp"

namespace taut::test {
namespace {

// Returns true if the call is compressed: frames are sent whatever they gain, or the values are likely to
// gain.
bool is_served(const std::string& policy, const Call& call) {
  CandidateTable table;
  const Plan plan = plan_of(parse_policy(policy), Memory(call), table);
  const bool gains = plan.min_ratio == 0 || call.contents[0] == Content::smooth;
  return plan.fallback == Fallback::none && gains;
}

// Returns true for lanes of agreements, which communicator.cpp defines.
bool of_agreement(Lane lane) noexcept { return lane % 128 == max_segments; }

// Returns true for values sent within a node. They have no checksum: only their size can show damage.
bool on_node(const Call& call, const LoopbackHub::Record& record) noexcept {
  const std::vector<int>& node_of = call.node_of;
  return !node_of.empty() &&
         node_of[static_cast<std::size_t>(record.from)] == node_of[static_cast<std::size_t>(record.to)];
}

const Damage& damage_of(const Scenario& s) noexcept { return damages[s.variant % std::size(damages)]; }

DType other_type(DType type) noexcept {
  switch (size_of(type)) {
    case 1: return type == DType::i8 ? DType::u8 : DType::i8;
    case 2: return type == DType::f16 ? DType::bf16 : DType::f16;
    case 4: return type == DType::f32 ? DType::i32 : DType::f32;
    case 8: return type == DType::f64 ? DType::i64 : DType::f64;
    default: return type;
  }
}

}  // namespace

const char* name_of(Fault fault) noexcept {
  constexpr const char* names[] = {"damaged frames",
                                   "damaged agreements",
                                   "dead ranks",
                                   "delays",
                                   "different calls",
                                   "null buffers",
                                   "places without memory",
                                   "failed allocations",
                                   "failed calls of CUDA",
                                   "faulting kernels",
                                   "GPUs without memory"};
  return names[static_cast<int>(fault)];
}

int Choices::faults() const { return faults_of_hosts; }

Scenario::Scenario(Machine& machine, Draw& draw, Fault what) : fault(what) {
  P = machine.draw_ranks_with_faults(draw);
  victim = draw.pick(P);
  const std::vector<int> nodes = draw_nodes(draw, P);
  threads = P <= 8 && draw.one_in(8);
  at = draw.pick(draw.one_in(2) ? 8 : 60);
  often = draw.one_in(2);
  repeats = draw.one_in(2) ? 1 : 1 + draw.pick(8);
  variant = draw.bits();
  const double scale = std::pow(10.0, draw.pick(5) - 2);
  do {
    policy = machine.draw_policy(draw, scale) + ",min_bytes=0";
    call = machine.draw_call(draw, P, nodes, scale);
    call.same_bits = parse_policy(policy).same_bits;
  } while (!draw.one_in(8) && !is_served(policy, call));
  policy_of_victim = other_policy() ? machine.draw_policy(draw, scale * 2) + ",min_bytes=0" : policy;
  next = draw.one_in(2) ? call : machine.draw_call(draw, P, nodes, scale);
  next.same_bits = call.same_bits;
  seed = draw.bits();
}

std::ostream& operator<<(std::ostream& out, const Scenario& s) {
  out << name_of(s.fault) << " on rank " << s.victim << " at " << s.at << (s.often ? " and later" : "");
  if (s.is(Fault::frames) || s.is(Fault::agreement)) out << ", " << damage_of(s).name;
  if (s.is(Fault::other_call)) out << ", difference " << s.variant % 30;
  return out << (s.threads ? ", threads, " : ", ") << s.policy << ":\n  " << s.call << "\n  then "
             << s.repeats << " times " << s.next;
}

void damage_messages(LoopbackHub& hub, const Scenario& s, int& damaged) {
  const Damage& damage = damage_of(s);
  int n = 0;
  hub.set_damage(
      [&hub, &s, &damage, &damaged, n](const LoopbackHub::Record& record, Message& message) mutable {
        if (of_agreement(record.lane) != s.is(Fault::agreement)) return;
        const int i = n++, first = s.at % 8;
        if (i < first || (i > first && !(s.often && record.from == s.victim))) return;
        const bool values = on_node(s.call, record);
        if (values && message.size() < frame_header_bytes) return;  // the target of the damage does not exist
        Message whole = message;
        damage.apply(message);
        if (values && message.size() == whole.size()) return std::swap(message, whole);
        ++damaged;
      });
}

bool make_other(CollectiveCall& request, const Scenario& s) {
  const DType type = other_type(request.data.in.type);
  switch (s.variant % 5) {
    case 0: request.bytes += size_of(type); return request.bytes_known;
    case 1: request.op = request.op == Reduction::max ? Reduction::min : Reduction::max; return true;
    case 2: request.data.root = (request.data.root + 1) % s.P; return true;
    case 3:
      request.collective =
          request.collective == Collective::allreduce ? Collective::bcast : Collective::allreduce;
      return true;
    default: {
      const bool may_differ =
          !request.bytes_known && !has_root(request.collective);  // then plain MPI serves it
      const bool changed = type != request.data.in.type && !may_differ;
      if (changed) request.type = request.data.in.type = request.data.out.type = type;
      return changed;
    }
  }
}

bool take_buffer(CollectiveCall& request) {
  Operands& data = request.data;
  if (request.staging != nullptr) return false;  // values with gaps have no address here
  if (data.in.data != nullptr && data.in.values() > 0) {
    data.in.data = nullptr;
    return true;
  }
  const bool had = data.out.data != nullptr && data.out.values() > 0;
  data.out.data = nullptr;
  return had;
}

}  // namespace taut::test
