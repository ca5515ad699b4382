#include "communication/policy/text/rule_reader.hpp"

#include <algorithm>

namespace taut {
namespace {

constexpr const char* rule_keys = "call, dtype, op, min_bytes, max_bytes, comm, scope, callsite, bound";

// Reads one rule. Each key has a function that reads its entry.
class RuleReader {
 public:
  // Packed integers must stay exact by default: nobody has checked the buffers of the calls that rules serve.
  RuleReader(const SourceText& source, const std::string& kernels) : source_(source), kernels_(kernels) {
    rule_.policy.coding.bits = PackedBits::exact;
  }

  Rule read(std::size_t offset, std::span<const RuleEntry> entries);

 private:
  struct Key {
    std::string_view name;
    void (RuleReader::*read)(const RuleEntry&);
  };
  static const Key keys[];

  void read_entry(const RuleEntry& entry);
  [[noreturn]] void reject(const SourceWord& word, const std::string& remedy) const {
    source_.reject(word.offset, "'" + word.text + "' cannot stand here; " + remedy);
  }
  const SourceWord& single_value(const RuleEntry& entry) const {
    if (entry.list || entry.values.size() != 1)
      source_.reject(entry.key.offset, "'" + entry.key.text + "' takes one value, not a list");
    return entry.values[0];
  }

  void read_calls(const RuleEntry& entry);
  void read_types(const RuleEntry& entry);
  void read_operators(const RuleEntry& entry);
  void read_communicator(const RuleEntry& entry);
  void read_ranks(const SourceWord& value, std::string_view size);
  void read_scope(const RuleEntry& entry);
  void read_callsite(const RuleEntry& entry);
  void read_min_bytes(const RuleEntry& entry) { rule_.when.min_bytes = read_bytes(single_value(entry)); }
  void read_max_bytes(const RuleEntry& entry) { rule_.when.max_bytes = read_bytes(single_value(entry)); }
  void read_above(const RuleEntry& entry) { rule_.when.min_bytes = read_bytes(single_value(entry)) + 1; }
  void read_below(const RuleEntry& entry);
  void read_bound_entry(const RuleEntry& entry);
  void read_option(const RuleEntry& entry);
  std::size_t read_bytes(const SourceWord& value) const;

  // Runs `read`, and rejects the text at the offset of the entry if `read` throws an ItemError.
  template <class Read>
  void reject_errors(const RuleEntry& entry, Read read) const;

