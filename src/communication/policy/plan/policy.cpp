#include "communication/policy/plan/policy.hpp"

#include <cmath>

namespace taut {
namespace {

void read_algorithm(const Item& item, std::string& algorithm) {
  algorithm = item.value == "auto" ? "" : item.value;
  if (algorithm.empty() && item.value == "auto") return;
  std::string remedy = "use auto";
  for (const AlgorithmInfo* info : registered_algorithms()) {
    if (info->name == item.value) return;
    if (remedy.find(info->name) == std::string::npos) remedy += std::string(" or ") + info->name;
  }
  item.reject(remedy);
}

void read_segments(const Item& item, int& segments) {
  if (item.value == "auto") return;
  if (!read_number(item.value, segments) || segments < 1 || segments > max_segments)
    item.reject("use auto or a number from 1 to " + std::to_string(max_segments));
}

void read_slots(const Item& item, double& ratio) {
  ratio = 0;
  if (item.value != "off" && (!read_number(item.value, ratio) || !std::isfinite(ratio) || ratio < 1))
    item.reject("use off or a ratio from 1 on, by which slots are smaller than their values");
}

void read_history(const Item& item, std::size_t& states) {
  if (item.value == "off" || item.value == "auto") {
    states = item.value == "auto" ? Policy::usual_history : 0;
  } else if (!read_number(item.value, states) || states < 1 || states > Policy::max_history) {
    item.reject("use off, auto or a number from 1 to " + std::to_string(Policy::max_history));
  }
}

void check_likely(const Policy& policy) {
  const Bound bound = policy.coding.bound;
  const bool adds_up =
      !bound.exact() && bound.kind != Bound::Kind::pointwise && bound.kind != Bound::Kind::rate;
  if (policy.on == Policy::On::likely && !adds_up)
    throw Error(Status::invalid_policy,
                "policy: on=likely needs a bound of errors that add up; use abs, rel, psnr or snap");
}

void check_reduction(const Policy& policy) {
  if (policy.reducing != Policy::Reducing::frames) return;
  for (const AlgorithmInfo* info : registered_algorithms())
    if (!info->may_add_frames() && info->name == policy.algorithm)
      throw Error(Status::invalid_policy, "policy: algorithm '" + policy.algorithm +
                                              "' decodes and adds values, not frames; use reduction=values");
  if (policy.coding.codec != nullptr && !policy.coding.codec->adds_frames)
    throw Error(Status::invalid_policy, std::string("policy: frames of codec '") + policy.coding.codec->name +
                                            "' cannot be added; use reduction=values");
}

void check_wide_sums(const Policy& policy) {
  if (!policy.wide_sums) return;
  const auto reject = [](const char* remedy) {
    throw Error(Status::invalid_policy, std::string("policy: sum=wide ") + remedy);
  };
  if (!policy.coding.bound.exact()) reject("adds values that travel without loss; use lossless");
  if (!policy.algorithm.empty() && policy.algorithm != rank_order)
    reject("adds in the order of the ranks; leave out algorithm=");
  if (policy.reducing == Policy::Reducing::frames) reject("adds values; leave out reduction=frames");
  if (policy.always_by_nodes()) reject("adds in the order of the ranks; leave out nodes=");
  if (policy.when == Policy::When::profitable)
    reject("gives the same bits in every run, which when=profitable does not; leave out when=");
}

std::vector<std::string_view> known_options() {
  std::vector<std::string_view> names = {"on",        "algorithm", "reduction", "nodes",
                                         "segments",  "same_bits", "history",   "history_bytes",
                                         "min_bytes", "when",      "sum",       "slots"};
  names.insert(names.end(), std::begin(coding_options), std::end(coding_options));
  return names;
}

}  // namespace

std::string_view current_spelling(const Item& item) noexcept {
  return item.name == "when" && item.value == "pays" ? "profitable" : item.value;
}

void read_policy_option(const Item& item, Policy& policy) {
  using Reducing = Policy::Reducing;
  using On = Policy::On;
  using When = Policy::When;
  using ByNodes = Policy::ByNodes;
  if (read_coding_option(item, policy.coding)) return;
  if (item.name == "on") {
    policy.on = choose<On>(item, {{"result", On::result}, {"input", On::input}, {"likely", On::likely}});
  } else if (item.name == "algorithm") {
    read_algorithm(item, policy.algorithm);
  } else if (item.name == "reduction") {
    policy.reducing = choose<Reducing>(
        item, {{"auto", Reducing::automatic}, {"frames", Reducing::frames}, {"values", Reducing::values}});
  } else if (item.name == "nodes") {
    policy.by_nodes = choose<ByNodes>(item, {{"auto", ByNodes::automatic},
                                             {"on", ByNodes::on},
                                             {"frames", ByNodes::frames},
                                             {"off", ByNodes::off}});
  } else if (item.name == "segments") {
    read_segments(item, policy.segments);
  } else if (item.name == "same_bits") {
    policy.same_bits = choose<bool>(item, {{"off", false}, {"on", true}});
  } else if (item.name == "sum") {
    policy.wide_sums = choose<bool>(item, {{"auto", false}, {"wide", true}});
  } else if (item.name == "slots") {
    read_slots(item, policy.slots);
  } else if (item.name == "history") {
    read_history(item, policy.history);
  } else if (item.name == "history_bytes") {
    policy.history_bytes = read_size(item);
  } else if (item.name == "min_bytes") {
    policy.min_bytes = read_size(item);
    policy.min_bytes_given = true;
  } else if (item.name == "when") {
    policy.when =
        choose<When>({item.name, current_spelling(item), item.column},
                     {{"auto", When::automatic}, {"profitable", When::profitable}, {"always", When::always}});
  } else {
    item.reject_name(known_options());
  }
}

void check(const Policy& policy, std::string_view kernels) {
  check(policy.coding, kernels);
  check_reduction(policy);
  check_likely(policy);
  check_wide_sums(policy);
}

Policy parse_policy(std::string_view given, std::string_view kernels) {
  const std::string text = with_colon(given);
  Policy policy;
  policy.text = text;
  if (trimmed(text).empty()) return policy;
  bool first = true;
  for (std::size_t begin = 0; begin <= text.size(); first = false) {
    const Item item = next_item(text, begin);
    if (!first) {
      read_policy_option(item, policy);
      const std::size_t from_end = text.size() - (item.column - 1);
      policy.text.replace(policy.text.size() - from_end, item.value.size(), current_spelling(item));
    } else if (item.name.empty() && item.value == "off") {
      policy.off = true;
    } else {
      policy.off = false;
      read_bound(item, policy.coding);
    }
  }
  if (!policy.off) check(policy, kernels);
  return policy;
}

}  // namespace taut
