// Tests of bits=exact: integers packed into floating-point values come back bit for bit, from every codec
// under every bound, with every kernel set.
#include <limits>

#include "compressor/values/number_range.hpp"
#include "support/frames.hpp"
#include "support/packed.hpp"
#include "support/subjects.hpp"

namespace taut::test {
namespace {

constexpr std::size_t records = 3000;  // several chunks, and a part of one

template <class Action>
void with_each_buffer(Action action) {
  action(lammps(records));
  action(gromacs(records));
  action(amrex(records));
}

// Returns fields with few packed integers: vector blocks with and without them.
template <class T>
PackedBuffer<T> rare(std::size_t count) {
  PackedBuffer<T> b{"a few", {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 977 == 5)
      b.integer(static_cast<typename NumberRange<T>::Word>(i + 1));
    else
      b.number(coordinate(i, 0));
  }
  return b;
}

double allowed(const Bound& bound) {
  if (bound.kind == Bound::Kind::pointwise) return 34 * bound.value;
  return bound.kind == Bound::Kind::rate ? 1e-1 : bound.value;
}

template <class T>
void expect_whole(const CodecInfo& info, const PackedBuffer<T>& buffer, Coding options) {
  Frame first;
  for (const auto& codec : with_all_kernels(info, options)) {
    SCOPED_TRACE(testing::Message() << info.name << " " << name_of(options.bound.kind) << " "
                                    << text_of(options.predictor) << " " << buffer.like);
    const Frame frame = encoded(*codec, buffer.values);
    if (first.empty()) first = frame;
    EXPECT_EQ(frame, first);
    const Damage found = damage(buffer, decoded<T>(*codec, frame, buffer.values.size()));
    EXPECT_EQ(found.integers, 0u);
    EXPECT_LE(found.numbers, allowed(options.bound));
    const auto other = info.make({.bound = options.bound});  // a receiver's codec, without other options
    EXPECT_EQ(damage(buffer, decoded<T>(*other, frame, buffer.values.size())).integers, 0u);
  }
}

TEST(PackedIntegers, EveryCodecLeavesThemAsTheyAre) {
  int checked = 0;
  for (const CodecInfo* info : registered_codecs())
    for (const Bound& bound : all_bounds) {
      const auto check = [&]<class T>(const PackedBuffer<T>& buffer) {
        const Coding options{.bound = bound, .bits = PackedBits::exact};
        if (!can_be_made(*info, dtype_of<T>, options)) return;
        expect_whole(*info, buffer, options);
        ++checked;
      };
      with_each_buffer(check);
      check(rare<float>(20000));
      check(rare<double>(20000));
    }
  EXPECT_GE(checked, 25);
}

TEST(PackedIntegers, WithEveryPrediction) {
  const Coding usual{.bound = 1e-4, .bits = PackedBits::exact};
  for (const char* predictor : {"none", "delta", "pairs", "second", "delta+192", "second+64+4000"}) {
    Coding options = usual;
    options.predictor = predictor;
    with_each_buffer([&](const auto& buffer) { expect_whole(*find_codec("planes"), buffer, options); });
    expect_whole(*find_codec("planes"), rare<double>(50000), options);
  }
  Coding field = usual;
  field.dims = {{100, 50, 6}, 3};
  with_each_buffer([&](const auto& buffer) { expect_whole(*find_codec("planes"), buffer, field); });
}

// Tests a float64 chunk of 64-bit integers.
TEST(PackedIntegers, AmongWideIntegers) {
  for (const double bound : {1e-9, 1e-12})
    for (const auto& buffer : {lammps(records), rare<double>(20000)})
      expect_whole(*find_codec("planes"), buffer, {.bound = bound, .bits = PackedBits::exact});
}

// Tests all bit patterns around the limits, alone in a field: a packed integer is exact, a number is within
// the bound.
template <class T>
void expect_limits() {
  using Numbers = NumberRange<T>;
  using Word = typename Numbers::Word;
  const auto codec = find_codec("planes")->make({.bound = 1e-3, .bits = PackedBits::exact});
  constexpr Word sign = ~(static_cast<Word>(~Word{0}) >> 1);
  for (const Word pattern :
       {Word{1}, Word{Numbers::least - 1}, Numbers::least, Word{Numbers::end - 1}, Numbers::end,
        std::bit_cast<Word>(std::numeric_limits<T>::signaling_NaN()), static_cast<Word>(sign - 1)}) {
    for (const Word bits : {pattern, static_cast<Word>(pattern | sign)}) {
      std::vector<T> x(5000, T{2});
      x[4500] = std::bit_cast<T>(bits);
      const std::vector<T> y = decoded<T>(*codec, encoded(*codec, x), x.size());
      const bool same = same_bits_at(x, y, 4500);
      EXPECT_TRUE(same || pattern == Numbers::least) << bits;
      if (pattern == Numbers::least) {  // a number within the bound of zero
        EXPECT_EQ(y[4500], T{0});
      }
    }
  }
}
TEST(PackedIntegers, LimitsOfWhatIsANumber) {
  expect_limits<float>();
  expect_limits<double>();
}

// Tests bounds so large that the zone of packed integers contains numbers.
TEST(PackedIntegers, UnderHugeBounds) {
  for (const char* name : {"planes", "szx", "zfp"}) {
    if (find_codec(name) == nullptr) continue;
    PackedBuffer<float> floats = gromacs(records);
    PackedBuffer<double> doubles = amrex(records);
    for (std::size_t i = 0; i < 100; ++i) {
      floats.integer(std::int32_t{-20'000'000});  // -3.6e35
      doubles.integer(std::uint64_t{0xE000'0000'0000'0000} + i);
    }
    expect_whole(*find_codec(name), floats, {.bound = 1e33, .bits = PackedBits::exact});
    expect_whole(*find_codec(name), doubles, {.bound = 1e153, .bits = PackedBits::exact});
  }
}

// ---- Sums of frames

// Adding a frame of zeros keeps packed integers; a sum of packed integers is that of the numbers that they
// read as.
TEST(PackedIntegers, SumsOfFramesAreExact) {
  for (const char* kernels : set_names) {
    if (!can_be_made(*find_codec("planes"), DType::f64, {.bound = 1e-4, .kernels = kernels})) continue;
    const auto codec =
        find_codec("planes")->make({.bound = 1e-4, .kernels = kernels, .bits = PackedBits::exact});
    const PackedBuffer<double> a = lammps(records);
    std::vector<double> zeros(a.values.size(), 0), ones(a.values.size());
    for (std::size_t i = 0; i < ones.size(); ++i)
      ones[i] = a.is_integer[i] ? std::bit_cast<double>(std::int64_t{1}) : 1;
    const Frame frame = encoded(*codec, a.values);
    const Frame other = encoded(*codec, ones);
    EXPECT_EQ(
        damage(a, decoded<double>(*codec, summed(*codec, {frame, encoded(*codec, zeros)}), zeros.size()))
            .integers,
        0u);
    const std::vector<double> sum = decoded<double>(*codec, summed(*codec, {frame, other}), zeros.size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      if (!a.is_integer[i] || std::isnan(a.values[i])) continue;
      ASSERT_EQ(std::bit_cast<std::int64_t>(sum[i]), std::bit_cast<std::int64_t>(a.values[i]) + 1) << i;
    }
    Frame room(codec->max_bytes(DType::f64, zeros.size(), 2));
    const SizeOrStatus size = codec->arithmetic()->accumulate(frame, slice(std::as_const(ones)), room);
    ASSERT_EQ(size.status, Status::ok);
    room.resize(size.bytes);
    const std::vector<double> fused = decoded<double>(*codec, room, zeros.size());
    EXPECT_EQ(std::memcmp(fused.data(), sum.data(), sum.size() * sizeof(double)), 0);
  }
}

// ---- Values without packed integers are unaffected

TEST(PackedIntegers, AreRoundedUnlessAskedFor) {
  const auto codec = planes(1e-4);
  const PackedBuffer<double> buffer = lammps(records);
  EXPECT_GT(
      damage(buffer, decoded<double>(*codec, encoded(*codec, buffer.values), buffer.values.size())).integers,
      records);
}

TEST(PackedIntegers, FieldsWithoutHaveTheSameFrames) {
  for (const CodecInfo* info : registered_codecs())
    for (const Bound& bound : all_bounds) {
      if (!can_be_made(*info, DType::f32, {.bound = bound, .bits = PackedBits::exact})) continue;
      std::vector<float> x(20000);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = i % 100 < 20 ? 0 : static_cast<float>(coordinate(i, 1));
      const auto usual = info->make({.bound = bound}),
                 exact = info->make({.bound = bound, .bits = PackedBits::exact});
      EXPECT_EQ(encoded(*usual, x), encoded(*exact, x)) << info->name;
    }
}

}  // namespace
}  // namespace taut::test
