// Prints a last message when the program crashes.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <string>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace taut::test {

class LastWords {
 public:
  LastWords() {
    for (const int signal : {SIGABRT, SIGTERM}) std::signal(signal, crashed);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_set_death_callback(say);  // the sanitizer reports the other signals
#else
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, crashed);
#endif
  }

  // `details`: printed, too, as it is then; null: nothing.
  static void set(const std::string& text, const std::string* details = nullptr) noexcept {
    const std::size_t n = std::min(text.size(), words.size() - 1);
    std::memcpy(words.data(), text.data(), n);
    words[n] = '\n';
    length = n + 1;
    more = details;
  }

 private:
  static void say() {
    bool said = write(1, words.data(), length) > 0;
    if (more != nullptr) said = write(1, more->data(), more->size()) > 0 && write(1, "\n", 1) > 0 && said;
    if (said) length = 0;
  }
  static void crashed(int signal) {
    say();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  inline static std::array<char, 400> words;
  inline static std::size_t length = 0;
  inline static const std::string* more = nullptr;
};

}  // namespace taut::test
