// Tests batches: several frames are encoded or decoded by as many launches as one, and to the same bytes.
#include <gtest/gtest.h>

#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/frame/coding.hpp"
#include "compressor/gpu/device_services.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/shim.hpp"
#include "support/on_gpu.hpp"

namespace taut {
namespace batch_test {

using test::OnGpu;

int of(Status status) { return static_cast<int>(status); }
const gpu::DeviceServices& services() { return *TAUT_Cuda_services(); }

// Number of kernels that `work` launches and waits for.
template <class Work>
unsigned long launches_of(const Work& work) {
  const unsigned long before = stand_in_launches();
  work();
  EXPECT_EQ(services().wait(nullptr), 0);
  return stand_in_launches() - before;
}

// A value array and its frame on the GPU.
template <class T>
struct Piece {
  std::vector<T> x;
  OnGpu<T> values, back;
  OnGpu<std::byte> frame;
  OnGpu<TAUT_Cuda_result> result{1};

  explicit Piece(std::vector<T> of)
      : x(std::move(of)),
        values(x),
        back(std::vector<T>(x.size())),
        frame(planes::max_frame_bytes(sizeof(T), x.size(), 1)) {}

  TAUT_Cuda_item encoding() const {
    return {values.data(), x.size(), frame.data(), frame.size(), result.data()};
  }
  TAUT_Cuda_item decoding() const {
    return {back.data(), x.size(), frame.data(), outcome().bytes, result.data()};
  }
  TAUT_Cuda_result outcome() const { return result.read()[0]; }
};

constexpr const char* coding = "abs:1e-3,codec=planes,predictor=delta";

int encode_all(std::span<const TAUT_Cuda_item> items, int type, const char* text = coding) {
  return TAUT_Encode_batch_enqueue(items.data(), sizeof items[0], static_cast<int>(items.size()), type, text,
                                   nullptr);
}
int decode_all(std::span<const TAUT_Cuda_item> items, int type, bool add = false) {
  const auto call = add ? TAUT_Decode_add_batch_enqueue : TAUT_Decode_batch_enqueue;
  return call(items.data(), sizeof items[0], static_cast<int>(items.size()), type, coding, nullptr);
}

template <class T>
class GpuBatch : public testing::Test {
 public:
  static constexpr int type = static_cast<int>(dtype_of<T>);
  static constexpr Pattern patterns[] = {Pattern::walk,      Pattern::mixed, Pattern::zeros, Pattern::bits,
                                         Pattern::sprinkled, Pattern::wave,  Pattern::tail,  Pattern::huge,
                                         Pattern::masked,    Pattern::mixed};
  static constexpr std::size_t sizes[] = {9001, 0, 4096, 12289, 1, 20000, 5000, 0, 4097, 8192};

  void make_pieces(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      pieces.push_back(std::make_unique<Piece<T>>(make<T>(patterns[i], sizes[i], i)));
  }
  std::vector<TAUT_Cuda_item> items(TAUT_Cuda_item (Piece<T>::*item)() const) const {
    std::vector<TAUT_Cuda_item> all;
    for (const auto& piece : pieces) all.push_back((*piece.*item)());
    return all;
  }

