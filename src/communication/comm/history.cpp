#include "communication/comm/history.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "communication/comm/agree.hpp"
#include "communication/gpu/device_values.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/frame/coding.hpp"

namespace taut {
namespace {

// Number of looks without gain, beyond one for each earlier piece, after which looking pauses.
constexpr std::size_t useless_looks = 8;
// Number of looks at the last distance alone, after which all distances are searched.
constexpr std::size_t looks_between_searches = 16;
constexpr std::size_t first_rest = 64, longest_rest = 1024;  // calls
// A piece that shrinks this much without references, as zeros do, gains nothing by them.
constexpr std::size_t ratio_of_zeros = 100;

// Returns the references at distances of the forecast's period and twice the period in a series, as far as
// they are kept.
ChosenReferences at_period(const HeldStates& states, const HistoryForecast& forecast, std::size_t offset,
                           ConstSlice values) noexcept {
  ChosenReferences chosen;
  for (std::size_t k = forecast.period; k <= states.size() && chosen.n < forecast.references;
       k += forecast.period) {
    const CallState& state = *states[k - 1];
    const std::byte* const kept = state.sent.find(offset, values.bytes());
    if (kept == nullptr) break;
    chosen.reference[chosen.n++] = {state.number, {{kept, values.count, values.type}}};
  }
  return chosen;
}

template <class S>
void mix_operand(std::uint64_t& key, const Blocks<S>& operand) noexcept {
  mix(key, operand.data != nullptr);
  mix(key, operand.count);
  if (operand.layout == nullptr) return;
  key = hash(std::as_bytes(std::span(operand.layout->counts)), key);
  key = hash(std::as_bytes(std::span(operand.layout->offsets)), key);
}

}  // namespace

void mix_places(std::uint64_t& key, const Operands& data, bool in_flight) noexcept {
  mix_operand(key, data.in);
  mix_operand(key, data.out);
  mix(key, data.own.has_value());
  if (!in_flight) return;
  mix(key, data.in.data);
  mix(key, data.out.data);
}

// ---- Kept values

KeptValues::KeptValues(std::size_t bytes, const gpu::Device* device) : bytes_(bytes) {
  if (device == nullptr)
    memory_ = std::make_shared_for_overwrite<std::byte[]>(bytes);
  else if (bytes > 0)
    memory_ = gpu::lasting_memory(*device, bytes);
}

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
  return std::accumulate(states_.begin(), states_.end(), reserved_ + spare_.bytes(),
                         [](std::size_t sum, const auto& state) { return sum + state->bytes(); });
}

std::vector<Range> EarlierPieces::parts_of(ConstSlice values) {
  constexpr std::size_t parts = 16;
  if (values.bytes() <= piece_bytes) return {{0, values.count}};
  const std::size_t n = piece_bytes / parts / size_of(values.type);
  std::vector<Range> all;
  all.reserve(parts);
  for (std::size_t i = 0; i < parts; ++i)
    all.push_back({(values.count - n) / parts * i + (values.count - n) / (2 * parts), n});
  return all;
}

EarlierPieces::Piece EarlierPieces::piece_of(ConstSlice values) {
  Piece piece;
  piece.reserve(std::min(values.bytes(), piece_bytes));
  for (const Range& range : parts_of(values)) {
    const ConstSlice part{values.part(range.first, range.count)};
    piece.insert(piece.end(), part.as_bytes().begin(), part.as_bytes().end());
  }
  return piece;
}

HistoryForecast EarlierPieces::forecast(ConstSlice values, bool addends, const Codec& codec,
                                        std::size_t depth, const Codec* referring, double min_saving) {
  Piece piece = piece_of(values);
  const std::size_t count = piece.size() / size_of(values.type);
  const HistoryForecast found =
      compare({piece.data(), count, values.type}, addends, codec, referring, min_saving);
  useless_ = found.period > 0 ? 0 : useless_ + may_gain_;
  if (found.period > 0) rested_ = 0;
  if (useless_ > useless_looks + depth) {
    useless_ -= depth + 1;
    rest_ = rested_ = std::clamp(2 * rested_, first_rest, longest_rest);
    pieces_.clear();
    return found;
  }
  note(std::move(piece), depth);
  return found;
}

bool EarlierPieces::rests() noexcept {
  if (rest_ == 0) return false;
  --rest_;
  return true;
}

void EarlierPieces::note(Piece piece, std::size_t depth) {
  pieces_.push_front(std::move(piece));
  if (pieces_.size() > depth) pieces_.pop_back();
}

