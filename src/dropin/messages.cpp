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

std::atomic<bool> on{false};     // frames may travel
std::atomic<bool> looks{false};  // at what is sent: to code it, or to count it alone

std::string why_plain(const std::string& unseen) {
  if (!options().messages) return "a rule for Send needs TAUT_MESSAGES=1, on all ranks";
  if (!unseen.empty()) return "the program may call " + unseen + ", which is not served";
  return "ranks differ in TAUT_MESSAGES or in what they call";
}

// To those who asked for frames.
void explain(const std::string& unseen) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || (!options().messages && !api::rules_name_messages())) return;
  std::fprintf(stderr, "taut: messages are plain MPI's: %s\n", why_plain(unseen).c_str());
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

void begin_coding() {
  set_mark(common_mark());
  begin_holding();
  on = true;
}

// Of a message that is_looked_at().
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
  all != 0 ? begin_coding() : explain(unseen);
  looks = begin_counting() || on;
}

void end_messages() noexcept {
  looks = false;
  if (on.exchange(false)) end_holding();
}

bool messages_may_be_coded() noexcept { return on; }

bool is_looked_at(const Outgoing& message) noexcept {
  constexpr MPI_Count least_count = least_value_bytes / 16;  // no value has more than 16 bytes
  const auto& [buf, count, type, dest, tag, comm] = message;
  if (!looks || count < least_count || buf == nullptr || buf == MPI_BOTTOM || dest < 0 || tag < 0 ||
      !serves(comm))
    return false;
  const Inside inside;
  const auto known = api::known_datatype(type);
  return known && known->computes &&
         static_cast<std::size_t>(count) * size_of(known->type) >= least_value_bytes;
}

CodedMessage coded(const Outgoing& message) noexcept {
  if (!is_looked_at(message)) return {};
  const Inside inside;
  EncodedMessage made;
  made.plain = Plain::off;
  CodedMessage frames = on ? frames_of(message, made) : CodedMessage();
  count_sent(values_of(message), made, frames.bytes);
  return frames;
}

api::plain::Count units(const CodedMessage& frames, MPI_Datatype type) noexcept {
  int size = 1;
  PMPI_Type_size(type, &size);
  return static_cast<api::plain::Count>(frames.bytes / static_cast<std::size_t>(size));
}

}  // namespace taut::dropin
