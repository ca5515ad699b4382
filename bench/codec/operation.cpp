#include "operation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace bench {
namespace {

using taut::Codec;
using taut::SizeOrStatus;

SizeOrStatus encode(const Codec& codec, Subject& s) { return codec.encode(s.source(), s.out.bytes()); }
SizeOrStatus decode(const Codec& codec, Subject& s) { return {codec.decode(s.frames[0], s.decoded())}; }
SizeOrStatus decode_add(const Codec& codec, Subject& s) {
  return {codec.reduce(s.frames[0], s.decoded(), taut::Reduction::sum)};
}
SizeOrStatus accumulate(const Codec& codec, Subject& s) {
  return codec.arithmetic()->accumulate(s.frames[1], s.source(), s.out.bytes());
}
template <std::size_t Count>
SizeOrStatus sum(const Codec& codec, Subject& s) {
  return codec.arithmetic()->sum(std::span(s.frames).first(Count), s.out.bytes());
}

// Returns the allowed error of one value x. Only codecs with an absolute bound add frames of several addends.
double allowed(taut::Bound bound, double x) noexcept {
  switch (bound.kind) {
    case taut::Bound::Kind::pointwise: return bound.value * std::fabs(x);
    case taut::Bound::Kind::rate: return std::numeric_limits<double>::infinity();
    default: return bound.value;
  }
}

template <class T>
Check compare(const Subject& s, std::uint32_t addends, taut::Bound bound) {
  const T* const got = reinterpret_cast<const T*>(s.target.data());
  const std::size_t stride = s.count >> 18 | 1;  // odd: reaches every position in a block
  const double epsilon = relative_spacing<T>();
  Check result;
  for (std::size_t i = 0; i < s.count; i += stride) {
    double exact = 0;
    for (std::uint32_t k = 0; k < addends; ++k)
      exact += static_cast<double>(static_cast<T>(s.field.at(k, i)));
    const double value = static_cast<double>(got[i]);
    if (value == exact || (std::isnan(exact) && std::isnan(value))) continue;
    const double error = std::fabs(value - exact);
    const double rounding = addends > 1 ? addends * epsilon * (std::fabs(exact) + addends) : 0;
    if (!(error <= addends * allowed(bound, exact) + rounding)) result.within_bound = false;
    if (std::isfinite(error)) result.max_error = std::max(result.max_error, error);
  }
  return result;
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all{
      {"encode", 1, true, false, encode},
      {"decode", 1, false, false, decode},
      {"decode_add", 1, false, false, decode_add},
      {"frame_add", 2, true, true, sum<2>},
      {"accumulate", 2, true, true, accumulate},
      {"sum_4", 4, true, true, sum<4>},
      {"sum_8", 8, true, true, sum<8>},
  };
  return all;
}

Check check(const Operation& operation, const Codec& codec, Subject& s) {
  std::memset(s.target.data(), 0, s.bytes());
  const SizeOrStatus result = operation.run(codec, s);
  taut::Status status = result.status;
  if (status == taut::Status::ok && operation.makes_frame)
    status = codec.decode(s.out.bytes().first(result.bytes), s.decoded());
  if (status != taut::Status::ok) return {.within_bound = false};
  const taut::Bound bound = codec.contract().bound;
  return with_real(s.type, [&]<class T>() { return compare<T>(s, operation.addends, bound); });
}

}  // namespace bench