ChosenReferences EarlierPieces::at_period(std::size_t period, ConstSlice piece, bool addends) const noexcept {
  ChosenReferences chosen;
  const std::size_t most = addends ? 1 : max_references;
  for (std::size_t k = period; k > 0 && k <= pieces_.size() && chosen.n < most; k += period) {
    if (pieces_[k - 1].size() != piece.bytes()) break;
    chosen.reference[chosen.n++] = {k, {{pieces_[k - 1].data(), piece.count, piece.type}}, addends};
  }
  return chosen;
}

// Returns the distance at which the piece has the shortest frame: a program may send several fields in turn
// by calls of one kind. While the last distance gains, most looks compare with that piece alone.
// For a codec that does not choose, also the number of references is found.
HistoryForecast EarlierPieces::compare(ConstSlice piece, bool addends, const Codec& codec,
                                       const Codec* referring, double min_saving) {
  HistoryForecast best;
  may_gain_ = true;
  if (pieces_.empty() || piece.count == 0) return best;
  std::vector<std::byte> room(codec.max_bytes(piece.type, piece.count, 2));
  const SizeOrStatus alone = codec.encode(piece, room);
  const auto wanted = static_cast<std::size_t>(min_saving * static_cast<double>(piece.bytes()));
  may_gain_ =
      alone.status == Status::ok && alone.bytes * ratio_of_zeros > piece.bytes() && alone.bytes > wanted;
  if (!may_gain_ && wanted > 0) return best;
  if (!may_gain_) return {period_, 1, references_};  // the last look stands
  std::size_t least = alone.bytes - std::max(alone.bytes / least_history_gain, wanted);
  const auto try_period = [&](std::size_t period) {
    const ChosenReferences references = at_period(period, piece, addends);
    const unsigned most = referring != nullptr ? references.n : std::min(references.n, 1U);
    for (unsigned n = 1; n <= most; ++n) {
      const Codec& coder = referring != nullptr ? *referring : codec;
      const SizeOrStatus frame = coder.encode(piece, references.span().first(n), room);
      if (frame.status != Status::ok || frame.bytes >= least) continue;
      least = frame.bytes - frame.bytes / least_history_gain;  // ranks that see no difference choose alike
      best = {period, static_cast<float>(alone.bytes) / static_cast<float>(frame.bytes),
              referring != nullptr ? n : max_references};
    }
  };
  const bool knows = period_ > 0 && period_ <= pieces_.size() && ++looks_ < looks_between_searches;
  if (knows) try_period(period_);
  if (best.period == 0) {
    looks_ = 0;
    for (std::size_t period = 1; period <= pieces_.size(); ++period) try_period(period);
  }
  period_ = best.period;
  references_ = best.references;
  return best;
}

std::shared_ptr<Series> Histories::of(std::uint64_t key, std::size_t bytes, std::size_t limit) {
  if (bytes > limit) return nullptr;
  const auto known = std::ranges::find_if(series_, [&](const auto& one) { return one->key() == key; });
  if (known != series_.end()) {
    series_.splice(series_.begin(), series_, known);
  } else {
    series_.push_front(std::make_shared<Series>(key));
    if (series_.size() > most_series) {  // the new one is idle, too
      const auto idle =
          std::find_if(series_.rbegin(), series_.rend(), [](const auto& one) { return !one->under_way(); });
      series_.erase(std::next(idle).base());
      if (series_.front()->key() != key) return nullptr;
    }
  }
  const auto held = [&] {
    return std::accumulate(series_.begin(), series_.end(), bytes,
                           [](std::size_t sum, const auto& one) { return sum + one->bytes(); });
  };
  const std::shared_ptr<Series> found = series_.front();
  if (found->under_way() || held() - std::min(found->spare_bytes(), bytes) <= limit) return found;
  for (const auto& one : series_) one->drop_spare();
  for (auto one = series_.rbegin(); held() > limit && one != series_.rend(); ++one)
    while (!(*one)->under_way() && !(*one)->states().empty() && held() > limit) (*one)->drop_oldest();
  return held() > limit ? nullptr : found;
}

bool Histories::drop_idle() noexcept {
  bool any = false;
  for (const auto& one : series_) {
    if (one->under_way() || one->bytes() == 0) continue;
    one->clear();
    one->drop_spare();
    any = true;
  }
  return any;
}

void Series::add(CallState state, std::size_t depth) {
  states_.insert(states_.begin(), std::make_shared<CallState>(std::move(state)));
  while (states_.size() > depth) {
    if (states_.back().use_count() == 1) spare_ = std::move(*states_.back());
    states_.pop_back();
  }
}

