#include <vector>

#include "compressor/base/json.hpp"
#include "compressor/frame/sum_pipelines.hpp"
#include "trial.hpp"

namespace {

std::vector<std::byte> encoded(const taut::Codec& codec, taut::ConstSlice values) {
  std::vector<std::byte> frame(codec.max_bytes(values.type, values.count));
  const taut::SizeOrStatus made = codec.encode(values, frame);
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
  for (const taut::NamedPredictor& predictor : planes.automatic({})) {
    std::unique_ptr<taut::Codec> codec = planes.make({.bound = bound, .predictor = predictor});
    const std::size_t bytes = encoded(*codec, values).size();
    if (best != nullptr && bytes >= least) continue;
    best = std::move(codec);
    least = bytes;
  }
  return best;
}

}  // namespace

std::string bench::count_pipelines(const RealField& field, double of_range) {
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
  const taut::SizeOrStatus made = codec->arithmetic()->sum(operands, sum);
  if (made.status != taut::Status::ok) throw taut::Error(made.status, "frames cannot be added");
  const taut::SumPipelines ways = taut::sum_pipelines() - before;
  taut::json::Object row;
  row.add("field", std::string_view(field.name())).add("of_range", of_range).add("chunks", ways.chunks());
  row.add("constant", ways.constant).add("copied", ways.copied);
  row.add("added", ways.added).add("general", ways.general);
  return row.text();
}
