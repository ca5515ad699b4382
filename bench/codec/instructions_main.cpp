// Program that repeats one operation of a codec. instructions.py counts its instructions under qemu.
//   taut_bench_instructions CODEC TYPE KERNELS OPERATION REPETITIONS
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "compressor/frame/codec.hpp"

namespace {

using namespace taut;

constexpr std::size_t count = 2 * 4096;

// A smooth field with noise: 5-bit differences at the bound.
template <class T>
std::vector<T> field(double phase) {
  std::vector<T> x(count);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double noise = static_cast<double>(state >> 40) * 0x1p-24 - 0.5;
    x[i] = static_cast<T>(std::sin(phase + 0.01 * static_cast<double>(i)) + 0.02 * noise);
  }
  return x;
}

template <class T>
int run(const CodecInfo& info, DType type, const char* kernels, std::string_view operation, int repetitions) {
  Bound bound{Bound::Kind::absolute, 1e-3};
  if (!info.serves(type, bound.kind)) bound = {};
  // A named predictor: `auto` would also count the samples that it takes.
  const NamedPredictor predictor(info.predictors.empty() ? "auto"
                                                         : info.predictors[CodecInfo::usual_predictor]);
  const auto codec = info.make({.bound = bound, .predictor = predictor, .kernels = kernels});
  const std::vector<T> x = field<T>(0), y = field<T>(1);
  std::vector<T> z = y;
  const ConstSlice values{{x.data(), count, type}}, others{{y.data(), count, type}};
  const Slice result{{z.data(), count, type}};
  std::vector<std::byte> frame(codec->max_bytes(type, count)), other(frame.size()),
      room(codec->max_bytes(type, count, 2));
  frame.resize(codec->encode(values, frame).bytes);
  other.resize(codec->encode(others, other).bytes);
  const ConstBytes both[] = {frame, other};
  if (operation == "sum" && codec->arithmetic() == nullptr) return 2;
  for (int i = 0; i < repetitions; ++i) {
    Status status = Status::invalid_argument;
    if (operation == "encode") status = codec->encode(values, room).status;
    if (operation == "decode") status = codec->decode(frame, result);
    if (operation == "add") status = codec->reduce(frame, result, Reduction::sum);
    if (operation == "sum") status = codec->arithmetic()->sum(both, room).status;
    if (status != Status::ok) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  const CodecInfo* const info = argc == 6 ? find_codec(words[1]) : nullptr;
  if (info == nullptr) {
    std::fputs(
        "usage: taut_bench_instructions CODEC f32|f64|bf16 KERNELS encode|decode|add|sum REPETITIONS\n",
        stderr);
    return 1;
  }
  const std::string_view type = words[2], operation = words[4];
  const int repetitions = std::atoi(words[5]);
  if (type == "f64") return run<double>(*info, DType::f64, words[3], operation, repetitions);
  if (type == "bf16") return run<bf16>(*info, DType::bf16, words[3], operation, repetitions);
  return run<float>(*info, DType::f32, words[3], operation, repetitions);
}
