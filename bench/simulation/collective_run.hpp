// One collective call of a simulation, as a rank runs it: the agreement of the ranks, then the algorithm that
// the engine plans for a policy, with modelled codec and memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "by_leaders.hpp"
#include "communication/policy/plan/plan.hpp"
#include "modelled_codec.hpp"
#include "virtual_network.hpp"

namespace simulation {

// How an algorithm uses the ranks: all of them as equals; one rank of each host, for each part of the message
// (communication/team/hierarchical.hpp); or the leaders of the hosts (by_leaders.hpp).
enum class Levels : std::uint8_t { flat, by_nodes, by_leaders };

constexpr const char* name_of(Levels levels) noexcept {
  constexpr const char* names[] = {"flat", "by_nodes", "by_leaders"};
  return names[static_cast<std::size_t>(levels)];
}

struct CollectiveCall {
  taut::Collective collective = taut::Collective::allreduce;
  int ranks = 2;
  std::size_t bytes = 0;                     // of the whole message, float
  std::string policy = "abs:1,when=always";  // empty: uncompressed, by `algorithm` in `segments`
  std::string algorithm = "";
  int segments = 1;
  Levels levels = Levels::flat;
  CodecCosts costs = {};
  double plain_sum = no_time;           // bytes of values a second that the uncompressed call adds
  bool plain_whole = false;             // the uncompressed call moves whole messages, not segments
  bool packets = true;                  // the engine may forward frames in packets
  std::optional<CodecCosts> fast = {};  // costs of taut::fast_codec, the engine's alternative to `costs`
};

// Plan of a call. plans() returns the engine's plan, once it has measured codecs and link, and the other
// routes that it would try because they give the same bits. It throws taut::Error if it would leave the call
// to plain MPI.
struct PlannedCall {
  const taut::AlgorithmInfo* algorithm = nullptr;
  taut::Arithmetic how = taut::Arithmetic::values;
  int segments = 1;
  bool agrees = false;  // the ranks agree on the call first
  bool fast = false;    // coded by the fast codec
  Levels levels = Levels::flat;
  bool frames_on_node = false;  // as in Operands
};
std::vector<PlannedCall> plans(const CollectiveCall& call, const Link& link);

// Returns the call as the engine sees it.
taut::Call described(const CollectiveCall& call, const Hosts& hosts);

// Returns the speeds of the codecs, as the engine measures them.
std::array<taut::CodingSpeeds, taut::MeasuredChoice::codecs> speeds_of(const CollectiveCall& call);

// Returns the coding that the engine chooses by the speeds of the codecs.
taut::MeasuredChoice fastest_coding(const CollectiveCall& call, const taut::CodingWork& work);

PlannedCall planned(const taut::Plan& plan);

inline constexpr double seconds_of_samples = 20e-6;  // before the agreement

// Processor of one rank: `compute` lets time pass, `wait` is called between two polls without progress.
struct Processor {
  Compute compute;
  std::function<void()> wait;
  CoreCache& cache;
};

// Runs the call on one rank of these hosts. Every rank must run it. Throws taut::Error if the call fails.
Spent run_on_rank(const CollectiveCall& call, const PlannedCall& planned, const Hosts& hosts,
                  taut::Transport& transport, const Processor& processor);

}  // namespace simulation
