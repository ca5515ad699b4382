// taut_bench_pipelines FILE f32|f64 DIMS|- FILL|-: adds the frames of a field and of the same field, shifted
// by half of its slowest extent, and writes how many chunks took which way, as JSON, a line for each bound.
// DIMS as in 120x225x225, or -. Counts depend on the values alone, not on the machine.
#include <cstdio>
#include <exception>
#include <vector>

#include "../command_line.hpp"
#include "compressor/base/json.hpp"
#include "compressor/frame/sum_pipelines.hpp"
#include "real_field.hpp"

namespace {

taut::Dims dims_of(const std::string& text) {
  taut::Dims dims;
  if (text == "-") return dims;
  for (const std::string& extent : bench::split(text, 'x'))
    if (dims.n < taut::max_dims)
      dims.of[dims.n++] = static_cast<std::uint32_t>(bench::positive_number(extent));
  return dims;
}

std::vector<std::byte> encoded(const taut::Codec& codec, taut::ConstSlice values) {
  std::vector<std::byte> frame(codec.max_bytes(values.type, values.count));
  const taut::Sized made = codec.encode(values, frame);
  if (made.status != taut::Status::ok) throw taut::Error(made.status, "a field cannot be encoded");
  frame.resize(made.bytes);
  return frame;
}

// Returns the codec with the predictor that makes the smallest frame of the values: in a collective the ranks
// agree on one.
std::unique_ptr<taut::Codec> best_codec(double bound, taut::ConstSlice values) {
  const taut::CodecInfo& planes = *taut::find_codec("planes");
  std::unique_ptr<taut::Codec> best;
  std::size_t least = 0;
  for (const std::string& predictor : planes.predictors({.bound = bound})) {
    std::unique_ptr<taut::Codec> codec = planes.make({.bound = bound, .predictor = predictor.c_str()});
    const std::size_t bytes = encoded(*codec, values).size();
    if (best != nullptr && bytes >= least) continue;
    best = std::move(codec);
    least = bytes;
  }
  return best;
}

void add(const bench::RealField& field, double of_range) {
  const double bound = of_range * (field.range().greatest - field.range().least);
  const bench::Buffer first = field.part(0, field.count());
  const bench::Buffer second = field.part(field.shift(), field.count());
  const auto slice = [&](const bench::Buffer& values) {
    return taut::ConstSlice{{values.data(), field.count(), field.type()}};
  };
  const std::unique_ptr<taut::Codec> codec = best_codec(bound, slice(first));
  const std::vector<std::byte> a = encoded(*codec, slice(first)), b = encoded(*codec, slice(second));
  std::vector<std::byte> sum(codec->max_bytes(field.type(), field.count(), 2));
  const taut::ConstBytes operands[] = {a, b};
  const taut::SumPipelines before = taut::sum_pipelines();
  const taut::Sized made = codec->arithmetic()->sum(operands, sum);
  if (made.status != taut::Status::ok) throw taut::Error(made.status, "frames cannot be added");
  const taut::SumPipelines ways = taut::sum_pipelines() - before;
  taut::json::Object row;
  row.add("field", std::string_view(field.name())).add("of_range", of_range).add("chunks", ways.chunks());
  row.add("constant", ways.constant).add("copied", ways.copied);
  row.add("added", ways.added).add("general", ways.general);
  std::puts(row.text().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "taut_bench_pipelines FILE f32|f64 DIMS|- FILL|-\n");
    return 2;
  }
  try {
    const std::string type = argv[2], fill = argv[4];
    const bench::RealField field(argv[1], type == "f64" ? taut::DType::f64 : taut::DType::f32,
                                 dims_of(argv[3]), fill == "-" ? std::optional<double>() : std::stod(fill));
    for (const double of_range : {1e-1, 1e-2, 1e-3, 1e-4}) add(field, of_range);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taut_bench_pipelines: %s\n", error.what());
    return 1;
  }
}
