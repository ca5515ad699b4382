// Names of calls, types and operators in rules, and rules as text.
#include <algorithm>
#include <cctype>

#include "communication/policy/text/rule_reader.hpp"

namespace taut {
namespace {

struct RuleCall {
  std::string name;
  Collective collective;
};

// Returns the calls that rules can name: each collective by its name in MPI, which stands for all of its
// forms, and messages.
const std::vector<RuleCall>& calls() {
  static const std::vector<RuleCall> all = [] {
    std::vector<RuleCall> made;
    const auto add = [&](Collective collective) {
      std::string name = name_of(collective);
      name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
      made.push_back({std::move(name), collective});
    };
    for (const Collective collective : all_collectives) add(collective);
    add(Collective::send);
    return made;
  }();
  return all;
}

constexpr Reduction operators[] = {Reduction::sum, Reduction::min, Reduction::max};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool equal(std::string_view a, std::string_view b) { return lower(a) == lower(b); }

bool is_form_of(std::string_view form, std::string_view call) {
  if (!equal(form.substr(0, call.size()), call)) return false;
  const std::string rest = lower(form.substr(call.size()));
  return rest.empty() || rest == "v" || rest == "w" || rest == "_block" || rest == "_init" ||
         rest == "v_init" || rest == "w_init";
}

// Returns the names of the bits that are set, as "a,b".
std::string names_of(std::uint32_t bits, const auto& all, auto value, auto name) {
  std::string text;
  for (const auto& one : all)
    if ((bits & Conditions::bit(value(one))) != 0) text.append(text.empty() ? "" : ",").append(name(one));
  return text;
}

std::string communicator_text(const Conditions& when) {
  std::string text;
  if (!when.name.empty()) text.append(" comm=name:").append(when.name);
  if (when.world) text += " comm=world";
  if (when.min_ranks > 0) text.append(" comm=size:>=").append(std::to_string(when.min_ranks));
  if (when.max_ranks < INT32_MAX) text.append(" comm=size:<=").append(std::to_string(when.max_ranks));
  if (when.scope != Conditions::Scope::any)
    text += when.scope == Conditions::Scope::inter ? " scope=inter" : " scope=intra";
  return text;
}

std::vector<DType> all_types() {
  std::vector<DType> types;
  for (std::uint8_t type = 1; type <= dtypes; ++type) types.push_back(DType{type});
  return types;
}

}  // namespace

std::uint32_t call_bit(std::string_view name) {
  for (const RuleCall& call : calls())
    if (equal(name, call.name)) return Conditions::bit(call.collective);
  return 0;
}

std::uint32_t type_bit(std::string_view name) noexcept {
  for (const DType type : all_types())
    if (name == name_of(type)) return Conditions::bit(type);
  return 0;
}

std::uint32_t operator_bit(std::string_view name) noexcept {
  for (const Reduction op : operators)
    if (equal(name, name_of(op))) return Conditions::bit(op);
  return 0;
}

const char* call_name(Collective collective) {
  for (const RuleCall& call : calls())
    if (call.collective == collective) return call.name.c_str();
  return "";
}

std::string call_remedy(std::string_view name) {
  if (lower(name).find("send") != std::string::npos || lower(name).find("recv") != std::string::npos)
    return "use Send for messages of unchanged programs, with TAUT_MESSAGES=1; those of TAUT_ calls need a "
           "policy on their communicator (TAUT_Comm_set_policy), as both sides have to know";
  std::string_view form = name;
  if (equal(form.substr(0, 4), "MPI_")) form.remove_prefix(4);
  for (const RuleCall& call : calls())
    if (is_form_of(form, call.name) || (!form.empty() && is_form_of(form.substr(1), call.name)))
      return "use " + call.name + ", which stands for all of its forms";
  std::string remedy = "use *";
  for (const RuleCall& call : calls()) remedy += " or " + call.name;
  return remedy;
}

std::string text_of(const Rule& rule) {
  const Conditions& when = rule.when;
  std::string text = when.calls == Conditions::any
                         ? "*"
                         : names_of(
                               when.calls, calls(), [](const auto& c) { return c.collective; },
                               [](const auto& c) { return c.name; });
  const auto itself = [](auto value) { return value; };
  if (when.types != Conditions::any)
    text.append(" ").append(
        names_of(when.types, all_types(), itself, [](DType type) { return name_of(type); }));
  if (rule.operators_named)
    text.append(" ").append(names_of(when.ops, operators, itself, [](Reduction op) { return name_of(op); }));
  if (when.min_bytes != 0) text.append(" >=").append(text_of_size(when.min_bytes));
  if (when.max_bytes != SIZE_MAX) text.append(" <=").append(text_of_size(when.max_bytes));
  text += communicator_text(when);
  if (!when.callsite.empty()) text.append(" callsite=").append(when.callsite);
  return text + " : " + rule.policy.text;
}

}  // namespace taut
