// Round numbers stay round: a sum of ones is the number of ranks (docs/error-model.md, theorem 1b).
#include "mpi/api/world.hpp"

namespace taut::test {
namespace round_numbers_test {

// Values of a rank: ones, and a region of other round numbers. Under rel the range of 4 is that of all ranks.
template <class T>
std::vector<T> round_numbers() {
  std::vector<T> values(40000, T{1});
  for (std::size_t i = 20000; i < 30000; ++i) values[i] = static_cast<T>(i / 64 % 17) / 4;
  return values;
}

template <class T>
void expect_exact_sums(const char* policy) {
  const Comm comm(policy);
  const std::vector<T> in = round_numbers<T>();
  std::vector<T> out(in.size(), T{-7}), want(in);
  for (T& value : want) value *= static_cast<T>(comm.size());
  ASSERT_EQ(TAUT_Allreduce(in.data(), out.data(), static_cast<MPI_Count>(in.size()), mpi_type(dtype_of<T>),
                           MPI_SUM, comm),
            MPI_SUCCESS);
  EXPECT_EQ(out, want) << policy;
  if (comm.size() > 1) {
    EXPECT_GT(comm.stats().compressed_calls, 0u) << policy;
  }
}

TEST(RoundNumbers, SumsOfOnesAreTheNumberOfRanks) {
  for (const char* policy :
       {"abs:1e-4", "rel:1e-4", "snap:1e-4", "abs:1e-4,on=input", "abs:1e-4,reduction=values",
        "abs:3e-5,algorithm=ring", "abs:7.7e-5,algorithm=direct"}) {
    const std::string compressed = std::string(policy) + ",codec=planes,min_bytes=0,when=always";
    expect_exact_sums<float>(compressed.c_str());
    expect_exact_sums<double>(compressed.c_str());
  }
}

// Small integers times a power of two have sums without loss by frames.
TEST(RoundNumbers, HaveSumsWithoutLoss) {
  for (const char* policy : {"lossless,min_bytes=0,when=always", "lossless,when=always,algorithm=direct"}) {
    expect_exact_sums<float>(policy);
    expect_exact_sums<double>(policy);
  }
}

}  // namespace round_numbers_test
}  // namespace taut::test
