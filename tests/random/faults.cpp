// Calls in which something goes wrong. Every rank ends: with a result that is right, or with an error; after
// an error that is not the end of the job, the next call is right again.
#include <chrono>
#include <sstream>
#include <thread>

#include "random/configurations.hpp"
#include "random/policies.hpp"
#include "support/damage.hpp"
#include "support/places.hpp"
#include "support/ranks.hpp"
#include "support/replace_new.hpp"
#include "support/shielded.hpp"

namespace taut::test {
namespace {

enum class Fault : std::uint8_t {
  frames,       // of one rank, damaged on their way
  agreement,    // a message of it damaged; ends the job, as not all ranks learn of it
  death,        // of a rank
  delay,        // of a rank, or of its messages
  other_call,   // one rank means another one
  null_buffer,  // on one rank
  no_scratch,   // one rank's place has no memory at one request
  no_memory,    // nor has its operator new, from one allocation on
};
constexpr const char* fault_names[] = {
    "damaged frames", "damaged agreements",    "dead ranks",        "delays", "different calls",
    "null buffers",   "places without memory", "failed allocations"};

// How a call ended on one rank.
struct Outcome {
  Verdict verdict;
  bool thrown = false;
  Status status() const noexcept { return thrown ? Status::transport_failed : verdict.status; }
};

struct Scenario {
  Scenario(Draw& draw, Fault what) : fault(what) {
    P = 2 + draw.pick(draw.one_in(6) ? 16 : 6);
    victim = draw.pick(P);
    threads = P <= 8 && draw.one_in(8);
    at = draw.pick(draw.one_in(2) ? 8 : 60);
    often = draw.one_in(2);
    variant = draw.bits();
    const double scale = std::pow(10.0, draw.pick(5) - 2);
    do {
      policy = draw_policy(draw, scale) + ",min_bytes=0";
      call = draw_call(draw, P, scale);
    } while (!draw.one_in(8) && !is_served(policy, call));
    other_policy = draw_policy(draw, scale * 2) + ",min_bytes=0";
    next = draw_call(draw, P, scale);
    seed = draw.bits();
  }

  // Whether there are frames, whatever they gain.
  static bool is_served(const std::string& policy, const Call& call) {
    CandidateTable table;
    const Plan plan = plan_of(parse_policy(policy), Memory(call), table);
    return plan.plain == Plain::no && plan.least_ratio == 0;
  }
  // A change of payloads that no checksum would tell.
  bool may_pass_unseen() const { return !parse_policy(policy).coding.checksum; }
  bool is(Fault what) const noexcept { return fault == what; }

  Fault fault;
  int P, victim, at;  // at: the message, operation, request or allocation
  bool threads, often;
  std::uint64_t variant, seed;
  std::string policy, other_policy;
  Call call, next;
};

std::ostream& operator<<(std::ostream& out, const Scenario& s) {
  return out << fault_names[static_cast<int>(s.fault)] << " on rank " << s.victim << " at " << s.at
             << (s.often ? " and later" : "") << " variant " << s.variant % 1000
             << (s.threads ? ", threads, " : ", ") << s.policy << ":\n  " << s.call << "\n  then " << s.next;
}

// ---- What goes wrong

// Lanes of agreements: those of communicator.cpp.
bool of_agreement(Lane lane) noexcept { return lane % 128 == max_segments; }

// Counts the damaged ones.
void damage_messages(LoopbackHub& hub, const Scenario& s, int& damaged) {
  const Damage& damage = damages[s.variant % std::size(damages)];
  int n = 0;
  hub.set_damage(
      [&hub, &s, &damage, &damaged, n](const LoopbackHub::Record& record, Message& message) mutable {
        if (of_agreement(record.lane) != s.is(Fault::agreement)) return;
        const int i = n++, first = s.at % 8;
        if (i < first || (i > first && !(s.often && record.from == s.victim))) return;
        damage.apply(message);
        ++damaged;
      });
}

DType other_type(DType type) noexcept {
  switch (size_of(type)) {
    case 1: return type == DType::i8 ? DType::u8 : DType::i8;
    case 2: return type == DType::f16 ? DType::bf16 : DType::f16;
    case 4: return type == DType::f32 ? DType::i32 : DType::f32;
    case 8: return type == DType::f64 ? DType::i64 : DType::f64;
    default: return type;
  }
}

// Whether the request has become another one.
bool make_other(Request& request, const Scenario& s) {
  const DType type = other_type(request.data.in.type);
  switch (s.variant % 5) {
    case 0: request.bytes += size_of(type); return request.bytes_known;
    case 1:
      request.data.op = request.data.op == Reduction::max ? Reduction::min : Reduction::max;
      return true;
    case 2: request.data.root = (request.data.root + 1) % s.P; return true;
    case 3:
      request.collective =
          request.collective == Collective::allreduce ? Collective::bcast : Collective::allreduce;
      return true;
    default: {
      const bool changed = type != request.data.in.type;
      request.data.in.type = request.data.out.type = type;
      return changed;
    }
  }
}

// Whether a buffer with values was taken away.
bool take_buffer(Request& request) {
  Operands& data = request.data;
  if (data.in.data != nullptr && data.in.values() > 0) {
    data.in.data = nullptr;
    return true;
  }
  const bool had = data.out.data != nullptr && data.out.values() > 0;
  data.out.data = nullptr;
  return had;
}

// ---- A call on all ranks

class Trial {
 public:
  explicit Trial(const Scenario& s)
      : s_(s), ranks_(s.P, s.policy, {.seed = s.seed, .random_order = !s.threads, .slow = slow(s)}) {
    const auto v = static_cast<std::size_t>(s.victim);
    Transport& transport = ranks_.hub.transport(s.victim);
    if (s.is(Fault::no_scratch)) short_ = install(ranks_.places[v], s.at);
    if (s.is(Fault::no_memory)) shield_ = std::make_unique<ShieldedTransport>(transport);
    const bool other = s.is(Fault::other_call) && s.variant % 6 == 5;
    if (other || s.is(Fault::no_scratch) || s.is(Fault::no_memory))
      ranks_.comms[v] =
          std::make_unique<Communicator>(shield_ != nullptr ? *shield_ : transport, *ranks_.places[v],
                                         parse_policy(other ? s.other_policy : s.policy));
  }

