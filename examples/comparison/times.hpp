// Statistics of times that were measured in turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace comparison {

// Returns the value below which a share of the values lies; 0 without values.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

// Returns the median of plain's time over the variant's time in the same round.
inline double gain(const std::vector<double>& plain, const std::vector<double>& variant) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < plain.size(); ++i) ratios.push_back(plain[i] / variant[i]);
  return median(ratios);
}

}  // namespace comparison
