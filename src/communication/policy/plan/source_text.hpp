// Text that a user wrote, and error messages that point at a position in it.
#pragma once

#include <string>
#include <string_view>

#include "compressor/base/status.hpp"

namespace taut {

// Word of a text, and the offset of its first byte in the text.
struct SourceWord {
  std::string text;
  std::size_t offset = 0;
};

// Text of a user, with the name by which error messages refer to it.
struct SourceText {
  std::string name;  // "TAUT_RULES", or the name of a file
  std::string text;

  // Throws Error(invalid_policy) with a message that points at the byte at `offset`:
  //
  //   TAUT_RULES, column 11: 'f33' is no ...
  //     Allreduce f33 : abs:1e-4
  //               ^
  //
  // The message also has the number of the line if the text has several lines. Control characters are shown
  // as '?'.
  [[noreturn]] void reject(std::size_t offset, const std::string& reason) const;
};

}  // namespace taut
