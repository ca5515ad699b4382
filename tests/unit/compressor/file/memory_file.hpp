// A file in memory, with a name to open it by: thousands of them are made quickly.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace taut::file {

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view contents) : descriptor_(memfd_create("taut", MFD_CLOEXEC)) {
    if (write(descriptor_, contents.data(), contents.size()) != static_cast<ssize_t>(contents.size()))
      throw std::runtime_error("memfd_create");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace taut::file
