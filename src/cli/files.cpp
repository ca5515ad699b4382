#include "cli/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/failure.hpp"

namespace taut::cli {
namespace {

[[noreturn]] void fail_with_errno(const std::string& path, const char* what) {
  fail(path + ": " + what + ": " + std::strerror(errno));
}

// Temporary name of the output file, for the signal handler; empty: none.
char unfinished[PATH_MAX + 16];
constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

extern "C" void remove_unfinished(int signal) {
  if (unfinished[0] != 0) unlink(unfinished);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

InputFile::InputFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail_with_errno(path_, "cannot be read");
  struct stat state {};
  if (fstat(descriptor_, &state) != 0 || !S_ISREG(state.st_mode)) {
    ::close(descriptor_);
    fail(path_ + ": is not a regular file, which is read more than once; save it to one first");
  }
  size_ = static_cast<std::uint64_t>(state.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::uint64_t offset, Bytes out) const {
  while (!out.empty()) {
    const ssize_t n = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with_errno(path_, "cannot be read");
    if (n == 0) fail(path_ + ": ends at byte " + std::to_string(offset) + ", before what it should hold");
    offset += static_cast<std::uint64_t>(n);
    out = out.subspan(static_cast<std::size_t>(n));
  }
}

void OutputFile::check_target() const {
  struct stat state {};
  if (stat(path_.c_str(), &state) != 0) return;
  if (!S_ISREG(state.st_mode))
    fail(path_ + ": exists and is not a regular file; name another output with -o");
  if (!replace_) fail(path_ + ": exists; name another output with -o, or replace it with --force");
}

OutputFile::OutputFile(const std::string& path, bool replace) : path_(path), replace_(replace) {
  check_target();
  if (path_.size() >= PATH_MAX) fail(path_ + ": the name is too long");
  std::snprintf(unfinished, sizeof unfinished, "%s.XXXXXX", path_.c_str());
  for (const int signal : ending_signals) std::signal(signal, remove_unfinished);  // before the file exists
  descriptor_ = mkostemp(unfinished, O_CLOEXEC);
  if (descriptor_ < 0) {
    unfinished[0] = 0;
    fail_with_errno(path_, "cannot be written");
  }
  const mode_t mask = umask(0);  // mkostemp grants access to the owner alone
  umask(mask);
  fchmod(descriptor_, 0666 & ~mask);
}

void OutputFile::close() noexcept {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
}

OutputFile::~OutputFile() {
  close();
  if (unfinished[0] != 0) unlink(unfinished);
  unfinished[0] = 0;
}

void OutputFile::write(ConstBytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with_errno(path_, "cannot be written");
    written_ += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void OutputFile::commit() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) fail_with_errno(path_, "cannot be written");
  check_target();
  if (std::rename(unfinished, path_.c_str()) != 0) fail_with_errno(path_, "cannot be written");
  unfinished[0] = 0;
}

}  // namespace taut::cli
