// Compares the kernels for lossless frames, and for those of blocks, with the CPU, and times them.
#include "check.hpp"

namespace taut::codecs {
extern const CodecInfo blocks, exponents, mpc;
}

namespace {

using namespace taut;
using namespace taut::gpu;

Coding coding_of(int distance, double relative = 0) {
  constexpr const char* distances[] = {"d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"};
  Coding coding{.codec = &codecs::mpc, .predictor = distances[distance - 1]};
  if (relative > 0) coding.bound = {Bound::Kind::pointwise, relative};
  return coding;
}

std::vector<Coding> codings_of_mpc() {
  std::vector<Coding> all;
  for (const double relative : {0.0, 1e-3})
    for (const int distance : {1, 2, 3, 8}) all.push_back(coding_of(distance, relative));
  return all;
}
// Codings of 16-bit values.
std::vector<Coding> codings_of_halves() {
  std::vector<Coding> all = codings_of_mpc();
  all.push_back({.codec = &codecs::exponents});
  return all;
}

std::vector<Coding> codings_of_blocks() {
  std::vector<Coding> all;
  for (const double bits : {8.0, 6.0, 4.0})
    all.push_back({.codec = &codecs::blocks, .bound = {Bound::Kind::rate, bits}});
  return all;
}

constexpr const char* usual = "lossless,codec=mpc,predictor=d1";

// Encodes, decodes and adds one pattern. Returns the number of differences from the CPU.
template <class T>
int compare(Pattern pattern, std::size_t n, const Coding& of, cudaStream_t stream) {
  const int type = static_cast<int>(dtype_of<T>);
  const std::vector<T> x = make<T>(pattern, n, 1);
  const auto codec = of.make();
  const std::string text = text_of(of);
  const char* const coding = text.c_str();
  const auto frame = cpu_encode(*codec, x);
  std::vector<T> decoded(n), sum = make<T>(Pattern::walk, n, 2);
  const Device values(x.data(), n * sizeof(T)), to(n * sizeof(T)), out(codec->max_bytes(dtype_of<T>, n));
  const Device total(sum.data(), n * sizeof(T));
  codec->decode(frame, {{decoded.data(), n, dtype_of<T>}});
  codec->reduce(frame, {{sum.data(), n, dtype_of<T>}}, Reduction::sum);
  Result r;
  int wrong = TAUT_Encode_enqueue(values.at(), n, type, coding, out.at(), out.bytes(), r.at, stream) != 0;
  check(cudaStreamSynchronize(stream));
  wrong += r.at->status != 0 || r.at->bytes != frame.size() || out.read(frame.size()) != frame;
  wrong += TAUT_Decode_enqueue(out.at(), frame.size(), to.at(), n, type, coding, r.at, stream) != 0;
  check(cudaStreamSynchronize(stream));
  wrong += r.at->status != 0 || !to.holds(decoded.data(), n * sizeof(T));
  wrong += TAUT_Decode_add_enqueue(out.at(), frame.size(), total.at(), n, type, coding, r.at, stream) != 0;
  check(cudaStreamSynchronize(stream));
  wrong += r.at->status != 0 || !total.holds(sum.data(), n * sizeof(T));
  return wrong;
}

template <class T>
bool matrix(const char* name, const std::vector<Coding>& codings, const std::vector<std::size_t>& sizes,
            cudaStream_t stream) {
  int cases = 0, wrong = 0;
  for (const Pattern pattern : all_patterns) {
    for (const Coding& coding : codings) {
      for (const std::size_t n : sizes) {
        const int found = compare<T>(pattern, n, coding, stream);
        if (found > 0 && wrong < 10)
          std::fprintf(stderr, "%s %s %s n %zu: %d differences\n", text_of(coding).c_str(), name,
                       name_of(pattern), n, found);
        wrong += found;
        ++cases;
      }
    }
  }
  std::printf("{\"check\": \"lossless\", \"type\": \"%s\", \"cases\": %d, \"differences\": %d, \"ok\": %s}\n",
              name, cases, wrong, wrong == 0 ? "true" : "false");
  return wrong == 0;
}

template <class T>
void bench_size(std::size_t n, Pattern pattern, const char* name, const char* coding, cudaStream_t stream) {
  constexpr int type = static_cast<int>(dtype_of<T>);
  const std::size_t bytes = n * sizeof(T), room = frame_header_bytes + bytes;
  const std::vector<T> x = make<T>(pattern, n, 1);
  const int sets = sets_for(bytes);
  const Buffers values(sets, x.data(), bytes), frames(sets, room);
  const Device to(x.data(), bytes);
  Result r;
  TAUT_Cuda_reserve(n, type, coding, stream);
  const double copied = copy_rate(bytes, stream);
  const auto encode = [&](int i) {
    return TAUT_Encode_enqueue(values.at(i), n, type, coding, frames.at(i), room, r.at, stream);
  };
  for (int i = 0; i < sets; ++i) encode(i);  // a frame in each buffer, for decoding
  const Timing encoding = timed(stream, bytes, encode);
  const double ratio = static_cast<double>(bytes) / static_cast<double>(r.at->bytes);
  const auto of = [&](const char* what) { return what + std::string(" ") + name_of(pattern) + " " + name; };
  report(of("encode"), bytes, ratio, encoding, copied, r.at->status);
  const Timing decoding = timed(stream, bytes, [&](int i) {
    return TAUT_Decode_enqueue(frames.at(i), room, to.at(), n, type, coding, r.at, stream);
  });
  report(of("decode"), bytes, ratio, decoding, copied, r.at->status);
  const Timing adding = timed(stream, bytes, [&](int i) {
    return TAUT_Decode_add_enqueue(frames.at(i), room, to.at(), n, type, coding, r.at, stream);
  });
  report(of("decode_add"), bytes, ratio, adding, copied, r.at->status);
}

}  // namespace

