// Files that appear under their names once they are complete.
#pragma once

#include <cerrno>
#include <cstdio>
#include <string>

namespace taut {

// Writes a file by `write(file)`, which returns true if it succeeded. Returns 0 or the error.
template <class Write>
int write_file(const std::string& name, Write write) {
  const std::string part = name + ".part";
  std::FILE* const file = std::fopen(part.c_str(), "w");
  bool good = file != nullptr && write(file);
  if (file != nullptr) good &= std::fclose(file) == 0;
  if (good && std::rename(part.c_str(), name.c_str()) == 0) return 0;
  const int code = errno;
  std::remove(part.c_str());
  return code;
}

}  // namespace taut
