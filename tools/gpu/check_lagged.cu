// Compares the kernels for planes frames with lags, and with references, with the CPU, and times those with lags.
#include "check.hpp"

namespace {

using namespace taut;
using namespace taut::gpu;

constexpr const char* predictions[] = {"delta+64", "second+250+1000", "none+1000"};

Coding coding_of(const char* prediction) { return {.codec = &codecs::planes, .bound = 1e-3, .predictor = prediction}; }

std::unique_ptr<Codec> cpu_codec(const char* prediction) { return coding_of(prediction).make(); }

// Encodes, adds and decodes one pattern. Returns the number of differences from the CPU.
template <class T>
int compare(Pattern pattern, std::size_t n, const char* prediction, cudaStream_t stream) {
  const int type = static_cast<int>(dtype_of<T>);
  const auto codec = cpu_codec(prediction);
  const std::vector<T> x = make<T>(pattern, n, 1);
  const auto frame = cpu_encode(*codec, x);
  std::vector<std::byte> sum(codec->max_bytes(dtype_of<T>, n, 2));
  const ConstBytes both[] = {frame, frame};
  sum.resize(codec->arithmetic()->sum(both, sum).bytes);
  std::vector<T> decoded(n);
  codec->decode(sum, {decoded.data(), n, dtype_of<T>});

  const Device values(x.data(), n * sizeof(T)), to(n * sizeof(T)), out(codec->max_bytes(dtype_of<T>, n, 1)),
      total(codec->max_bytes(dtype_of<T>, n, 2));
  const std::string text = text_of(coding_of(prediction));
  const char* const coding = text.c_str();
  Result r;
  int wrong = 0;
  const auto same = [&](int status, const Device& device, const void* bytes, std::size_t size) {
    check(cudaStreamSynchronize(stream));
    wrong += status != 0 || r.at->status != 0 || !device.holds(bytes, size);
  };
  same(TAUT_Encode_enqueue(values.at(), n, type, coding, out.at(), out.bytes(), r.at, stream),
       out, frame.data(), frame.size());
  const void* const frames[] = {out.at(), out.at()};
  const std::size_t bytes[] = {frame.size(), frame.size()};
  same(TAUT_Frame_add_enqueue(frames, bytes, 2, n, type, coding, total.at(), total.bytes(), r.at, stream), total, sum.data(), sum.size());
  same(TAUT_Decode_enqueue(total.at(), sum.size(), to.at(), n, type, coding, r.at, stream), to, decoded.data(), n * sizeof(T));
  return wrong;
}

// Encodes and decodes one pattern that refers to two others. Returns the number of differences from the CPU.
template <class T>
int compare_referenced(Pattern pattern, std::size_t n, cudaStream_t stream) {
  const int type = static_cast<int>(dtype_of<T>);
  const auto codec = cpu_codec("delta");
  std::vector<T> x = make<T>(pattern, n, 1), newest = x, before = make<T>(pattern, n, 2), decoded(n);
  std::rotate(newest.begin(), newest.begin() + static_cast<std::ptrdiff_t>(n / 2), newest.end());
  const Reference both[] = {{5, {{newest.data(), n, dtype_of<T>}}}, {6, {{before.data(), n, dtype_of<T>}}}};
  std::vector<std::byte> frame(codec->max_bytes(dtype_of<T>, n, 1));
  frame.resize(codec->encode({{x.data(), n, dtype_of<T>}}, both, frame).bytes);
  codec->decode(frame, both, {{decoded.data(), n, dtype_of<T>}});

  const Device values(x.data(), n * sizeof(T)), one(newest.data(), n * sizeof(T)), two(before.data(), n * sizeof(T));
  const Device to(n * sizeof(T)), out(codec->max_bytes(dtype_of<T>, n, 1));
  const TAUT_Cuda_reference references[] = {{one.at(), 5}, {two.at(), 6}};
  const std::string text = text_of(coding_of("delta"));
  Result r;
  int wrong = 0;
  const auto same = [&](int status, const Device& device, const void* bytes, std::size_t size) {
    check(cudaStreamSynchronize(stream));
    wrong += status != 0 || r.at->status != 0 || !device.holds(bytes, size);
  };
  same(TAUT_Encode_with_references_enqueue(values.at(), n, type, text.c_str(), references, 2, out.at(), out.bytes(), r.at, stream),
       out, frame.data(), frame.size());
  same(TAUT_Decode_with_references_enqueue(out.at(), frame.size(), references, 2, to.at(), n, type, text.c_str(), r.at, stream),
       to, decoded.data(), n * sizeof(T));
  return wrong;
}

template <class T>
bool matrix(const char* name, const std::vector<std::size_t>& sizes, cudaStream_t stream) {
  int cases = 0, wrong = 0, referenced = 0;
  for (const Pattern pattern : all_patterns) {
    for (const std::size_t n : sizes) referenced += compare_referenced<T>(pattern, n, stream);
    for (const char* const prediction : predictions) {
      for (const std::size_t n : sizes) {
        const int found = compare<T>(pattern, n, prediction, stream);
        if (found > 0 && wrong < 10)
          std::fprintf(stderr, "lags %s %s n %zu %s: %d differences\n", name, name_of(pattern), n, prediction, found);
        wrong += found;
        ++cases;
      }
    }
  }
  std::printf("{\"check\": \"lags\", \"type\": \"%s\", \"cases\": %d, \"differences\": %d, \"ok\": %s}\n", name, cases, wrong,
              wrong == 0 ? "true" : "false");
  std::printf("{\"check\": \"references\", \"type\": \"%s\", \"cases\": %zu, \"differences\": %d, \"ok\": %s}\n", name,
              std::size(all_patterns) * sizes.size(), referenced, referenced == 0 ? "true" : "false");
  return wrong + referenced == 0;
}

void bench_size(std::size_t n, const char* prediction, cudaStream_t stream) {
  const std::size_t bytes = n * 4, room = cpu_codec(prediction)->max_bytes(DType::f32, n, 1);
  const std::vector<float> x = make<float>(Pattern::wave, n, 1);
  const int sets = sets_for(bytes);
  const Buffers values(sets, x.data(), bytes), frames(sets, room);
  const Device to(bytes);
  const std::string text = text_of(coding_of(prediction));
  const char* const coding = text.c_str();
  Result r;
  TAUT_Cuda_reserve(n, 1, coding, stream);
  const double copied = copy_rate(bytes, stream);
  const std::string name = prediction;
  const auto encode = [&](int i) {
    return TAUT_Encode_enqueue(values.at(i), n, 1, coding, frames.at(i), room, r.at, stream);
  };
  for (int i = 0; i < sets; ++i) encode(i);  // a frame in each buffer, for decoding
  const Timing encoding = timed(stream, bytes, encode);
  const double ratio = static_cast<double>(bytes) / static_cast<double>(r.at->bytes);
  report("encode lags " + name, bytes, ratio, encoding, copied, r.at->status);
  const Timing decoding = timed(stream, bytes, [&](int i) {
    return TAUT_Decode_enqueue(frames.at(i), room, to.at(), n, 1, coding, r.at, stream);
  });
  report("decode lags " + name, bytes, ratio, decoding, copied, r.at->status);
}

}  // namespace

bool lagged_small(cudaStream_t stream) { return matrix<float>("f32", {9001}, stream) && matrix<double>("f64", {5000}, stream); }

void lagged_correctness(cudaStream_t stream) {
  matrix<float>("f32", within({0, 1, 65, 4096, 4097, 1000003}), stream);
  matrix<double>("f64", within({1, 4097, 100003}), stream);
  matrix<f16>("f16", within({4097, 100003}), stream);
  matrix<bf16>("bf16", within({4097, 100003}), stream);
}

void lagged_kernels(cudaStream_t stream) {
  for (const std::size_t n : within({std::size_t{1} << 18, std::size_t{1} << 22, std::size_t{1} << 26}))
    for (const char* const prediction : predictions) bench_size(n, prediction, stream);
}
