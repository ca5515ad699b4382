// In the steady state the planes codec allocates nothing, also for exact values, raw chunks and wide
// integers. Codecs that allocate report a failed allocation.
#include <cmath>
#include <limits>
#include <random>

#include "support/frames.hpp"
#include "support/replace_new.hpp"

namespace taut::test {
namespace {

template <class T>
void expect_none(const char* kernels, double bound) {
  SCOPED_TRACE(testing::Message() << kernels << " " << name_of(dtype_of<T>) << " " << bound);
  std::mt19937_64 random(1);
  const auto codec = planes(bound, kernels);
  std::vector<T> x(30000), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t chunk = i / 4096;
    x[i] = static_cast<T>(std::sin(0.01 * static_cast<double>(i)));
    if (chunk == 1 && i / 40 % 3 == 0) x[i] = T(1e20);
    if (chunk == 2) x[i] = static_cast<T>(1e30 / static_cast<double>(random()));
    if (chunk == 3 && i % 100 == 0) x[i] = std::numeric_limits<T>::quiet_NaN();
    if (chunk == 4) x[i] = static_cast<T>(static_cast<double>(random() % 4096));
  }
  const Frame frame = encoded(*codec, x), total = summed(*codec, {frame, frame, frame});
  Frame out(codec->max_bytes(dtype_of<T>, x.size(), 8));
  const ConstBytes frames[] = {frame, total, frame};

  const std::size_t before = allocations.asked;
  bool ok = codec->encode(slice(std::as_const(x)), out).status == Status::ok;
  for (const Frame* f : {&frame, &total}) {
    ok &= codec->decode(*f, slice(y)) == Status::ok;
    for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max})
      ok &= codec->reduce(*f, slice(y), op) == Status::ok;
    ok &= codec->arithmetic()->accumulate(*f, slice(std::as_const(x)), out).status == Status::ok;
  }
  ok &= codec->arithmetic()->sum(frames, out).status == Status::ok;
  EXPECT_EQ(allocations.asked - before, 0u);
  EXPECT_TRUE(ok);
}

TEST(Allocations, NoneOnceACodecIsMade) {
  for (const char* kernels : {"", "scalar"}) {
    for (const double bound : {1e-3, 1e-8, 1e-12}) {
      expect_none<float>(kernels, bound);
      expect_none<double>(kernels, bound);
    }
  }
}

template <class T>
void expect_status_without_memory(const CodecInfo& info) {
  constexpr DType type = dtype_of<T>;
  const std::vector<T> x(100000, T(1.0f));
  std::vector<T> y(x.size());
  const Bound other = info.serves(type, Bound::Kind::exact) ? Bound() : Bound(Bound::Kind::rate, 8);
  const Bound bound = info.serves(type, Bound::Kind::absolute) ? Bound(1e-3) : other;
  const auto codec = info.make({.bound = bound});
  const Frame frame = encoded(*codec, x);
  Frame out(codec->max_bytes(type, x.size()));
  const std::size_t before = allocations.asked;
  allocations.until_failure = 0;
  const Status encoding = codec->encode(slice(x), out).status, decoding = codec->decode(frame, slice(y)),
               reducing = codec->reduce(frame, slice(y), Reduction::sum);
  allocations.until_failure = Allocations::never;
  const Status expected = allocations.asked == before ? Status::ok : Status::out_of_memory;
  for (const Status status : {encoding, decoding, reducing}) EXPECT_EQ(status, expected) << info.name;
}

TEST(Allocations, ExhaustedMemoryIsAStatus) {
  for (const CodecInfo* info : registered_codecs()) {
    if (info->serves(DType::f32, Bound::Kind::exact) || info->serves(DType::f32, Bound::Kind::absolute))
      expect_status_without_memory<float>(*info);
    else
      expect_status_without_memory<bf16>(*info);
  }
}

// A codec that predicts a frame's integers across chunks keeps them in memory.
TEST(Allocations, WithLagsALackOfMemoryIsAStatus) {
  const auto codec = planes(1e-3, "", "delta+100+5000"), other = planes(1e-3);
  std::vector<float> x(30000, 1.0f), y(x.size());
  const Frame frame = encoded(*codec, x), unlike = encoded(*other, x);
  Frame out(codec->max_bytes(DType::f32, x.size(), 2));
  const ConstBytes frames[] = {frame, unlike};

  allocations.until_failure = 0;
  const Status statuses[] = {codec->encode(slice(std::as_const(x)), out).status,
                             codec->decode(frame, slice(y)), codec->reduce(frame, slice(y), Reduction::sum),
                             codec->arithmetic()->sum(frames, out).status,
                             codec->arithmetic()->accumulate(frame, slice(std::as_const(x)), out).status};
  allocations.until_failure = Allocations::never;
  for (const Status status : statuses) EXPECT_EQ(status, Status::out_of_memory);
}

}  // namespace
}  // namespace taut::test
