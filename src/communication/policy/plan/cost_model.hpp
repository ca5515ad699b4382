// Cost model: forecast of the time of a call with and without compression, from measured or known properties
// of the link. Used for advice before a run; calls in a run are decided by their own times (autotuner.hpp).
// Both use coding_seconds() for the time of coding and transfer.
#pragma once

#include <cstddef>
#include <string_view>

#include "communication/policy/plan/measured_choice.hpp"
#include "communication/team/algorithm.hpp"
#include "communication/team/call.hpp"

namespace taut {

// A kind of call, as forecasts see it; also a message under the drop-in (docs/adr/0014).
struct CallEstimate {
  Collective collective = Collective::allreduce;
  int ranks = 2;
  double bytes = 0;           // bytes of the whole message
  double ratio = 1;           // ratio of values to frames
  double seconds_a_byte = 0;  // to encode values; decoding and combining are assumed to cost the same
  int nodes = 0;              // as in Call: several nodes with as many ranks each; 0: a node a rank
};

// Speeds of the memory of a node, in bytes a second, as the simulations have them.
struct NodeMemory {
  double traffic = 300e9;  // that pass the memory, for all ranks of the node
  double copy = 7.5e9;     // that one rank receives from others of its node
  double add = 10e9;       // values that one rank adds
};

// Returns the bytes that pass the busiest rank's link in one direction, for each byte of the message, with
// the algorithms that MPIs use for large messages: 2(P-1)/P for allreduce, bcast and reduce, ceil(log2 P) for
// scans, (P-1)/P for the others. Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005). For a point-to-point
// message to another node, the result is 1.
double carried(Collective collective, int ranks) noexcept;

// Returns the bytes that pass the busiest node's link in one direction for each byte of the message of a
// call. Where ranks share nodes, MPIs keep a call's messages on the node where they can: a node moves what
// one rank moves, except that every rank has values of its own in an alltoall, for its neighbours and in
// messages.
double carried(const Call& call) noexcept;

// Returns the seconds that plain MPI would have taken for a compressed call in which a rank waited for so
// long on the link, and sent so many bytes: plain MPI would have sent what carried() says, whatever the
// algorithm of the compressed call.
double predicted_plain_seconds(const Call& call, double wait, double sent_bytes) noexcept;

// Returns the share of the link that large messages reach each way where all ranks exchange them. Two ranks
// do so over one connection. Over TCP an MPI then sends one direction after the other (Open MPI), or both at
// once: for two ranks the result is that of the mean of both times. Frames of collective calls are short, or
// several at once, and reach the whole link.
double exchange_share(int ranks) noexcept;

// Return the seconds of a call, where the links of each node carry `link` bytes per second together. Segments
// let coding and transfer overlap; the model ignores that, so it tends to underestimate the gain. Where ranks
// share nodes, copies on a node take time in either call, coding takes no less than its traffic of memory,
// and the compressed call goes by nodes where it can; an alltoall does not, as its blocks are large.
double plain_seconds(const CallEstimate& call, double link, const NodeMemory& memory = {}) noexcept;
double coded_seconds(const CallEstimate& call, double link, const NodeMemory& memory = {}) noexcept;

// Forecast of a call whose codings have known speeds. The choice is the one that the tuner makes at these
// speeds.
struct Forecast {
  MeasuredChoice choice;
  double plain_seconds = 0, coded_seconds = 0;
  double gain() const noexcept { return plain_seconds / coded_seconds; }
};

// A call, its coding work except for the link, the speeds of its codings by MeasuredChoice::Codec, and how it
// runs on nodes with several ranks.
struct MeasuredCall {
  Call call;
  CodingWork work;
  std::array<CodingSpeeds, MeasuredChoice::codecs> speeds;
  bool by_nodes = false;
  NodeMemory memory = {};
};

Forecast forecast(const MeasuredCall& measured, double link) noexcept;

// Return the break-even of a call. fastest_link: the rate in bytes a second up to which compression gains.
// least_ratio: the ratio of the best candidate from which on it gains on a link, at these speeds. Infinity:
// compression gains at any rate; no ratio is large enough.
double fastest_link(const MeasuredCall& measured) noexcept;
double least_ratio(const MeasuredCall& measured, double link) noexcept;

// Returns the bytes per second of the link on which a plain call took `seconds`.
double link_of(const CallEstimate& call, double seconds) noexcept;

// Returns the ratio under `bound`, interpolated between ratios measured under `bounds`, linearly in the
// logarithm of the bound. Needed for the bound that a sum leaves to each rank. Returns 0 if `bound` is below
// the measured bounds. `bounds` is descending.
double ratio_between(std::span<const double> bounds, std::span<const double> ratios, double bound) noexcept;

// Returns the bound as a share of the range of the values, whose least and greatest are known; 0: the bound
// has none.
double share_of_range(Bound bound, double least, double greatest) noexcept;

// Bytes of values whose frames pass a link in the time that a message costs besides its bytes. A guess
// between 60 KB (TCP at 1 Gbit/s) and 400 KB (100 Gbit/s), at a ratio of 8. Messages in a pipeline overlap
// their latencies: each costs a quarter of that.
inline constexpr double message_cost = 96 << 10, message_cost_in_pipeline = message_cost / 4;
inline constexpr double ratio_of_message_cost = 8;

// Returns the number of pieces in which a message of so many bytes of values best passes along a chain of
// ranks: (P-2) pieces are under way before the last rank gets the first one, and each costs a message.
double chain_pieces(double bytes, int ranks, double ratio = ratio_of_message_cost) noexcept;

// Frames of a call, as the ranks' samples promise them.
struct FrameEstimate {
  double least = 0, most = 0;  // bytes of the ranks' frames, all segments together; 0: unknown
  double ratio = 0;            // the lowest of any rank; 0: unknown
};

// Returns the bytes of a packet of frames that are forwarded (communication/team/relay.hpp); 0: frames travel
// whole. Packets serve a chain with more pieces than segments, and a ring whose frames are unequal. Equal
// frames keep all links of a ring busy without. `call`: that of the algorithm.
std::size_t packet_bytes(const AlgorithmInfo& algorithm, const Call& call, int segments,
                         const FrameEstimate& frames) noexcept;

// Bytes of values that a GPU codes in one round: half of the values that 132 multiprocessors hold with 4
// thread blocks each, 16 KiB for a thread block. Smaller operations leave multiprocessors idle. No segment of
// a call on GPUs is smaller.
inline constexpr std::size_t device_round_bytes = std::size_t{4} << 20;

// Bytes a second of a GPU to the others of its node, where they stand on NVLink, and on PCIe 4.0.
inline constexpr double nvlink_bus = 380e9, pcie_bus = 20e9;

// Allreduce of values on GPUs. Unless they are known, a node's links are one of 100 Gbit/s, and the ratio
// is 4.
struct DeviceCall {
  std::size_t bytes = 0, ranks = 1;
  std::size_t nodes = 0;       // nodes with as many ranks each; 0: a node a rank
  std::string_view card = {};  // name of the GPU, as in kernel_times()
  double ratio = 4;
  // Bytes a second of the call's share of a node's links, and of a rank within its node.
  double link = 12.5e9, bus = nvlink_bus;
};

// Returns the call as the model sees it: over NCCL, the name of the card tells if the node has NVLink.
DeviceCall device_call(const Call& call) noexcept;

// Returns the name of the allreduce algorithm that is fastest by measured times of kernels
// (kernel_times.hpp): recursive doubling has the fewest steps, ring codes the fewest bytes, two-shot codes up
// to 8 blocks in one operation, and halving and doubling keeps the most bytes on a node.
const char* device_allreduce(const DeviceCall& call) noexcept;

// An allreduce with exact sizes over NCCL, flat or by nodes as is faster, and that of NCCL alone: the fastest
// of its ring, its tree and rails. The rates of NCCL, and the times of a wait of the host, are assumptions.
struct NcclForecast {
  bool by_nodes = false;
  double seconds = 0, nccl_seconds = 0;
  double gain() const noexcept { return nccl_seconds / seconds; }
};
NcclForecast forecast_over_nccl(const DeviceCall& call) noexcept;

// Returns the least ratio up to 32, which few values exceed, at which such a call gains; infinity if none is.
double least_ratio_over_nccl(DeviceCall call) noexcept;

// Returns the least size, a power of two from 64 KiB to 1 GiB, from which such a call gains at a ratio of 32.
// `call`: without a size.
std::size_t least_bytes_over_nccl(DeviceCall call) noexcept;

}  // namespace taut
