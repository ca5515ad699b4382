// Tests the planes kernels on frames with references: the CPU's frames, its values, and its errors.
#include <gtest/gtest.h>

#include "compressor/codecs/planes/prediction.hpp"
#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/seal.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace referenced_test {

using namespace planes;

// Values that differ from x by a few steps, in some places by far more.
template <class T>
std::vector<T> near(const std::vector<T>& x, std::uint64_t seed, double step = 2e-3) {
  std::mt19937_64 random(seed);
  std::vector<T> y = x;
  for (T& v : y) {
    const std::uint64_t r = random();
    const double by = static_cast<double>(r % 7) - 3;
    v = static_cast<T>(static_cast<double>(v) + by * (r % 97 == 0 ? 4 : step));
  }
  return y;
}

// Values of which few rows of 32 differ from x, by a few steps.
template <class T>
std::vector<T> near_in_most_rows(const std::vector<T>& x, std::uint64_t seed, double step = 2e-3) {
  std::mt19937_64 random(seed);
  std::vector<T> y = x;
  for (std::size_t first = 0; first < x.size(); first += 32 * (1 + random() % 40))
    for (std::size_t i = first; i < std::min(first + 32, x.size()); ++i)
      y[i] = static_cast<T>(static_cast<double>(x[i]) + static_cast<double>(1 + random() % 5) * step);
  return y;
}

template <class T>
struct Given {
  std::vector<std::vector<T>> arrays;

  // Returns the first n arrays as references, under the numbers 5, 6, ...
  std::vector<Reference> references(std::size_t n) const {
    std::vector<Reference> all;
    for (std::size_t k = 0; k < n; ++k)
      all.push_back({0x1234567800000005 + k, {{arrays[k].data(), arrays[k].size(), dtype_of<T>}}});
    return all;
  }
};

template <class T>
std::vector<std::byte> cpu_referenced(const std::vector<T>& x, const Codec& codec, References references) {
  std::vector<std::byte> frame(codec.max_bytes(dtype_of<T>, x.size()));
  const SizeOrStatus size = codec.encode({{x.data(), x.size(), dtype_of<T>}}, references, frame);
  EXPECT_EQ(size.status, Status::ok);
  frame.resize(size.bytes);
  return frame;
}

constexpr std::size_t reference_count_at = 46;

bool has_references(const std::vector<std::byte>& frame) { return frame[reference_count_at] != std::byte{0}; }

// Returns the number of records of whose flags is_one() is true.
template <class IsOne>
int records_of(const std::vector<std::byte>& frame, std::size_t n, const IsOne& is_one) {
  const std::size_t chunks = chunks_of(n),
                    index = frame_header_bytes + 8 * static_cast<std::size_t>(frame[reference_count_at]);
  int found = 0;
  for (std::size_t i = 0; i < chunks && has_references(frame); ++i) {
    const auto first = load<std::uint32_t>(&frame[index + 4 * i]),
               end = load<std::uint32_t>(&frame[index + 4 * i + 4]);
    if (first < end)
      found += is_one(std::to_integer<std::uint8_t>(frame[index + 4 * (chunks + 1 + std::size_t{first})]));
  }
  return found;
}

int wide_records_of(const std::vector<std::byte>& frame, std::size_t n) {
  return records_of(frame, n, [](std::uint8_t flags) { return (flags & wide) != 0; });
}

