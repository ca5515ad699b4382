// Failure of any allocation in any codec call: the call returns an error status, loses nothing, and the next
// call works.
#include "support/replace_new.hpp"

#include "robustness/hostile/subject_test.hpp"

namespace taut::test {
namespace {

// Runs `call` while its 1st, 2nd, ... allocation fails, until it needs no further allocation. `call` returns
// a Status.
template <class Call>
void fail_each_allocation(const char* verb, Call call) {
  constexpr std::size_t most = 10000;
  for (std::size_t n = 0; n < most; ++n) {
    const Allocations before = allocations;
    allocations.until_failure = n;
    const Status status = call();
    const bool failed = allocations.until_failure == 0;
    allocations.until_failure = Allocations::never;
    ASSERT_EQ(allocations.made - before.made, allocations.given_back - before.given_back)
        << verb << " leaks, " << n;
    if (status == Status::ok && !failed) return;
    ASSERT_TRUE(status == Status::ok || status == Status::out_of_memory)
        << verb << ", allocation " << n << ": " << describe(status);
  }
  FAIL() << verb << " takes more than " << most << " allocations";
}

class AllocationFailures : public EverySubject {};

TEST_P(AllocationFailures, EndAsAStatus) {
  for_frames(true, {0, 9, 5000}, [](const Subject& subject, const Values& values, const FrameBytes& frame) {
    fail_each_allocation("make", [&] {
      try {
        subject.make();
        return Status::ok;
      } catch (const std::bad_alloc&) {
        return Status::out_of_memory;
      }
    });
    const auto codec = subject.make();
    Values decoded = values;
    FrameBytes room(codec->max_bytes(values.type(), values.count(), 4));
    const Bytes one_frame = Bytes(room).first(codec->max_bytes(values.type(), values.count()));
    fail_each_allocation("encode", [&] { return codec->encode(values.slice(), one_frame).status; });
    fail_each_allocation("decode", [&] { return codec->decode(frame, decoded.slice()); });
    for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max}) {
      if (!is_defined(op, values.type())) continue;
      fail_each_allocation("reduce", [&] { return codec->reduce(frame, decoded.slice(), op); });
    }
    if (codec->arithmetic() == nullptr) return;
    const ConstBytes frames[] = {frame, frame, frame};
    fail_each_allocation("sum", [&] { return codec->arithmetic()->sum(frames, room).status; });
    fail_each_allocation("accumulate",
                         [&] { return codec->arithmetic()->accumulate(frame, values.slice(), room).status; });
  });
}

INSTANTIATE_TEST_SUITE_P(All, AllocationFailures, testing::ValuesIn(subject_cases()), name_of_subject);

}  // namespace
}  // namespace taut::test
