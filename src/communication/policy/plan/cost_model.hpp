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

struct Policy;

// A kind of call, as forecasts see it; also a message under the drop-in (docs/adr/0014).
struct CallEstimate {
  Collective collective = Collective::allreduce;
  int ranks = 2;
  double bytes = 0;  // bytes of the whole message
  double ratio = 1;  // bytes of values over bytes of frames
  double coding_seconds_per_byte =
      0;          // to encode values; decoding and combining are assumed to cost the same
  int nodes = 0;  // as in Call: several nodes with as many ranks each; 0: each rank has a node
};

// Speeds of the memory of a node, in bytes a second, as the simulations have them.
struct NodeMemory {
  double bandwidth = 300e9;   // for all ranks of the node together
  double copy_speed = 7.5e9;  // from other ranks of the node to one rank
  double add_speed = 10e9;    // of the sums of one rank
};

// Returns the bytes that pass the busiest rank's link in one direction for each byte of the message, with
// the algorithms that MPIs use for large messages: 2(P-1)/P for allreduce, bcast and reduce, ceil(log2 P) for
// scans, (P-1)/P for the others. Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005). For a point-to-point
// message to another node, the result is 1.
double link_traffic(Collective collective, int ranks) noexcept;

// Returns the bytes that pass the busiest node's link in one direction for each byte of the message of a
// call. Where ranks share nodes, MPIs keep a call's messages on the node where they can: a node moves what
// one rank moves, except that every rank has values of its own in an alltoall, for its neighbours and in
// messages.
double link_traffic(const Call& call) noexcept;

// Returns the seconds that plain MPI would have taken for a compressed call in which a rank waited on the
// link for `wait` seconds and sent `sent_bytes`. Plain MPI would have sent what link_traffic() says, whatever
// the algorithm of the compressed call.
double predicted_plain_seconds(const Call& call, double wait, double sent_bytes) noexcept;

// Returns the share of a link's speed that large messages reach in each direction, where all ranks exchange
// them. Two ranks do so over one connection. Over TCP an MPI then sends one direction after the other (Open
// MPI), or both at once: for two ranks the result is that of the mean of both times. Frames of collective
// calls are short, or several at once, and reach the whole link.
double duplex_link_share(int ranks) noexcept;

// Return the seconds of a call. `link`: bytes per second of all links of a node together. Segments let coding
// and transfer overlap; the model ignores that, so it tends to underestimate the gain. Where ranks share
// nodes, copies on a node take time in either call, coding takes no less than its accesses to memory, and the
// compressed call goes by nodes where it can; an alltoall does not, as its blocks are large.
double plain_seconds(const CallEstimate& call, double link, const NodeMemory& memory = {}) noexcept;
double coded_seconds(const CallEstimate& call, double link, const NodeMemory& memory = {}) noexcept;

// Forecast of a call whose codings have known speeds. `choice`: what the tuner chooses at these speeds.
struct Forecast {
  MeasuredChoice choice;
  double plain_seconds = 0, coded_seconds = 0;
  double gain() const noexcept { return plain_seconds / coded_seconds; }
};

// A call with the measured speeds of its codings.
struct MeasuredCall {
  Call call;
  CodingWork work;  // without the time of plain MPI, which depends on the link
  std::array<CodingSpeeds, MeasuredChoice::codecs> speeds;  // by MeasuredChoice::Codec
  bool by_nodes = false;                                    // the compressed call goes by nodes
  NodeMemory memory = {};
};

Forecast forecast(const MeasuredCall& measured, double link) noexcept;

// Returns the speed of the link, in bytes per second, up to which compression gains; infinity: at any speed.
double break_even_link(const MeasuredCall& measured) noexcept;
// Returns the ratio of the best candidate from which on compression gains on a link; infinity: at no ratio.
double break_even_ratio(const MeasuredCall& measured, double link) noexcept;

// Returns the bytes per second of the link on which a plain call took `seconds`.
double link_speed_of(const CallEstimate& call, double seconds) noexcept;

// Returns the ratio under `bound`, interpolated between ratios measured under `bounds`, linearly in the
// logarithm of the bound. Needed for the bound that a sum leaves to each rank. Returns 0 if `bound` is below
// the measured bounds. `bounds` is descending.
double interpolated_ratio(std::span<const double> bounds, std::span<const double> ratios,
                          double bound) noexcept;

