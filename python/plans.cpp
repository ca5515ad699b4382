#include "plans.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <span>

#include "communication/policy/plan/plan.hpp"
#include "communication/policy/plan/policy.hpp"
#include "communication/policy/plan/rules.hpp"
#include "communication/policy/text/rule_reader.hpp"
#include "compressor/api/device_codec.hpp"
#include "compressor/base/options.hpp"
#include "errors.hpp"

namespace taut::python {
namespace {

using Room = std::pair<Address, std::size_t>;  // memory: its address and its size in bytes

ConstSlice values_at(Address address, std::size_t count, int type) {
  return {reinterpret_cast<const std::byte*>(address), count, static_cast<DType>(type)};
}

// Returns the text of a policy in today's spelling; raises if it is invalid.
std::string check_policy(const std::string& text) {
  return unlocked([&] { return parse_policy(text).text; });
}

// Returns the text of a policy's coding under `bound`. A bound relative to the range of the values is exact
// if the range is 0; it then drops the codec that was asked for, which may be unable to code without loss.
std::string coding_text(const Coding& coding, Bound bound, const CodecInfo* codec) {
  const bool drops = bound.exact() && !coding.bound.exact();
  Coding one = coding.with_bound(bound);
  one.codec = drops ? nullptr : codec;
  if (drops) one.predictor = {};
  one.dims = {};  // those of an array, not of the parts that ranks send
  one.fill.reset();
  return taut::text_of(one);
}

// Returns the range of values, on the host or on a GPU, if the policy's bound is relative to it, else an
// empty range: least > greatest.
std::pair<double, double> range_for(const std::string& text, Address address, std::size_t count, int type) {
  return unlocked([&] {
    const Coding coding = parse_policy(text).coding;
    const ValueRange range = is_relative(coding.bound)
                                 ? api::range_anywhere(values_at(address, count, type), coding)
                                 : ValueRange{};
    return std::pair(range.least, range.greatest);
  });
}

// Returns the coding of each rank's values in a two-shot reduction, true if its frames are added, and the
// bound of the result in absolute terms, 0 if there is none; an empty text if the policy leaves the call
// uncompressed. `op`: a Reduction, or 0 for a mean. `least` and `greatest`: range of all ranks' values.
using ReductionCoding = std::tuple<std::string, bool, double>;
ReductionCoding reduction_coding(const std::string& text, int type, std::size_t count, int ranks, int op,
                                 double least, double greatest) {
  return unlocked([&]() -> ReductionCoding {
    Policy policy = parse_policy(text);
    policy.algorithm = "two_shot";
    policy.by_nodes = Policy::ByNodes::off;
    Call call{.collective = Collective::allreduce,
              .type = static_cast<DType>(type),
              .op = op == 0 ? Reduction::sum : static_cast<Reduction>(op),
              .ranks = ranks,
              .mean = op == 0};
    call.bytes = count * size_of(call.type);
    CandidateTable table;
    const Bound bound = resolved(policy.coding.bound, {least, greatest});
    const Plan plan = make_plan(policy, call, bound, table);
    if (plan.fallback != Fallback::none) return {"", false, 0};
    const CodecInfo* const codec = plan.candidates[0].codec;
    const double in_sum = policy.on == Policy::On::input && call.op == Reduction::sum && op != 0 ? ranks : 1;
    const bool absolute = bound.kind == Bound::Kind::absolute && !bound.exact();
    return {coding_text(policy.coding, plan.bound, codec), plan.arithmetic == Arithmetic::frames,
            absolute ? bound.value * in_sum : 0};
  });
}

// Returns the coding of values that a call moves; an empty text if the policy leaves them uncompressed.
std::string move_coding(const std::string& text, Address address, std::size_t count, int type) {
  return unlocked([&]() -> std::string {
    const Policy policy = parse_policy(text);
    const ConstSlice values = values_at(address, count, type);
    if (!options().enabled || policy.off || values.bytes() < policy.min_bytes) return "";
    const Bound asked = bound_for(values.type, policy.coding.bound);
    const ValueRange range = is_relative(asked) ? api::range_anywhere(values, policy.coding) : ValueRange{};
    return coding_text(policy.coding, resolved(asked, range), policy.coding.codec);
  });
}

// Returns rules in one line, as TAUT_RULES has them. Groups of ranks that Python names have no scope and no
// call sites.
std::string rules_text(const std::string& line, const std::string& file) {
  return unlocked([&] {
    const Rules rules = read_rules(line, file, "");
    std::string text;
    for (const Rule& rule : rules.all()) {
      if (rule.when.scope != Conditions::Scope::any || !rule.when.callsite.empty())
        throw Error(Status::invalid_policy, "rule '" + text_of(rule) +
                                                "': groups of PyTorch have no scope and no call sites; name "
                                                "the group by comm=name:");
      text.append(text.empty() ? "" : " ; ").append(text_of(rule));
    }
    return text;
  });
}

// Returns the rules of a text that rules_text() has returned. The program has few such texts.
const Rules& rules_of(const std::string& text) {
  static std::mutex mutex;
  static std::map<std::string, Rules> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(text); found != known.end()) return found->second;
  return known.emplace(text, read_rules(text, "", "")).first->second;
}

// Returns the policy of a call on a group, for messages of any size; an empty text if the call goes
// uncompressed. `rules`: as rules_text() returns them. `call`: name of a call in rules. `op`: a Reduction.
std::string policy_by_rules(const std::string& rules, const std::string& group, int ranks, bool world,
                            const std::string& call, int op, int type, std::size_t bytes) {
  return unlocked([&]() -> std::string {
    const Rules held = rules_of(rules).for_comm({.name = group, .ranks = ranks, .world = world});
    const auto collective = static_cast<Collective>(std::countr_zero(call_bit(call)));
    const Policy* const chosen = match(held, {.collective = collective,
                                              .type = static_cast<DType>(type),
                                              .op = static_cast<Reduction>(op),
                                              .bytes = bytes,
                                              .ranks = ranks});
    if (chosen == nullptr || bytes < chosen->min_bytes) return "";
    const bool exact_bits =
        chosen->coding.bits == PackedBits::exact && chosen->text.find("bits=") == std::string::npos;
    return chosen->text + ",min_bytes=0" + (exact_bits ? ",bits=exact" : "");
  });
}

// Encodes values into `room` and returns the size of the frame in bytes.
std::size_t encode_into(Address address, std::size_t count, int type, const std::string& text, Room room) {
  std::size_t bytes = 0;
  check(unlocked([&] {
    return TAUT_Encode(reinterpret_cast<const void*>(address), count, static_cast<TAUT_Type>(type),
                       text.c_str(), reinterpret_cast<void*>(room.first), room.second, &bytes);
  }));
  return bytes;
}

// Adds two frames into `room` and returns the size of the sum in bytes.
std::size_t add_into(Room a, Room b, Room room) {
  std::size_t bytes = 0;
  check(unlocked([&] {
    return TAUT_Frame_add(reinterpret_cast<const void*>(a.first), a.second,
                          reinterpret_cast<const void*>(b.first), b.second,
                          reinterpret_cast<void*>(room.first), room.second, &bytes);
  }));
  return bytes;
}

// Returns true if rules, as TAUT_RULES and TAUT_CONFIG give them, let a broadcast replace the root's values.
bool rules_replace_root(const std::string& line, const std::string& file) {
  return unlocked([&] {
    const Rules rules = options().enabled ? read_rules(line, file, options().kernels) : Rules();
    return std::ranges::any_of(rules.all(), [](const Rule& rule) {
      return rule.policy.same_bits && (rule.when.calls & Conditions::bit(Collective::bcast)) != 0;
    });
  });
}

}  // namespace

