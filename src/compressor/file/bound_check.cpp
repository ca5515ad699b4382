#include "compressor/file/bound_check.hpp"

#include <algorithm>

#include "compressor/base/float_environment.hpp"
#include "compressor/base/json.hpp"
#include "compressor/base/option_parser.hpp"

namespace taut::file {
namespace {

constexpr std::size_t sampled_values = 512;  // of each part
constexpr double wide = 10;                  // a range that much wider than that of the other values
constexpr double coarse = 0.01;              // a bound above this share of the other values' range

double width_of(const ValueRange& range) noexcept {
  return range.least < range.greatest ? range.greatest - range.least : 0;
}

// Calls visit(x) with the real numbers at the steps of a part, as doubles.
template <class Visit>
void each_value(ConstSlice part, std::size_t most, Visit visit) {
  const std::size_t n = part.count * components_of(part.type);
  const std::size_t step = std::max<std::size_t>(1, n / std::max<std::size_t>(most, 1));
  with_component(part.type, [&]<class T>() {
    for (std::size_t i = 0; i < n; i += step) visit(static_cast<double>(static_cast<const T*>(part.data)[i]));
  });
}

// Returns the shortest text that is the same number in the type.
std::string text_in(DType type, double value) {
  const auto same = [&](double other) {
    return component_of(type) == DType::f64 ? other == value
                                            : static_cast<float>(other) == static_cast<float>(value);
  };
  for (int digits = 1; digits < 17; ++digits) {
    const std::string text = rounded(value, digits);
    double back = 0;
    if (read_number(text, back) && same(back)) return text;
  }
  return shortest(value);
}

}  // namespace

void BoundCheck::sample(ConstSlice part) {
  const FloatEnvironment environment;
  each_value(part, sampled_values, [&](double x) {
    if (x - x == 0) sample_.push_back(x);
  });
}

// Returns true if the sample without one value has a much smaller range, which the bound cannot resolve.
bool BoundCheck::set_by(double extreme, const ValueRange& range) const noexcept {
  ValueRange others;
  for (const double x : sample_)
    if (x != extreme) others.merge({x, x});
  return wide * width_of(others) < width_of(range) && coarse * width_of(others) < bound_.value;
}

bool BoundCheck::needs_all(const ValueRange& range) {
  const FloatEnvironment environment;
  bound_ = coding_.bound(type_, range);
  if (bound_.kind != Bound::Kind::absolute && bound_.kind != Bound::Kind::snap) return false;
  if (!coding_.needs_range(type_)) {
    ValueRange sampled;
    for (const double x : sample_) sampled.merge({x, x});
    return width_of(sampled) < bound_.value;
  }
  width_ = width_of(range);
  if (coding_.fill()) return false;
  for (const double extreme : {range.greatest, range.least})
    if (!extreme_ && set_by(extreme, range)) extreme_ = extreme;
  return extreme_.has_value();
}

void BoundCheck::count(ConstSlice part) {
  range_.merge(range_of(part, extreme_, coding_.bits()));
  if (!extreme_) return;
  const FloatEnvironment environment;
  each_value(part, part.count * components_of(part.type),
             [&](double x) { equal_ += x == *extreme_ ? 1 : 0; });
}

std::string BoundCheck::outlying_text() const {
  const std::string value = text_in(type_, *extreme_);
  return "the range is set by " + std::to_string(equal_) + " values of " + value +
         ", the others lie within " + rounded(width_of(range_), 3) + " and the bound is " +
         rounded(bound_.value, 3) + ": if " + value + " stands for missing values, fill=" + value +
         " leaves them out";
}

std::string BoundCheck::warning() const {
  const double width = width_of(range_);
  if (!(width > 0)) return "";  // a single value loses nothing by a bound
  if (extreme_) {
    const bool alone = equal_ > 1 && wide * width < width_ && coarse * width < bound_.value;
    return alone ? outlying_text() : "";
  }
  if (width >= bound_.value) return "";
  return "the bound " + shortest(bound_.value) + " exceeds the range " + rounded(width, 3) +
         " of the values: nothing of the field is left";
}

std::string bound_warning(const ArrayCoding& coding, const ValueRange& range, ConstSlice values) {
  BoundCheck check(coding, values.type);
  check.sample(values);
  if (!check.needs_all(range)) return "";
  check.count(values);
  return check.warning();
}

}  // namespace taut::file
