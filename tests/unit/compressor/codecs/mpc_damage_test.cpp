// mpc frames that no encoder writes: everything that spec.md requires decoders to reject.
#include "support/mpc_frames.hpp"

namespace taut::test {
namespace mpc_damage_test {

constexpr std::size_t count = 2200, index_at = frame_header_bytes, records_at = index_at + 4 * 4;

ByteVector counting() {
  std::vector<std::uint32_t> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<std::uint32_t>(i * i % 977);
  return as_bytes(x);
}

class MpcDamage : public testing::TestWithParam<const char*> {
 protected:
  Status decode(const ByteVector& bad) const {
    ByteVector decoded(4 * count);
    const Status status = mpc_decode(*mpc_codec("auto", GetParam()), DType::u32, bad, decoded);
    std::vector<float> sums(count);  // sums of a type that every build can reduce
    ByteVector as_float = bad;
    FrameHeader header = header_of(bad);
    header.type = DType::f32;
    write_header(header, as_float);
    const Status reduced =
        mpc_codec("auto", GetParam())->reduce(as_float, {{sums.data(), count, DType::f32}}, Reduction::sum);
    EXPECT_EQ(reduced, status);
    return status;
  }

  static FrameHeader header_of(const ByteVector& frame) {
    FrameHeader header;
    EXPECT_EQ(read_header(frame, header), Status::ok);
    return header;
  }

  // Returns the frame after `change` of its header.
  template <class Change>
  ByteVector with_header(Change change) const {
    ByteVector bad = good;
    FrameHeader header = header_of(bad);
    change(header);
    write_header(header, bad);
    return bad;
  }

  std::uint32_t offset(std::size_t i) const { return load<std::uint32_t>(good.data() + index_at + 4 * i); }
  static void set_offset(ByteVector& frame, std::size_t i, std::uint32_t to) {
    store(frame.data() + index_at + 4 * i, to);
  }

  // Returns the frame with `n` bytes inserted before byte `at`, which belongs to the last record.
  ByteVector longer(std::size_t at, std::size_t n, std::byte with = std::byte{0}) const {
    ByteVector bad = good;
    bad.insert(bad.begin() + static_cast<std::ptrdiff_t>(at), n, with);
    FrameHeader header = header_of(good);
    header.payload_bytes += n;
    write_header(header, bad);
    set_offset(bad, 3, offset(3) + static_cast<std::uint32_t>(n / 4));
    return bad;
  }

