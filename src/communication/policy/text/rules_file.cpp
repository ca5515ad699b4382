// Reads the rules of TAUT_RULES, and of the file that TAUT_CONFIG names.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "communication/policy/plan/rules.hpp"

namespace taut {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{1} << 20;

std::string contents_of(const std::string& name) {
  const auto refuse = [&](const char* why) {
    throw Error(Status::invalid_argument, "TAUT_CONFIG: " + name + ": " + why);
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"), std::fclose);
  if (file == nullptr) refuse(std::strerror(errno));
  std::string text(max_file_bytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) refuse(std::strerror(errno));
  if (text.size() > max_file_bytes) refuse("longer than 1 MiB; rules are shorter");
  return text;
}

}  // namespace

Rules read_rules(const std::string& line, const std::string& file, const std::string& kernels) {
  std::vector<Rule> all = parse_rules_line({"TAUT_RULES", line}, kernels);
  if (!file.empty())
    for (Rule& rule : parse_rules_toml({file, contents_of(file)}, kernels)) all.push_back(std::move(rule));
  if (all.size() > Rules::max_count)
    throw Error(Status::invalid_policy, "TAUT_RULES and TAUT_CONFIG have more than " +
                                            std::to_string(Rules::max_count) +
                                            " rules together; join some of them");
  return Rules(std::move(all));
}

}  // namespace taut
