// Calls with a fault. On every rank the call ends with a correct result or with an error. After an error that
// does not end the job, the next call is correct again.
#include <chrono>
#include <sstream>
#include <thread>

#include "robustness/random/configurations.hpp"
#include "robustness/random/scenario.hpp"
#include "support/places.hpp"
#include "support/ranks.hpp"
#include "support/replace_new.hpp"
#include "support/shielded.hpp"

namespace taut::test {
namespace {

// The outcome of a call on one rank.
struct Outcome {
  Verdict verdict;
  bool thrown = false;
  Status status() const noexcept { return thrown ? Status::transport_failed : verdict.status; }
};

// ---- A call on all ranks

class Trial {
 public:
  Trial(Machine& machine, const Scenario& s)
      : machine_(machine),
        s_(s),
        ranks_(
            s.P, s.policy,
            {.seed = s.seed, .random_order = !s.threads, .slow = slow(s), .copy = machine.copies_messages()},
            Nodes(s.call.node_of)) {
    const auto v = static_cast<std::size_t>(s.victim);
    Transport& transport = ranks_.hub.transport(s.victim);
    if (s.is(Fault::no_scratch)) short_ = install(ranks_.places[v], s.at);
    if (s.is(Fault::no_memory)) shield_ = std::make_unique<ShieldedTransport>(transport);
    if (s.other_policy() || s.is(Fault::no_scratch) || s.is(Fault::no_memory))
      ranks_.comms[v] = std::make_unique<Communicator>(shield_ != nullptr ? *shield_ : transport,
                                                       *ranks_.places[v], parse_policy(s.policy_of_victim),
                                                       "", Observer{}, Nodes(s.call.node_of));
    for (int r = 0; r < s.P; ++r) machine.join(*ranks_.comms[static_cast<std::size_t>(r)], r);
  }

  std::vector<Outcome> run(Memory& memory, bool faulty) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(s_.P));
    std::vector<Task<>> tasks;
    for (int r = 0; r < s_.P; ++r) {
      CollectiveCall request = request_of(memory, r);
      machine_.move(memory, r, request);
      if (faulty && r == s_.victim) harm(request);
      tasks.push_back(one_rank(r, request, faulty && r == s_.victim, outcomes[static_cast<std::size_t>(r)]));
    }
    if (faulty) machine_.arm(s_);
    if (!faulty && short_ != nullptr) short_->stop_failing();
    s_.threads ? ranks_.hub.run_threads(tasks) : ranks_.hub.run(tasks);
    for (Task<>& task : tasks) task.result();
    tasks.clear();
    if (faulty) struck_ |= machine_.disarm();
    machine_.fetch(memory);
    return outcomes;
  }

  LoopbackHub& hub() noexcept { return ranks_.hub; }
  // Returns true if the drawn fault has happened; for other_call and null_buffer: if the victim's request is
  // wrong.
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

  void harm(CollectiveCall& request) {
    struck_ = s_.is(Fault::delay);
    if (s_.is(Fault::other_call))
      struck_ = s_.other_policy() ? s_.policy != s_.policy_of_victim : make_other(request, s_);
    if (s_.is(Fault::null_buffer)) struck_ = take_buffer(request);
  }

  // Runs one rank. A rank that cannot continue ends the job, as under MPI_ERRORS_ARE_FATAL.
  Task<> one_rank(int rank, CollectiveCall request, bool victim, Outcome& outcome) {
    Communicator& comm = *ranks_.comms[static_cast<std::size_t>(rank)];
    if (victim && s_.threads && s_.is(Fault::delay))
      std::this_thread::sleep_for(std::chrono::milliseconds(s_.at));
    try {
      if (victim && s_.is(Fault::no_memory)) {
        Starved<Verdict> call([&] { return comm.run(request); }, static_cast<std::size_t>(s_.at));
        struck_ = true;
        outcome.verdict = co_await call;
        struck_ = call.starved();
      } else {
        outcome.verdict = co_await comm.run(request);
        record_plain(request, outcome.verdict, s_.variant % 100000);
      }
    } catch (const std::bad_alloc&) {
      outcome.thrown = true;
    } catch (const Error&) {
      outcome.thrown = true;
    }
    if (outcome.thrown || (s_.is(Fault::agreement) && outcome.status() != Status::ok)) ranks_.hub.kill(rank);
  }

  Machine& machine_;
  const Scenario& s_;
  Ranks ranks_;
  std::unique_ptr<ShieldedTransport> shield_;
  ShortPlace* short_ = nullptr;
  bool struck_ = false;
};

// ---- Checks

std::string name_of(const Outcome& outcome) {
  return outcome.thrown ? "the end of the job" : describe(outcome.verdict.status);
}

// Checks that each rank without an error has the promised result, or left the call to plain MPI.
std::string dishonest(const Scenario& s, const Memory& memory, const std::vector<Outcome>& outcomes,
                      Tally& tally) {
  if (std::string text = memory.touched(true); !text.empty()) return text;
  std::vector<int> served;
  for (int r = 0; r < s.P; ++r) {
    const Outcome& outcome = outcomes[static_cast<std::size_t>(r)];
    tally.ended += outcome.thrown;
    tally.errors += !outcome.thrown && outcome.status() != Status::ok;
    if (outcome.status() == Status::ok && outcome.verdict.fallback == Fallback::none) served.push_back(r);
  }
  if (served.empty()) return "";
  const std::string text =
      broken(promise_of(parse_policy(s.policy), memory), memory, tally.exactness, served);
  return text.empty() ? "" : "without an error: " + text;
}

