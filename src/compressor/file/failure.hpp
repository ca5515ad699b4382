// Exit codes, and the exception that ends the program with one of them.
#pragma once

#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>

#include "compressor/base/status.hpp"

namespace taut::file {

enum class Exit : int {
  ok = 0,
  failed = 1,        // a file is damaged, or cannot be read, written or coded
  usage = 2,         // invalid command line
  bound_broken = 3,  // decoded values exceed the bound; nothing was written
};

inline constexpr const char* exit_codes =
    "Exit codes: 0 done; 1 a file cannot be read, written or coded, or is damaged; 2 a command line that\n"
    "cannot be followed; 3 decoded values were found beyond the bound (nothing is written then).\n";

// Failure of a command. The message is one sentence that names the argument or file, and the remedy.
class Failure : public std::runtime_error {
 public:
  Failure(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Exit code() const noexcept { return code_; }

 private:
  Exit code_;
};

[[noreturn]] inline void fail(const std::string& message) { throw Failure(Exit::failed, message); }
[[noreturn]] inline void reject(const std::string& message) { throw Failure(Exit::usage, message); }

// Returns the result of body(). An exception becomes a line on stderr that begins with the command.
template <class Body>
Exit reported(const char* command, Body body) noexcept {
  const auto report = [&](const char* text) { std::fprintf(stderr, "taut %s: %s\n", command, text); };
  try {
    return body();
  } catch (const Failure& failure) {
    report(failure.what());
    return failure.code();
  } catch (const Error& error) {
    report(error.what());
  } catch (const std::bad_alloc&) {
    report(describe(Status::out_of_memory));
  } catch (const std::exception& error) {
    report(error.what());
  }
  return Exit::failed;
}

// Calls body(item) for each item, also after one has failed, and returns the worst exit code.
template <class Items, class Body>
Exit each_reported(const char* command, const Items& items, Body body) noexcept {
  Exit worst = Exit::ok;
  for (const auto& item : items) worst = std::max(worst, reported(command, [&] { return body(item); }));
  return worst;
}

}  // namespace taut::file
