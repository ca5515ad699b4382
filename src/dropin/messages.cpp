#include "dropin/messages.hpp"

#include <atomic>
#include <cstdio>
#include <random>

#include "api/datatypes.hpp"
#include "api/plain.hpp"
#include "api/ruled.hpp"
#include "core/device_memory.hpp"
#include "dropin/gate.hpp"
#include "dropin/held.hpp"
#include "dropin/imports.hpp"
#include "policy/options.hpp"

namespace taut::dropin {
namespace {

std::atomic<bool> on{false};

void explain(const std::string& unseen) noexcept {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  const std::string why = unseen.empty() ? "ranks differ in TAUT_MESSAGES or in what they call"
                                         : "the program may call " + unseen + ", which is not served";
  std::fprintf(stderr, "taut: messages are plain MPI's: %s\n", why.c_str());
}

// A number that no other job is likely to have.
std::uint64_t common_mark() {
  std::uint64_t mark = 0;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::random_device random;
    mark = std::uint64_t{random()} << 32 | random();
  }
  PMPI_Bcast(&mark, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return mark;
}

// As its sender alone knows it.
const Policy* policy_for(const Rules& held, DType type, std::size_t bytes) {
  return match(held, {.collective = Collective::send, .type = type, .bytes = bytes, .sites = 0});
}

}  // namespace

void begin_messages() noexcept {
  std::string unseen;
  int mine = 0, all = 0;
  try {
    if (options().messages) unseen = unseen_receives();
    mine = options().messages && options().enabled && unseen.empty();
  } catch (...) {  // then not
  }
  PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (all == 0 && options().messages) return explain(unseen);
  if (all == 0) return;
  set_mark(common_mark());
  begin_holding();
  on = true;
}

void end_messages() noexcept {
  if (on.exchange(false)) end_holding();
}

bool messages_may_be_coded() noexcept { return on; }

CodedMessage coded(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm) noexcept {
  constexpr std::size_t shortest = std::size_t{128} << 10;
  constexpr MPI_Count least_count = shortest / 16;  // no value has more than 16 bytes
  if (!on || count < least_count || buf == nullptr || buf == MPI_BOTTOM || dest < 0 || tag < 0 ||
      !serves(comm))
    return {};
  const Inside inside;
  const auto known = api::known_datatype(type);
  if (!known || !known->computes) return {};
  const ConstSlice values{{buf, static_cast<std::size_t>(count), known->type}};
  if (values.bytes() < shortest) return {};
  try {
    const Rules held = api::rules_without_asking(comm);
    const Policy* const policy = policy_for(held, known->type, values.bytes());
    if (policy == nullptr || values.bytes() < policy->min_bytes || on_device(buf)) return {};
    CodedMessage message = encode(*policy, values, tag);
    // A probe receives it as bytes.
    return api::plain::fits(static_cast<MPI_Count>(message.bytes)) ? std::move(message) : CodedMessage{};
  } catch (...) {  // no memory: as it is
    return {};
  }
}

}  // namespace taut::dropin
