#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "gpu/nccl/threads.hpp"

namespace taut::test {
namespace {

int number_from(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) throw std::runtime_error(std::string(name) + " is not set");
  return std::atoi(text);
}

int own_rank() {
  static const int rank = number_from("NCCL_TEST_RANK");
  return rank;
}

// Passes NCCL's name of a communicator from rank 0 to the others, by a file.
ncclUniqueId name_of_communicator(int P) {
  const char* const folder = std::getenv("NCCL_TEST_FOLDER");
  const std::filesystem::path path =
      std::filesystem::path(folder != nullptr ? folder : ".") / ("ranks" + std::to_string(P));
  ncclUniqueId id{};
  if (own_rank() == 0) {
    if (ncclGetUniqueId(&id) != ncclSuccess) throw std::runtime_error("ncclGetUniqueId");
    std::ofstream(path.string() + ".new", std::ios::binary).write(id.internal, sizeof id.internal);
    std::filesystem::rename(path.string() + ".new", path);
    return id;
  }
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  std::ifstream(path, std::ios::binary).read(id.internal, sizeof id.internal);
  return id;
}

std::map<int, NcclRank>& communicators() {
  static std::map<int, NcclRank> known;
  return known;
}

// NCCL refuses two ranks on a GPU of one host, so each rank claims a host of its own.
void claim_a_host() {
  setenv("NCCL_HOSTID", ("rank" + std::to_string(own_rank())).c_str(), 1);
  setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  setenv("NCCL_MAX_CTAS", "2", 0);
  setenv("NCCL_NET_GDR_LEVEL", "LOC", 0);
}

NcclRank join(int P) {
  claim_a_host();
  NcclRank me{own_rank()};
  if (cudaSetDevice(0) != cudaSuccess) throw std::runtime_error("there is no GPU");
  const ncclResult_t result = ncclCommInitRank(&me.comm, P, name_of_communicator(P), me.rank);
  if (result != ncclSuccess)
    throw std::runtime_error(std::string("ncclCommInitRank: ") + ncclGetErrorString(result));
  if (cudaStreamCreateWithFlags(&me.stream, cudaStreamNonBlocking) != cudaSuccess)
    throw std::runtime_error("cudaStreamCreate");
  return me;
}

// Frees the communicators when all tests are done.
class Communicators final : public testing::Environment {
  void TearDown() override {
    EXPECT_EQ(fake_nccl::take_report(), "");
    for (const auto& [P, me] : communicators()) {
      cudaStreamDestroy(me.stream);
      EXPECT_EQ(ncclCommDestroy(me.comm), ncclSuccess);
    }
    communicators().clear();
  }
};

const auto* const environment = testing::AddGlobalTestEnvironment(new Communicators);

}  // namespace

bool is_here(int rank) { return rank == own_rank(); }
int processes() { return number_from("NCCL_TEST_RANKS"); }

NcclThreads::NcclThreads(int P, int) {
  if (P > processes()) throw std::runtime_error("NCCL_TEST_RANKS is too small");
  if (own_rank() >= P) return;
  auto& known = communicators();
  if (!known.contains(P)) known[P] = join(P);
  own_ = known[P];
}

}  // namespace taut::test

namespace taut::fake_nccl {

std::string take_report() {
  std::string report;
  for (const auto& [P, me] : test::communicators()) {
    ncclResult_t error = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(me.comm, &error);
    if (asked != ncclSuccess || error != ncclSuccess)
      report += "communicator of " + std::to_string(P) + ": " + ncclGetErrorString(error) + "\n";
  }
  return report;
}

}  // namespace taut::fake_nccl
