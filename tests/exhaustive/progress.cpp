#include "exhaustive/progress.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace taut::exhaustive {

// The journal holds the identity, then a line for each proof: next, seconds, values, violations, worst, name,
// tab, example.
Journal::Journal(std::string path, std::string identity)
    : path_(std::move(path)), identity_(std::move(identity)) {
  std::ifstream file(path_);
  std::string line;
  if (!std::getline(file, line)) return;
  if (line != identity_)
    throw std::runtime_error(path_ + " is of another build (" + line + "); remove it to start anew");
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    Progress p;
    std::string name;
    fields >> p.next >> p.seconds >> p.findings.values >> p.findings.violations >> p.findings.worst >>
        std::ws;
    std::getline(fields, name, '\t');
    std::getline(fields, p.findings.first_example);
    entries_[name] = p;
  }
}

void Journal::save() const {
  const std::string fresh = path_ + ".new";
  {
    std::ofstream file(fresh);
    file << identity_ << '\n';
    for (const auto& [name, p] : entries_)
      file << p.next << ' ' << p.seconds << ' ' << p.findings.values << ' ' << p.findings.violations << ' '
           << p.findings.worst << ' ' << name << '\t' << p.findings.first_example << '\n';
    if (!file.flush()) throw std::runtime_error("cannot write " + fresh);
  }
  if (std::rename(fresh.c_str(), path_.c_str()) != 0) throw std::runtime_error("cannot write " + path_);
}

}  // namespace taut::exhaustive
