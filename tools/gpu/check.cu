// check correctness|small|kernels|profile [VALUES SPIN_MS REPLAY_BYTES TIMES]: the checks that check.sh runs on a GPU, and
// a few calls on one long array for a profiler. Prints one JSON object a line. The numbers make a shorter run: Settings
// in timing.hpp.
// check values PATTERN COUNT: prints the float32 values that `kernels` uses, in binary, for peers.py.
#include "check.hpp"

namespace {

using namespace taut;
using namespace taut::gpu;

constexpr const char* usual = "abs:1e-3,predictor=delta";

// Encodes, decodes, adds and accumulates one pattern. Returns the number of differences from the CPU.
template <class T>
int compare(Pattern pattern, std::size_t n, int predictor, double bound, cudaStream_t stream) {
  const int type = static_cast<int>(dtype_of<T>);
  const std::string text = coding_text(bound, predictor);
  const char* const coding = text.c_str();
  const auto codec = cpu_codec(bound, predictor);
  const std::vector<T> x = make<T>(pattern, n, 1), y = make<T>(Pattern::mixed, n, 2);
  const auto fx = cpu_encode(*codec, x), fy = cpu_encode(*codec, y);
  std::vector<std::byte> sum(codec->max_bytes(dtype_of<T>, n, 2)), total(sum.size());
  const ConstBytes both[] = {fx, fy};
  sum.resize(codec->arithmetic()->sum(both, sum).bytes);
  total.resize(codec->arithmetic()->accumulate(fx, {y.data(), n, dtype_of<T>}, total).bytes);
  std::vector<T> decoded(n);
  codec->decode(sum, {decoded.data(), n, dtype_of<T>});

  const Device dx(x.data(), n * sizeof(T)), dy(y.data(), n * sizeof(T)), to(n * sizeof(T));
  const Device a(codec->max_bytes(dtype_of<T>, n, 1)), b(a.bytes()), out(codec->max_bytes(dtype_of<T>, n, 2));
  Result r;
  int wrong = 0;
  const auto same = [&](const Device& device, const void* bytes, std::size_t size) {
    check(cudaStreamSynchronize(stream));
    wrong += r.at->status != 0 || !device.holds(bytes, size);
  };
  wrong += TAUT_Encode_enqueue(dx.at(), n, type, coding, a.at(), a.bytes(), r.at, stream) != 0;
  same(a, fx.data(), fx.size());
  wrong += TAUT_Encode_enqueue(dy.at(), n, type, coding, b.at(), b.bytes(), r.at, stream) != 0;
  same(b, fy.data(), fy.size());
  const void* const frames[] = {a.at(), b.at()};
  const std::size_t bytes[] = {fx.size(), fy.size()};
  wrong += TAUT_Frame_add_enqueue(frames, bytes, 2, n, type, coding, out.at(), out.bytes(), r.at, stream) != 0;
  same(out, sum.data(), sum.size());
  wrong += TAUT_Decode_enqueue(out.at(), sum.size(), to.at(), n, type, coding, r.at, stream) != 0;
  same(to, decoded.data(), n * sizeof(T));
  wrong += TAUT_Frame_accumulate_enqueue(a.at(), fx.size(), dy.at(), n, type, coding, out.at(), out.bytes(), r.at, stream) != 0;
  same(out, total.data(), total.size());
  return wrong;
}

template <class T>
bool matrix(const char* name, const std::vector<std::size_t>& sizes, cudaStream_t stream) {
  int cases = 0, wrong = 0;
  for (const Pattern pattern : all_patterns) {
    for (int predictor = 0; predictor < 4; ++predictor) {
      for (const std::size_t n : sizes) {
        const int found = compare<T>(pattern, n, predictor, sizeof(T) == 2 ? 1e-2 : 1e-4, stream);
        if (found > 0 && wrong < 10)
          std::fprintf(stderr, "%s %s n %zu predictor %d: %d differences\n", name, name_of(pattern), n, predictor, found);
        wrong += found;
        ++cases;
      }
    }
  }
  std::printf("{\"check\": \"bytes\", \"type\": \"%s\", \"cases\": %d, \"differences\": %d, \"ok\": %s}\n", name, cases, wrong,
              wrong == 0 ? "true" : "false");
  return wrong == 0;
}

// Repeats launches with look-back: see stress().
void look_back_stress(int launches) {
  stress("look_back", *cpu_codec(1e-3, 1), Pattern::mixed, launches,
         [&](const Device& x, std::size_t n, const Device& frame, const Result& r, cudaStream_t stream) {
           return TAUT_Encode_enqueue(x.at(), n, 1, usual, frame.at(), frame.bytes(), r.at, stream);
         });
}

// Captures an encoding and the decoding of its frame in a graph, and replays the graph on changing values.
void graph() {
  const std::size_t n = std::min<std::size_t>(settings.most_values, 1 << 18);
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Device values(n * 4), decoded(n * 4);
  const auto codec = cpu_codec(1e-3, 1);
  const Device frame(codec->max_bytes(DType::f32, n, 1));
  Result r;
  TAUT_Cuda_reserve(n, 1, usual, stream);
  check(cudaStreamSynchronize(stream));
  const auto calls = [&] {
    const int status = TAUT_Encode_enqueue(values.at(), n, 1, usual, frame.at(), frame.bytes(), r.at, stream);
    return status + TAUT_Decode_enqueue(frame.at(), frame.bytes(), decoded.at(), n, 1, usual, r.at, stream);
  };
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const int status = calls();
  cudaGraph_t captured;
  check(cudaStreamEndCapture(stream, &captured));
  cudaGraphExec_t runnable;
  check(cudaGraphInstantiate(&runnable, captured, 0));
  int wrong = status != 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> x = make<float>(Pattern::walk, n, seed);
    values.write(x.data(), n * 4);
    check(cudaGraphLaunch(runnable, stream));
    check(cudaStreamSynchronize(stream));
    const auto cpu = cpu_encode(*codec, x);
    std::vector<float> y(n);
    codec->decode(cpu, {y.data(), n, DType::f32});
    wrong += r.at->status != 0 || frame.read(cpu.size()) != cpu || !decoded.holds(y.data(), n * 4);
  }
  check(cudaGraphExecDestroy(runnable));
  check(cudaGraphDestroy(captured));
  std::printf("{\"check\": \"graph\", \"differences\": %d, \"ok\": %s}\n", wrong, wrong == 0 ? "true" : "false");
}