// Returns the bound as a share of the range of values from `min` to `max`; 0: it has no such share.
double share_of_range(Bound bound, double min, double max) noexcept;

// Latency of a message, as the bytes of values whose frames pass a link in that time. A guess between 60 KB
// (TCP at 1 Gbit/s) and 400 KB (100 Gbit/s), at the assumed ratio. Messages in a pipeline overlap their
// latencies: each costs a quarter of that.
inline constexpr double latency_bytes = 96 << 10, pipelined_latency_bytes = latency_bytes / 4;
inline constexpr double assumed_ratio = 8;

// Returns the best number of pieces in which `bytes` of values pass along a chain of P ranks: P-2 pieces are
// under way before the last rank gets the first one, and each costs the latency of a message.
double chain_pieces(double bytes, int ranks, double ratio = assumed_ratio) noexcept;

// Frames of a call, as the ranks' samples promise them.
struct FrameEstimate {
  double min_bytes = 0, max_bytes = 0;  // of the ranks' frames, all segments together; 0: unknown
  double min_ratio = 0;                 // of any rank; 0: unknown
};

// Returns the bytes of a packet, the part of a frame that a rank forwards by itself
// (communication/team/relay.hpp); 0: frames travel whole. Packets serve a chain with more pieces than
// segments, and a ring whose frames are unequal: equal ones keep all links busy anyway. `call`: that of the
// algorithm.
std::size_t packet_bytes(const AlgorithmInfo& algorithm, const Call& call, int segments,
                         const FrameEstimate& frames) noexcept;

// Bytes of values from which on a GPU is busy: half of what 132 multiprocessors (H100) code in one wave of 4
// thread blocks each, of 16 KiB a block. No segment of a call on GPUs is smaller.
inline constexpr std::size_t device_wave_bytes = std::size_t{4} << 20;

// Bytes per second of a GPU to the others of its node, over NVLink and over PCIe 4.0.
inline constexpr double nvlink_speed = 380e9, pcie_speed = 20e9;

// Allreduce of values on GPUs. By default a node has one link of 100 Gbit/s, and the ratio is 4.
struct DeviceCall {
  std::size_t bytes = 0, ranks = 1;
  std::size_t nodes = 0;       // nodes with as many ranks each; 0: each rank has a node
  std::string_view card = {};  // name of the GPU, as in kernel_times()
  double ratio = 4;
  double link = 12.5e9;       // bytes per second of the call's share of a node's links
  double bus = nvlink_speed;  // bytes per second of a rank to the others of its node
};

// Returns the call as the model of GPUs sees it. Over NCCL, the name of the card tells if the node has
// NVLink.
DeviceCall device_call(const Call& call) noexcept;

// Returns the name of the allreduce algorithm that is fastest by measured times of kernels
// (kernel_times.hpp): recursive doubling has the fewest steps, ring codes the fewest bytes, two-shot codes up
// to 8 blocks in one operation, and halving and doubling keeps the most bytes on a node.
const char* device_allreduce(const DeviceCall& call) noexcept;

// Forecast of an allreduce over NCCL: compressed with exact sizes, by nodes or not as is faster, and by NCCL
// alone, by the fastest of its ring, its tree and rails. NCCL's speeds and the host's waits are assumptions.
struct NcclForecast {
  bool by_nodes = false;
  double seconds = 0, nccl_seconds = 0;
  double gain() const noexcept { return nccl_seconds / seconds; }
};
NcclForecast forecast_over_nccl(const DeviceCall& call) noexcept;

// Returns true if in an allreduce by nodes each rank sends its final frames to the others of its node, which
// decode them, and not decoded values: over NCCL where that takes less time, and where a policy asks for it.
// There are no histories then: their places would be those of other ranks.
bool shares_frames(const Policy& policy, const Call& call, const AlgorithmInfo& algorithm,
                   int segments) noexcept;

// Returns the least ratio up to 32, which few values exceed, at which such a call gains; infinity: none.
double min_ratio_over_nccl(DeviceCall call) noexcept;

// Returns the least size, a power of two from 64 KiB to 1 GiB, from which such a call gains at a ratio of 32.
// `call`: without a size.
std::size_t min_bytes_over_nccl(DeviceCall call) noexcept;

}  // namespace taut