  std::vector<std::unique_ptr<Piece<T>>> pieces;
};
using Types = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuBatch, Types);

TYPED_TEST(GpuBatch, GivesWhatCallsOnSingleFramesGive) {
  using T = TypeParam;
  for (const int exact_bits : {0, 1}) {
    this->pieces.clear();
    this->make_pieces(10);
    const auto encoding = this->items(&Piece<T>::encoding);
    for (int repetition = 0; repetition < 3; ++repetition)  // scratch memory is used again
      ASSERT_EQ(
          encode_all(encoding, this->type, exact_bits != 0 ? "abs:1e-3,predictor=delta,bits=exact" : coding),
          0);
    ASSERT_EQ(services().wait(nullptr), 0);
    for (const auto& piece : this->pieces) {
      const auto cpu = cpu_frame<T>(piece->x, {1e-3}, planes::Predictor::delta,
                                    exact_bits != 0 ? PackedBits::exact : PackedBits::rounded);
      ASSERT_EQ(piece->outcome().status, 0u);
      ASSERT_EQ(piece->frame.read(piece->outcome().bytes) == cpu, true);
    }
    const auto decoding = this->items(&Piece<T>::decoding);
    for (const bool add : {false, true}) ASSERT_EQ(decode_all(decoding, this->type, add), 0);
    ASSERT_EQ(services().wait(nullptr), 0);
    for (const auto& piece : this->pieces) {
      ASSERT_EQ(piece->outcome().status, 0u);
      const auto codec = cpu_codec({1e-3}, planes::Predictor::delta);
      std::vector<T> y(piece->x.size());
      const Slice to{{y.data(), y.size(), dtype_of<T>}};
      const auto frame = piece->frame.read(piece->frame.size());
      ASSERT_EQ(codec->decode(frame, to), Status::ok);
      ASSERT_EQ(codec->reduce(frame, to, Reduction::sum), Status::ok);
      const std::vector<T> back = piece->back.read();
      ASSERT_EQ(y.empty() || std::memcmp(y.data(), back.data(), y.size() * sizeof(T)) == 0, true);
    }
  }
}

// A two-shot allreduce on 8 ranks: a rank encodes a part for each rank, adds 8 frames, decodes 8 frames.
TYPED_TEST(GpuBatch, NeedsFiveLaunchesForATwoShotAllreduceOnEightRanks) {
  using T = TypeParam;
  for (int i = 0; i < 8; ++i)
    this->pieces.push_back(std::make_unique<Piece<T>>(make<T>(Pattern::walk, 9001, i)));
  const OnGpu<std::byte> sum(planes::max_frame_bytes(sizeof(T), 9001, 8));
  const OnGpu<TAUT_Cuda_result> result(1);
  const unsigned long all = launches_of([&] {
    const auto encoding = this->items(&Piece<T>::encoding);
    EXPECT_EQ(encode_all(encoding, this->type), 0);
    EXPECT_EQ(services().wait(nullptr), 0);
    const void* frames[8];
    std::size_t bytes[8];
    for (int i = 0; i < 8; ++i) {
      frames[i] = this->pieces[static_cast<std::size_t>(i)]->frame.data();
      bytes[i] = this->pieces[static_cast<std::size_t>(i)]->outcome().bytes;
    }
    EXPECT_EQ(TAUT_Frame_add_enqueue(frames, bytes, 8, 9001, this->type, coding, sum.data(), sum.size(),
                                     result.data(), nullptr),
              0);
    const auto decoding = this->items(&Piece<T>::decoding);
    EXPECT_EQ(decode_all(decoding, this->type), 0);
  });
  EXPECT_EQ(all, 5u);
  EXPECT_EQ(result.read()[0].status, 0u);
}

// The host reads a frame as soon as its result is there only if it polls. Otherwise few blocks need a fence.
TEST(GpuBatchFences, OnlyAHostThatPollsNeedsThemOfEveryChunk) {
  constexpr std::size_t chunks = 60;
  const Piece<float> a(make<float>(Pattern::walk, chunks * planes::chunk_values, 1)),
      b(make<float>(Pattern::walk, chunks * planes::chunk_values, 2));
  const OnGpu<gpu::PolledResult> results(2);
  TAUT_Cuda_item items[] = {a.encoding(), b.encoding()};
  const auto fences = [&](bool polled) {
    const unsigned long before = shim::fences;
    const gpu::DeviceCodec& codec = *services().codec(planes::frame_id);
    EXPECT_EQ(codec.encode(parse_coding(coding), items, 2, 1, polled, nullptr), 0);
    EXPECT_EQ(services().wait(nullptr), 0);
    return shim::fences - before;
  };
  EXPECT_LT(fences(false), chunks);
  for (std::size_t i = 0; i < 2; ++i) items[i].result = &results.data()[i].result;
  EXPECT_GE(fences(true), 2 * chunks);
  EXPECT_EQ(results.read()[1].result.status, 0u);
}

// A damaged frame fails alone.
TYPED_TEST(GpuBatch, ReportsTheItemThatFails) {
  using T = TypeParam;
  this->make_pieces(3);
  const auto encoding = this->items(&Piece<T>::encoding);
  ASSERT_EQ(encode_all(encoding, this->type), 0);
  ASSERT_EQ(services().wait(nullptr), 0);
  auto decoding = this->items(&Piece<T>::decoding);
  decoding[0].bytes -= 1;
  ASSERT_EQ(decode_all(decoding, this->type), 0);
  ASSERT_EQ(services().wait(nullptr), 0);
  EXPECT_EQ(this->pieces[0]->outcome().status, static_cast<std::uint32_t>(Status::corrupt_frame));
  EXPECT_EQ(this->pieces[1]->outcome().status, 0u);
  EXPECT_EQ(this->pieces[2]->outcome().status, 0u);
}

TEST(GpuBatchMistakes, AreTold) {
  const Piece<float> piece(make<float>(Pattern::walk, 100, 1));
  const auto encode = [&](TAUT_Cuda_item second, int type = 1) {
    const TAUT_Cuda_item both[] = {piece.encoding(), second};
    return encode_all(both, type);
  };
  TAUT_Cuda_item item = piece.encoding();
  EXPECT_EQ(encode(item, 99), of(Status::invalid_type));
  item.bytes = 100;
  EXPECT_EQ(encode(item), of(Status::buffer_too_small));
  item.frame = nullptr;
  EXPECT_EQ(encode(item), of(Status::invalid_argument));
  item = piece.encoding();
  item.count = planes::max_count + 1;
  EXPECT_EQ(encode(item), of(Status::invalid_count));
  constexpr std::size_t bytes = sizeof item;
  EXPECT_EQ(TAUT_Encode_batch_enqueue(nullptr, bytes, 1, 1, coding, nullptr), of(Status::invalid_argument));
  EXPECT_EQ(TAUT_Encode_batch_enqueue(nullptr, bytes, 0, 1, coding, nullptr), 0);
  EXPECT_EQ(TAUT_Encode_batch_enqueue(nullptr, bytes, 0, 1, nullptr, nullptr), of(Status::invalid_argument));
  EXPECT_EQ(TAUT_Encode_batch_enqueue(&item, bytes - 8, 1, 1, coding, nullptr), of(Status::invalid_argument));
  EXPECT_EQ(TAUT_Decode_batch_enqueue(nullptr, bytes, -1, 1, coding, nullptr), of(Status::invalid_argument));
}

}  // namespace batch_test
}  // namespace taut
