// A field read from a file, and the parts of it that are coded.
#pragma once

#include <optional>
#include <string>

#include "compressor/values/dims.hpp"
#include "compressor/values/value_range.hpp"
#include "subject.hpp"

namespace bench {

// Throws std::exception if the file cannot be read or its values have no range.
class RealField {
 public:
  RealField(const std::string& file, taut::DType type, taut::Dims dims, std::optional<double> fill);

  const std::string& name() const noexcept { return name_; }
  taut::DType type() const noexcept { return type_; }
  const taut::Dims& dims() const noexcept { return dims_; }
  std::optional<double> fill() const noexcept { return fill_; }
  const taut::ValueRange& range() const noexcept { return range_; }
  std::size_t count() const noexcept { return count_; }

  // Returns `count` values from `first` on; after the last value it continues with the first.
  Buffer part(std::size_t first, std::size_t count) const;

  // Offset of the second addend of a sum: half of the slowest extent. The positions in all other extents
  // agree, as where ranks hold fields of the same shape.
  std::size_t shift() const noexcept;

 private:
  std::string name_;
  taut::DType type_;
  taut::Dims dims_;
  std::optional<double> fill_;
  std::size_t count_;
  Buffer values_;
  taut::ValueRange range_;
};

}  // namespace bench