  const SourceText& source_;
  const std::string& kernels_;
  Rule rule_;
  std::string bound_, options_;             // as the text of the policy has them
  const SourceWord* bound_word_ = nullptr;  // null: no entry was a bound so far
};

template <class Read>
void RuleReader::reject_errors(const RuleEntry& entry, Read read) const {
  try {
    read();
  } catch (const ItemError& error) {
    if (!error.in_name()) source_.reject(entry.values[0].offset, error.reason());
    source_.reject(entry.key.offset, error.reason() + ", and of rules " + rule_keys);
  }
}

void RuleReader::read_calls(const RuleEntry& entry) {
  rule_.when.calls = 0;
  for (const SourceWord& name : entry.values) {
    const std::uint32_t bit = name.text == "*" ? Conditions::any : call_bit(name.text);
    if (bit == 0)
      source_.reject(name.offset,
                     "'" + name.text + "' is no call that rules know; " + call_remedy(name.text));
    rule_.when.calls |= bit;
  }
}

void RuleReader::read_types(const RuleEntry& entry) {
  rule_.when.types = 0;
  for (const SourceWord& name : entry.values) {
    if (type_bit(name.text) == 0) {
      std::string remedy = "use";
      for (const DTypeInfo& type : dtype_table) remedy += std::string(" ") + type.name;
      reject(name, remedy);
    }
    rule_.when.types |= type_bit(name.text);
  }
}

void RuleReader::read_operators(const RuleEntry& entry) {
  rule_.when.ops = 0;
  rule_.operators_named = true;
  for (const SourceWord& name : entry.values) {
    if (operator_bit(name.text) == 0)
      reject(name, "use sum, min or max; other operators are never compressed");
    rule_.when.ops |= operator_bit(name.text);
  }
}

std::size_t RuleReader::read_bytes(const SourceWord& value) const {
  try {
    return read_size({"bytes", value.text});
  } catch (const ItemError& error) {
    source_.reject(value.offset, error.reason());
  }
}

void RuleReader::read_below(const RuleEntry& entry) {
  const std::size_t limit = read_bytes(single_value(entry));
  if (limit == 0) reject(single_value(entry), "no message is smaller than that");
  rule_.when.max_bytes = limit - 1;
}

void RuleReader::read_ranks(const SourceWord& value, std::string_view size) {
  int n = 0;
  const auto number_after = [&](std::string_view sign) {
    return size.starts_with(sign) && read_number(size.substr(sign.size()), n) && n > 0;
  };
  if (number_after(">=")) {
    rule_.when.min_ranks = n;
  } else if (number_after("<=")) {
    rule_.when.max_ranks = n;
  } else if (number_after("")) {
    rule_.when.min_ranks = rule_.when.max_ranks = n;
  } else {
    reject(value, "give a number of ranks: size:8, size:>=8 or size:<=8");
  }
}

void RuleReader::read_communicator(const RuleEntry& entry) {
  for (const SourceWord& value : entry.values) {
    const std::string_view text = value.text;
    if (text == "world") {
      rule_.when.world = true;
    } else if (text.starts_with("name:") && text.size() > 5) {
      rule_.when.name = text.substr(5);
    } else if (text.starts_with("size:")) {
      read_ranks(value, text.substr(5));
    } else {
      reject(value, "use world, name:NAME or size:>=8");
    }
  }
}

void RuleReader::read_scope(const RuleEntry& entry) {
  const SourceWord& value = single_value(entry);
  if (value.text != "inter" && value.text != "intra")
    reject(value, "use inter (ranks on several nodes) or intra (all on one)");
  rule_.when.scope = value.text == "inter" ? Conditions::Scope::inter : Conditions::Scope::intra;
}

void RuleReader::read_callsite(const RuleEntry& entry) {
  const SourceWord& value = single_value(entry);
  const bool ends_in_colon = value.text.starts_with(':') || value.text.ends_with(':');
  if (value.text.empty() || ends_in_colon || value.text.find_first_of(" \t;") != std::string::npos)
    reject(
        value,
        "name a module (libsolver.so, solver.py), a function (solve) or a place (solve+0x1f3, solver.py:41)");
  rule_.when.callsite = value.text;
}

void RuleReader::read_bound_entry(const RuleEntry& entry) {
  bound_word_ = &single_value(entry);
  bound_ = with_colon(bound_word_->text);
  rule_.policy.off = bound_ == "off";
  if (rule_.policy.off) return;
  reject_errors(entry, [&] { read_bound({"", bound_}, rule_.policy.coding); });
}

void RuleReader::read_option(const RuleEntry& entry) {
  const std::string& value = single_value(entry).text;
  reject_errors(entry, [&] { read_policy_option({entry.key.text, value}, rule_.policy); });
  options_ += "," + entry.key.text + "=" + std::string(current_spelling({entry.key.text, value}));
}

constexpr RuleReader::Key RuleReader::keys[] = {
    {"call", &RuleReader::read_calls},
    {"dtype", &RuleReader::read_types},
    {"op", &RuleReader::read_operators},
    {"min_bytes", &RuleReader::read_min_bytes},
    {"max_bytes", &RuleReader::read_max_bytes},
    {">=", &RuleReader::read_min_bytes},
    {"<=", &RuleReader::read_max_bytes},
    {">", &RuleReader::read_above},
    {"<", &RuleReader::read_below},
    {"comm", &RuleReader::read_communicator},
    {"scope", &RuleReader::read_scope},
    {"callsite", &RuleReader::read_callsite},
    {"bound", &RuleReader::read_bound_entry},
};

void RuleReader::read_entry(const RuleEntry& entry) {
  const auto key = std::ranges::find(keys, entry.key.text, &Key::name);
  if (key == std::end(keys)) return read_option(entry);
  if (entry.values.empty()) source_.reject(entry.key.offset, "'" + entry.key.text + "' has no value");
  (this->*key->read)(entry);
}

// Reads a rule and checks it. The least size of a rule replaces min_bytes of its policy: smaller messages go
// to the next rule, larger ones are to be compressed.
Rule RuleReader::read(std::size_t offset, std::span<const RuleEntry> entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto before = entries.first(i);
    const bool may_repeat = entries[i].key.text == "comm";
    if (!may_repeat && std::ranges::any_of(before, [&](const RuleEntry& other) {
          return other.key.text == entries[i].key.text;
        }))
      source_.reject(entries[i].key.offset,
                     "'" + entries[i].key.text + "' is there twice; leave one of them");
    read_entry(entries[i]);
  }
  if (bound_word_ == nullptr) source_.reject(offset, "the rule has no bound; end it with one, or with off");
  if (rule_.when.min_bytes > rule_.when.max_bytes)
    source_.reject(offset, "no message is of a size that this rule is for");
  if (rule_.when.min_ranks > rule_.when.max_ranks)
    source_.reject(offset, "no communicator is of a size that this rule is for");
  if (rule_.when.min_bytes != 0) {
    rule_.policy.min_bytes = rule_.when.min_bytes;
    rule_.policy.min_bytes_given = true;
  }
  rule_.policy.text = rule_.policy.off ? "off" : bound_ + options_;
  try {
    if (!rule_.policy.off) check(rule_.policy, kernels_);
  } catch (const Error& error) {
    source_.reject(bound_word_->offset, error.what());
  }
  return std::move(rule_);
}

}  // namespace

Rule read_rule(const SourceText& source, std::size_t offset, std::span<const RuleEntry> entries,
               const std::string& kernels) {
  return RuleReader(source, kernels).read(offset, entries);
}

}  // namespace taut