bool lossless_small(cudaStream_t stream) {
  return matrix<float>("f32", codings_of_mpc(), {9001}, stream) &&
         matrix<double>("f64", codings_of_mpc(), {5000}, stream) &&
         matrix<bf16>("bf16", codings_of_halves(), {9001}, stream) &&
         matrix<float>("f32 blocks", codings_of_blocks(), {9001}, stream);
}

void lossless_correctness(cudaStream_t stream) {
  matrix<float>("f32", codings_of_mpc(), within({0, 1, 31, 1023, 1024, 1025, 8205, 1000003}), stream);
  matrix<double>("f64", codings_of_mpc(), within({1, 513, 100003}), stream);
  matrix<f16>("f16", codings_of_halves(), within({1, 2049, 100003}), stream);
  matrix<bf16>("bf16", codings_of_halves(), within({1, 4097, 1000003}), stream);
  matrix<float>("f32 blocks", codings_of_blocks(), within({0, 1, 65, 4097, 1000003}), stream);
  matrix<f16>("f16 blocks", codings_of_blocks(), within({1, 4097, 100003}), stream);
  matrix<bf16>("bf16 blocks", codings_of_blocks(), within({1, 4097, 1000003}), stream);
  stress("lossless_look_back", *coding_of(1).make(), Pattern::mixed, stress_launches(),
         [](const Device& x, std::size_t n, const Device& frame, const Result& r, cudaStream_t on) {
           return TAUT_Encode_enqueue(x.at(), n, 1, usual, frame.at(), frame.bytes(), r.at, on);
         });
}

void lossless_kernels(cudaStream_t stream) {
  for (const std::size_t n : bench_sizes())
    for (const Pattern pattern : {Pattern::wave, Pattern::walk}) {
      bench_size<float>(n, pattern, "lossless", usual, stream);
      bench_size<bf16>(2 * n, pattern, "exponents bf16", "lossless,codec=exponents", stream);
      bench_size<bf16>(2 * n, pattern, "block:8 bf16", "block:8", stream);
    }
}