int records_with(TableForm form, const std::vector<std::byte>& frame, std::size_t n) {
  return records_of(frame, n, [form](std::uint8_t flags) { return table_form(flags) == form; });
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
class GpuReferenced : public testing::Test {
 public:
  // Expects the CPU's frame, its values, and its values += frame.
  void check(const std::vector<T>& x, const Given<T>& given, std::size_t n, const Bound& bound,
             Predictor predictor, PackedBits bits = PackedBits::rounded) {
    const std::vector<Reference> references = given.references(n);
    const auto codec = cpu_codec(bound, predictor, bits);
    GpuCodec<T> kernels(gpu, bound, predictor, bits);
    const auto cpu = cpu_referenced(x, *codec, references), there = kernels.encode_referenced(x, references);
    ASSERT_EQ(kernels.result().status, 0u);
    ASSERT_EQ(there.size(), cpu.size());
    ASSERT_TRUE(there == cpu);
    ++(has_references(cpu) ? referenced : plain);
    named += records_with(TableForm::names, cpu, x.size());
    sparse += records_with(TableForm::sparse_bitmap, cpu, x.size());
    wide_records += wide_records_of(cpu, x.size());
    check_values(cpu, references, *codec, kernels, x.size());
  }
  void check_values(const std::vector<std::byte>& frame, References references, const Codec& codec,
                    GpuCodec<T>& kernels, std::size_t n) {
    std::vector<T> cpu(n), there(n);
    ASSERT_EQ(codec.decode(frame, references, {{cpu.data(), n, dtype_of<T>}}), Status::ok);
    ASSERT_EQ(kernels.decode_referenced(frame, there, references), 0u);
    ASSERT_TRUE(same(there, cpu));
    there = cpu = make<T>(Pattern::walk, n, 3);
    ASSERT_EQ(codec.reduce(frame, references, {{cpu.data(), n, dtype_of<T>}}, Reduction::sum), Status::ok);
    ASSERT_EQ(kernels.decode_referenced(frame, there, references, true), 0u);
    ASSERT_TRUE(same(there, cpu));
  }

  shim::Gpu gpu{0};
  int referenced = 0, plain = 0;                // numbers of frames
  int named = 0, sparse = 0, wide_records = 0;  // numbers of records
};
using Types = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuReferenced, Types);

constexpr Predictor all_predictors[] = {Predictor::none, Predictor::delta, Predictor::pairs,
                                        Predictor::second};

