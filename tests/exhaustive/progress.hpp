// How far a run has come, kept in a file so that it can go on after an interruption.
#pragma once

#include <map>
#include <string>

#include "exhaustive/proof.hpp"

namespace taut::exhaustive {

struct Progress {
  std::uint64_t next = 0;  // pattern
  double seconds = 0;
  Findings findings;
};

class Journal {
 public:
  // Reads what an earlier run left; `identity` is of the library and options that it must have been made
  // with.
  Journal(std::string path, std::string identity);

  Progress& of(const std::string& proof) { return entries_[proof]; }
  const std::map<std::string, Progress>& entries() const noexcept { return entries_; }
  void save() const;

 private:
  std::string path_, identity_;
  std::map<std::string, Progress> entries_;
};

}  // namespace taut::exhaustive
