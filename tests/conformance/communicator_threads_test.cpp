// Whole communicators with one thread for each rank. They share only objects of the library (registries,
// options, pools) and a recorder; ThreadSanitizer checks these.
#include <gtest/gtest.h>

#include "communication/comm/communicator.hpp"
#include "support/group.hpp"

namespace taut::test {
namespace {

TEST(CommunicatorThreads, CallsOfAllKindsOnOneThreadARank) {
  constexpr int P = 4;
  constexpr double bound = 1e-3;
  LoopbackHub hub(P);
  Recorder recorder(1000);
  std::vector<std::unique_ptr<HostPlace>> places;
  std::vector<std::unique_ptr<Communicator>> comms;
  for (int r = 0; r < P; ++r) {
    places.push_back(std::make_unique<HostPlace>());
    comms.push_back(std::make_unique<Communicator>(hub.transport(r), *places.back(),
                                                   parse_policy("abs:1e-3,codec=planes,min_bytes=0"), "",
                                                   Observer{nullptr, &recorder}));
  }
  for (const Collective collective : all_collectives) {
    Job job(collective, P, 40000, DType::f32, Pattern::noisy, 3);
    std::vector<Verdict> verdicts(P);
    std::vector<Task<>> tasks;
    const auto call = [](Communicator& comm, CollectiveCall request, Verdict& verdict) -> Task<> {
      verdict = co_await comm.run(request);
    };
    for (std::size_t r = 0; r < P; ++r)
      tasks.push_back(
          call(*comms[r], {collective, job.operands(static_cast<int>(r)), job.bytes()}, verdicts[r]));
    hub.run_threads(tasks);
    for (Task<>& task : tasks) task.result();
    for (int r = 0; r < P; ++r) {
      ASSERT_EQ(verdicts[static_cast<std::size_t>(r)].status, Status::ok) << name_of(collective);
      ASSERT_EQ(job.check(r, bound, 0), "") << name_of(collective);
    }
    ASSERT_TRUE(job.same_bits()) << name_of(collective);
  }
  std::size_t events = 0;
  recorder.for_each([&](const Event&) { ++events; });
  EXPECT_GT(events, P * std::size(all_collectives));
}

}  // namespace
}  // namespace taut::test
