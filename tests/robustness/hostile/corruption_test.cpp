// Frames damaged at every relevant position: the damage is detected or harmless. Frames and values are
// followed by an inaccessible page, so that an access outside ends the test.
#include "robustness/hostile/subject_test.hpp"
#include "support/test_size.hpp"

namespace taut::test {
namespace {

constexpr std::size_t payload_flips = 1000;  // damaged bits in each frame

// A receiver of `count` values, with each kernel set.
class Receiver {
 public:
  Receiver(const Subject& subject, std::size_t count)
      : kernel_sets_(with_all_kernels(*subject.info, subject.options)),
        values_(count * size_of(subject.type)),
        slice_{{values_.bytes().data(), count, subject.type}} {
    const auto addends = 3u;  // addends of sums: more than the frames of the test
    room_.resize(kernel_sets_[0]->max_bytes(subject.type, count, addends));
  }

  // Returns the status of decode; all operations of all kernel sets have to agree on whether the frame is
  // readable.
  Status read(ConstBytes frame) {
    const Status first = kernel_sets_[0]->decode(frame, slice_);
    for (const auto& codec : kernel_sets_) {
      EXPECT_EQ(codec->decode(frame, slice_), first);
      values_.fill(std::byte{0x11});
      EXPECT_EQ(codec->reduce(frame, slice_, Reduction::sum), first);
      if (codec->arithmetic() != nullptr) sum(*codec, frame, first);
    }
    EXPECT_TRUE(values_.intact());
    return first;
  }

 private:
  void sum(const Codec& codec, ConstBytes frame, Status decoding) {
    const ConstBytes frames[] = {frame};
    const SizeOrStatus one = codec.arithmetic()->sum(frames, room_);
    if (decoding == Status::corrupt_frame) {
      EXPECT_NE(one.status, Status::ok);
    }
    values_.fill(std::byte{0x11});
    codec.arithmetic()->accumulate(frame, slice_, room_);
  }

  std::vector<std::unique_ptr<Codec>> kernel_sets_;
  Guarded values_;
  Slice slice_;
  FrameBytes room_;
};

void seal(Bytes frame) {
  const std::uint32_t checksum = crc32c(frame.first(60));
  std::memcpy(frame.data() + 60, &checksum, sizeof checksum);
}

// Calls check with the frame while the number at `at` is 0, 1, the greatest and the one below it, if that
// changes the frame.
template <class Check>
void at_limits(Bytes frame, std::size_t at, std::size_t width, Check check) {
  const FrameBytes good(frame.begin(), frame.end());
  const std::uint64_t greatest = ~std::uint64_t{0} >> (64 - 8 * width);
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, greatest, greatest - 1}) {
    std::memcpy(frame.data() + at, &number, width);
    if (std::memcmp(frame.data() + at, good.data() + at, width) != 0) check(number);
    std::memcpy(frame.data(), good.data(), good.size());
  }
}

// Fields of docs/spec/frame.md. `free`: the codec interprets the field, so another number may be valid.
constexpr struct {
  const char* name;
  std::size_t at, width;
  bool free;
} header_fields[] = {
    {"magic", 0, 4, false},      {"version", 4, 1, false},    {"codec", 5, 1, false},
    {"type", 6, 1, false},       {"flags", 7, 1, true},       {"count", 8, 8, false},
    {"bound", 16, 8, true},      {"step", 24, 8, true},       {"payload", 32, 8, false},
    {"addends", 40, 4, true},    {"parameters", 44, 4, true}, {"failure", 52, 4, true},
    {"bound kind", 56, 1, true}, {"reserved", 57, 1, false},  {"reserved", 59, 1, false},
};

class Corruption : public EverySubject {};

TEST_P(Corruption, EveryTruncationIsDetected) {
  for (const bool checksum : {false, true}) {
    for_frames(checksum, {0, 1, 9, 130},
               [](const Subject& subject, const Values& values, const FrameBytes& frame) {
                 Receiver receiver(subject, values.count());
                 for (std::size_t size = 0; size < frame.size(); ++size) {
                   const Guarded cut(ConstBytes(frame).first(size));
                   ASSERT_NE(receiver.read(cut.bytes()), Status::ok) << size;
                 }
               });
  }
}

