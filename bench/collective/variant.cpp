#include "variant.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace bench {
namespace {

// Returns the bound that a policy promises: the number after "abs:", else 0.
double bound_of(const std::string& policy) {
  return policy.rfind("abs:", 0) == 0 ? std::atof(policy.c_str() + 4) : 0;
}

}  // namespace

Variant::Variant(std::string what, std::string rules, double error)
    : name(std::move(what)), policy(std::move(rules)), bound(error) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (!plain()) TAUT_Comm_set_policy(comm, policy.c_str());
  forget();
}

Variant::Variant(Variant&& other) noexcept
    : name(other.name),
      policy(other.policy),
      bound(other.bound),
      comm(std::exchange(other.comm, MPI_COMM_NULL)),
      start_(other.start_) {}

Variant::~Variant() {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

TAUT_Stats Variant::totals() const {
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  if (!plain()) TAUT_Comm_get_stats(comm, &stats);
  return stats;
}

void Variant::forget() { start_ = totals(); }

TAUT_Stats Variant::stats() const {
  TAUT_Stats now = totals();
  now.compressed_calls -= start_.compressed_calls;
  now.value_bytes -= start_.value_bytes;
  now.frame_bytes -= start_.frame_bytes;
  now.sent_bytes -= start_.sent_bytes;
  now.sent_messages -= start_.sent_messages;
  now.encode_ns -= start_.encode_ns;
  now.combine_ns -= start_.combine_ns;
  now.decode_ns -= start_.decode_ns;
  return now;
}

std::vector<Variant> variants(const Options& options) {
  char policy[64];
  std::snprintf(policy, sizeof policy, "abs:%.17g", options.bound);
  std::vector<Variant> all;
  all.emplace_back("plain", "", 0);
  all.emplace_back("taut", policy, options.bound);
  all.emplace_back("taut-raw", "lossless,codec=raw", 0);
  for (std::size_t i = 0; i < options.policies.size(); ++i)
    all.emplace_back("policy-" + std::to_string(i + 1), options.policies[i], bound_of(options.policies[i]));
  return all;
}

}  // namespace bench
