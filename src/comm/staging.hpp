// Values that do not lie together in the user's memory.
#pragma once

#include <array>

#include "core/algorithm.hpp"
#include "core/place.hpp"

namespace taut {

// Gathers such values into memory that lies together for a call, and spreads what it received. Operands that
// are still to be gathered have their counts, types and layouts, and no data.
class Staging {
 public:
  virtual ~Staging() = default;

  // Whether the user's memory is a GPU's.
  virtual bool on_device() const noexcept { return false; }

  // Takes memory, puts there what this rank's call reads, and gives `data` to it. Throws Error; then `data`
  // is as it was.
  virtual std::array<Buffer, 2> gather(Place& place, Operands& data) const = 0;

  // To the user's memory: what the call has left in `data`, and nothing between it. Throws Error.
  virtual void spread(const Operands& data) const = 0;
};

}  // namespace taut
