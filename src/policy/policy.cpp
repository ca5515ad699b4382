#include "policy/policy.hpp"

#include <charconv>
#include <cmath>

namespace taut {
namespace {

// One "name=value" of the text, or the bound at its start.
struct Item {
  std::string_view name, value;
  std::size_t column = 1;  // of the value

  [[noreturn]] void reject(const std::string& remedy) const {
    const std::string what = name.empty() ? "bound" : "option '" + std::string(name) + "'";
    throw Error(Status::invalid_policy, "policy, column " + std::to_string(column) + ": " + what +
                                            " cannot be '" + std::string(value) + "'; " + remedy);
  }
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Calls `use` with each item between commas.
template <class Use>
void for_each_item(std::string_view text, Use use) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = trimmed(text.substr(begin, end - begin));
    const std::size_t equals = part.find('=');
    Item item{{}, part, static_cast<std::size_t>(part.data() - text.data()) + 1};
    if (equals != std::string_view::npos) {
      item.name = trimmed(part.substr(0, equals));
      item.value = trimmed(part.substr(equals + 1));
      item.column = static_cast<std::size_t>(item.value.data() - text.data()) + 1;
    }
    use(item);
    begin = end + 1;
  }
}

// ---- Values

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::size_t read_size(const Item& item) {
  constexpr struct {
    std::string_view suffix;
    int shift;
  } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"B", 0}};
  std::string_view digits = item.value;
  int shift = 0;
  for (const auto& unit : units) {
    if (!digits.ends_with(unit.suffix)) continue;
    digits.remove_suffix(unit.suffix.size());
    shift = unit.shift;
    break;
  }
  std::size_t number = 0;
  if (!read_number(digits, number) || number > (std::size_t{1} << 62) >> shift)
    item.reject("give a size such as 65536, 64KiB or 1MiB");
  return number << shift;
}

template <class T>
struct Choice {
  std::string_view name;
  T value;
};

template <class T, std::size_t n>
T choose(const Item& item, const Choice<T> (&choices)[n]) {
  std::string remedy = "use ";
  for (std::size_t i = 0; i < n; ++i) {
    if (choices[i].name == item.value) return choices[i].value;
    remedy += (i == 0 ? "" : i + 1 == n ? " or " : ", ") + std::string(choices[i].name);
  }
  item.reject(remedy);
}

// ---- Options

void read_codec(const Item& item, Coding& coding) {
  coding.codec_named = item.value != "auto";
  if (!coding.codec_named) return;
  coding.codec = find_codec(std::string(item.value).c_str());
  if (coding.codec != nullptr) return;
  std::string remedy = "use auto";
  for (const CodecInfo* codec : registered_codecs()) remedy += std::string(" or ") + codec->name;
  item.reject(remedy);
}

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

bool read_coding_option(const Item& item, Coding& coding) {
  if (item.name == "codec") {
    read_codec(item, coding);
  } else if (item.name == "predictor") {
    coding.predictor = choose<const char*>(
        item, {{"auto", "auto"}, {"delta", "delta"}, {"pairs", "pairs"}, {"none", "none"}});
  } else if (item.name == "checksum") {
    coding.checksum = choose<bool>(item, {{"off", false}, {"on", true}});
  } else {
    return false;
  }
  return true;
}

[[noreturn]] void reject_name(const Item& item, const char* known) {
  const std::size_t column = item.column - (item.name.empty() ? 0 : item.name.size() + 1);
  throw Error(Status::invalid_policy, "policy, column " + std::to_string(column) + ": '" +
                                          std::string(item.name.empty() ? item.value : item.name) +
                                          "' is not an option; the options are " + known);
}

void read_option(const Item& item, Policy& policy) {
  using Reducing = Policy::Reducing;
  if (read_coding_option(item, policy.coding)) return;
  if (item.name == "on") {
    policy.on_input = choose<bool>(item, {{"result", false}, {"input", true}});
  } else if (item.name == "algorithm") {
    read_algorithm(item, policy.algorithm);
  } else if (item.name == "reduction") {
    policy.reducing = choose<Reducing>(
        item, {{"auto", Reducing::automatic}, {"frames", Reducing::frames}, {"values", Reducing::values}});
  } else if (item.name == "segments") {
    read_segments(item, policy.segments);
  } else if (item.name == "min_bytes") {
    policy.min_bytes = read_size(item);
  } else {
    reject_name(item, "on, codec, algorithm, reduction, segments, min_bytes, predictor and checksum");
  }
}

void read_bound(const Item& item, Policy& policy) {
  using Kind = Policy::Kind;
  if (!item.name.empty()) reject_name(item, "to follow a bound; start with off, lossless or abs:E");
  if (item.value.starts_with("abs:")) {
    policy.kind = Kind::absolute;
    const bool number = read_number(item.value.substr(4), policy.bound);
    if (!number || !(policy.bound > 0) || !std::isfinite(policy.bound))
      item.reject("give a bound above 0: abs:1e-4");
    return;
  }
  if (item.value.starts_with("rel:"))
    item.reject("bounds relative to the value range are not there yet; use abs:E");
  policy.kind =
      choose<Kind>(item, {{"off", Kind::off}, {"lossless", Kind::lossless}, {"abs:E", Kind::absolute}});
  if (policy.kind == Kind::absolute) item.reject("give a bound above 0: abs:1e-4");
}

// Chooses a codec if none was named, and sees that it can serve the bound.
std::unique_ptr<Codec> settle(Coding& coding, double bound) {
  if (coding.codec == nullptr && bound > 0) coding.codec = find_codec("planes");
  if (coding.codec == nullptr) coding.codec = find_codec("raw");
  std::unique_ptr<Codec> codec = coding.codec->make(coding.options(bound, ""));
  if (bound == 0 && !codec->contract().bound.exact())
    throw Error(Status::invalid_policy,
                std::string("codec '") + coding.codec->name + "' is not lossless; use raw");
  return codec;
}

}  // namespace

Policy parse_policy(std::string_view text) {
  Policy policy;
  policy.text = text;
  if (trimmed(text).empty()) return policy;
  bool first = true;
  for_each_item(text, [&](const Item& item) {
    first ? read_bound(item, policy) : read_option(item, policy);
    first = false;
  });
  if (policy.kind == Policy::Kind::off) return policy;
  policy.adds_frames = settle(policy.coding, policy.bound)->contract().adds_frames;
  if (policy.reducing == Policy::Reducing::frames && !policy.adds_frames)
    throw Error(Status::invalid_policy, std::string("policy: frames of codec '") + policy.coding.codec->name +
                                            "' cannot be added; use reduction=values");
  return policy;
}

Coding parse_coding(std::string_view text, double bound) {
  Coding coding;
  if (!trimmed(text).empty()) {
    for_each_item(text, [&](const Item& item) {
      if (!read_coding_option(item, coding)) reject_name(item, "codec, predictor and checksum");
    });
  }
  settle(coding, bound);
  return coding;
}

}  // namespace taut
