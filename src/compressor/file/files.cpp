#include "compressor/file/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "compressor/file/failure.hpp"

namespace taut::file {
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
    : path_(path == standard_stream ? "standard input" : path),
      descriptor_(path == standard_stream ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                          : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail_with_errno(path_, "cannot be read");
  try {
    struct stat state {};
    if (fstat(descriptor_, &state) != 0) fail_with_errno(path_, "cannot be read");
    const bool begins = path != standard_stream || lseek(descriptor_, 0, SEEK_CUR) == 0;
    if (S_ISREG(state.st_mode) && begins) {
      size_ = static_cast<std::uint64_t>(state.st_size);
    } else if (S_ISDIR(state.st_mode) || isatty(descriptor_) == 1) {
      fail(path_ + ": is not a regular file or a pipe; name a file");
    } else {
      read_all();
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

// Reads a pipe to its end, or the rest of a file of which standard input has read a part.
void InputFile::read_all() {
  constexpr std::size_t least = 1 << 16;
  in_memory_ = true;
  for (;;) {
    memory_.resize(std::max(2 * size_, std::uint64_t{least}));
    const ssize_t n = ::read(descriptor_, memory_.data() + size_, memory_.size() - size_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with_errno(path_, "cannot be read");
    if (n == 0) break;
    size_ += static_cast<std::uint64_t>(n);
  }
  memory_.resize(size_);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::uint64_t offset, Bytes out) const {
  if (in_memory_ && offset <= size_) {
    const std::size_t n = std::min<std::uint64_t>(out.size(), size_ - offset);
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(offset), n, out.begin());
    offset += n;
    out = out.subspan(n);
  }
  while (!out.empty()) {
    const ssize_t n = in_memory_ ? 0 : pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
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

OutputFile::OutputFile(const std::string& path, bool replace)
    : path_(path), replace_(replace), to_stdout_(path == standard_stream) {
  if (to_stdout_) {
    path_ = "standard output";
    if (isatty(STDOUT_FILENO) == 1 && !replace)
      fail(path_ + ": is a terminal, which would show bytes as text; redirect it, or name a file with -o");
    descriptor_ = STDOUT_FILENO;
    return;
  }
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
  if (descriptor_ < 0 || to_stdout_) return;
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
  if (to_stdout_) return;
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) fail_with_errno(path_, "cannot be written");
  check_target();
  if (std::rename(unfinished, path_.c_str()) != 0) fail_with_errno(path_, "cannot be written");
  unfinished[0] = 0;
}

std::FILE* summary_stream(const OutputFile& output) noexcept {
  return output.is_standard_output() ? stderr : stdout;
}

}  // namespace taut::file