CallState Series::room(std::size_t sent, std::size_t received, const gpu::Device* device) {
  CallState room = std::exchange(spare_, {});
  if (room.sent.bytes() != sent || room.received.bytes() != received) {
    room = {};
    return CallState::with_bytes(sent, received, device);
  }
  room.sent.clear();
  room.received.clear();
  return room;
}

// ---- The history of a call

CallHistory::CallHistory(const HeldStates& states, const HistoryForecast& forecast,
                         const OperandPlaces& places, Series& series, gpu::DeviceValues* device) noexcept
    : states_(states), forecast_(forecast), places_(places), device_(device) {
  const gpu::Device* const memory = device != nullptr ? &device->device() : nullptr;
  complete_ = guarded([&] { state_ = series.room(places.sent_bytes(), places.received_bytes(), memory); }) ==
              Status::ok;
}

CallHistory::~CallHistory() {
  if (device_ != nullptr) device_->device().wait();
}

ChosenReferences CallHistory::of_sent(ConstSlice values) const noexcept {
  const std::optional<std::size_t> offset = places_.of_sent(values);
  if (!offset || values.count == 0 || forecast_.period == 0) return {};
  return at_period(states_, forecast_, *offset, values);
}

std::optional<ChosenReferences> CallHistory::of_received(ConstBytes frame, ConstSlice values) const noexcept {
  FrameHeader header;
  if (read_header(frame, header) != Status::ok) return {};
  const StateNumbers states = state_numbers_in(header, frame);
  const std::optional<std::size_t> offset = places_.of_received(values);
  ChosenReferences chosen;
  for (; chosen.n < states.n; ++chosen.n) {
    const std::uint64_t number = states.number[chosen.n];
    const auto state =
        std::ranges::find_if(states_, [&](const auto& held) { return held->number == number; });
    if (!offset || state == states_.end()) return {};
    const std::byte* const kept = (*state)->received.find(*offset, values.bytes());
    if (kept == nullptr) return {};
    chosen.reference[chosen.n] = {number, {{kept, values.count, values.type}}};
  }
  return chosen;
}

Status CallHistory::copy(std::byte* to, ConstSlice values) noexcept {
  if (device_ != nullptr) return device_->copy(to, values.as_bytes().data(), values.bytes());
  std::memcpy(to, values.data, values.bytes());
  return Status::ok;
}

void CallHistory::keep_sent(ConstSlice values, ConstBytes frame, References references,
                            const Codec& codec) noexcept {
  const Slice kept = room_of_sent(values);
  if (kept.data == nullptr) return;
  const bool exact = codec.contract().bound.exact();  // then these values are what receivers decode
  note_sent(kept, exact ? copy(kept.as_bytes().data(), values) : codec.decode(frame, references, kept));
}

Slice CallHistory::room_of_sent(ConstSlice values) noexcept {
  const std::optional<std::size_t> offset = places_.of_sent(values);
  if (!offset || !complete_ || values.count == 0) return {};
  return {{state_.sent.at(*offset), values.count, values.type}};
}

void CallHistory::note_sent(ConstSlice kept, Status status) noexcept {
  if (status != Status::ok) complete_ = false;
  const auto offset = static_cast<std::size_t>(kept.as_bytes().data() - state_.sent.at(0));
  if (complete_) keep(state_.sent, offset, kept.bytes());
}

void CallHistory::keep_received(ConstSlice values) noexcept {
  const std::optional<std::size_t> offset = places_.of_received(values);
  if (!offset || !complete_ || values.count == 0) return;
  complete_ = copy(state_.received.at(*offset), values) == Status::ok;
  if (complete_) keep(state_.received, *offset, values.bytes());
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

SizeOrStatus HistoryCodec::encode(ConstSlice values, References, Bytes out) const noexcept {
  const ChosenReferences references = history_.of_sent(values);
  const Codec& codec = references.n > 0 ? with_references_ : without_references_;
  const SizeOrStatus frame = codec.encode(values, references.span(), out);
  if (frame.status == Status::ok)
    history_.keep_sent(values, out.first(frame.bytes), references.span(), codec);
  return frame;
}

Status HistoryCodec::decode(ConstBytes in, References, Slice values) const noexcept {
  const std::optional<ChosenReferences> references = history_.of_received(in, values);
  if (!references) return Status::corrupt_frame;
  const Status status = without_references_.decode(in, references->span(), values);
  if (status == Status::ok) history_.keep_received(values);
  return status;
}

}  // namespace taut
