// Parser of policy strings: items between commas, "name=value" or a value alone.
#pragma once

#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "compressor/base/status.hpp"

namespace taut {

// Item of a policy string. A value alone has an empty name.
struct Item {
  std::string_view name, value;
  std::size_t column = 1;  // column of the value, from 1

  [[noreturn]] void reject(const std::string& remedy) const;       // throws ItemError: wrong value
  [[noreturn]] void reject_name(const std::string& remedy) const;  // throws ItemError: unknown name
  [[noreturn]] void reject_name(
      std::span<const std::string_view> known) const;  // `known`: the names there are
};

// Returns the name of `known` that a mistyped one is nearest to; empty if none is similar.
std::string_view nearest_name(std::string_view mistyped, std::span<const std::string_view> known);

// Error of an item that cannot be read. The message gives its column in a policy string. A caller that found
// the item elsewhere makes a message of its own from in_name() and reason().
class ItemError : public Error {
 public:
  ItemError(std::size_t column, bool in_name, const std::string& reason)
      : Error(Status::invalid_policy, "policy, column " + std::to_string(column) + ": " + reason),
        in_name_(in_name),
        reason_(reason) {}

  bool in_name() const noexcept { return in_name_; }  // false: in the value
  const std::string& reason() const noexcept { return reason_; }

 private:
  bool in_name_;
  std::string reason_;
};

std::string_view trimmed(std::string_view text) noexcept;  // without spaces at its ends

// Returns the item that starts at `begin`, and moves `begin` behind the comma after it, or beyond the text.
Item next_item(std::string_view text, std::size_t& begin) noexcept;

// Reads a number. Returns false unless all of `text` is the number.
template <class T>
bool read_number(std::string_view text, T& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::size_t read_size(const Item& item);      // returns bytes: 65536, 64KiB, 1MiB
std::string text_of_size(std::size_t bytes);  // the inverse, in the largest unit that divides the size

// Word that a policy may have for a value of type T.
template <class T>
struct Choice {
  std::string_view name;
  T value;
};

// Returns the value of the choice whose name is the item's value. Rejects an item that is none of them.
template <class T, std::size_t n>
T choose(const Item& item, const Choice<T> (&choices)[n]) {
  std::string remedy = "use ";
  for (std::size_t i = 0; i < n; ++i) {
    if (choices[i].name == item.value) return choices[i].value;
    remedy += (i == 0 ? "" : i + 1 == n ? " or " : ", ") + std::string(choices[i].name);
  }
  item.reject(remedy);
}

}  // namespace taut
