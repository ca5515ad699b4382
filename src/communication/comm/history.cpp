#include "communication/comm/history.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "compressor/base/guarded.hpp"
#include "compressor/frame/coding.hpp"

namespace taut {
namespace {

constexpr std::size_t piece_values = 4096;  // values of the piece by which a period is chosen

}  // namespace

// ---- Kept values

const std::byte* KeptValues::find(std::size_t offset, std::size_t bytes) const noexcept {
  const auto extent = std::ranges::lower_bound(kept_, offset + 1, {}, &Extent::end);
  const bool kept = extent != kept_.end() && extent->first <= offset && bytes <= extent->end - offset;
  return kept ? memory_.get() + offset : nullptr;
}

void KeptValues::keep(std::size_t offset, std::size_t bytes) {
  Extent merged{offset, offset + bytes};
  const auto first = std::ranges::lower_bound(kept_, offset, {}, &Extent::end);
  auto last = first;
  for (; last != kept_.end() && last->first <= merged.end; ++last)
    merged = {std::min(merged.first, last->first), std::max(merged.end, last->end)};
  kept_.insert(kept_.erase(first, last), merged);
}

// ---- Series

std::size_t Series::bytes() const noexcept {
  return std::accumulate(states.begin(), states.end(), std::size_t{0},
                         [](std::size_t sum, const CallState& state) { return sum + state.bytes(); });
}

Series* Histories::of(std::uint64_t key, std::size_t bytes, std::size_t limit) {
  if (bytes > limit) return nullptr;
  const auto known = std::ranges::find(series_, key, &Series::key);
  if (known != series_.end()) {
    series_.splice(series_.begin(), series_, known);
  } else {
    series_.push_front({key, {}});
    if (series_.size() > most_series) series_.pop_back();
  }
  std::size_t held = bytes;
  for (const Series& one : series_) held += one.bytes();
  for (auto one = series_.rbegin(); held > limit; ++one)
    for (; !one->states.empty() && held > limit; one->states.pop_back()) held -= one->states.back().bytes();
  return &series_.front();
}

void Series::add(CallState state, std::size_t depth) {
  states.push_front(std::move(state));
  if (states.size() > depth) states.pop_back();
}

// ---- The history of a call

OperandExtent::OperandExtent(const Blocks<ConstSlice>& operand) noexcept
    : first(static_cast<const std::byte*>(operand.data)) {
  if (first == nullptr) return;
  std::size_t end = operand.layout == nullptr ? operand.count : 0;
  if (const BlockLayout* const layout = operand.layout; layout != nullptr)
    for (std::size_t i = 0; i < layout->counts.size(); ++i)
      if (layout->counts[i] > 0 && layout->offsets[i] >= 0)
        end = std::max(end, static_cast<std::size_t>(layout->offsets[i]) + layout->counts[i]);
  bytes = end * size_of(operand.type);
}

std::optional<std::size_t> OperandExtent::offset(ConstSlice slice) const noexcept {
  const auto* const data = static_cast<const std::byte*>(slice.data);
  if (first == nullptr || std::less<>()(data, first)) return {};
  const auto offset = static_cast<std::size_t>(data - first);
  return offset <= bytes && slice.bytes() <= bytes - offset ? std::optional(offset) : std::nullopt;
}

CallHistory::CallHistory(const Series& series, std::size_t depth, const Operands& data) noexcept
    : series_(series),
      depth_(std::min(depth, series.states.size())),
      sent_(data.in),
      received_(Blocks<ConstSlice>(data.out, data.out.layout)) {
  complete_ = guarded([&] {
                state_.sent = KeptValues(sent_.bytes);
                state_.received = KeptValues(received_.bytes);
              }) == Status::ok;
}

ChosenReferences CallHistory::of_sent(ConstSlice values, const Codec& codec) noexcept {
  const std::optional<std::size_t> offset = sent_.offset(values);
  if (!offset || values.count == 0 || depth_ == 0) return {};
  if (period_ == 0) period_ = best_period(*offset, values, codec);
  return at_period(period_, *offset, values);
}

// Returns the references at distances of `period` and twice `period` in the series, as far as they are kept.
ChosenReferences CallHistory::at_period(std::size_t period, std::size_t offset,
                                        ConstSlice values) const noexcept {
  ChosenReferences chosen;
  for (std::size_t k = period; k <= depth_ && chosen.n < max_references; k += period) {
    const CallState& state = series_.states[k - 1];
    const std::byte* const kept = state.sent.find(offset, values.bytes());
    if (kept == nullptr) break;
    chosen.of[chosen.n++] = {state.number, {{kept, values.count, values.type}}};
  }
  return chosen;
}

// Returns the distance in the series at which a piece of the values has the shortest frame: a program may
// send several fields in turn by calls of one kind. Returns 1 if memory for the frame is short.
std::size_t CallHistory::best_period(std::size_t offset, ConstSlice values,
                                     const Codec& codec) const noexcept {
  if (depth_ == 1) return 1;
  const std::size_t n = std::min(values.count, piece_values), first = (values.count - n) / 2;
  const ConstSlice piece{values.part(first, n)};
  std::size_t best = 1, least = ~std::size_t{0};
  guarded([&] {
    std::vector<std::byte> room(codec.max_bytes(piece.type, n));
    for (std::size_t period = 1; period <= depth_; ++period) {
      const ChosenReferences chosen = at_period(period, offset + first * size_of(piece.type), piece);
      if (chosen.n == 0) continue;
      const Sized frame = codec.encode(piece, chosen.span(), room);
      if (frame.status != Status::ok || frame.bytes >= least) continue;
      best = period;
      least = frame.bytes;
    }
  });
  return best;
}

std::optional<ChosenReferences> CallHistory::of_received(ConstBytes frame, ConstSlice values) const noexcept {
  FrameHeader header;
  if (read_header(frame, header) != Status::ok) return {};
  const States states = states_in(header, frame);
  const std::optional<std::size_t> offset = received_.offset(values);
  ChosenReferences chosen;
  for (; chosen.n < states.n; ++chosen.n) {
    const std::uint64_t number = states.of[chosen.n];
    const auto state = std::ranges::find(series_.states, number, &CallState::number);
    if (!offset || state == series_.states.end()) return {};
    const std::byte* const kept = state->received.find(*offset, values.bytes());
    if (kept == nullptr) return {};
    chosen.of[chosen.n] = {number, {{kept, values.count, values.type}}};
  }
  return chosen;
}

void CallHistory::keep_sent(ConstSlice values, ConstBytes frame, References references,
                            const Codec& codec) noexcept {
  const std::optional<std::size_t> offset = sent_.offset(values);
  if (!offset || !complete_) return;
  const Slice kept{{state_.sent.at(*offset), values.count, values.type}};
  complete_ = codec.decode(frame, references, kept) == Status::ok;
  keep(state_.sent, *offset, values.bytes());
}

void CallHistory::keep_received(ConstSlice values) noexcept {
  const std::optional<std::size_t> offset = received_.offset(values);
  if (!offset || !complete_ || values.count == 0) return;
  std::memcpy(state_.received.at(*offset), values.data, values.bytes());
  keep(state_.received, *offset, values.bytes());
}

void CallHistory::keep(KeptValues& side, std::size_t offset, std::size_t bytes) noexcept {
  if (bytes > 0 && guarded([&] { side.keep(offset, bytes); }) != Status::ok) complete_ = false;
}

std::optional<CallState> CallHistory::state(std::uint64_t number) noexcept {
  if (!complete_) return {};
  state_.number = number;
  return std::move(state_);
}

// ---- The codec of a call

Sized HistoryCodec::encode(ConstSlice values, Bytes out) const noexcept {
  const ChosenReferences references = history_.of_sent(values, with_references_);
  const Codec& codec = references.n > 0 ? with_references_ : without_references_;
  const Sized frame = codec.encode(values, references.span(), out);
  if (frame.status == Status::ok)
    history_.keep_sent(values, out.first(frame.bytes), references.span(), codec);
  return frame;
}

Status HistoryCodec::decode(ConstBytes in, Slice values) const noexcept {
  const std::optional<ChosenReferences> references = history_.of_received(in, values);
  if (!references) return Status::corrupt_frame;
  const Status status = without_references_.decode(in, references->span(), values);
  if (status == Status::ok) history_.keep_received(values);
  return status;
}

}  // namespace taut
