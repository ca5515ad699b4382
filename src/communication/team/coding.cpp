#include "communication/team/coding.hpp"

#include <algorithm>

namespace taut {

// ---- Encodings

Encoding::Encoding(Team& team, ConstSlice values, Status known)
    : team_(team), values_(values), single_(true), own_(team.empty(values, 1)), to_(&own_, 1), known_(known) {
  start();
}

Encoding::Encoding(Team& team, ConstSlice values, Frames& to, Status known)
    : team_(team), values_(values), single_(true), to_(&to, 1), known_(known) {
  start();
}

Encoding::Encoding(Team& team, const Blocks<ConstSlice>& values, int first, int n)
    : team_(team),
      values_(values),
      single_(false),
      first_(first),
      n_(n),
      own_(team.empty(team.chunk(values, 0), n)),
      to_(&own_, 1) {
  start();
}

Encoding::Encoding(Team& team, const Blocks<ConstSlice>& values, int first, std::span<Frames> to)
    : team_(team), values_(values), single_(false), first_(first), n_(static_cast<int>(to.size())), to_(to) {
  for (int i = 0; i < n_; ++i) to[static_cast<std::size_t>(i)] = team.empty(block(i), 1);
  start();
}

// Starts the next blocks. Blocks for one buffer get rooms one after the other, as the sizes of their frames
// are not known yet.
void Encoding::start() noexcept {
  begin_ = clock_now();
  started_ = std::min(n_ - done_, team_.batch());
  refused_ = known_ != Status::ok ? known_ : team_.failed();
  if (refused_ != Status::ok) return;
  std::size_t items = 0, offset = 0;
  for (int i = done_; i < done_ + started_; ++i) {
    Frames& to = target(i);
    if (to.buffer.data() == nullptr) continue;
    items_[items++] = {block(i), to.room().subspan(offset)};
    if (to_.size() == 1) offset += frame_room(team_.max_bytes(to.type, to.count));
  }
  operation_ = team_.codec_.encode(std::span(items_).first(items));
}

// Appends the frames that were started, or error frames.
void Encoding::finish() noexcept {
  const SizeOrStatus outcome = refused_ != Status::ok ? SizeOrStatus{refused_} : operation_.result();
  std::size_t items = 0, bytes = 0;
  for (int i = done_; i < done_ + started_; ++i) {
    Frames& to = target(i);
    ++team_.counters_->encodes;
    bytes += block(i).bytes();
    if (to.buffer.data() == nullptr) continue;
    const EncodeItem& item = items_[items++];
    SizeOrStatus made = outcome.status == Status::ok ? item.made : outcome;
    std::byte* const at = to.room().data();
    if (made.status == Status::ok && item.out.data() != at)
      made.status = team_.place_->copy(at, item.out.data(), made.bytes);
    team_.append(to, made, block(i).count);
  }
  done_ += started_;
  team_.counters_->spent(Phase::encode, team_.segment_, begin_, bytes);
}

bool Encoding::ready() {
  while (done_ < n_) {
    if (!operation_.ready()) return false;
    finish();
    if (done_ < n_) start();
  }
  return true;
}

// ---- Decodings

Decoding::Decoding(Team& team, std::span<const Item> items) : team_(team), begin_(clock_now()) {
  std::size_t decoded = 0;
  for (const Item& item : items) {
    if (item.values.data == nullptr && item.values.count != 0) continue;
    add(item);
    ++decoded;
  }
  team.counters_->decodes += decoded;
  if (n_ > 0) operation_ = team.codec_.decode(std::span(items_).first(n_));
  complete_ = decoded == 0;
}

Decoding::Decoding(Team& team, const Item& item, Reduction op)
    : team_(team), phase_(Phase::combine), begin_(clock_now()) {
  add(item);
  ++team.counters_->combines;
  if (n_ > 0) operation_ = team.codec_.reduce(items_[0].in, items_[0].values, op);
}

// Adds a frame to those of the operation, or notes why it cannot be one of them.
void Decoding::add(const Item& item) noexcept {
  bytes_ += item.values.bytes();
  const ConstBytes frame = item.frames->part(item.index, 1);
  Status status = inspect(frame, item.values.type, item.values.count, team_.addends());
  if (status == Status::ok) status = team_.failed();
  if (status == Status::ok) items_[n_++] = {frame, item.values};
  if (status_ == Status::ok) status_ = status;
}

bool Decoding::ready() {
  if (complete_) return true;
  if (!operation_.ready()) return false;
  complete_ = true;
  const Status outcome = operation_.result().status;
  for (const DecodeItem& item : std::span(items_).first(n_))
    if (status_ == Status::ok) status_ = outcome != Status::ok ? outcome : item.status;
  team_.note(status_);
  team_.counters_->spent(phase_, team_.segment_, begin_, bytes_);
  return true;
}

Decoding DecodeBatch::add(const Frames& frames, int i, Slice values) {
  items_[n_++] = {&frames, i, values};
  return n_ < static_cast<std::size_t>(team_.batch()) ? Decoding(team_, {}) : rest();
}

Decoding DecodeBatch::add(Frames&& frame, Slice values) {
  owned_[n_] = std::move(frame);
  return add(owned_[n_], 0, values);
}

Decoding DecodeBatch::rest() { return Decoding(team_, std::span(items_).first(std::exchange(n_, 0))); }

// ---- Sums

Combining::Combining(Team& team, const Terms& terms, Reduction op)
    : team_(team),
      terms_(terms),
      op_(op),
      sums_(terms.blocks != nullptr ? team.empty(team.chunk(*terms.blocks, 0), terms.n)
            : terms.has_own         ? team.empty(terms.own, 1)
                                    : team.empty(terms.a->type, terms.a->count, terms.n)) {
  start();
}

void Combining::start() noexcept {
  begin_ = clock_now();
  if (terms_.has_own)
    start_own(terms_.blocks != nullptr ? team_.chunk(*terms_.blocks, terms_.block + done_) : terms_.own);
  else
    start_frames();
}

void Combining::start_own(ConstSlice own) noexcept {
  count_ = own.count;
  ++team_.counters_->combines;
  if (sums_.buffer.data() == nullptr) return;
  partials_[0] = terms_.a->part(terms_.first + done_, 1);
  Status status = inspect(partials_[0], own.type, own.count, team_.addends());
  if (status == Status::ok) status = team_.failed();
  operation_ =
      status == Status::ok ? team_.start_sum(partials_[0], own, op_, sums_.room()) : SizeOrStatus{status};
}

void Combining::start_frames() noexcept {
  const std::size_t n = terms_.others.size() + 1;
  team_.counters_->combines += n - 1;
  count_ = sums_.count;
  if (sums_.buffer.data() == nullptr) return;
  partials_[0] = terms_.a->part(terms_.first + done_, 1);
  for (std::size_t k = 1; k < n; ++k) partials_[k] = terms_.others[k - 1].part(done_, 1);
  const auto partials = std::span<const ConstBytes>(partials_).first(n);
  FrameHeader header;  // the first frame determines the count
  Status status = read_header(partials[0], header);
  const ConstSlice like{{nullptr, count_ = static_cast<std::size_t>(header.count), sums_.type}};
  for (const ConstBytes frame : partials)
    if (status == Status::ok) status = inspect(frame, like.type, like.count, team_.addends());
  if (status == Status::ok && like.count > sums_.count) status = Status::frame_mismatch;
  operation_ =
      status == Status::ok ? team_.start_sum(partials, like, op_, sums_.room()) : SizeOrStatus{status};
}

void Combining::finish() noexcept {
  if (sums_.buffer.data() != nullptr) team_.append(sums_, operation_.result(), count_);
  const std::size_t added = terms_.has_own ? 1 : terms_.others.size();
  team_.counters_->spent(Phase::combine, team_.segment_, begin_, added * count_ * size_of(sums_.type));
  ++done_;
}

bool Combining::ready() {
  while (done_ < terms_.n) {
    if (!operation_.ready()) return false;
    finish();
    if (done_ < terms_.n) start();
  }
  return true;
}

// ---- Sums of a team

Operation Team::start_sum(ConstBytes partial, ConstSlice own, Reduction op, Bytes out) noexcept {
  if (how_ == Arithmetic::frames) return codec_.accumulate(partial, own, out);
  return Operation::by_task([&] { return sum_values(partial, own, op, out); });
}

Operation Team::start_sum(std::span<const ConstBytes> partials, ConstSlice like, Reduction op,
                          Bytes out) noexcept {
  if (how_ == Arithmetic::frames) return codec_.sum(partials, out);
  return Operation::by_task([&] { return sum_values(partials, like, op, out); });
}

namespace {

template <class Item>
Status status_of(SizeOrStatus outcome, const Item& item) noexcept {
  if (outcome.status != Status::ok) return outcome.status;
  if constexpr (std::is_same_v<Item, EncodeItem>)
    return item.made.status;
  else
    return item.status;
}

}  // namespace

// Computes out <- partial op own. A sum is fused with decoding.
Task<SizeOrStatus> Team::sum_values(ConstBytes partial, ConstSlice own, Reduction op, Bytes out) {
  const Buffer memory = values_->scratch(own.bytes());
  const Slice values{{memory.data(), own.count, own.type}};
  Status status = Status::ok;
  if (op == Reduction::sum) {
    status = values_->copy(memory.data(), own.as_bytes().data(), own.bytes());
    SizeOrStatus added{status};
    if (status == Status::ok) added = co_await codec_.reduce(partial, values, op);
    status = added.status;
  } else {
    DecodeItem decoded{partial, values};
    const SizeOrStatus outcome = co_await codec_.decode({&decoded, 1});
    status = status_of(outcome, decoded);
    if (status == Status::ok) status = values_->reduce(values, own, op);
  }
  if (status != Status::ok) co_return SizeOrStatus{status};
  EncodeItem encoded{values, out};
  const SizeOrStatus outcome = co_await codec_.encode({&encoded, 1});
  co_return SizeOrStatus{status_of(outcome, encoded), encoded.made.bytes};
}

// Computes out <- partials[0] op partials[1] op ...
Task<SizeOrStatus> Team::sum_values(std::span<const ConstBytes> partials, ConstSlice like, Reduction op,
                                    Bytes out) {
  const Buffer memory = values_->scratch(like.bytes());
  const Slice values{{memory.data(), like.count, like.type}};
  DecodeItem decoded{partials[0], values};
  const SizeOrStatus first = co_await codec_.decode({&decoded, 1});
  Status status = status_of(first, decoded);
  for (std::size_t i = 1; i < partials.size() && status == Status::ok; ++i) {
    const SizeOrStatus added = co_await codec_.reduce(partials[i], values, op);
    status = added.status;
  }
  if (status != Status::ok) co_return SizeOrStatus{status};
  EncodeItem encoded{values, out};
  const SizeOrStatus outcome = co_await codec_.encode({&encoded, 1});
  co_return SizeOrStatus{status_of(outcome, encoded), encoded.made.bytes};
}

}  // namespace taut
