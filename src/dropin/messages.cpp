#include "dropin/messages.hpp"

#include <atomic>
#include <cstdio>
#include <random>

#include "api/datatypes.hpp"
#include "api/ruled.hpp"
#include "core/device_memory.hpp"
#include "dropin/gate.hpp"
#include "dropin/held.hpp"
#include "dropin/imports.hpp"
#include "dropin/message_counts.hpp"
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

// Of a message that may_code().
ConstSlice values_of(const Outgoing& message) noexcept {
  return {{message.buf, static_cast<std::size_t>(message.count), api::known_datatype(message.type)->type}};
}

// As its sender alone knows it.
const Policy* policy_for(const Rules& held, ConstSlice values) {
  return match(held,
               {.collective = Collective::send, .type = values.type, .bytes = values.bytes(), .sites = 0});
}

// None where it travels as it is; then made.plain says why.
CodedMessage frames_of(const Outgoing& message, EncodedMessage& made) noexcept {
  const ConstSlice values = values_of(message);
  try {
    const Rules held = api::rules_without_asking(message.comm);
    const Policy* const policy = policy_for(held, values);
    made.plain = policy == nullptr                    ? Plain::off
                 : values.bytes() < policy->min_bytes ? Plain::small
                 : on_device(message.buf)             ? Plain::device
                                                      : Plain::no;
    if (made.plain != Plain::no) return {};
    CodedMessage frames = encode(*policy, values, message.tag, made);
    if (api::plain::fits(static_cast<MPI_Count>(frames.bytes))) return frames;
    made.plain = Plain::unsupported;  // a probe receives it as bytes
  } catch (...) {
    made.plain = Plain::memory;
  }
  return {};
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
  begin_counting();
  on = true;
}

void end_messages() noexcept {
  if (on.exchange(false)) end_holding();
}

bool messages_may_be_coded() noexcept { return on; }

bool may_code(const Outgoing& message) noexcept {
  constexpr MPI_Count least_count = least_value_bytes / 16;  // no value has more than 16 bytes
  const auto& [buf, count, type, dest, tag, comm] = message;
  if (!on || count < least_count || buf == nullptr || buf == MPI_BOTTOM || dest < 0 || tag < 0 ||
      !serves(comm))
    return false;
  const Inside inside;
  const auto known = api::known_datatype(type);
  return known && known->computes &&
         static_cast<std::size_t>(count) * size_of(known->type) >= least_value_bytes;
}

CodedMessage coded(const Outgoing& message) noexcept {
  if (!may_code(message)) return {};
  const Inside inside;
  EncodedMessage made;
  CodedMessage frames = frames_of(message, made);
  count_sent(values_of(message), made, frames.bytes);
  return frames;
}

api::plain::Count units(const CodedMessage& frames, MPI_Datatype type) noexcept {
  int size = 1;
  PMPI_Type_size(type, &size);
  return static_cast<api::plain::Count>(frames.bytes / static_cast<std::size_t>(size));
}

}  // namespace taut::dropin
