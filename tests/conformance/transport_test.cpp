#include "conformance/transport_test.hpp"

#include "support/loopback.hpp"

namespace taut::test {
namespace {

class LoopbackConformance : public testing::TestWithParam<TransportTest> {};

TEST_P(LoopbackConformance, InAnyOrder) {
  for (const int P : {1, 2, 5}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(testing::Message() << "P " << P << " seed " << seed);
      LoopbackHub hub(P, {.seed = seed, .random_order = true});
      std::vector<Task<>> tasks;
      for (int r = 0; r < P; ++r) tasks.push_back(GetParam().run(hub.transport(r)));
      hub.run(tasks);
      for (Task<>& task : tasks) task.result();
    }
  }
}

TEST_P(LoopbackConformance, WithOneThreadARank) {
  LoopbackHub hub(3);
  std::vector<Task<>> tasks;
  for (int r = 0; r < 3; ++r) tasks.push_back(GetParam().run(hub.transport(r)));
  hub.run_threads(tasks);
  for (Task<>& task : tasks) task.result();
}

INSTANTIATE_TEST_SUITE_P(All, LoopbackConformance, testing::ValuesIn(transport_tests),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace taut::test