  const ByteVector values = counting(), good = mpc_frame(*mpc_codec("d1"), DType::u32, values);
};

TEST_P(MpcDamage, TheFrameItselfIsGood) {
  ASSERT_EQ(header_of(good).flags, 0);
  EXPECT_EQ(decode(good), Status::ok);
}

TEST_P(MpcDamage, HeadersOfAnotherKind) {
  EXPECT_EQ(decode(with_header([](FrameHeader& h) { h.parameters[1] = 1; })), Status::corrupt_frame);
  EXPECT_EQ(decode(with_header([](FrameHeader& h) { h.parameters[0] = 9; })), Status::corrupt_frame);
  EXPECT_EQ(decode(with_header([](FrameHeader& h) { h.parameters[0] = 255; })), Status::corrupt_frame);
  EXPECT_EQ(decode(with_header([](FrameHeader& h) { h.addends = 2; })), Status::corrupt_frame);
  EXPECT_EQ(decode(with_header([](FrameHeader& h) { h.flags = FrameHeader::stored; })),
            Status::corrupt_frame);
  EXPECT_EQ(decode(with_header([](FrameHeader& h) { h.flags = FrameHeader::failed; })), Status::peer_failed);
  EXPECT_EQ(decode(with_header([](FrameHeader& h) { h.codec = 1; })), Status::frame_mismatch);
  EXPECT_EQ(decode(with_header([](FrameHeader& h) { h.payload_bytes = 4; })), Status::corrupt_frame);
}

TEST_P(MpcDamage, AnIndexThatIsNone) {
  for (const auto& [entry, to] : {std::pair<std::size_t, std::uint32_t>{0, 1},
                                  {1, offset(2) + 1},
                                  {2, offset(1) - 1},
                                  {3, offset(3) - 1},
                                  {3, offset(3) + 1},
                                  {1, ~0u}}) {
    ByteVector bad = good;
    set_offset(bad, entry, to);
    EXPECT_EQ(decode(bad), Status::corrupt_frame) << entry << " " << to;
  }
}

TEST_P(MpcDamage, RecordsOfAnotherLength) {
  const std::size_t last = records_at + 4 * offset(2);
  EXPECT_EQ(decode(longer(last, 4)), Status::corrupt_frame);     // in the planes
  EXPECT_EQ(decode(longer(last, 4096)), Status::corrupt_frame);  // longer than the words
  EXPECT_EQ(decode(longer(good.size(), 4)), Status::corrupt_frame);
  for (const std::uint32_t less : {1u, 2u, 3u, 8u, 30u}) {  // the missing bytes count for the record before
    ByteVector bad = good;
    set_offset(bad, 2, offset(2) + less);
    EXPECT_EQ(decode(bad), Status::corrupt_frame) << less;
  }
}

TEST_P(MpcDamage, BytesThatBelongToNoRecord) {
  ByteVector behind = longer(good.size(), 4), before = longer(records_at, 4);
  set_offset(behind, 3, offset(3));
  EXPECT_EQ(decode(behind), Status::corrupt_frame);
  for (std::size_t i = 0; i < 4; ++i) set_offset(before, i, offset(i) + 1);
  EXPECT_EQ(decode(before), Status::corrupt_frame);
}

// A record that kernels could decode, but whose words need fewer bytes.
TEST_P(MpcDamage, ARecordLongerThanItsWords) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> noise(512);
  for (std::uint64_t& x : noise) x = random();
  const ByteVector words = as_bytes(noise);
  ByteVector bad(frame_header_bytes + 8 + mpc::max_record_bytes), decoded(4096);
  const std::size_t bytes = choose_kernels(mpc::kernel_sets(), GetParam())
                                ->for_word_bytes(8)
                                .encode(words.data(), 64, 1, bad.data() + frame_header_bytes + 8);
  ASSERT_GT(bytes, 4096u);
  FrameHeader header{.codec = mpc::frame_id, .type = DType::u64, .count = 512};
  header.parameters[0] = 1;
  header.payload_bytes = 8 + bytes;
  write_header(header, bad);
  store(bad.data() + frame_header_bytes, std::uint32_t{0});
  store(bad.data() + frame_header_bytes + 4, static_cast<std::uint32_t>(bytes / 4));
  EXPECT_EQ(mpc_decode(*mpc_codec("auto", GetParam()), DType::u64, bad, decoded), Status::corrupt_frame);
}

TEST_P(MpcDamage, FlagsOfVectorsThatAreNotThere) {
  ByteVector bad = good;  // the last chunk has 152 words: 10 vectors
  const std::size_t top = bad.size() - 8;
  for (std::size_t bit = 10; bit < 64; ++bit) {
    bad[top + bit / 8] ^= std::byte(1 << bit % 8);
    EXPECT_EQ(decode(bad), Status::corrupt_frame) << bit;
    bad[top + bit / 8] ^= std::byte(1 << bit % 8);
  }
}

// Returns a frame of 4 vectors in one record, some of which have padding after the planes.
ByteVector padded_frame(std::size_t& padding_at) {
  for (std::uint32_t n = 1;; ++n) {
    std::vector<std::uint32_t> x(64, 0);
    for (std::uint32_t i = 0; i < n; ++i) x[9 + 8 * i] = 1;
    const ByteVector frame = mpc_frame(*mpc_codec("d1"), DType::u32, as_bytes(x));
    padding_at = frame_header_bytes + 8 + 2 * n;  // a block of 2 planes: 1 has one digit, -1 two
    if (frame[padding_at] == std::byte{0}) return frame;
  }
}

TEST_P(MpcDamage, PaddingIsZero) {
  std::size_t at = 0;
  const ByteVector frame = padded_frame(at);
  ByteVector bad = frame, decoded(256);
  bad[at] = std::byte{1};
  EXPECT_EQ(mpc_decode(*mpc_codec("auto", GetParam()), DType::u32, frame, decoded), Status::ok);
  EXPECT_EQ(mpc_decode(*mpc_codec("auto", GetParam()), DType::u32, bad, decoded), Status::corrupt_frame);
}

// Adds a flag byte of 0, with all sizes consistent.
TEST_P(MpcDamage, FlagsBeyondTheVectorsAreRejectedEvenIfTheyAreZero) {
  std::size_t at = 0;
  ByteVector bad = padded_frame(at), decoded(256);
  const auto begin = bad.begin();
  std::rotate(begin + static_cast<std::ptrdiff_t>(at), begin + static_cast<std::ptrdiff_t>(at) + 1,
              bad.end() - 12);
  bad[bad.size() - 8] |= std::byte{1 << 5};
  EXPECT_EQ(mpc_decode(*mpc_codec("auto", GetParam()), DType::u32, bad, decoded), Status::corrupt_frame);
}

// No payload makes a decoder read or write outside its buffers; a sanitizer would report that.
TEST_P(MpcDamage, AnyBytesDoNoHarm) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    ByteVector bad = good;
    for (int k = 0; k < 1 + round % 30; ++k)
      bad[records_at + random() % (bad.size() - records_at)] = std::byte(random());
    decode(bad);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, MpcDamage, testing::ValuesIn(mpc_kernel_names()),
                         [](const auto& set) { return std::string(set.param); });

}  // namespace mpc_damage_test
}  // namespace taut::test