void add_plan_functions(nb::module_& module) {
  module.def("check_policy", check_policy, nb::arg("text"));
  module.def("rules_replace_root", rules_replace_root, nb::arg("line"), nb::arg("file"));
  module.def("range_for", range_for, nb::arg("text"), nb::arg("address"), nb::arg("count"), nb::arg("type"));
  module.def("reduction_coding", reduction_coding, nb::arg("text"), nb::arg("type"), nb::arg("count"),
             nb::arg("ranks"), nb::arg("op"), nb::arg("least"), nb::arg("greatest"));
  module.def("rules_text", rules_text, nb::arg("line"), nb::arg("file"));
  module.def("policy_by_rules", policy_by_rules, nb::arg("rules"), nb::arg("group"), nb::arg("ranks"),
             nb::arg("world"), nb::arg("call"), nb::arg("op"), nb::arg("type"), nb::arg("bytes"));
  module.def("move_coding", move_coding, nb::arg("text"), nb::arg("address"), nb::arg("count"),
             nb::arg("type"));
  module.def("encode_into", encode_into, nb::arg("address"), nb::arg("count"), nb::arg("type"),
             nb::arg("text"), nb::arg("room"));
  module.def("add_into", add_into, nb::arg("a"), nb::arg("b"), nb::arg("room"));
}

}  // namespace taut::python
