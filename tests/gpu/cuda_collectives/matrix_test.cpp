// Tests every algorithm with every codec and type on memory of GPUs: the host's bits where kernels serve the
// call, and plain MPI where the host leaves it to MPI, too, or kernels are missing. The number of ranks, 1 to
// 7, changes from case to case; TEST_COUNT=7 tests each case with all numbers.
#include <algorithm>

#include "gpu/cuda_collectives/device_job.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace matrix_test {

struct Coded {
  const char* coding;
  bool kernels;                      // kernels serve the codec
  bool kernels_of_integers = false;  // integers are coded without loss by another codec, which has kernels

  bool has_kernels(DType type) const {
    return kernels || (kernels_of_integers && info_of(type).family == Family::integer);
  }
};
constexpr Coded codings[] = {
    {"abs:1e-2,codec=planes", true},
    {"snap:1e-2,codec=planes,predictor=second", true},
    {"rel:1e-3,codec=planes,predictor=delta,reduction=values", true},
    {"psnr:60,codec=planes,predictor=pairs,bits=exact", true},
    {"abs:1e-2,codec=planes,predictor=delta+64", true},
    {"lossless,codec=mpc", true},
    {"lossless,codec=mpc,predictor=d2", true},
    {"lossless,codec=mpc,predictor=grid", true},
    {"lossless,codec=exponents", true},
    {"pwrel:1e-2,codec=mpc", true},
    {"rate:16,codec=zfp", true},
    {"block:8", true},
    {"abs:1e-2,codec=zfp", false, true},
    {"abs:1e-2,codec=szx", false, true},
    {"lossless,codec=raw", false},
    {"abs:1e-2,codec=planes,checksum=on", false},
};
constexpr Reduction operators[] = {Reduction::sum, Reduction::min, Reduction::max};
constexpr unsigned masks[] = {~0u, 0b0100110u, 0b1011001u};

// Returns true if the policy names a codec of this build.
bool exists(const Coded& coded) {
  return find_codec("zfp") != nullptr || std::string_view(coded.coding).find("zfp") == std::string_view::npos;
}

// Returns the number of ranks that a case is tested with, k numbers after its first one.
int ranks_of(unsigned turn, unsigned k) { return 1 + static_cast<int>((turn + k) % 7); }

class MatrixOnGpus : public testing::TestWithParam<const AlgorithmInfo*> {
 protected:
  // Draws nothing: each property changes with a period of its own.
  Trial trial_of(const Coded& coded, DType type, unsigned turn, unsigned k) const {
    const AlgorithmInfo& algorithm = *GetParam();
    const int P = ranks_of(turn, k);
    const Reduction op = operators[turn / 2 % std::size(operators)];
    return {.collective = algorithm.collective,
            .policy = std::string(coded.coding) + ",algorithm=" + algorithm.name,
            .P = P,
            .count = turn % 2 == 0 ? 210u : 97u,
            .type = type,
            .op = reduces(algorithm.collective) && is_defined(op, type) ? op : Reduction::sum,
            .root = static_cast<int>(turn / 3) % P,
            .in_place = turn % 3 == 1,
            .on_gpus = masks[turn / 5 % std::size(masks)]};
  }
};

void expect_as_on_the_host(const Trial& trial, bool kernels) {
  SCOPED_TRACE(text_of(trial));
  Job here = trial.job(), there = trial.job();
  Ranks host(trial.P, trial.whole_policy()), gpus(trial.P, trial.whole_policy());
  const Fallback on_host = host.run(trial.collective, here)[0].fallback;
  const bool any_gpu = (trial.on_gpus & ((1u << trial.P) - 1)) != 0;
  const bool out_of_reach = on_host == Fallback::none && !kernels && any_gpu;
  const auto verdicts = run_on_gpus(gpus, trial, there);
  for (const Verdict& verdict : verdicts) {
    EXPECT_EQ(verdict.fallback, out_of_reach ? Fallback::device : on_host);
    EXPECT_EQ(verdict.status, Status::ok);
  }
  const Job untouched = trial.job();
  EXPECT_TRUE(there.outputs == (verdicts[0].fallback == Fallback::none ? here.outputs : untouched.outputs));
}

TEST_P(MatrixOnGpus, EveryCodecAndType) {
  const std::uint64_t repeats = number_from_environment("TEST_COUNT", 1);
  const auto& all = registered_algorithms();
  auto turn = static_cast<unsigned>(std::ranges::find(all, GetParam()) - all.begin());
  for (const Coded& coded : codings)
    for (std::uint8_t code = 1; is_dtype(code); ++code, ++turn)
      for (unsigned k = 0; k < repeats && exists(coded); ++k)
        if (is_sampled())
          expect_as_on_the_host(trial_of(coded, DType{code}, turn, k), coded.has_kernels(DType{code}));
}

std::string name_of_algorithm(const testing::TestParamInfo<const AlgorithmInfo*>& info) {
  return std::string(name_of(info.param->collective)) + "_" + info.param->name;
}

INSTANTIATE_TEST_SUITE_P(All, MatrixOnGpus, testing::ValuesIn(registered_algorithms()), name_of_algorithm);

}  // namespace matrix_test
}  // namespace taut::test
