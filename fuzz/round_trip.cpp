// Fuzz target: values and options of any kind. If the codec accepts the options, it encodes and decodes the
// values within its contract, with the same bytes from every kernel set.
//
//   codec u8 | type u8 | bound: kind u8, fraction u8, exponent i16 | predictor u8 | flags u8 | repeat u16 |
//   values
//
// flags: 3 bits for the way the values are made, 1 checksum. The values are repeated, so that small inputs
// reach many chunks.
#include <cmath>

#include "expect.hpp"
#include "input.hpp"
#include "memory_limit.hpp"
#include "readers.hpp"
#include "support/subjects.hpp"
#include "support/values.hpp"

namespace taut::fuzz {
namespace {

// Meaning of the input's bytes.
enum class Making : std::uint8_t { bits, multiples, walk, halves };

struct Request {
  test::Subject subject;
  Making making;
  std::uint16_t repeat;
};

double positive(std::uint8_t fraction, std::int16_t exponent) noexcept {
  return std::ldexp(1 + fraction / 256.0, std::clamp<int>(exponent, -1073, 1023));
}

Request read_request(Input& input) {
  Request request;
  const auto codec = input.take<std::uint8_t>(), type = input.take<std::uint8_t>(),
             kind = input.take<std::uint8_t>(), fraction = input.take<std::uint8_t>();
  const auto exponent = input.take<std::int16_t>();
  const auto predictor = input.take<std::uint8_t>(), flags = input.take<std::uint8_t>();
  const auto repeat = input.take<std::uint16_t>();
  request.repeat = (flags & 4) != 0 ? repeat : 0;
  request.making = static_cast<Making>(flags % 4);
  test::Subject& subject = request.subject;
  subject.info = &codec_of(codec);
  subject.type = posted_type(type);
  subject.options.bound = test::bound_of(kind, positive(fraction, exponent));
  subject.options.checksum = (flags & 8) != 0;
  for (unsigned i = 0; i < 3; ++i)
    if (const auto extent = input.take<std::uint8_t>(); extent > 0)
      subject.options.dims.extent[subject.options.dims.n++] = extent;
  const std::vector<const char*> predictors = test::predictors_of(*subject.info, subject.options.dims);
  const std::size_t choice = predictor % (predictors.size() + 1);
  if (choice < predictors.size()) subject.options.predictor = predictors[choice];
  return request;
}

// Returns numbers at the scale of the bound, where quantisers decide, or the bits of the input as they are.
test::Values make_values(const Request& request, ConstBytes from, double unit) {
  const DType type = request.subject.type;
  const std::size_t width = request.making == Making::bits     ? size_of(type)
                            : request.making == Making::halves ? 2
                                                               : 1;
  const std::size_t once = from.size() / width;
  const std::size_t most = request.repeat % 8 == 0 ? most_values : 1000;  // several chunks are slow
  const std::size_t count = std::min(once * (1u + request.repeat), most);
  test::Values values(type, count);
  double level = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* const at = from.data() + i % once * width;
    std::int16_t half = 0;
    if (request.making == Making::bits) {
      std::memcpy(values.slice().as_bytes().data() + i * width, at, width);
      continue;
    }
    std::memcpy(&half, at, width);
    const int number = request.making == Making::halves ? half : static_cast<std::int8_t>(half);
    level = request.making == Making::walk ? level + number : number;
    values.set(i, level * unit);
  }
  return values;
}

struct Frame {
  ExactMemory memory;
  std::size_t bytes;
  ConstBytes span() const noexcept { return memory.bytes().first(bytes); }
};

Frame encode(const Codec& codec, ConstSlice values) {
  const std::size_t most = codec.max_bytes(values.type, values.count);
  Frame frame{ExactMemory(most), 0};
  const MemoryLimit limit(scratch_for(most + values.bytes()));
  const SizeOrStatus size = codec.encode(values, frame.memory.bytes());
  expect(size.status == Status::ok, "values are encoded");
  expect(size.bytes <= most, "a frame fits into max_bytes");
  frame.bytes = size.bytes;
  return frame;
}

test::Values decode(const Codec& codec, ConstBytes frame, ConstSlice like) {
  test::Values values(like.type, like.count);
  const MemoryLimit limit(scratch_for(frame.size() + like.bytes()));
  expect(codec.decode(frame, values.slice()) == Status::ok, "a frame of the codec decodes");
  return values;
}

bool same(double a, double b) noexcept { return a == b || (std::isnan(a) && std::isnan(b)); }

void check_values(Bound bound, const test::Values& values, const test::Values& decoded) {
  expect(!bound.exact() || decoded == values, "exact values come back bit for bit");
  for (std::size_t i = 0; i < values.numbers(); ++i) {
    const double x = values.at(i), y = decoded.at(i);
    if (std::isfinite(x))
      expect(std::abs(static_cast<long double>(x) - y) <= test::allowed_error(bound, x), "the bound holds");
    else
      expect(same(x, y), "NaN and infinities come back");
  }
}

void check(const Codec& codec, const test::Values& values, ConstBytes frame) {
  FrameHeader header;
  expect(read_header(frame, header) == Status::ok, "a frame has a header");
  expect(header.count == values.count() && header.type == values.type(), "a frame names its count and type");
  expect(header.bound == codec.contract().bound, "a frame names its bound");
  const test::Values decoded = decode(codec, frame, values.slice());
  check_values(codec.contract().bound, values, decoded);
  if (!codec.contract().idempotent) return;
  const Frame twice = encode(codec, decoded.slice());
  const test::Values again = decode(codec, twice.span(), values.slice());
  for (std::size_t i = 0; i < values.numbers(); ++i)
    expect(same(decoded.at(i), again.at(i)), "what was decoded encodes to itself");
}

void run(const test::Subject& subject, const test::Values& values) {
  const auto kernel_sets = test::with_all_kernels(*subject.info, subject.options);
  const Frame first = encode(*kernel_sets[0], values.slice());
  check(*kernel_sets[0], values, first.span());
  for (std::size_t k = 1; k < kernel_sets.size(); ++k)
    expect(std::ranges::equal(encode(*kernel_sets[k], values.slice()).span(), first.span()),
           "kernel sets write the same bytes");
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut;
  using namespace taut::fuzz;
  Input input(data, size);
  const Request request = read_request(input);
  const test::Subject& subject = request.subject;
  if (!test::can_be_made(*subject.info, subject.type, subject.options)) return 0;
  const Bound bound = subject.options.bound;
  const bool scaled = bound.kind == Bound::Kind::absolute || bound.kind == Bound::Kind::snap;
  run(subject, make_values(request, input.rest(), scaled ? bound.value : 1));
  return 0;
}
