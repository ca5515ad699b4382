// Tests sums with a residual at a fixed rate, whose frames have a fixed size in a build with libzfp.
#include "gpu/nccl/graphs.hpp"
#include "gpu/nccl/residual.hpp"

namespace taut::test {
namespace {

TEST(NcclRateResidual, MeansOverTheCallsConverge) {
  for (const int P : {2, 3})
    for (const bool mean : {false, true})
      for (const bool scatter : {false, true}) {
        const Way way{.policy = "rate:10,codec=zfp", .P = P, .count = 204, .scatter = scatter, .mean = mean};
        expect_convergence<float>(way, 0.1);
        expect_convergence<double>(way, 0.1);
      }
}

TEST(NcclRateResidual, GraphsHaveTheBitsOfDirectCalls) {
  for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter}) {
    const Repeated repeated{.collective = collective, .policy = "rate:10,codec=zfp", .with_residual = true};
    expect_bits_of_direct_calls<float>(repeated);
    expect_bits_of_direct_calls<double>(repeated, 10);
  }
}

TEST(NcclRateResidual, SpecialValuesPass) {
  expect_special_values_pass<float>("rate:16,codec=zfp");
  expect_special_values_pass<double>("rate:16,codec=zfp");
}

}  // namespace
}  // namespace taut::test
