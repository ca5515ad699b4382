// Tests the memory of the checks on a GPU (tools/gpu/device.hpp): its contents are in place for every stream.
#include "gpu/runtime/gpu.hpp"
#include "tools/gpu/device.hpp"

namespace taut::test {
namespace {

using gpu::Device;

const std::vector<std::byte> ones(3000, std::byte{1}), twos(3000, std::byte{2});

TEST(DeviceOfTheChecks, HasItsContentsForEveryStream) {
  with_seeds(40, [] {
    const Stream stream;
    const Device from(ones.data(), ones.size()), to(ones.size());
    ASSERT_EQ(cudaMemcpyAsync(to.at(), from.at(), ones.size(), cudaMemcpyDefault, stream), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(to.read(ones.size()) == ones);
  });
}

TEST(DeviceOfTheChecks, IsWrittenForEveryStream) {
  with_seeds(40, [] {
    const Stream stream;
    const Device from(ones.data(), ones.size()), to(ones.size());
    from.write(twos.data(), twos.size());
    ASSERT_EQ(cudaMemcpyAsync(to.at(), from.at(), ones.size(), cudaMemcpyDefault, stream), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(to.read(twos.size()) == twos);
  });
}

}  // namespace
}  // namespace taut::test
