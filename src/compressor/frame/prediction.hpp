// Prediction of the values of a frame from earlier values, as the header of the frame numbers it.
#pragma once

#include "compressor/frame/lags.hpp"

namespace taut {

// Prediction by a codec whose predictors have the type Inner. The usual predictor has the number 1.
template <class Inner>
struct Prediction {
  Inner inner = static_cast<Inner>(1);  // predictor inside a chunk, applied after lags or references
  Lags lags = {};                       // across chunks
  unsigned references = 0;              // number of references, which take the place of lags
  bool by_addend = false;               // each addend of a sum has a reference of its own

  // Returns the prediction with lags in components, of which a value has `parts`: a complex value has two,
  // which are coded separately.
  constexpr Prediction in_components(std::size_t parts) const noexcept {
    Prediction scaled = *this;
    for (std::uint32_t& lag : scaled.lags.of) lag *= static_cast<std::uint32_t>(parts);
    return scaled;
  }

  // Returns the prediction with this number of references, unless it has lags.
  constexpr Prediction with_references(std::size_t n) const noexcept {
    Prediction some = *this;
    if (!lags.any()) some.references = static_cast<unsigned>(n);
    return some;
  }

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

}  // namespace taut
