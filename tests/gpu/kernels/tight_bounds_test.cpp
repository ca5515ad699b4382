// Tests chunks that are not usual: integers of more than 14 bits, runs, and records of one layer, which occur
// under bounds that are tight for the values. Frames and values have the CPU's bits, also where the record of
// a chunk is damaged.
#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/seal.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace tight_bounds_test {

using namespace planes;

using Frame = std::vector<std::byte>;
using Random = std::mt19937_64;

constexpr Bound bound{1e-3};
constexpr Predictor predictors[] = {Predictor::none, Predictor::delta, Predictor::pairs, Predictor::second};

// Returns values whose integers have up to `bits` bits, beside the sign, and are not multiples of the step.
// The values of halves are rounded.
template <class T>
std::vector<T> values_of(std::size_t n, int bits, Random& random) {
  const auto step = static_cast<double>(Quantiser<T>::make(bound, Predictor::delta).step);
  std::vector<T> x(n);
  for (T& v : x) {
    const double q = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
    v = static_cast<T>(std::ldexp(q, bits) * step);
  }
  return x;
}

// Values without an integer, or that are often mistaken.
template <class T>
std::vector<T> specials() {
  using Limits = std::numeric_limits<double>;
  const auto of = [](double x) { return static_cast<T>(x); };
  BitsOf<T> signalling = std::bit_cast<BitsOf<T>>(of(Limits::infinity()));
  signalling |= 1;
  const double greatest = is_half<T> ? 6e4 : 1e30,
               step = static_cast<double>(Quantiser<T>::make(bound, Predictor::delta).step);
  return {of(Limits::quiet_NaN()),
          of(-Limits::quiet_NaN()),
          std::bit_cast<T>(signalling),
          of(Limits::infinity()),
          of(-Limits::infinity()),
          of(-0.0),
          of(greatest),
          of(0x1p31 * step),
          of(0x1p32 * step),
          of(0x1p22 * step),
          of(-0x1p22 * step),
          of(0x1p14 * step),
          of(-0x1p14 * step),
          of(1e-40)};
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
class GpuTightBounds : public testing::Test {
 protected:
  // Compares what the kernels decode, and add to values, with the CPU.
  void check_decoding(const Frame& frame, std::size_t n) {
    const auto codec = cpu_codec(bound, Predictor::delta);
    GpuCodec<T> kernels(gpu, bound, Predictor::delta);
    std::vector<T> cpu(n), there(n);
    const Status status = codec->decode(frame, {cpu.data(), n, dtype_of<T>});
    ASSERT_EQ(kernels.decode(frame, there) == 0, status == Status::ok);
    if (status != Status::ok) return;
    ASSERT_EQ(same_bits(there, cpu), true);
    there = cpu = make<T>(Pattern::wave, n, 3);
    ASSERT_EQ(codec->reduce(frame, {cpu.data(), n, dtype_of<T>}, Reduction::sum), Status::ok);
    ASSERT_EQ(kernels.decode(frame, there, true), 0u);
    ASSERT_EQ(same_bits(there, cpu), true);
  }

  // Compares both directions with the CPU.
  void check(const std::vector<T>& x, Predictor predictor) {
    gpu.reseed(x.size());
    GpuCodec<T> kernels(gpu, bound, predictor);
    const Frame cpu = cpu_frame<T>(x, bound, predictor);
    ASSERT_EQ(kernels.encode(x) == cpu, true);
    check_decoding(cpu, x.size());
    if (this->HasFatalFailure()) return;
    const std::string prediction = std::string(names[static_cast<int>(predictor)]) + "+64";
    ASSERT_EQ(kernels.encode_lagged(x, {{64, 0}, 1}) == cpu_frame<T>(x, bound, prediction.c_str()), true);
  }

  static constexpr const char* names[] = {"none", "delta", "pairs", "second"};
  shim::Gpu gpu{5};
  Random random{17};
};
using Types = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuTightBounds, Types);

