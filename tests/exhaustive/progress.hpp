// Progress of a run, kept in a file so that the run can resume after an interruption.
#pragma once

#include <map>
#include <string>

#include "exhaustive/proof.hpp"

namespace taut::exhaustive {

struct Progress {
  std::uint64_t next = 0;  // next pattern
  double seconds = 0;
  Findings findings;
};

class Journal {
 public:
  // Reads the journal of an earlier run; `identity` describes the library and options that must have made it.
  Journal(std::string path, std::string identity);

  Progress& of(const std::string& proof) { return entries_[proof]; }
  const std::map<std::string, Progress>& entries() const noexcept { return entries_; }
  void save() const;

 private:
  std::string path_, identity_;
  std::map<std::string, Progress> entries_;
};

}  // namespace taut::exhaustive