TYPED_TEST(GpuReferenced, HasTheBitsOfTheCpu) {
  using T = TypeParam;
  for (const Bound bound : {Bound{1e-3}, Bound{Bound::Kind::snap, 1e-2}}) {
    for (const Predictor predictor : all_predictors) {
      for (const Pattern pattern : all_patterns) {
        for (const std::size_t n : {0, 1, 31, 32, 4093, 9001}) {
          const std::vector<T> x = make<T>(pattern, n, 7);
          const Given<T> given{{near(x, 1), near(x, 2)}};
          for (const std::size_t references : {1, 2}) {
            if (!test::is_sampled()) continue;
            SCOPED_TRACE(testing::Message()
                         << name_of(pattern) << " n " << n << " predictor " << static_cast<int>(predictor)
                         << " bound " << bound.value << " references " << references);
            this->check(x, given, references, bound, predictor);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
  if (test::one_case_in() > 1) return;
  EXPECT_GT(this->referenced, 60);
  EXPECT_GT(this->plain, 60);
  EXPECT_GT(this->named, 60);
}

// Tables with sparse bitmaps, of whole chunks and of the shortest.
TYPED_TEST(GpuReferenced, HasTheBitsOfTheCpuWhereFewRowsChange) {
  using T = TypeParam;
  for (const double bound : {1e-3, 1e-9}) {
    if (bound < 1e-6 && sizeof(T) != 8) continue;  // float64 has wide records
    for (const Predictor predictor : {Predictor::none, Predictor::second}) {
      for (const std::size_t n : {1, 31, 64, 65, 545, 2049, 3000, 4089, 4096, 9001, 12288}) {
        const std::vector<T> x = make<T>(Pattern::wave, n, 7);
        const std::vector<T> before = near_in_most_rows(x, n, 2 * bound);
        const Given<T> given{{before, before}};
        for (const double scale : {1.0, 3e4}) {  // entries of nibbles and of bytes
          SCOPED_TRACE(testing::Message() << "n " << n << " bound " << bound << " predictor "
                                          << static_cast<int>(predictor) << " scale " << scale);
          const Given<T> far{{near_in_most_rows(x, n, scale * bound), before}};
          for (const std::size_t references : {1, 2})
            this->check(x, references == 1 ? far : given, references, {bound}, predictor);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(this->sparse, 20);
}

// References of every kind of values: NaN, infinities, -0, denormal and huge numbers, random bits.
TYPED_TEST(GpuReferenced, TakesAnyReference) {
  using T = TypeParam;
  constexpr std::size_t n = 5003;
  for (const double bound : {1e-3, 1e-6}) {
    for (const Pattern of_x : {Pattern::wave, Pattern::sprinkled, Pattern::denormal}) {
      std::vector<T> x = make<T>(of_x, n, 7);
      for (const Pattern pattern : all_patterns) {
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message()
                     << name_of(of_x) << " from " << name_of(pattern) << " bound " << bound);
        std::vector<T> reference = make<T>(pattern, n, 8);
        for (std::size_t i = 0; i < n; i += 11)
          reference[i] =
              std::bit_cast<T>(static_cast<BitsOf<T>>(std::uint64_t{1} << (8 * sizeof(T) - 1)));  // -0
        const Given<T> given{{reference, make<T>(Pattern::mixed, n, 9)}};
        for (const std::size_t references : {1, 2})
          this->check(x, given, references, {bound}, Predictor::delta);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  EXPECT_TRUE(this->referenced > 20 || test::one_case_in() > 1) << this->referenced;
}

// Chunks with 64-bit integers, whose references are near, far, and of every kind of values.
using GpuWideReferenced = GpuReferenced<double>;
TEST_F(GpuWideReferenced, HasTheBitsOfTheCpu) {
  for (const double bound : {1e-7, 1e-9, 1e-12}) {
    for (const Predictor predictor : all_predictors) {
      for (const Pattern pattern : all_patterns) {
        for (const std::size_t n : {66, 4093, 9001}) {
          if (!test::is_sampled()) continue;
          const std::vector<double> x = make<double>(pattern, n, 7);
          const Given<double> close{{near(x, 1, 2 * bound), near(x, 2, 2 * bound)}},
              far{{near(x, 1), make<double>(Pattern::mixed, n, 9)}},
              any{{make<double>(all_patterns[n % 11], n, 3), near(x, 3)}};
          for (const Given<double>* given : {&close, &far, &any}) {
            SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " predictor "
                                            << static_cast<int>(predictor) << " bound " << bound);
            check(x, *given, 1 + n % 2, {bound}, predictor);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_TRUE((wide_records > 60 && named > 10) || test::one_case_in() > 1) << wide_records << " " << named;
}

// Covers the limit at which runs in a wide chunk make the encoder drop the references of the frame, and that
// at which a chunk becomes wide.
TEST_F(GpuWideReferenced, DropsReferencesAsTheCpuDoes) {
  for (const std::size_t every : {2, 3, 4, 5, 6, 7, 8, 9, 12, 40, 62, 63, 64, 65, 70, 1000}) {
    for (const bool few_wide : {false, true}) {
      std::vector<double> x = make<double>(Pattern::wave, 5000, 1);
      const Given<double> given{{near(x, 1), near(x, 2)}};
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = few_wide         ? (i % every == 0 ? x[i] : 1e-6 * x[i])
               : i % every == 0 ? 1e300 + 1e290 * static_cast<double>(i)
                                : x[i];
      SCOPED_TRACE(testing::Message() << every << few_wide);
      check(x, given, 1 + every % 2, {1e-10}, Predictor::delta);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(plain, 0);
  EXPECT_GT(referenced, 10);
  EXPECT_GT(wide_records, 10);
}

TYPED_TEST(GpuReferenced, KeepsPackedIntegers) {
  using T = TypeParam;
  for (const Pattern pattern : {Pattern::wave, Pattern::denormal, Pattern::mixed, Pattern::sprinkled}) {
    SCOPED_TRACE(name_of(pattern));
    const std::vector<T> x = make<T>(pattern, 9001, 7);
    this->check(x, {{near(x, 1), near(x, 2)}}, 2, {1e-3}, Predictor::none, PackedBits::exact);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Covers the limit at which runs in a chunk make the encoder drop the references of the frame.
TYPED_TEST(GpuReferenced, DropsReferencesAsTheCpuDoes) {
  using T = TypeParam;
  for (const double large : {1.0, 1e3}) {
    for (std::size_t every = 2; every < 24; ++every) {
      std::vector<T> x = make<T>(Pattern::wave, 5000, 1);
      const Given<T> given{{near(x, 1)}};
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = i % every == 0 ? static_cast<T>(sizeof(T) == 2 ? 3e4 : 1e20)
                              : static_cast<T>(large * static_cast<double>(x[i]));
      SCOPED_TRACE(testing::Message() << large << " every " << every);
      this->check(x, given, 1, {1e-3}, Predictor::delta);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(this->referenced > 0, sizeof(T) > 2);  // planes of halves leave no room for runs
  EXPECT_GT(this->plain, 0);
}

// Noise fills the available bits, so that records need all of the frame's room.
TYPED_TEST(GpuReferenced, FitsWhatTheFrameMayTake) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  const auto noise = [&](double range) {
    std::vector<T> x(20000);
    for (T& v : x) v = static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 2 * range);
    return x;
  };
  // Records are longest where references are large and values small, some of them without an integer.
  struct Case {
    double values, references;
    std::size_t gap;  // one value in so many has no integer; 0: none
  };
  for (const Case c : {Case{16, 16, 0}, {8000, 8000, 17}, {16, 8000, 0}, {8, 8000, 8}, {8, 8000, 3}}) {
    std::vector<T> x = noise(c.values);
    for (std::size_t i = 0; i < x.size() && c.gap > 0; i += c.gap)
      x[i] = static_cast<T>(sizeof(T) == 2 ? 3e4 : 1e20);
    const Given<T> given{{noise(c.references), noise(c.references)}};
    for (const Predictor predictor : {Predictor::second, Predictor::none}) {
      for (const std::size_t references : {1, 2}) {
        this->check(x, given, references, {1e-3}, predictor);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(this->plain, 0);
  EXPECT_GT(this->referenced, 0);
}

// Several calls use the same scratch memory, some of which encode again without references.
TYPED_TEST(GpuReferenced, LeavesScratchReady) {
  using T = TypeParam;
  const auto codec = cpu_codec({1e-3}, Predictor::delta);
  GpuCodec<T> kernels(this->gpu, {1e-3}, Predictor::delta);
  for (const Pattern pattern : {Pattern::bits, Pattern::wave, Pattern::mixed, Pattern::bits, Pattern::wave}) {
    const std::vector<T> x = make<T>(pattern, 9001, 7);
    const Given<T> given{{near(x, 1)}};
    const std::vector<Reference> references = given.references(1);
    const auto frame = cpu_referenced(x, *codec, references);
    ASSERT_TRUE(kernels.encode_referenced(x, references) == frame) << name_of(pattern);
    this->check_values(frame, references, *codec, kernels, x.size());
    ASSERT_TRUE(kernels.encode(x) == cpu_frame<T>(x, Bound{1e-3}, "delta")) << name_of(pattern);
  }
}

// The prediction of a sum counts once for each addend. Sums themselves are left to the host.
TYPED_TEST(GpuReferenced, DecodesSums) {
  using T = TypeParam;
  constexpr std::size_t n = 9001;
  const auto codec = cpu_codec({1e-3}, Predictor::delta);
  GpuCodec<T> kernels(this->gpu, {1e-3}, Predictor::delta);
  for (const Pattern pattern : {Pattern::wave, Pattern::masked, Pattern::sprinkled}) {
    const std::vector<T> x = make<T>(pattern, n, 7);
    const Given<T> given{{near(x, 1), near(x, 2)}};
    const std::vector<Reference> references = given.references(2);
    const auto one = cpu_referenced(x, *codec, references),
               two = cpu_referenced(near(x, 3), *codec, references);
    if (!has_references(one) || !has_references(two)) continue;
    const ConstBytes parts[] = {one, two, one};
    std::vector<std::byte> sum(codec->max_bytes(dtype_of<T>, n, 3));
    const SizeOrStatus size = codec->arithmetic()->sum(parts, sum);
    ASSERT_EQ(size.status, Status::ok);
    sum.resize(size.bytes);
    this->check_values(sum, references, *codec, kernels, n);
    if (testing::Test::HasFatalFailure()) return;
    ++this->referenced;
    kernels.sum({one, two}, n, 4 * one.size());
    EXPECT_EQ(kernels.result().status, planes::cuda::needs_host);
  }
  EXPECT_GT(this->referenced, 0);
}

// ---- Errors

struct Wrong : testing::Test {
  static constexpr std::size_t n = 5000;
  static constexpr std::uint32_t corrupt = static_cast<std::uint32_t>(Status::corrupt_frame);

  std::uint32_t decoded(const std::vector<std::byte>& of, References references) {
    there.assign(n, 42);
    return kernels.decode_referenced(of, there, references);
  }
  // Expects an error, and no value.
  void expect(std::uint32_t status, const std::vector<std::byte>& of, References references) {
    EXPECT_EQ(decoded(of, references), status);
    EXPECT_TRUE(same(there, std::vector<float>(n, 42)));
  }

  std::vector<float> x = make<float>(Pattern::wave, n, 7), there;
  Given<float> given{{near(x, 1), near(x, 2)}};
  std::vector<Reference> references = given.references(2);
  std::unique_ptr<Codec> codec = cpu_codec({1e-3}, Predictor::delta);
  std::vector<std::byte> frame = cpu_referenced(x, *codec, references);
  shim::Gpu gpu{1};
  GpuCodec<float> kernels{gpu, {1e-3}, Predictor::delta};
};
using GpuReferencedWrong = Wrong;

TEST_F(GpuReferencedWrong, StatesAreErrors) {
  EXPECT_EQ(decoded(frame, references), 0u);
  for (const std::size_t k : {0, 1}) {
    for (const unsigned bit : {0, 31, 32, 63}) {
      auto other = references;
      other[k].state ^= std::uint64_t{1} << bit;
      expect(corrupt, frame, other);
      auto damaged = frame;
      damaged[frame_header_bytes + 8 * k + bit / 8] ^= std::byte(1 << bit % 8);
      expect(corrupt, damaged, references);
    }
  }
  expect(corrupt, frame, {});
  expect(corrupt, frame, References(references).first(1));
  expect(corrupt, frame, std::vector{references[1], references[0]});
}

// A frame of fewer references takes those that it names, the newest ones.
TEST_F(GpuReferencedWrong, MoreReferencesAreNot) {
  const auto one = cpu_referenced(x, *codec, References(references).first(1));
  std::vector<float> values(n);
  EXPECT_EQ(codec->decode(one, references, {{values.data(), n, DType::f32}}), Status::ok);
  EXPECT_EQ(decoded(one, references), 0u);
  EXPECT_TRUE(same(there, values));
  const auto none = cpu_frame<float>(x, Bound{1e-3}, "delta");
  EXPECT_EQ(decoded(none, references), 0u);
  EXPECT_EQ(decoded(none, {}), 0u);
}

TEST_F(GpuReferencedWrong, OtherPredictionsNeedTheHost) {
  expect(planes::cuda::needs_host, cpu_frame<float>(x, Bound{1e-3}, "delta+64"), references);
  auto both = frame;
  both[reference_count_at - 1] = std::byte{1};
  seal(both);
  expect(planes::cuda::needs_host, both, references);
  const Reference own{7, references[0].values, true};
  std::vector<std::byte> addend(codec->max_bytes(DType::f32, n, 2));
  addend.resize(codec->encode({{x.data(), n, DType::f32}}, {&own, 1}, addend).bytes);
  expect(planes::cuda::needs_host, addend, {&own, 1});
  std::vector<float> values(n);
  EXPECT_EQ(kernels.decode(frame, values), planes::cuda::needs_host);
  EXPECT_EQ(kernels.decode_lagged(frame, values), planes::cuda::needs_host);
  auto four = frame;
  four[reference_count_at] = std::byte{4};
  seal(four);
  expect(corrupt, four, references);
}

// ---- Damage

template <class T>
void damage(Pattern pattern, int rounds, std::size_t references_used, std::size_t n, double bound = 1e-3,
            TableForm form = TableForm::names) {
  shim::Gpu gpu(2);
  const bool is_wide = bound < 1e-6;
  const Predictor predictor = is_wide ? Predictor::none : Predictor::delta;  // under both, widths have names
  const auto codec = cpu_codec({bound}, predictor);
  GpuCodec<T> kernels(gpu, {bound}, predictor);
  std::mt19937_64 random(static_cast<unsigned>(pattern));
  const std::vector<T> x = make<T>(pattern, n, 1);
  const auto close = form == TableForm::names ? near<T> : near_in_most_rows<T>;
  const Given<T> given{{close(x, 1, 2 * bound), close(x, 2, 2 * bound)}};
  const std::vector<Reference> references = given.references(references_used);
  const auto whole = cpu_referenced(x, *codec, references);
  ASSERT_TRUE(has_references(whole));
  ASSERT_GT(records_with(form, whole, n), 0);
  ASSERT_EQ(wide_records_of(whole, n) > 0, is_wide);
  const auto index = load<std::uint32_t>(&whole[frame_header_bytes + 8 * references_used + 4]);
  const std::size_t table =
      frame_header_bytes + 8 * references_used + 4 * (chunks_of(n) + 1 + index) - 4 * (index / 2);
  int rejected = 0, kept = 0;
  for (int round = 0; round < rounds; ++round) {
    auto frame = whole;
    const std::size_t first = round % 3 == 1 ? std::min(table, frame.size() - 1) : 0,
                      reach =
                          round % 3 == 0 ? std::min<std::size_t>(frame.size(), 120) : frame.size() - first;
    for (std::size_t k = 0; k < 1 + random() % 3; ++k)
      frame[first + random() % reach] ^= std::byte(1 << random() % 8);
    if (round % 8 == 7) frame.resize(64 + random() % (frame.size() - 64));
    if (round % 5 != 0) seal(frame);
    if (!test::is_sampled()) continue;
    SCOPED_TRACE(testing::Message() << name_of(pattern) << " round " << round);
    std::vector<T> expected(n), there(n);
    const Status status = codec->decode(frame, references, {{expected.data(), n, dtype_of<T>}});
    const std::uint32_t found = kernels.decode_referenced(frame, there, references);
    if (found == planes::cuda::needs_host) continue;
    ASSERT_EQ(found == 0, status == Status::ok) << found << " for " << static_cast<int>(status);
    ++(status == Status::ok ? kept : rejected);
    if (status == Status::ok) {
      ASSERT_TRUE(same(there, expected));
    }
  }
  EXPECT_TRUE((rejected > 0 && kept > 0) || test::one_case_in() > 1) << rejected << ", " << kept;
}

TEST(GpuReferencedDamage, OfF32) {
  for (const std::size_t n : {4096, 5000, 4089}) damage<float>(Pattern::wave, 160, 1, n);
  damage<float>(Pattern::masked, 120, 2, 5000);
}
TEST(GpuReferencedDamage, OfSparseBitmaps) {
  for (const std::size_t n : {2600, 4089, 5000})
    damage<float>(Pattern::wave, 240, 1, n, 1e-3, TableForm::sparse_bitmap);
  damage<double>(Pattern::wave, 120, 1, 5000, 1e-9, TableForm::sparse_bitmap);
}
TEST(GpuReferencedDamage, OfF64) { damage<double>(Pattern::wave, 120, 2, 5000); }
TEST(GpuReferencedDamage, OfWideRecords) {
  damage<double>(Pattern::wave, 120, 1, 5000, 1e-9);
  damage<double>(Pattern::sprinkled, 120, 1, 5000, 1e-9);
}
TEST(GpuReferencedDamage, OfF16) { damage<f16>(Pattern::wave, 120, 1, 5000); }
TEST(GpuReferencedDamage, OfBf16) { damage<bf16>(Pattern::wave, 120, 2, 5000); }

}  // namespace referenced_test
}  // namespace taut
