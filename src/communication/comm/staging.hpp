// Staging of values that are not contiguous in the user's memory.
#pragma once

#include <array>

#include "communication/team/algorithm.hpp"
#include "communication/team/place.hpp"

namespace taut {

// Packs such values into contiguous memory for a call, and unpacks the results. Operands that are still to be
// gathered have their counts, types and layouts, and no data.
class Staging {
 public:
  virtual ~Staging() = default;

  // Returns true if the user's memory is on a GPU.
  virtual bool on_device() const noexcept { return false; }

  // Allocates memory, packs the values that this rank's call reads into it, and sets `data` to that memory.
  // Throws Error and then leaves `data` unchanged.
  virtual std::array<Buffer, 2> gather(Place& place, Operands& data) const = 0;

  // Unpacks the results in `data` to the user's memory, and leaves the gaps there unchanged. Throws Error.
  virtual void spread(const Operands& data) const = 0;
};

}  // namespace taut
