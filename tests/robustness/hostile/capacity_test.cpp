// Every capacity of an output is either enough or refused; nothing is written beyond it.
#include "robustness/hostile/subject_test.hpp"

namespace taut::test {
namespace {

class Capacity : public EverySubject {};

TEST_P(Capacity, EncodingNeedsMaxBytesAndLeavesLessUntouched) {
  for (const bool checksum : {false, true}) {
    for_frames(checksum, {0, 1, 9, 130},
               [](const Subject& subject, const Values& values, const FrameBytes& frame) {
                 for (const auto& codec : with_all_kernels(*subject.info, subject.options)) {
                   const std::size_t most = codec->max_bytes(values.type(), values.count());
                   const Guarded out(most);
                   for (std::size_t room = 0; room < most; ++room) {
                     ASSERT_EQ(codec->encode(values.slice(), out.last(room)).status, Status::buffer_too_small)
                         << room;
                     ASSERT_TRUE(out.only_last_changed(0)) << room;
                   }
                   const SizeOrStatus size = codec->encode(values.slice(), out.bytes());
                   ASSERT_EQ(size.status, Status::ok);
                   ASSERT_TRUE(std::ranges::equal(ConstBytes(out.bytes()).first(size.bytes), frame));
                   ASSERT_TRUE(out.intact());
                 }
               });
  }
}

// The capacity for the largest block of a message is enough for all its blocks.
TEST_P(Capacity, MoreValuesNeverNeedLess) {
  for_subjects(false, [](const Subject& subject) {
    const auto codec = subject.make();
    for (const std::uint32_t addends : {1u, 2u, 64u}) {
      if (addends > 1 && !subject.info->adds_frames) continue;
      std::size_t before = 0;
      for (std::size_t count = 0; count < 9000; ++count) {
        const std::size_t most = codec->max_bytes(subject.type, count, addends);
        ASSERT_GE(most, before) << count << " values, " << addends << " addends";
        before = most;
      }
    }
  });
}

// Returns capacities up to `most`: those near a frame's header, near the size of the sum and near `most`, and
// every eleventh of the others.
std::vector<std::size_t> rooms(std::size_t sum, std::size_t most) {
  const auto near = [](std::size_t room, std::size_t to) { return room + 16 >= to && room <= to + 16; };
  std::vector<std::size_t> all;
  for (std::size_t room = 0; room <= most; ++room)
    if (room % 11 == 0 || near(room, frame_header_bytes) || near(room, sum) || near(room, most))
      all.push_back(room);
  return all;
}

class SumCapacity : public EverySubject {};

// A sum may need less than max_bytes of its addends; then the sum is complete.
TEST_P(SumCapacity, SumsFitOrAreRefused) {
  for_frames(
      false, {0, 1, 9, 130}, [](const Subject& subject, const Values& values, const FrameBytes& frame) {
        const Values others = data(values.type(), values.count(), 77);
        const FrameBytes other = encoded(*subject.make(), others);
        const ConstBytes both[] = {frame, other};
        for (const auto& codec : with_all_kernels(*subject.info, subject.options)) {
          const std::size_t most = codec->max_bytes(values.type(), values.count(), 2);
          FrameBytes total(most);
          const SizeOrStatus whole = codec->arithmetic()->sum(both, total);
          ASSERT_EQ(whole.status, Status::ok);
          const Guarded memory(most);
          for (const std::size_t room : rooms(whole.bytes, most)) {
            for (const bool accumulate : {false, true}) {
              memory.forget();
              const Bytes out = memory.last(room);
              const SizeOrStatus size = accumulate
                                            ? codec->arithmetic()->accumulate(frame, others.slice(), out)
                                            : codec->arithmetic()->sum(both, out);
              ASSERT_TRUE(memory.only_last_changed(room)) << room;
              if (size.status == Status::ok) {
                ASSERT_TRUE(std::ranges::equal(ConstBytes(out).first(size.bytes),
                                               ConstBytes(total).first(whole.bytes)));
              } else {
                ASSERT_EQ(size.status, Status::buffer_too_small) << room;
                ASSERT_LT(room, most);
              }
            }
          }
        }
      });
}

INSTANTIATE_TEST_SUITE_P(All, Capacity, testing::ValuesIn(subject_cases()), name_of_subject);
INSTANTIATE_TEST_SUITE_P(All, SumCapacity, testing::ValuesIn(subject_cases(true)), name_of_subject);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SumCapacity);

}  // namespace
}  // namespace taut::test
