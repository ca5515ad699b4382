// Tests of mpc frames with a grid: values that are integers times a step plus an offset.
#include <cfenv>
#include <cmath>
#include <limits>

#include "compressor/codecs/mpc/kernels.hpp"
#include "support/mpc_frames.hpp"

namespace taut::test {
namespace mpc_grid_test {

constexpr std::size_t count = 100000;
constexpr std::uint8_t forms = mpc::product_flag | mpc::quotient_flag | mpc::unit_flag;

// Returns integers of 16 bits that change like a measured field.
std::vector<int> packed() {
  std::mt19937_64 random(3);
  std::vector<int> q(count);
  for (std::size_t i = 0; i < count; ++i)
    q[i] = static_cast<int>(20000 * std::sin(static_cast<double>(i) / 700)) + static_cast<int>(random() % 40);
  return q;
}

template <class T, class Make>
std::vector<T> made(const Make& make) {
  std::vector<T> x;
  for (const int q : packed()) x.push_back(static_cast<T>(make(q)));
  return x;
}

template <class T>
constexpr DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;

std::unique_ptr<Codec> codec_of(const char* predictor = "auto", const char* kernels = "", int threads = 1,
                                Dims dims = {}) {
  return find_codec("mpc")->make(
      {.predictor = predictor, .kernels = kernels, .dims = dims, .threads = threads});
}

std::uint8_t form_of(const ByteVector& frame, std::uint8_t among = forms) {
  return static_cast<std::uint8_t>(frame[44]) & among;
}

template <class T>
void expect_grid(const std::vector<T>& x, std::uint8_t form, double least_gain) {
  const ByteVector values = as_bytes(x), frame = mpc_frame(*codec_of(), dtype<T>, values);
  EXPECT_EQ(form_of(frame, form | forms), form);
  EXPECT_LT(static_cast<double>(frame.size()) * least_gain,
            static_cast<double>(mpc_frame(*codec_of("d1"), dtype<T>, values).size()));
  ByteVector decoded(values.size());
  ASSERT_EQ(mpc_decode(*codec_of("d1"), dtype<T>, frame, decoded), Status::ok);
  EXPECT_TRUE(decoded == values);
}

TEST(MpcGrid, IsFoundInPackedValues) {
  const double step = 91.6 / 65000, offset = 257.4;
  expect_grid(made<float>([&](int q) { return q * step + offset; }), mpc::product_flag, 1.3);
  expect_grid(made<double>([&](int q) { return q * step + offset; }), mpc::product_flag, 3);
  const auto s = static_cast<float>(step), o = static_cast<float>(offset);
  expect_grid(made<float>([&](int q) { return static_cast<float>(q) * s + o; }), mpc::product_flag, 1.3);
  expect_grid(made<float>([&](int q) { return static_cast<float>(q) * s; }), mpc::product_flag, 1.2);
}

TEST(MpcGrid, IsFoundInPrintedValues) {
  expect_grid(made<float>([](int q) { return q / 100.0; }), mpc::quotient_flag, 1.3);
  expect_grid(made<double>([](int q) { return q / 1000.0; }), mpc::quotient_flag, 3);
}

// An offset gives values near 0 roundings that are many of their units in the last place.
TEST(MpcGrid, IsFoundInPackedValuesOnBothSidesOfZero) {
  const double step = 91.6 / 65000, offset = 21.37;
  expect_grid(made<double>([&](int q) { return q * step + offset; }), mpc::product_flag | mpc::unit_flag, 3);
  const auto s = static_cast<float>(step), o = static_cast<float>(offset);
  expect_grid(made<float>([&](int q) { return static_cast<float>(q) * s + o; }),
              mpc::product_flag | mpc::unit_flag, 1.4);
}

// Values much smaller than their offset have its error: of more than their own last places.
TEST(MpcGrid, IsFoundInValuesSmallerThanTheirOffset) {
  const auto small = [](double step, double offset) {
    return [=](int q) { return (q % 100 - 50 + std::round(offset / step)) * step - offset; };
  };
  expect_grid(made<double>(small(4.06e-7, 0.0155)), mpc::product_flag | mpc::unit_flag, 2.5);
  const auto in_float = [](int q) { return static_cast<float>(q % 100 - 50 + 38177) * 4.06e-7F - 0.0155F; };
  expect_grid(made<float>(in_float), mpc::product_flag | mpc::unit_flag, 1.2);
}

TEST(MpcGrid, IsFoundBesideValuesThatAreFarGreater) {
  const auto with_far = []<class T>(T scale) {
    std::vector<T> x = made<T>([&](int q) { return T(q) * scale; });
    for (std::size_t i = 0; i < count; i += 97) x[i] = i % 2 == 0 ? T(1e30) : T(-1e30);
    return x;
  };
  expect_grid(with_far(0.0123F), mpc::product_flag, 1.1);
  expect_grid(with_far(0.0123), mpc::product_flag, 1.1);
}

// The commonest word is coded as 0, on the grid or off it.
TEST(MpcGrid, TakesTheCommonestValueAsItsBase) {
  for (const double usual : {20.0, 1e20, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> x = made<double>([](int q) { return (q + 20000) / 1000.0; });
    for (std::size_t i = 0; i < count; ++i)
      if (i % 1000 < 980) x[i] = usual;
    expect_grid(x, mpc::quotient_flag | mpc::base_flag, 1.5);
  }
}

TEST(MpcGrid, IsFoundWhereASampleHoldsOneValue) {
  std::mt19937 random(2);
  std::vector<float> x(count, 3.25F);
  for (std::size_t i = 50; i < count; i += 500)
    for (std::size_t k = 0; k < 20; ++k) x[i + k] = static_cast<float>(random() % 9973) / 100;
  expect_grid(x, mpc::quotient_flag | mpc::base_flag, 1.5);
}

// Returns packed values with every kind of value off the grid among them.
template <class T>
std::vector<T> with_others(T offset = T(257.4)) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = made<T>([=](int q) { return static_cast<T>(q) * T(0.0014092) + offset; });
  const T others[] = {Limits::quiet_NaN(),
                      -Limits::quiet_NaN(),
                      Limits::infinity(),
                      -Limits::infinity(),
                      T{0},
                      -T{0},
                      Limits::denorm_min(),
                      Limits::max(),
                      T(1e20),
                      T(-999.3)};
  for (std::size_t i = 0; i < x.size(); i += 97)
    for (std::size_t k = 0; k < i % 5; ++k) x[i + k] = others[i % std::size(others)];
  x.resize(x.size() - 3);  // the last vector is not whole
  return x;
}

template <class T>
void expect_all_sets_and_threads_agree(Dims dims, T offset = T(257.4)) {
  const ByteVector values = as_bytes(with_others<T>(offset));
  const ByteVector frame = mpc_frame(*codec_of("auto", "scalar", 1, dims), dtype<T>, values);
  EXPECT_EQ(form_of(frame) & mpc::unit_flag, offset < 100 ? mpc::unit_flag : 0);
  EXPECT_NE(form_of(frame), 0);
  for (const char* kernels : mpc_kernel_names())
    for (const int threads : {1, 3}) {
      const auto codec = codec_of("auto", kernels, threads, dims);
      EXPECT_TRUE(mpc_frame(*codec, dtype<T>, values) == frame) << kernels;
      ByteVector decoded(values.size());
      ASSERT_EQ(mpc_decode(*codec, dtype<T>, frame, decoded), Status::ok) << kernels;
      EXPECT_TRUE(decoded == values) << kernels;
    }
}

TEST(MpcGrid, ValuesOffItStayAsTheyAreInAllSetsAndThreads) {
  expect_all_sets_and_threads_agree<float>({});
  expect_all_sets_and_threads_agree<double>({});
  expect_all_sets_and_threads_agree<float>({{7, 109, 131}, 3});
  expect_all_sets_and_threads_agree<float>({}, 21.37F);
  expect_all_sets_and_threads_agree<double>({{7, 109, 131}, 3}, 21.37);
}

// Returns printed values that seldom change.
template <class T>
std::vector<T> steps() {
  std::mt19937 random(4);
  std::vector<T> x(count);
  int q = 100;
  for (T& value : x) {
    if (random() % 4 == 0) q += static_cast<int>(random() % 64) - 32;
    value = static_cast<T>(q / 1000.0);
  }
  return x;
}

template <class T>
void expect_integers_alone() {
  std::vector<T> x = steps<T>();
  for (const T other : {std::nextafter(x[count / 3], T(1e9)), -T{0}, std::numeric_limits<T>::quiet_NaN()}) {
    const ByteVector values = as_bytes(x), frame = mpc_frame(*codec_of("auto", "scalar"), dtype<T>, values);
    EXPECT_EQ(static_cast<unsigned>(frame[45]) & mpc::integers_flag, mpc::integers_flag);
    for (const char* kernels : mpc_kernel_names()) {
      EXPECT_TRUE(mpc_frame(*codec_of("auto", kernels), dtype<T>, values) == frame) << kernels;
      ByteVector decoded(values.size());
      ASSERT_EQ(mpc_decode(*codec_of("d1", kernels), dtype<T>, frame, decoded), Status::ok) << kernels;
      EXPECT_TRUE(decoded == values) << kernels;
    }
    x[count / 3] = other;
  }
}

TEST(MpcGrid, CodesAreIntegersAloneWhereThatSavesBytes) {
  expect_integers_alone<float>();
  expect_integers_alone<double>();
  const ByteVector noisy = as_bytes(made<double>([](int q) { return q / 1000.0; }));
  EXPECT_EQ(static_cast<unsigned>(mpc_frame(*codec_of(), DType::f64, noisy)[45]), 0u);
}

// Integers times a step plus an offset, both rounded: differences from the product are few, but there are
// some.
TEST(MpcGrid, CodesHaveDifferencesWhereValuesAreNextToIt) {
  std::vector<float> x = steps<float>();
  for (float& value : x) value = std::round(value * 1000) * 0.0014092F + 257.4F;
  EXPECT_EQ(static_cast<unsigned>(mpc_frame(*codec_of(), DType::f32, as_bytes(x))[45]) & mpc::integers_flag,
            0u);
}

// Returns an integer below an odd `divisor` whose quotient is as near as can be to where rounding to `digits`
// bits changes: 2^digits times it leaves (divisor + 1) / 2.
std::int64_t hard_dividend(std::uint64_t divisor, int digits) {
  std::uint64_t x = (divisor + 1) / 2;
  for (int k = 0; k < digits; ++k) x = x % 2 == 0 ? x / 2 : (x + divisor) / 2;
  return static_cast<std::int64_t>(x);
}

template <class Word>
void expect_quotients_of_division(double step, std::int64_t hard) {
  using G = mpc::GridWords<Word>;
  constexpr std::size_t vectors = 4, words = vectors * mpc::vector_bytes / sizeof(Word);
  std::mt19937_64 random(9);
  std::vector<Word> codes(words), expected(words), found(words);
  for (std::size_t i = 0; i < words; ++i) {
    const auto any = static_cast<std::int64_t>(random() % (2 * G::code_reach - 1)) -
                     static_cast<std::int64_t>(G::code_reach) + 1;
    codes[i] = static_cast<Word>(G::center + static_cast<Word>(i % 4 == 0 ? hard : i % 4 == 1 ? -hard : any));
  }
  const auto decode = [&](const mpc::Kernels& kernels, std::vector<Word>& to) {
    kernels.from_codes(reinterpret_cast<const std::byte*>(codes.data()), vectors,
                       {mpc::Grid::Form::quotient, step, 0, 0, true},
                       reinterpret_cast<std::byte*>(to.data()));
  };
  for (std::size_t i = 0; i < words; ++i) {
    const auto integer = static_cast<std::make_signed_t<Word>>(static_cast<Word>(codes[i] - G::center));
    const auto value = static_cast<typename G::Value>(static_cast<double>(integer) / step + 0.0);
    expected[i] = std::bit_cast<Word>(value);
  }
  for (const mpc::KernelSet* set : mpc::kernel_sets()) {
    if (!set->supported()) continue;
    decode(set->for_word_bytes(sizeof(Word)), found);
    EXPECT_TRUE(found == expected) << set->name << ' ' << step;
  }
}

TEST(MpcGrid, QuotientsAreThoseOfDivisionInAllSets) {
  std::mt19937_64 random(8);
  std::vector<double> steps{1,          3,          1000,       65000,      1 / 3.0,
                            0x1p50 - 1, 0x1p50 + 1, 0x1p51 - 1, 0x1p53 - 1, 0x1p-1022};
  for (const double step :
       {0x1p-60, 0x1.8p-61, 0x1p60, 0x1.8p60, 0x1p-500, 0x1.8p-501, 0x1p500, 0x1.8p500, 1e300, 1e-310})
    steps.push_back(step);
  for (const double step : steps) {
    expect_quotients_of_division<std::uint32_t>(step, 65000);
    expect_quotients_of_division<std::uint64_t>(step, 65000);
  }
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t divisor = random() >> (14 + i % 40) | 1, few = random() >> (42 + i % 12) | 1;
    const double scale = i % 2 == 0 ? 0x1p-40 : 1;
    expect_quotients_of_division<std::uint64_t>(static_cast<double>(divisor) * scale,
                                                hard_dividend(divisor, 53));
    expect_quotients_of_division<std::uint32_t>(static_cast<double>(few) * scale,
                                                hard_dividend(few, 24) % (1 << 21));
  }
}

// Returns words on and next to a grid, every kind of value off it, and numbers beyond its integers.
template <class Word>
std::vector<Word> words_around(const mpc::Grid& grid, std::size_t n) {
  using Value = typename mpc::GridWords<Word>::Value;
  using Limits = std::numeric_limits<Value>;
  const Value others[] = {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(),
                          -Limits::infinity(), Limits::denorm_min(), Limits::max(),
                          Limits::lowest(),    Value(1e30),          -Value{0}};
  std::mt19937_64 random(5);
  std::vector<Word> words(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto q = static_cast<double>(static_cast<std::int64_t>(random() % 2000001) - 1000000);
    const double scaled = grid.form == mpc::Grid::Form::product ? q * grid.step : q / grid.step;
    const Value x =
        i % 13 == 0 ? others[i / 13 % std::size(others)] : static_cast<Value>(scaled + grid.offset);
    words[i] = std::bit_cast<Word>(x);
    if (std::isfinite(x) && i % 5 == 0) words[i] -= static_cast<Word>(random() % 3);
    if (i % 31 == 0) words[i] = static_cast<Word>(random()) >> 2;  // a number below 2
  }
  return words;
}

template <class Word>
void expect_the_codes_of_the_scalar_set(const mpc::Grid& grid) {
  constexpr std::size_t in_vector = mpc::vector_bytes / sizeof(Word), most = 21, near = 64, both = 139;
  const std::vector<Word> words = words_around<Word>(grid, both + most * in_vector);
  struct Coded {
    std::vector<Word> codes, residuals, back;
    bool operator==(const Coded&) const = default;
  };
  const auto coded = [&](const mpc::Kernels& kernels, std::size_t vectors, unsigned lags) {
    Coded all{words, std::vector<Word>(most * in_vector), std::vector<Word>(most * in_vector)};
    auto* const codes = reinterpret_cast<std::byte*>(all.codes.data() + both);
    mpc::ResidualOutput residuals{{codes, codes - near * sizeof(Word)}};
    if (lags > 0) residuals.to = reinterpret_cast<std::byte*>(all.residuals.data());
    if (lags > 1) residuals.sources.far = codes - (both - near) * sizeof(Word);
    if (lags > 1) residuals.sources.both = codes - both * sizeof(Word);
    EXPECT_TRUE(kernels.to_codes(codes, vectors, grid, codes, residuals));
    kernels.from_codes(codes, vectors, grid, reinterpret_cast<std::byte*>(all.back.data()));
    return all;
  };
  for (const std::size_t vectors : {std::size_t{1}, std::size_t{2}, most})
    for (unsigned lags = 0; lags <= 2; ++lags) {
      const Coded expected =
          coded(choose_kernels(mpc::kernel_sets(), "scalar")->for_word_bytes(sizeof(Word)), vectors, lags);
      for (std::size_t i = 0; i < vectors * in_vector; ++i) {
        const Word* const c = expected.codes.data() + both + i;
        const Word one = c[0] - *(c - near), two = one - *(c - (both - near)) + *(c - both);
        ASSERT_EQ(expected.residuals[i], lags == 0 ? Word{0} : lags == 1 ? one : two);
        ASSERT_EQ(expected.back[i], words[both + i]);
      }
      for (const mpc::KernelSet* set : mpc::kernel_sets())
        if (set->supported()) {
          EXPECT_TRUE(coded(set->for_word_bytes(sizeof(Word)), vectors, lags) == expected) << set->name;
        }
    }
}

TEST(MpcGrid, CodesAndTheirResidualsAreTheSameInAllSets) {
  using Form = mpc::Grid::Form;
  for (const double unit : {0.0, 0x1p-20})
    for (const bool integers : {false, true})
      for (mpc::Grid grid :
           {mpc::Grid{Form::product, 0.0014092, 257.4}, mpc::Grid{Form::product, 0.5, 0},
            mpc::Grid{Form::product, 1e300, 1e300}, mpc::Grid{Form::quotient, 65000, 0},
            mpc::Grid{Form::quotient, 1000, -3.25}, mpc::Grid{Form::quotient, 0x1p53 - 1, 0}}) {
        grid.unit = unit, grid.integers_alone = integers, grid.base = integers ? 0x7FA00123 : 0;
        expect_the_codes_of_the_scalar_set<std::uint32_t>(grid);
        expect_the_codes_of_the_scalar_set<std::uint64_t>(grid);
      }
}

TEST(MpcGrid, IsNotTakenWhereAValueWouldBeReadAsACode) {
  std::vector<float> x = made<float>([](int q) { return q / 100.0; });
  x[count - 1] = std::bit_cast<float>(0x7FA00001U);  // a signalling NaN
  const ByteVector values = as_bytes(x), frame = mpc_frame(*codec_of(), DType::f32, values);
  EXPECT_EQ(form_of(frame), 0);
  ByteVector decoded(values.size());
  ASSERT_EQ(mpc_decode(*codec_of(), DType::f32, frame, decoded), Status::ok);
  EXPECT_TRUE(decoded == values);
}

TEST(MpcGrid, IsNotTakenForOtherValuesAndNamedPredictors) {
  std::mt19937_64 random(1);
  std::vector<float> noise(count);
  for (float& x : noise) x = static_cast<float>(random() >> 32) * 0x1p-32F + 270;
  EXPECT_EQ(form_of(mpc_frame(*codec_of(), DType::f32, as_bytes(noise))), 0);
  const std::vector<float> printed = made<float>([](int q) { return q / 100.0; });
  EXPECT_NE(form_of(mpc_frame(*codec_of("grid"), DType::f32,
                              as_bytes(std::vector<float>(printed.begin(), printed.begin() + 300)))),
            0);
  EXPECT_EQ(form_of(mpc_frame(*codec_of("d1"), DType::f32, as_bytes(printed))), 0);
  EXPECT_EQ(form_of(mpc_frame(*codec_of(), DType::i32, as_bytes(printed))), 0);
}

TEST(MpcGrid, TheCallersRoundingModeChangesNothing) {
  const ByteVector values = as_bytes(with_others<double>()),
                   frame = mpc_frame(*codec_of(), DType::f64, values);
  ByteVector decoded(values.size());
  std::fesetround(FE_UPWARD);
  const ByteVector upward = mpc_frame(*codec_of(), DType::f64, values);
  const Status status = mpc_decode(*codec_of(), DType::f64, frame, decoded);
  std::fesetround(FE_TONEAREST);
  ASSERT_EQ(status, Status::ok);
  EXPECT_TRUE(upward == frame);
  EXPECT_TRUE(decoded == values);
}

TEST(MpcGrid, ReducesLikeDecodedValues) {
  const std::vector<float> x = made<float>([](int q) { return q / 100.0; });
  const ByteVector frame = mpc_frame(*codec_of(), DType::f32, as_bytes(x));
  std::vector<float> sum(x.size(), 1);
  ASSERT_EQ(codec_of()->reduce(frame, {{sum.data(), sum.size(), DType::f32}}, Reduction::sum), Status::ok);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(sum[i], 1 + x[i]);
}

// Decodes a float frame after change(header, payload).
template <class Change>
Status status_after(ByteVector frame, const Change& change) {
  FrameHeader header;
  EXPECT_EQ(read_header(frame, header), Status::ok);
  change(header, frame.data() + frame_header_bytes);
  const std::size_t payload = frame.size() - frame_header_bytes;
  frame.resize(seal_frame(header, frame.data(), payload));
  ByteVector to(count * sizeof(float));
  return mpc_decode(*codec_of(), header.type, frame, to);
}

TEST(MpcGrid, DamagedUnitsAreRejected) {
  const std::vector<float> x = made<float>([](int q) { return static_cast<float>(q) * 0.0014092F + 21.37F; });
  const ByteVector frame = mpc_frame(*codec_of(), DType::f32, as_bytes(x));
  const auto with = [&](double unit) {
    return status_after(frame, [=](FrameHeader&, std::byte* payload) { store(payload + 16, unit); });
  };
  for (const double unit : {0x1p-126, 0x1p-10, 0x1p100}) EXPECT_EQ(with(unit), Status::ok) << unit;
  for (const double unit : {0.0, -0x1p-10, 0x3p-10, 0x1p-127, 0x1p101, std::nan(""), HUGE_VAL})
    EXPECT_EQ(with(unit), Status::corrupt_frame) << unit;
  EXPECT_EQ(status_after(frame, [](FrameHeader& h, std::byte*) { h.parameters[0] ^= mpc::product_flag; }),
            Status::corrupt_frame);
}

TEST(MpcGrid, DamagedHeadersAreRejected) {
  const ByteVector values = as_bytes(made<float>([](int q) { return q / 100.0; }));
  const ByteVector frame = mpc_frame(*codec_of(), DType::f32, values);
  const auto decoded = [&](const auto& change) { return status_after(frame, change); };
  const auto unchanged = [](FrameHeader&, std::byte*) {};
  ASSERT_EQ(decoded(unchanged), Status::ok);
  for (const double step : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_EQ(decoded([&](FrameHeader&, std::byte* payload) { store(payload, step); }),
              Status::corrupt_frame);
  EXPECT_EQ(decoded([](FrameHeader&, std::byte* payload) { store(payload + 8, std::nan("")); }),
            Status::corrupt_frame);
  EXPECT_EQ(decoded([](FrameHeader& h, std::byte*) { h.parameters[0] |= forms; }), Status::corrupt_frame);
  EXPECT_EQ(decoded([](FrameHeader& h, std::byte*) { h.parameters[2] = 1; }), Status::corrupt_frame);
  EXPECT_EQ(decoded([](FrameHeader& h, std::byte*) { h.parameters[1] |= 3; }), Status::corrupt_frame);
  EXPECT_EQ(decoded([](FrameHeader& h, std::byte*) { h.parameters[1] |= 64; }), Status::corrupt_frame);
  EXPECT_EQ(decoded([](FrameHeader& h, std::byte*) { h.type = DType::i32; }), Status::corrupt_frame);
}

}  // namespace mpc_grid_test
}  // namespace taut::test