  std::vector<Outcome> run(Memory& memory, bool faulty) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(s_.P));
    std::vector<Task<>> tasks;
    for (int r = 0; r < s_.P; ++r) {
      Request request = request_of(memory, r);
      if (faulty && r == s_.victim) harm(request);
      tasks.push_back(one_rank(r, request, faulty && r == s_.victim, outcomes[static_cast<std::size_t>(r)]));
    }
    s_.threads ? ranks_.hub.run_threads(tasks) : ranks_.hub.run(tasks);
    for (Task<>& task : tasks) task.result();
    return outcomes;
  }

  LoopbackHub& hub() noexcept { return ranks_.hub; }
  // The fault that was to be has happened; for other_call and null_buffer: the victim's request is wrong.
  bool struck() const noexcept {
    return struck_ || (short_ != nullptr && short_->requests > s_.at) ||
           (s_.is(Fault::death) && ranks_.hub.ended());
  }

 private:
  static ShortPlace* install(std::unique_ptr<Place>& place, int fails_at) {
    auto installed = std::make_unique<ShortPlace>(fails_at);
    ShortPlace* const it = installed.get();
    place = std::move(installed);
    return it;
  }
  static int slow(const Scenario& s) noexcept { return s.is(Fault::delay) && !s.threads ? s.victim : -1; }

  void harm(Request& request) {
    struck_ = s_.is(Fault::delay);
    if (s_.is(Fault::other_call))
      struck_ = s_.variant % 6 == 5 ? s_.policy != s_.other_policy : make_other(request, s_);
    if (s_.is(Fault::null_buffer)) struck_ = take_buffer(request);
  }

  // As under MPI_ERRORS_ARE_FATAL where it has to be: a rank that cannot go on ends the job.
  Task<> one_rank(int rank, Request request, bool victim, Outcome& outcome) {
    Communicator& comm = *ranks_.comms[static_cast<std::size_t>(rank)];
    if (victim && s_.threads && s_.is(Fault::delay))
      std::this_thread::sleep_for(std::chrono::milliseconds(s_.at));
    try {
      if (victim && s_.is(Fault::no_memory)) {
        Starved<Verdict> call([&] { return comm.start(request); }, static_cast<std::size_t>(s_.at));
        struck_ = true;
        outcome.verdict = co_await call;
        struck_ = call.starved();
      } else {
        outcome.verdict = co_await comm.start(request);
      }
    } catch (const std::bad_alloc&) {
      outcome.thrown = true;
    } catch (const Error&) {
      outcome.thrown = true;
    }
    if (outcome.thrown || (s_.is(Fault::agreement) && outcome.status() != Status::ok)) ranks_.hub.kill(rank);
  }

  const Scenario& s_;
  Ranks ranks_;
  std::unique_ptr<ShieldedTransport> shield_;
  ShortPlace* short_ = nullptr;
  bool struck_ = false;
};

// ---- What must hold

std::string name_of(const Outcome& outcome) {
  return outcome.thrown ? "the end of the job" : describe(outcome.verdict.status);
}

// Ranks that report no error have what they were promised, or leave the call to plain MPI.
std::string dishonest(const Scenario& s, const Memory& memory, const std::vector<Outcome>& outcomes,
                      Tally& tally) {
  if (std::string text = memory.touched(true); !text.empty()) return text;
  for (int r = 0; r < s.P; ++r) {
    const Outcome& outcome = outcomes[static_cast<std::size_t>(r)];
    tally.ended += outcome.thrown;
    tally.errors += !outcome.thrown && outcome.status() != Status::ok;
    const bool served = outcome.status() == Status::ok && outcome.verdict.plain == Plain::no;
    if (!served) continue;
    std::string text = broken(promise_of(parse_policy(s.policy), memory), memory, tally.exactness, r);
    if (!text.empty()) return "without an error: " + text;
  }
  return "";
}

