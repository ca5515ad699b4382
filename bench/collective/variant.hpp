// A variant of a collective: plain MPI or a policy, with the communicator that has the policy and its
// statistics.
#pragma once

#include <mpi.h>
#include <taut/taut.h>

#include <string>
#include <vector>

#include "options.hpp"

namespace bench {

class Variant {
 public:
  Variant(std::string name, std::string policy, double bound);
  Variant(Variant&& other) noexcept;
  Variant& operator=(Variant&&) = delete;
  ~Variant();

  const std::string name, policy;
  const double bound;
  MPI_Comm comm = MPI_COMM_NULL;

  bool plain() const noexcept { return policy.empty(); }
  TAUT_Stats stats() const;  // counted since the last forget()
  void forget();

 private:
  TAUT_Stats totals() const;
  TAUT_Stats start_{};
};

// Returns the variants: plain, taut with the bound, taut-raw, and one for each policy given.
std::vector<Variant> variants(const Options& options);

}  // namespace bench
