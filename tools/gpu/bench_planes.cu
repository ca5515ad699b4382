// Times the kernels of planes frames: all types, and sums of several frames.
#include "check.hpp"

namespace {

using namespace taut;
using namespace taut::gpu;

constexpr int delta = 1;  // the predictor

// Ratio of the CPU's frame of some values.
template <class T>
double ratio_of(const std::vector<T>& x, double bound) {
  return static_cast<double>(x.size() * sizeof(T)) / static_cast<double>(cpu_encode(*cpu_codec(bound, delta), x).size());
}

// Returns a bound under which the values compress by about `wanted`.
template <class T>
double bound_for(const std::vector<T>& x, double wanted) {
  const std::vector<T> sample(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(x.size(), 1 << 18)));
  double low = 1e-7, high = 1e3;
  for (int i = 0; i < 20; ++i) {
    const double middle = std::sqrt(low * high);
    (ratio_of(sample, middle) < wanted ? low : high) = middle;
  }
  return high;
}

// The benchmarks of one array of values under one bound.
template <class T>
class PlanesBench {
 public:
  PlanesBench(std::string name, const std::vector<T>& x, double bound, cudaStream_t stream)
      : name_(std::move(name)),
        n_(x.size()),
        bytes_(n_ * sizeof(T)),
        coding_(coding_text(bound, delta)),
        codec_(cpu_codec(bound, delta)),
        copied_(copy_rate(bytes_, stream)),
        stream_(stream),
        values_(sets_for(bytes_), x.data(), bytes_),
        frames_(values_.sets(), codec_->max_bytes(dtype_of<T>, n_)),
        to_(bytes_) {}

  // Coding, and the sum of two frames.
  void usual() {
    for (int i = 0; i < frames_.sets(); ++i) encode(i);  // a frame in each buffer, for decoding
    const Timing encoding = time([this](int i) { return encode(i); });
    frame_bytes_ = r_.at->bytes;
    tell("encode", frame_bytes_, encoding);
    tell("decode", frame_bytes_, time([this](int i) {
           return TAUT_Decode_enqueue(frames_.at(i), frames_.bytes(), to_.at(), n_, type, coding_.c_str(), r_.at, stream_);
         }));
    tell("decode_add", frame_bytes_, time([this](int i) {
           return TAUT_Decode_add_enqueue(frames_.at(i), frames_.bytes(), to_.at(), n_, type, coding_.c_str(), r_.at, stream_);
         }));
    add(2);
  }

  // Sums of more frames, and frame + values.
  void more() {
    add(3);
    add(8);
    accumulate();
  }

 private:
  static constexpr int type = static_cast<int>(dtype_of<T>);

  int encode(int i) {
    return TAUT_Encode_enqueue(values_.at(i), n_, type, coding_.c_str(), frames_.at(i), frames_.bytes(), r_.at, stream_);
  }
  template <class Action>
  Timing time(const Action& action) const {
    return timed(stream_, bytes_, action);
  }
  // Reports a benchmark whose compressed values take `compressed` bytes.
  void tell(const std::string& what, std::uint64_t compressed, const Timing& t) const {
    report(what + " " + name_, bytes_, static_cast<double>(bytes_) / static_cast<double>(compressed), t, copied_,
           r_.at->status);
  }
  std::size_t room_of_sum(int addends) const {
    return std::min(codec_->max_bytes(dtype_of<T>, n_, static_cast<std::uint32_t>(addends)), 2 * bytes_ + 4096);
  }

  // Adds k frames, of exactly their size, to a sum. The ratio is that of the sum.
  void add(int k) {
    const std::size_t frame = (frame_bytes_ + 15) / 16 * 16;
    const int sets = sets_for(static_cast<std::size_t>(k + 1) * frame);
    const Buffers operands(sets * k, frames_.at(0), frame), sums(sets, room_of_sum(k));
    const std::vector<std::size_t> sizes(static_cast<std::size_t>(k), frame_bytes_);
    const Timing adding = time([&](int i) {
      const void* frames[8];
      for (int j = 0; j < k; ++j) frames[j] = operands.at(i % sets * k + j);
      return TAUT_Frame_add_enqueue(frames, sizes.data(), k, n_, type, coding_.c_str(), sums.at(i), sums.bytes(), r_.at, stream_);
    });
    tell(k == 2 ? "frame_add" : "frame_add of " + std::to_string(k), r_.at->bytes, adding);
  }

  void accumulate() {
    const Device sum(room_of_sum(2));
    const Timing adding = time([&](int i) {
      return TAUT_Frame_accumulate_enqueue(frames_.at(i), frame_bytes_, values_.at(i), n_, type, coding_.c_str(), sum.at(),
                                           sum.bytes(), r_.at, stream_);
    });
    tell("accumulate", r_.at->bytes, adding);
  }

  std::string name_;
  std::size_t n_, bytes_;
  std::string coding_;
  std::unique_ptr<Codec> codec_;
  double copied_;
  cudaStream_t stream_;
  Buffers values_, frames_;
  Device to_;
  Result r_;
  std::uint64_t frame_bytes_ = 0;
};

template <class T>
void bench_type(const char* name, cudaStream_t stream) {
  for (const std::size_t n : within({std::size_t{1} << 18, std::size_t{1} << 26})) {
    const std::vector<T> x = make<T>(Pattern::wave, n, 1);
    PlanesBench<T> bench(std::string(name) + " wave, ratio 8", x, bound_for(x, 8), stream);
    bench.usual();
    bench.more();
  }
}

// Chunks that are not usual: integers of 16 bits; layers, but for the first chunks; and runs, in chunks of which a
// third of the values have no integer.
void bench_rare(cudaStream_t stream) {
  struct {
    Pattern pattern;
    const char* abs;
  } const rows[] = {{Pattern::wave, "1e-5"}, {Pattern::walk, "1e-5"}, {Pattern::masked, "1e-4"}, {Pattern::sprinkled, "1e-4"}};
  for (const std::size_t n : within({std::size_t{1} << 18, std::size_t{1} << 26}))
    for (const auto& row : rows)
      PlanesBench<float>(std::string(name_of(row.pattern)) + " abs:" + row.abs, make<float>(row.pattern, n, 1), std::strtod(row.abs, nullptr),
                         stream).usual();
}

}  // namespace

void planes_profile(cudaStream_t stream) {
  const std::vector<float> x = make<float>(Pattern::walk, std::min(settings.most_values, std::size_t{1} << 26), 1);
  PlanesBench<float>("walk, ratio 8", x, bound_for(x, 8), stream).usual();
}

void planes_kernels(cudaStream_t stream) {
  for (const std::size_t n : bench_sizes()) {
    const std::vector<float> x = make<float>(Pattern::walk, n, 1);
    for (const char* const abs : {"1e-1", "1e-2", "1e-3", "1e-4"})
      PlanesBench<float>("walk abs:" + std::string(abs), x, std::strtod(abs, nullptr), stream).usual();
    PlanesBench<float> bench("walk, ratio 8", x, bound_for(x, 8), stream);
    bench.usual();
    bench.more();
  }
  bench_rare(stream);
  bench_type<double>("f64", stream);
  bench_type<f16>("f16", stream);
  bench_type<bf16>("bf16", stream);
}