// Checks that either all ranks or none fall back to plain MPI, and that such a rank has written nothing.
std::string divided(const Memory& memory, const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes)
    if (outcome.verdict.fallback != outcomes[0].verdict.fallback)
      return "some ranks leave the call to plain MPI";
  return outcomes[0].verdict.fallback != Fallback::none ? memory.touched(false) : "";
}

template <class Wanted>
std::string unless_all(const std::vector<Outcome>& outcomes, Wanted wanted) {
  for (std::size_t r = 0; r < outcomes.size(); ++r)
    if (!wanted(outcomes[r])) return "rank " + std::to_string(r) + " ended with: " + name_of(outcomes[r]);
  return "";
}

bool fine(const Outcome& outcome) { return outcome.status() == Status::ok; }
bool ended(const Outcome& outcome) {  // or left to plain MPI without an agreement
  return outcome.thrown || outcome.verdict.fallback != Fallback::none;
}
bool refused(const Outcome& outcome) { return !outcome.thrown && outcome.verdict.status != Status::ok; }
bool survived(const Outcome& outcome) { return !outcome.thrown; }

std::string wrong(const Scenario& s, const Memory& memory, const std::vector<Outcome>& outcomes, bool struck,
                  int damaged, Tally& tally) {
  const bool unseen = damaged > 0 && s.may_pass_unseen();
  if (std::string text = unseen ? memory.touched(true) : dishonest(s, memory, outcomes, tally); !text.empty())
    return text;
  const bool plain = outcomes[0].verdict.fallback != Fallback::none;
  // A thread that has never run a call may lack the memory to begin one.
  const bool may_end = s.is(Fault::agreement) || s.is(Fault::death) || (s.is(Fault::no_memory) && s.threads);
  if (!may_end) {
    if (std::string text = divided(memory, outcomes); !text.empty()) return text;
    if (std::string text = unless_all(outcomes, survived); !text.empty()) return text;
  }
  if (s.is(Fault::other_call) && struck) return unless_all(outcomes, refused);
  if (s.is(Fault::null_buffer) && struck && !plain) return unless_all(outcomes, refused);
  if (s.is(Fault::delay) || (!struck && damaged == 0)) return unless_all(outcomes, fine);
  // A forwarded message may be damaged twice, and the second damage may undo the first.
  const bool certain = damaged == 1 && !unseen;
  if (certain && unless_all(outcomes, fine).empty()) return "nobody reported the damage";
  return "";
}

std::string wrong_after(const Scenario& s, Trial& trial, Tally& tally) {
  trial.hub().set_damage(nullptr);
  Memory memory(s.next);
  const bool over = trial.hub().ended();
  const std::vector<Outcome> outcomes = trial.run(memory, false);
  if (over) return unless_all(outcomes, ended);
  if (s.is(Fault::death)) return dishonest(s, memory, outcomes, tally);  // the rank may die in this call
  const bool gone = s.is(Fault::kernel) && trial.struck();               // the GPUs are
  if (s.other_policy()) return "";                                       // policies still differ
  if (std::string text = dishonest(s, memory, outcomes, tally); !text.empty()) return text;
  if (std::string text = divided(memory, outcomes); !text.empty()) return text;
  return unless_all(outcomes, gone ? survived : fine);
}

std::string run_scenario(Machine& machine, const Scenario& s, Tally& tally) {
  Trial trial(machine, s);
  Memory memory(s.call);
  int damaged = 0;
  if (s.is(Fault::frames) || s.is(Fault::agreement)) damage_messages(trial.hub(), s, damaged);
  if (s.is(Fault::death)) trial.hub().kill(s.victim, static_cast<std::uint64_t>(s.at));
  const std::vector<Outcome> outcomes = trial.run(memory, true);
  tally.struck[static_cast<std::size_t>(s.fault)] += trial.struck() || damaged > 0;
  if (std::string text = wrong(s, memory, outcomes, trial.struck(), damaged, tally); !text.empty())
    return text;
  for (int k = 0; k < s.repeats; ++k)
    if (std::string text = wrong_after(s, trial, tally); !text.empty())
      return "next call " + std::to_string(k) + ": " + text;
  return "";
}

// Runs in a thread of its own, whose coroutines have no memory to reuse yet.
std::string run_alone(Machine& machine, const Scenario& s, Tally& tally) {
  std::string text;
  std::thread([&] {
    try {
      text = run_scenario(machine, s, tally);
    } catch (const std::exception& error) {
      text = std::string("threw: ") + error.what();
    }
  }).join();
  return text;
}

}  // namespace

const char* name_of_fault(std::size_t i) noexcept { return name_of(static_cast<Fault>(i)); }

std::string run_faults(Machine& machine, Draw& draw, Tally& tally, std::string& what) {
  const auto fault = static_cast<Fault>(draw.pick(machine.faults()));
  const Scenario s(machine, draw, fault);
  std::ostringstream text;
  text << machine.enter(draw, s.P) << s;
  machine.expect(s);
  what = text.str();
  ++tally.calls;
  ++tally.drawn[static_cast<std::size_t>(fault)];
  const std::string wrong =
      s.is(Fault::no_memory) ? run_alone(machine, s, tally) : run_scenario(machine, s, tally);
  const std::string left = machine.leave();
  return !wrong.empty() ? wrong : left;
}

}  // namespace taut::test
