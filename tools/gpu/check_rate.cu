// Compares the kernels for zfp frames at a rate with the kernels on the host, and times them.
#include "check.hpp"
#include "rate_on_host.hpp"

namespace {

using namespace taut;
using namespace taut::gpu;

std::string coding_text(const Dims& dims, double rate) {
  return text_of(Coding{.bound = {Bound::Kind::rate, rate}, .dims = dims});
}

std::size_t room(std::size_t values_bytes, std::size_t count) {
  return frame_header_bytes + 4 * max_dims + 4 * (count / 4096 + 1) + values_bytes;
}

// Encodes and decodes one pattern. Returns the number of differences from the host's results.
template <class T>
int compare(Pattern pattern, const Dims& dims, double rate, cudaStream_t stream) {
  const int type = static_cast<int>(dtype_of<T>);
  const std::string text = coding_text(dims, rate);
  const char* const coding = text.c_str();
  const std::vector<T> x = make<T>(pattern, dims.count(), 1);
  const std::vector<std::byte> frame = rate_frame_on_host(x, rate, dims);
  const std::vector<T> decoded = rate_values_on_host<T>(frame, x.size(), dims);
  const std::size_t bytes = x.size() * sizeof(T);
  const Device values(x.data(), bytes), to(bytes), out(room(bytes, x.size()));
  Result r;
  int wrong =
      TAUT_Encode_enqueue(values.at(), x.size(), type, coding, out.at(), out.bytes(), r.at, stream) != 0;
  check(cudaStreamSynchronize(stream));
  wrong += r.at->status != 0 || r.at->bytes != frame.size() || out.read(frame.size()) != frame;
  wrong += TAUT_Decode_enqueue(out.at(), frame.size(), to.at(), x.size(), type, coding, r.at, stream) != 0;
  check(cudaStreamSynchronize(stream));
  return wrong + (r.at->status != 0 || !to.holds(decoded.data(), bytes));
}

template <class T>
bool matrix(const char* name, const std::vector<Dims>& fields, cudaStream_t stream) {
  int cases = 0, wrong = 0;
  for (const Pattern pattern : all_patterns) {
    for (const double rate : {3.0, 8.0, 24.5}) {
      for (const Dims& dims : fields) {
        if (dims.count() > settings.most_values) continue;
        const int found = compare<T>(pattern, dims, rate, stream);
        if (found > 0 && wrong < 10)
          std::fprintf(stderr, "rate %g %s %s %u extents, %zu values: %d differences\n", rate, name,
                       name_of(pattern), dims.n, static_cast<std::size_t>(dims.count()), found);
        wrong += found;
        ++cases;
      }
    }
  }
  std::printf("{\"check\": \"rate\", \"type\": \"%s\", \"cases\": %d, \"differences\": %d, \"ok\": %s}\n",
              name, cases, wrong, wrong == 0 ? "true" : "false");
  return wrong == 0;
}

void bench_field(const char* name, const Dims& dims, double rate, cudaStream_t stream) {
  const std::size_t n = dims.count(), bytes = n * 4;
  if (n > settings.most_values) return;
  const std::string text = coding_text(dims, rate);
  const char* const coding = text.c_str();
  const std::vector<float> x = make<float>(Pattern::walk, n, 1);
  const int sets = sets_for(bytes);
  const Buffers values(sets, x.data(), bytes), frames(sets, room(bytes, n));
  const Device to(bytes);
  Result r;
  TAUT_Cuda_reserve(n, 1, coding, stream);
  const double copied = copy_rate(bytes, stream);
  const auto encode = [&](int i) {
    return TAUT_Encode_enqueue(values.at(i), n, 1, coding, frames.at(i), frames.bytes(), r.at, stream);
  };
  for (int i = 0; i < sets; ++i) encode(i);  // a frame in each buffer, for decoding
  const Timing encoding = timed(stream, bytes, encode);
  const double ratio = static_cast<double>(bytes) / static_cast<double>(r.at->bytes);
  report(std::string("encode_rate_") + name, bytes, ratio, encoding, copied, r.at->status);
  const Timing decoding = timed(stream, bytes, [&](int i) {
    return TAUT_Decode_enqueue(frames.at(i), frames.bytes(), to.at(), n, 1, coding, r.at, stream);
  });
  report(std::string("decode_rate_") + name, bytes, ratio, decoding, copied, r.at->status);
}

}  // namespace

bool rate_small(cudaStream_t stream) {
  return matrix<float>("f32", {{{9001}, 1}, {{9, 10, 11}, 3}}, stream) &&
         matrix<double>("f64", {{{50, 61}, 2}}, stream);
}

void rate_correctness(cudaStream_t stream) {
  matrix<float>(
      "f32",
      {{{1}, 1}, {{200003}, 1}, {{301, 500}, 2}, {{33, 22, 45}, 3}, {{70, 3, 1000}, 3}, {{9, 10, 11, 13}, 4}},
      stream);
  matrix<double>("f64", {{{70001}, 1}, {{53, 70}, 2}, {{33, 22, 45}, 3}, {{5, 6, 7, 9}, 4}}, stream);
}

void rate_kernels(cudaStream_t stream) {
  for (const double rate : {4.0, 8.0, 16.0}) {
    for (const std::size_t n : bench_sizes())
      bench_field("1d", {{static_cast<std::uint32_t>(n)}, 1}, rate, stream);
    bench_field("2d", {{8192, 8192}, 2}, rate, stream);
    bench_field("3d", {{256, 512, 512}, 3}, rate, stream);
    bench_field("4d", {{16, 64, 256, 256}, 4}, rate, stream);
  }
}
