#include "compressor/base/device_memory.hpp"

#include "support/device_memory.hpp"

namespace taut::test {
namespace {

TEST(DeviceMemory, IsWhatTheDriverSays) {
  int here = 0;
  EXPECT_FALSE(on_device(nullptr));
  EXPECT_FALSE(on_device(&here));
  const DeviceMemory there(100);  // loads the driver
  EXPECT_TRUE(on_device(there.data()));
  EXPECT_TRUE(on_device(static_cast<char*>(there.data()) + 99));
  EXPECT_FALSE(on_device(static_cast<char*>(there.data()) + 100));
  EXPECT_FALSE(on_device(&here));
}

TEST(DeviceMemory, ThatHostAndGpuShareIsTheHosts) {
  const int shared = 0;
  const SaidOfMemory said(&shared, sizeof shared, true);
  EXPECT_FALSE(on_device(&shared));
}

}  // namespace
}  // namespace taut::test
