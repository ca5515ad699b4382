#include "communication/policy/text/wrong_launcher.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace taut {
namespace {

std::string told(const std::vector<const char*>& environment, int ranks) {
  return wrong_launcher_text(environment, ranks);
}

TEST(WrongLauncher, IsToldByTheFirstRank) {
  EXPECT_NE(
      told({"PATH=/bin", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=0"}, 1).find("4 programs of 1 rank"),
      std::string::npos);
  EXPECT_NE(told({"PMI_RANK=0", "PMI_SIZE=16"}, 1).find("16 programs of 1 rank"), std::string::npos);
  EXPECT_EQ(told({"PMI_RANK=3", "PMI_SIZE=16"}, 1), "");
}

TEST(WrongLauncher, OfSlurmNamesThePmi) {
  const std::string text = told({"SLURM_STEP_NUM_TASKS=8", "SLURM_PROCID=0"}, 1);
  EXPECT_NE(text.find("8 programs of 1 rank"), std::string::npos) << text;
  EXPECT_NE(text.find("--mpi=pmi2"), std::string::npos) << text;
  EXPECT_EQ(told({"SLURM_STEP_NUM_TASKS=8", "SLURM_PROCID=1"}, 1), "");
  EXPECT_EQ(told({"SLURM_NTASKS=8", "SLURM_PROCID=0"}, 1), "");  // the script of a job, outside of a step
}

TEST(WrongLauncher, IsTheInnerOne) {
  EXPECT_EQ(told({"SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=0", "PMI_SIZE=1", "PMI_RANK=0"}, 1), "");
  EXPECT_EQ(told({"SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=0", "PMI_SIZE=8", "PMI_RANK=3"}, 1), "");
}

TEST(WrongLauncher, IsNotToldOfOtherJobs) {
  EXPECT_EQ(told({}, 1), "");
  EXPECT_EQ(told({"PMI_RANK=0", "PMI_SIZE=4"}, 4), "");
  EXPECT_EQ(told({"PMI_RANK=0", "PMI_SIZE=1"}, 1), "");
  EXPECT_EQ(told({"PMI_RANK=0"}, 1), "");
  for (const char* size : {"PMI_SIZE=", "PMI_SIZE=4x", "PMI_SIZE=-4", "PMI_SIZES=4", "PMI_SIZE=99999999999"})
    EXPECT_EQ(told({"PMI_RANK=0", size}, 1), "") << size;
}

}  // namespace
}  // namespace taut