TEST_P(Corruption, EveryFlippedBitOfAHeaderIsDetected) {
  for_frames(false, {0, 9, 130}, [](const Subject& subject, const Values& values, const FrameBytes& frame) {
    Receiver receiver(subject, values.count());
    const Guarded damaged{ConstBytes(frame)};
    for (std::size_t bit = 0; bit < 8 * frame_header_bytes; ++bit) {
      std::byte& byte = damaged.bytes()[bit / 8];
      byte ^= std::byte(1 << bit % 8);
      ASSERT_NE(receiver.read(damaged.bytes()), Status::ok) << bit;
      byte ^= std::byte(1 << bit % 8);
    }
    ASSERT_EQ(receiver.read(damaged.bytes()), Status::ok);
  });
}

TEST_P(Corruption, FlippedBitsOfAPayloadAreDetectedUnderAChecksumAndHarmlessWithout) {
  for (const bool checksum : {false, true}) {
    for_frames(checksum, {9, 500},
               [&](const Subject& subject, const Values& values, const FrameBytes& frame) {
                 Receiver receiver(subject, values.count());
                 const Guarded damaged{ConstBytes(frame)};
                 const Bytes payload = damaged.bytes().subspan(frame_header_bytes);
                 std::mt19937_64 random(11 + sample_number());
                 for (std::size_t n = 0; n < sampled_part(payload_flips); ++n) {
                   const std::size_t bit = random() % (8 * payload.size());
                   payload[bit / 8] ^= std::byte(1 << bit % 8);
                   const Status status = receiver.read(damaged.bytes());
                   if (checksum) {
                     ASSERT_NE(status, Status::ok) << bit;
                   }
                   payload[bit / 8] ^= std::byte(1 << bit % 8);
                 }
               });
  }
}

TEST_P(Corruption, HeaderFieldsAtTheirLimitsAreDetectedOrHarmless) {
  for (const bool checksum : {false, true}) {
    for_frames(checksum, {2, 9, 130},
               [](const Subject& subject, const Values& values, const FrameBytes& frame) {
                 Receiver receiver(subject, values.count());
                 const Guarded damaged{ConstBytes(frame)};
                 for (const auto& field : header_fields) {
                   at_limits(damaged.bytes(), field.at, field.width, [&](std::uint64_t number) {
                     seal(damaged.bytes());
                     const Status status = receiver.read(damaged.bytes());
                     if (!field.free) {
                       ASSERT_NE(status, Status::ok) << field.name << " = " << number;
                     }
                   });
                 }
               });
  }
}

// A receiver that trusts the count in the header, as far as it has memory.
TEST_P(Corruption, CountsThatThePayloadDoesNotHoldAreDetected) {
  for_frames(false, {1, 9, 130}, [](const Subject& subject, const Values& values, const FrameBytes& frame) {
    if (!subject.make()->contract().fixed_size) return;
    for (const std::size_t count :
         {std::size_t{0}, values.count() - 1, values.count() + 1, 2 * values.count()}) {
      if (subject.make()->max_bytes(values.type(), count) == frame.size()) continue;  // as good a count
      Receiver receiver(subject, count);
      const Guarded damaged{ConstBytes(frame)};
      const std::uint64_t number = count;
      std::memcpy(damaged.bytes().data() + 8, &number, sizeof number);
      seal(damaged.bytes());
      ASSERT_NE(receiver.read(damaged.bytes()), Status::ok) << count;
    }
  });
}

// Every length or offset in a payload is one of its numbers of 1 to 8 bytes.
TEST_P(Corruption, NumbersInThePayloadAtTheirLimitsAreDetectedUnderAChecksumAndHarmlessWithout) {
  for (const bool checksum : {false, true}) {
    for_frames(checksum, checksum ? std::vector<std::size_t>{9} : std::vector<std::size_t>{9, 130},
               [&](const Subject& subject, const Values& values, const FrameBytes& frame) {
                 Receiver receiver(subject, values.count());
                 const Guarded damaged{ConstBytes(frame)};
                 for (const std::size_t width : {1u, 2u, 4u, 8u}) {
                   for (std::size_t at = frame_header_bytes; at + width <= frame.size(); ++at) {
                     if (!is_sampled()) continue;
                     at_limits(damaged.bytes(), at, width, [&](std::uint64_t number) {
                       const Status status = receiver.read(damaged.bytes());
                       if (checksum) {
                         ASSERT_NE(status, Status::ok) << "at " << at << " = " << number;
                       }
                     });
                   }
                 }
               });
  }
}

INSTANTIATE_TEST_SUITE_P(All, Corruption, testing::ValuesIn(subject_cases()), name_of_subject);

}  // namespace
}  // namespace taut::test