TYPED_TEST(GpuTightBounds, IntegersOfAnyWidth) {
  for (const int bits : {13, 14, 15, 16, 17, 20, 21, 22, 23}) {
    for (const Predictor predictor : predictors) {
      for (const std::size_t n : {std::size_t{1}, std::size_t{100}, chunk_values + 1, 2 * chunk_values}) {
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message()
                     << bits << " bits, predictor " << static_cast<int>(predictor) << ", n " << n);
        this->check(values_of<TypeParam>(n, bits, this->random), predictor);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Sums have integers of up to 30 bits, whose differences have up to 32.
TYPED_TEST(GpuTightBounds, IntegersOfSums) {
  using T = TypeParam;
  const std::size_t n = chunk_values + 77;
  for (const Predictor predictor : predictors) {
    std::vector<T> x = values_of<T>(n, is_half<T> ? 13 : 21, this->random);
    x[5] = static_cast<T>(std::numeric_limits<double>::infinity());
    x[chunk_values] = static_cast<T>(-0.0);
    for (const bool exact : {false, true}) {
      if (!exact) x[5] = x[6];
      const auto codec = cpu_codec(bound, predictor);
      Frame sum = cpu_frame<T>(x, bound, predictor);
      for (unsigned addends = 2; addends <= 256; addends *= 2) {
        const std::vector<ConstBytes> both{sum, sum};
        Frame next(codec->max_bytes(dtype_of<T>, n, addends));
        const SizeOrStatus size = codec->arithmetic()->sum(both, next);
        ASSERT_EQ(size.status, Status::ok);
        next.resize(size.bytes);
        sum = next;
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message() << addends << " addends, predictor " << static_cast<int>(predictor));
        this->check_decoding(sum, n);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(GpuTightBounds, OneRunAnywhere) {
  using T = TypeParam;
  const std::size_t n = chunk_values + 9;
  for (const T special : specials<T>()) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{2047},
                                 chunk_values - 1, chunk_values, n - 1}) {
      for (const std::size_t length : {std::size_t{1}, std::size_t{2}, std::size_t{30}, std::size_t{1000}}) {
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message()
                     << static_cast<double>(special) << " at " << at << ", length " << length);
        std::vector<T> x = values_of<T>(n, at % 2 == 0 ? 18 : 9, this->random);
        std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(at), std::min(length, n - at), special);
        this->check(x, predictors[(at + length) % 4]);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Runs that follow each other, cross threads and warps, and become so many that the record is a layer.
TYPED_TEST(GpuTightBounds, ManyRuns) {
  using T = TypeParam;
  const auto special = specials<T>();
  for (const std::size_t one_in : {2000u, 100u, 8u, 4u, 3u, 2u, 1u}) {
    for (const unsigned longest : {1u, 3u, 40u}) {
      for (const std::size_t n :
           {std::size_t{1}, std::size_t{3}, std::size_t{20}, chunk_values, 2 * chunk_values + 1}) {
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message() << "one in " << one_in << ", up to " << longest << ", n " << n);
        std::vector<T> x = values_of<T>(n, longest == 3 ? 19 : 10, this->random);
        for (std::size_t i = 0; i < n; ++i) {
          if (this->random() % one_in != 0) continue;
          const T value = special[this->random() % special.size()];
          for (std::size_t left = 1 + this->random() % longest; left > 0 && i < n; --left) x[i++] = value;
          --i;
        }
        this->check(x, predictors[n % 4]);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Chunks of random bits are layers. With a usual chunk among them the frame is not stored.
TYPED_TEST(GpuTightBounds, Layers) {
  using T = TypeParam;
  for (const std::size_t usual : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    for (const std::size_t more : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{4095}}) {
      if (!test::is_sampled()) continue;
      SCOPED_TRACE(testing::Message() << "usual " << usual << ", " << more << " values more");
      std::vector<T> x = make<T>(Pattern::bits, 3 * chunk_values + more, usual);
      const std::size_t first = std::min(usual * chunk_values, x.size());
      std::fill(x.begin() + static_cast<std::ptrdiff_t>(first),
                x.begin() + static_cast<std::ptrdiff_t>(std::min(first + chunk_values, x.size())),
                static_cast<T>(0.5));
      this->check(x, Predictor::delta);
      if (this->HasFatalFailure()) return;
    }
  }
}

std::uint32_t word_at(const Frame& frame, std::size_t byte) {
  std::uint32_t word = 0;
  std::memcpy(&word, frame.data() + byte, sizeof word);
  return word;
}
void set_word(Frame& frame, std::size_t byte, std::uint32_t word) {
  std::memcpy(frame.data() + byte, &word, sizeof word);
}

TYPED_TEST(GpuTightBounds, DamagedLayers) {
  using T = TypeParam;
  for (const std::size_t n : {chunk_values + 1, 2 * chunk_values}) {
    std::vector<T> x = make<T>(Pattern::bits, n, 1);
    std::fill_n(x.begin(), chunk_values, static_cast<T>(0.5));
    x.back() =
        static_cast<T>(-std::numeric_limits<double>::infinity());  // a chunk of one value is a layer, too
    const Frame whole = cpu_frame<T>(x, bound, Predictor::delta);
    const std::size_t index = frame_header_bytes, records = index + 4 * 3,
                      at = records + 4 * word_at(whole, index + 4);
    ASSERT_EQ(word_at(whole, at), unsigned{has_layers});
    const auto with = [&](std::size_t byte, std::uint32_t word) {
      Frame frame = whole;
      set_word(frame, byte, word);
      this->check_decoding(frame, n);
    };
    for (const std::uint32_t head :
         {unsigned{has_layers | large}, unsigned{has_layers | wide}, unsigned{has_layers | has_runs},
          has_layers | 1u << 16, has_layers | 1u << 8, has_layers | 128u, 0u, unsigned{has_layers | dense},
          unsigned{has_layers | has_planes}})
      with(at, head);
    for (const std::uint32_t base : {1u, ~0u}) with(at + 4, base);
    for (const std::uint32_t layers : {0u, 2u, ~0u}) with(at + 8, layers);
    for (const std::uint32_t less : {1u, 2u, 4u}) with(index + 4, word_at(whole, index + 4) + less);
    with(index + 8, word_at(whole, index + 8) - 1);
  }
}

// Changes each word of the runs of a record: places that overlap or are out of order, lengths of 0, holds
// that are other integers, which the values then contain, and numbers of runs.
TYPED_TEST(GpuTightBounds, DamagedRuns) {
  using T = TypeParam;
  const std::size_t n = 200;
  std::vector<T> x = values_of<T>(n, 9, this->random);
  for (const std::size_t at : {3u, 10u, 11u, 50u, 199u})
    x[at] = static_cast<T>(std::numeric_limits<double>::infinity());
  for (const std::size_t at : {20u, 51u}) x[at] = static_cast<T>(-std::numeric_limits<double>::infinity());
  const Frame whole = cpu_frame<T>(x, bound, Predictor::delta);
  const std::size_t record = frame_header_bytes + 8, size = 4 + 4 + sizeof(T),
                    runs = whole.size() - (6 * size + 3) / 4 * 4;
  ASSERT_NE(word_at(whole, record) & has_runs, 0u);
  ASSERT_EQ(word_at(whole, runs - 4), 6u);
  for (std::size_t byte = runs - 4; byte + 2 <= whole.size(); byte += 2) {
    for (const std::uint16_t change : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{7},
                                       std::uint16_t{0x8000}, std::uint16_t{0xFFFF}}) {
      if (!test::is_sampled()) continue;
      SCOPED_TRACE(testing::Message() << "byte " << byte - runs << " of the runs, change " << change);
      Frame frame = whole;
      std::uint16_t half = 0;
      std::memcpy(&half, frame.data() + byte, 2);
      half ^= change;
      std::memcpy(frame.data() + byte, &half, 2);
      this->check_decoding(frame, n);
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace tight_bounds_test
}  // namespace taut