// All ranks leave it to plain MPI or none does, and who does has touched nothing.
std::string divided(const Memory& memory, const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes)
    if (outcome.verdict.plain != outcomes[0].verdict.plain) return "some ranks leave the call to plain MPI";
  return outcomes[0].verdict.plain != Plain::no ? memory.touched(false) : "";
}

template <class Wanted>
std::string unless_all(const std::vector<Outcome>& outcomes, Wanted wanted) {
  for (std::size_t r = 0; r < outcomes.size(); ++r)
    if (!wanted(outcomes[r])) return "rank " + std::to_string(r) + " ended with: " + name_of(outcomes[r]);
  return "";
}

bool fine(const Outcome& outcome) { return outcome.status() == Status::ok; }
bool ended(const Outcome& outcome) { return outcome.thrown; }
bool refused(const Outcome& outcome) { return !outcome.thrown && outcome.verdict.status != Status::ok; }
bool survived(const Outcome& outcome) { return !outcome.thrown; }

std::string wrong(const Scenario& s, const Memory& memory, const std::vector<Outcome>& outcomes, bool struck,
                  int damaged, Tally& tally) {
  const bool unseen = damaged > 0 && s.may_pass_unseen();
  if (std::string text = unseen ? memory.touched(true) : dishonest(s, memory, outcomes, tally); !text.empty())
    return text;
  const bool plain = outcomes[0].verdict.plain != Plain::no;
  // A thread that has never run a call may have no memory to begin one.
  const bool may_end = s.is(Fault::agreement) || s.is(Fault::death) || (s.is(Fault::no_memory) && s.threads);
  if (!may_end) {
    if (std::string text = divided(memory, outcomes); !text.empty()) return text;
    if (std::string text = unless_all(outcomes, survived); !text.empty()) return text;
  }
  if (s.is(Fault::other_call) && struck) return unless_all(outcomes, refused);
  if (s.is(Fault::null_buffer) && struck && !plain) return unless_all(outcomes, refused);
  if (s.is(Fault::delay) || (!struck && damaged == 0)) return unless_all(outcomes, fine);
  if (damaged > 0 && !unseen && unless_all(outcomes, fine).empty()) return "nobody reported the damage";
  return "";
}

std::string wrong_after(const Scenario& s, Trial& trial, Tally& tally) {
  trial.hub().set_damage(nullptr);
  Memory memory(s.next);
  const bool over = trial.hub().ended();
  const std::vector<Outcome> outcomes = trial.run(memory, false);
  if (over) return unless_all(outcomes, ended);
  if (s.is(Fault::death)) return dishonest(s, memory, outcomes, tally);  // it may happen now
  if (s.is(Fault::other_call) && s.variant % 6 == 5) return "";          // policies still differ
  if (std::string text = dishonest(s, memory, outcomes, tally); !text.empty()) return text;
  if (std::string text = divided(memory, outcomes); !text.empty()) return text;
  return unless_all(outcomes, fine);
}

std::string run_scenario(const Scenario& s, Tally& tally) {
  Trial trial(s);
  Memory memory(s.call);
  int damaged = 0;
  if (s.is(Fault::frames) || s.is(Fault::agreement)) damage_messages(trial.hub(), s, damaged);
  if (s.is(Fault::death)) trial.hub().kill(s.victim, static_cast<std::uint64_t>(s.at));
  const std::vector<Outcome> outcomes = trial.run(memory, true);
  tally.struck[static_cast<std::size_t>(s.fault)] += trial.struck() || damaged > 0;
  if (std::string text = wrong(s, memory, outcomes, trial.struck(), damaged, tally); !text.empty())
    return text;
  std::string text = wrong_after(s, trial, tally);
  return text.empty() ? text : "the next call: " + text;
}

// In a thread of its own: its coroutines have no memory yet that they could use again.
std::string run_alone(const Scenario& s, Tally& tally) {
  std::string text;
  std::thread([&] {
    try {
      text = run_scenario(s, tally);
    } catch (const std::exception& error) {
      text = std::string("threw: ") + error.what();
    }
  }).join();
  return text;
}

}  // namespace

const char* name_of_fault(std::size_t i) noexcept { return fault_names[i]; }

std::string run_faults(Draw& draw, Tally& tally, std::string& what) {
  const auto fault = static_cast<Fault>(draw.pick(static_cast<int>(std::size(fault_names))));
  const Scenario s(draw, fault);
  std::ostringstream text;
  text << s;
  what = text.str();
  ++tally.calls;
  ++tally.drawn[static_cast<std::size_t>(fault)];
  return s.is(Fault::no_memory) ? run_alone(s, tally) : run_scenario(s, tally);
}

}  // namespace taut::test
