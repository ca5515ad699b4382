#include "communication/comm/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>

#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"

namespace taut {
namespace {

template <class Read>
RankRules read(const Read& read_rules) {
  return attempt([&] { return RankRules{.rules = read_rules()}; },
                 [](Status status, const char* why) { return RankRules{.fault = Error(status, why)}; });
}

std::uint64_t node_hash(int rank) noexcept {
  if (const int per_node = options().ranks_per_node; per_node > 0)
    return static_cast<std::uint64_t>(rank / per_node);
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return hash(std::as_bytes(std::span(name)));
}

}  // namespace

RankRules read_policy(const std::function<std::string()>& text) {
  return read([&] { return Rules(parse_policy(text(), options().kernels)); });
}

const RankRules& process_rules() {
  static const RankRules known =
      read([] { return read_rules(options().rules, options().config, options().kernels); });
  return known;
}

Settings::Settings(const RankRules& mine, int rank) noexcept
    : rules(mine.rules.hash() ^ AgreementMessage::tag),
      node(node_hash(rank)),
      checks(static_cast<std::uint64_t>(options().check)),
      readable(!mine.fault),
      enabled(options().enabled) {}

void Settings::merge(const Settings& other) noexcept {
  using Words = std::array<std::uint64_t, words>;
  Words least = std::bit_cast<Words>(*this);
  const Words theirs = std::bit_cast<Words>(other);
  std::ranges::transform(least, theirs, least.begin(), std::ranges::min);
  *this = std::bit_cast<Settings>(least);
}

}  // namespace taut
