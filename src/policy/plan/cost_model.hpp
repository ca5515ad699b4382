// How long a call would take with and without compression, from what was measured or is known of the link:
// for advice before a run. Calls in a run go by their own times (autotuner.hpp).
#pragma once

#include "core/algorithm.hpp"

namespace taut {

// A kind of call, as forecasts see it; messages under the drop-in (docs/adr/0014) too.
struct CallEstimate {
  Collective collective = Collective::allreduce;
  int ranks = 2;
  double bytes = 0;           // of the whole message
  double ratio = 1;           // of values to frames
  double seconds_a_byte = 0;  // of values, to encode them; decoding and combining are taken to cost the same
};

// Bytes that pass the busiest rank's link in one direction, for each byte of the message, by the algorithms
// that MPIs take for large ones: 2(P-1)/P of allreduce, bcast and reduce, (P-1)/P of the others. Thakur,
// Rabenseifner and Gropp, IJHPCA 19 (2005). All of a message, if its receiver is on another node.
double carried(Collective collective, int ranks) noexcept;

// Seconds on a link of so many bytes a second. Segments let coding and transfer overlap; that is left out, so
// that gains come out rather too low.
double plain_seconds(const CallEstimate& call, double link) noexcept;
double coded_seconds(const CallEstimate& call, double link) noexcept;

// The link that a plain call of so many seconds had.
double link_of(const CallEstimate& call, double seconds) noexcept;

// Between ratios that were measured under bounds, for the bound that sums leave to each rank: ratios on the
// logarithm of the bound. 0: beyond what was measured. `bounds` falls.
double ratio_between(std::span<const double> bounds, std::span<const double> ratios, double bound) noexcept;

}  // namespace taut
