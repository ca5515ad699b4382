// Check of a bound against the values that it is for: it may leave nothing of them.
#pragma once

#include <vector>

#include "compressor/file/coding.hpp"

namespace taut::file {

// BoundCheck looks at the parts of an array in one or two passes:
//
//   for each part: check.sample(part);
//   if (check.needs_all(range))
//     for each part: check.count(part);
//   warn(check.warning());
//
// Two bounds are worth a warning: one above the range of the values, and one relative to a range that equal
// values set alone, such as 1e20 where data are missing. A few values of each part show that most arrays are
// neither, so that the second pass is rare.
class BoundCheck {
 public:
  BoundCheck(const ArrayCoding& coding, DType type) : coding_(coding), type_(type) {}

  void sample(ConstSlice part);

  // Returns true if the sample suggests a warning. `range`: of all values, if the bound is relative to it.
  bool needs_all(const ValueRange& range);

  void count(ConstSlice part);

  // Returns a sentence without its full stop, or an empty text.
  std::string warning() const;

 private:
  bool set_by(double extreme, const ValueRange& range) const noexcept;
  std::string outlying_text() const;

  const ArrayCoding& coding_;
  DType type_;
  std::vector<double> sample_;
  Bound bound_;                    // absolute
  std::optional<double> extreme_;  // value that seems to set the range alone
  ValueRange range_;               // of all values, without extreme_
  std::uint64_t equal_ = 0;        // number of values that equal extreme_
  double width_ = 0;               // of the range that a relative bound refers to
};

// Returns the warning about values in memory.
std::string bound_warning(const ArrayCoding& coding, const ValueRange& range, ConstSlice values);

}  // namespace taut::file