// Compares the frame of very many values with the CPU's.
bool large(std::size_t n, cudaStream_t stream) {
  const std::vector<float> x = make<float>(Pattern::walk, n, 1);
  const auto frame = cpu_encode(*cpu_codec(1e-3, 1), x);
  const Device values(x.data(), n * sizeof(float)), to(cpu_codec(1e-3, 1)->max_bytes(DType::f32, n));
  Result r;
  const int status = TAUT_Encode_enqueue(values.at(), n, 1, usual, to.at(), to.bytes(), r.at, stream);
  check(cudaStreamSynchronize(stream));
  const bool good = status == 0 && r.at->status == 0 && r.at->bytes == frame.size() && to.read(frame.size()) == frame;
  std::printf("{\"check\": \"large\", \"values\": %zu, \"crc32c\": \"%08x\", \"ok\": %s}\n", n, crc32c(frame),
              good ? "true" : "false");
  return good;
}

int write_values(const std::string& pattern, std::size_t count) {
  for (const Pattern known : all_patterns) {
    if (pattern != name_of(known)) continue;
    const std::vector<float> x = make<float>(known, count, 1);
    return std::fwrite(x.data(), sizeof x[0], count, stdout) == count ? 0 : 1;
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "values" && argc == 4) return write_values(argv[2], std::strtoull(argv[3], nullptr, 10));
  if (argc == 6)
    settings = {std::strtoull(argv[2], nullptr, 10), std::strtod(argv[3], nullptr), std::strtoull(argv[4], nullptr, 10), std::atoi(argv[5])};
  const char* why = "";
  if (TAUT_Cuda_available(&why) == 0) {
    std::printf("{\"check\": \"device\", \"ok\": false, \"error\": \"%s\"}\n", why);
    return 1;
  }
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  std::printf("{\"device\": \"%s\", \"multiprocessors\": %d}\n", device.name, device.multiProcessorCount);
  if (what == "small") {
    const bool planes = matrix<float>("f32", {9001}, stream) && matrix<double>("f64", {5000}, stream) && lagged_small(stream);
    return planes && lossless_small(stream) && rate_small(stream) ? 0 : 1;
  } else if (what == "correctness") {
    matrix<float>("f32", within({0, 1, 31, 4095, 4096, 4097, 1000003}), stream);
    matrix<double>("f64", within({1, 4097, 100003}), stream);
    matrix<f16>("f16", within({1, 4097, 100003}), stream);
    matrix<bf16>("bf16", within({1, 4097, 100003}), stream);
    look_back_stress(stress_launches());
    lagged_correctness(stream);
    lossless_correctness(stream);
    rate_correctness(stream);
    graph();
    large(settings.most_values, stream);
  } else if (what == "kernels") {
    planes_kernels(stream);
    lagged_kernels(stream);
    lossless_kernels(stream);
    rate_kernels(stream);
  } else if (what == "profile") {
    planes_profile(stream);
  } else {
    std::fprintf(stderr, "check correctness|small|kernels|profile [VALUES SPIN_MS REPLAY_BYTES TIMES], check values PATTERN COUNT\n");
    return 2;
  }
  return 0;
}
