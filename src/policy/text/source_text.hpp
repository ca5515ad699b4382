// A text that somebody wrote, and where in it something is wrong.
#pragma once

#include <string>
#include <string_view>

#include "core/status.hpp"

namespace taut {

// A piece of a text, and where it starts.
struct Word {
  std::string text;
  std::size_t at = 0;
};

struct SourceText {
  std::string name;  // for messages: "TAUT_RULES", or a file
  std::string text;

  // Throws Error(invalid_policy):
  //
  //   TAUT_RULES, column 11: 'f33' is no ...
  //     Allreduce f33 : abs=1e-4
  //               ^
  //
  // with the line as well where the text has several, and with control characters of that line as '?'.
  [[noreturn]] void reject(std::size_t at, const std::string& reason) const;
};

}  // namespace taut
