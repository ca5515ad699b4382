// A program with NCCL that knows nothing of Taut: ranks that are threads, and checks of their results. ctest
// runs it alone, under libtaut_preload.so without rules, and with rules (CMakeLists.txt).
#pragma once

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "gpu/nccl/threads.hpp"

// Functions of NCCL's profiling interface: never those of a preloaded library.
extern "C" ncclResult_t pncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                                       ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);

namespace taut::test {

inline bool has_rules() { return std::getenv("TAUT_RULES") != nullptr; }

// Bound of the rules on a result, as CMakeLists.txt states it; 0 without rules, up to rounding.
inline double bound() { return has_rules() ? 1e-3 : 1e-5; }

// Returns true if a shared object of that name is in this process.
inline bool is_loaded(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(name) != std::string::npos) return true;
  return false;
}

// Value i of a rank.
inline float value_of(int rank, std::size_t i) {
  return std::sin(1e-3F * static_cast<float>(i) + static_cast<float>(rank));
}

inline std::vector<float> values_of(int rank, std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = value_of(rank, i);
  return values;
}

inline double sum_of(int ranks, std::size_t i) {
  double sum = 0;
  for (int r = 0; r < ranks; ++r) sum += value_of(r, i);
  return sum;
}

// Expects expected(i) within the bound for value i.
template <class Expected>
void expect_near(const std::vector<float>& values, const Expected& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(values[i]) - expected(i)));
  EXPECT_LE(worst, bound() * (1 + 1e-3));
}

// Results of the ranks of this process, those without values left out. They have to be the same.
class Results {
 public:
  explicit Results(int ranks) : of_rank_(static_cast<std::size_t>(ranks)) {}
  ~Results() {
    std::erase_if(of_rank_, [](const std::vector<float>& values) { return values.empty(); });
    for (const std::vector<float>& values : of_rank_) EXPECT_TRUE(values == of_rank_[0]);
  }
  std::vector<float>& operator[](int rank) { return of_rank_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<std::vector<float>> of_rank_;
};

}  // namespace taut::test
