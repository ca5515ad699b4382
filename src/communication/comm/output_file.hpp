// Files that appear under their names once they are complete.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>

namespace taut {

// Creates a file beside `name` under a name that nobody can predict, and stores that name in `part`. Returns
// its descriptor; -1: errno tells why. The folder may be shared: O_EXCL opens no file and follows no link
// that another process has placed there.
inline int create_beside(const std::string& name, std::string& part) {
  constexpr int attempts = 100;
  int file = -1;
  for (int i = 0; i < attempts && file < 0; ++i) {
    std::uint64_t number = 0;
    if (getentropy(&number, sizeof number) != 0) return -1;
    char suffix[32];
    std::snprintf(suffix, sizeof suffix, ".part-%016llx", static_cast<unsigned long long>(number));
    part = name + suffix;
    file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) return -1;
  }
  return file;
}

// Returns true if `name` is a device such as /dev/null or a terminal, which no file may replace.
inline bool is_device(const std::string& name) {
  struct stat there {};
  return lstat(name.c_str(), &there) == 0 && S_ISCHR(there.st_mode);
}

// Writes a file by `write(file)`, which returns true if it succeeded. Returns 0 or the error. A link of that
// name is replaced, not followed; a device is written to.
template <class Write>
int write_file(const std::string& name, Write write) {
  std::string part;
  const bool device = is_device(name);
  const int descriptor =
      device ? open(name.c_str(), O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC) : create_beside(name, part);
  if (descriptor < 0) return errno;
  std::FILE* const file = fdopen(descriptor, "w");
  bool good = file != nullptr && write(file);
  if (file != nullptr)
    good &= std::fclose(file) == 0;
  else
    close(descriptor);
  if (good && (device || std::rename(part.c_str(), name.c_str()) == 0)) return 0;
  const int code = errno;
  if (!device) std::remove(part.c_str());
  return code;
}

}  // namespace taut
