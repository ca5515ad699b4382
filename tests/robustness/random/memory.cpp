#include "robustness/random/memory.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace taut::test {
namespace {

constexpr std::byte guard{0xA5};
constexpr std::size_t guard_bytes = 64;

std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }

bool in_place_at(const Call& call, int rank) noexcept {
  return call.in_place && (!has_root(call.collective) || rank == call.root);
}

}  // namespace

Memory::Memory(const Call& call) : call_(&call), size_(size_of(call.type)), ranks_(index(call.P)) {
  Draw draw(call.seed, 0);
  for (int r = 0; r < call.P; ++r) make_rank(r, draw);
}

// Makes a region at an address that is aligned for a value, and often for no more.
Memory::Region Memory::make_region(std::vector<std::size_t> counts, bool gaps, Draw& draw) const {
  Region region;
  if (counts.empty()) return region;
  const auto gap = [&] { return gaps ? static_cast<std::ptrdiff_t>(draw.pick(5)) : 0; };
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); gaps && i > 1; --i) std::swap(order[i - 1], order[draw.bits() % i]);
  region.layout = {std::move(counts), std::vector<std::ptrdiff_t>(order.size())};
  std::ptrdiff_t at = gap();
  for (const std::size_t i : order) {
    region.layout.offsets[i] = at;
    at += static_cast<std::ptrdiff_t>(region.layout.counts[i]) + gap();
  }
  region.first = guard_bytes + index(draw.pick(4)) * size_;
  const std::size_t behind = draw.one_in(2) ? guard_bytes : 0;
  region.bytes.assign(region.first + static_cast<std::size_t>(at) * size_ + behind, guard);
  return region;
}

void Memory::make_rank(int rank, Draw& draw) {
  Rank& mine = ranks_[index(rank)];
  const std::vector<std::size_t> in = call_->blocks_in(rank), out = call_->blocks_out(rank);
  if (in_place_at(*call_, rank)) {  // the smaller buffer is a block of the larger one
    if (in.size() < out.size())
      mine.in = {1, index(rank)};
    else
      mine.out = {0, in.size() > out.size() ? index(rank) : 0};
  }
  const bool gaps = call_->any_blocks();
  if (mine.in.region == 0) mine.regions[0] = make_region(in, gaps && in.size() > 1, draw);
  if (mine.out.region == 1) mine.regions[1] = make_region(out, gaps && out.size() > 1, draw);
  Region& from = mine.regions[mine.in.region];
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Range block = bytes_of(from, mine.in.first + i);
    fill_values(call_->contents[index(rank)], call_->scale, call_->type, draw.bits(),
                Bytes(from.bytes).subspan(block.first, block.count));
  }
  for (Region& region : mine.regions) {
    region.before = region.bytes;
    if (call_->apart && !draw.one_in(4)) move_apart(region, draw);
  }
}

// ---- Values with gaps between them

// Calls copy(byte of the value in `bytes`, its byte in `apart`) for each value of a block.
template <class Copy>
void Memory::each_value(const Region& region, std::size_t block, Copy copy) const {
  const Range bytes = bytes_of(region, block);
  const std::size_t first = (bytes.first - region.first) / size_;
  for (std::size_t i = 0; i < region.layout.counts[block]; ++i)
    copy(bytes.first + i * size_, (first + i) * region.step);
}

void Memory::move_apart(Region& region, Draw& draw) const {
  if (region.bytes.empty()) return;
  region.step = size_ + index(1 + draw.pick(3)) * size_;
  region.apart.assign((region.bytes.size() - region.first) / size_ * region.step, guard);
  for (std::size_t i = 0; i < region.layout.counts.size(); ++i)
    each_value(region, i, [&](std::size_t at, std::size_t there) {
      std::memcpy(region.apart.data() + there, region.bytes.data() + at, size_);
    });
  region.apart_before = region.apart;
}

// Packs the values into scratch memory with the layout of `bytes`.
class Memory::Apart final : public Staging {
 public:
  Apart(Memory& memory, int rank)
      : memory_(memory),
        rank_(memory.ranks_[index(rank)]),
        addresses_(memory.addresses(rank)),
        blocks_(memory.call_->blocks_out(rank).size()) {}

  std::array<Buffer, 2> pack(Place& place, Operands& data) const override {
    std::array<Buffer, 2> scratch;
    for (std::size_t which = 0; which < 2; ++which) {
      const Region& region = rank_.regions[which];
      if (region.step == 0) continue;
      scratch[which] = place.scratch(region.bytes.size());
      for (std::size_t i = 0; i < region.layout.counts.size(); ++i)
        memory_.each_value(region, i, [&](std::size_t at, std::size_t there) {
          std::memcpy(scratch[which].data() + at, region.apart.data() + there, memory_.size_);
        });
    }
    const auto moved = [&](const void* address, int which, void* otherwise) -> void* {
      const Region& region = rank_.regions[which];
      if (address == nullptr || region.step == 0) return otherwise;
      return scratch[index(which)].data() + (static_cast<const std::byte*>(address) - region.bytes.data());
    };
    data.in.data = moved(addresses_.in.data, rank_.in.region, const_cast<void*>(data.in.data));
    data.out.data = moved(addresses_.out.data, rank_.out.region, data.out.data);
    return scratch;
  }

  void unpack(const Operands& data) const override {
    Region& region = rank_.regions[rank_.out.region];
    if (region.step == 0 || addresses_.out.data == nullptr || data.out.data == nullptr) return;
    const std::byte* const image = static_cast<const std::byte*>(data.out.data) -
                                   (static_cast<const std::byte*>(addresses_.out.data) - region.bytes.data());
    for (std::size_t i = 0; i < blocks_; ++i)
      memory_.each_value(region, rank_.out.first + i, [&](std::size_t from, std::size_t there) {
        std::memcpy(region.bytes.data() + from, image + from, memory_.size_);
        std::memcpy(region.apart.data() + there, image + from, memory_.size_);
      });
  }

 private:
  Memory& memory_;
  Rank& rank_;
  Operands addresses_;
  std::size_t blocks_;
};

std::shared_ptr<const Staging> Memory::staging(int rank) {
  const Rank& mine = ranks_[index(rank)];
  const bool any = mine.regions[0].step != 0 || mine.regions[1].step != 0;
  return any ? std::make_shared<Apart>(*this, rank) : nullptr;
}

// Returns "" if the program's memory holds the values of `bytes`, and the bytes between them are unchanged.
std::string Memory::touched_between(const Region& region) const {
  std::vector<std::byte> expected = region.apart_before;
  for (std::size_t i = 0; region.step != 0 && i < region.layout.counts.size(); ++i)
    each_value(region, i, [&](std::size_t at, std::size_t there) {
      std::memcpy(expected.data() + there, region.bytes.data() + at, size_);
    });
  return expected == region.apart ? "" : "a byte between values that lie apart was touched";
}

// ---- Inputs and outputs of a rank

Range Memory::bytes_of(const Region& region, std::size_t block) const noexcept {
  return {region.first + static_cast<std::size_t>(region.layout.offsets[block]) * size_,
          region.layout.counts[block] * size_};
}

template <class S>
Blocks<S> Memory::slice(Rank& rank, Spot spot, std::size_t blocks) const {
  Region& region = rank.regions[spot.region];
  const bool all = blocks == region.layout.counts.size();
  Blocks<S> slice;
  slice.type = call_->type;
  for (std::size_t i = 0; i < blocks; ++i) slice.count += region.layout.counts[spot.first + i];
  const bool any = all && blocks > 1 && call_->any_blocks();
  slice.data = region.bytes.data() + (any ? region.first : bytes_of(region, spot.first).first);
  if (any) slice.layout = &region.layout;
  if (slice.count == 0 && call_->null_if_empty) slice.data = nullptr;
  return slice;
}

Operands Memory::operands(int rank) {
  Operands data = addresses(rank);
  const Rank& mine = ranks_[index(rank)];
  if (mine.regions[mine.in.region].step != 0) data.in.data = nullptr;
  if (mine.regions[mine.out.region].step != 0) data.out.data = nullptr;
  return data;
}

Operands Memory::addresses(int rank) {
  Operands data;
  data.op = call_->op;
  data.root = call_->root;
  data.neighbours = call_->neighbours_of(rank);
  data.in.type = data.out.type = call_->type;
  const std::size_t in = call_->blocks_in(rank).size(), out = call_->blocks_out(rank).size();
  Rank& mine = ranks_[index(rank)];
  if (in > 0) data.in = slice<ConstSlice>(mine, mine.in, in);
  if (out > 0) data.out = slice<Slice>(mine, mine.out, out);
  if (call_->collective == Collective::scatter && in_place_at(*call_, rank)) data.out.data = nullptr;
  return data;
}

std::array<Bytes, 2> Memory::parts(int rank) {
  auto& regions = ranks_[index(rank)].regions;
  return {Bytes(regions[0].bytes), Bytes(regions[1].bytes)};
}

ConstBytes Memory::contributed(int rank, std::size_t block) const {
  const Rank& mine = ranks_[index(rank)];
  const Region& region = mine.regions[mine.in.region];
  const Range bytes = bytes_of(region, mine.in.first + block);
  return ConstBytes(region.before).subspan(bytes.first, bytes.count);
}

ConstBytes Memory::received(int rank, std::size_t block) const {
  const Rank& mine = ranks_[index(rank)];
  const Region& region = mine.regions[mine.out.region];
  const Range bytes = bytes_of(region, mine.out.first + block);
  return ConstBytes(region.bytes).subspan(bytes.first, bytes.count);
}

std::string Memory::touched(bool served) const {
  for (int r = 0; r < call_->P; ++r) {
    const Rank& mine = ranks_[index(r)];
    const std::size_t results = served ? call_->blocks_out(r).size() : 0;
    for (const int which : {0, 1}) {
      const Region& region = mine.regions[which];
      std::vector<std::byte> expected = region.before;
      for (std::size_t i = 0; which == mine.out.region && i < results; ++i) {
        if (call_->stays(r, i)) continue;
        const Range got = bytes_of(region, mine.out.first + i);
        std::copy_n(region.bytes.begin() + static_cast<std::ptrdiff_t>(got.first), got.count,
                    expected.begin() + static_cast<std::ptrdiff_t>(got.first));
      }
      if (!expected.empty() && std::memcmp(expected.data(), region.bytes.data(), expected.size()) != 0) {
        const auto is = std::mismatch(expected.begin(), expected.end(), region.bytes.begin()).second;
        return "rank " + std::to_string(r) + ": byte " + std::to_string(is - region.bytes.begin()) +
               " of its " + (which == mine.out.region ? "output" : "input") + " was touched";
      }
      if (std::string text = touched_between(region); !text.empty())
        return "rank " + std::to_string(r) + ": " + text;
    }
  }
  return "";
}

void Memory::restore() {
  for (Rank& rank : ranks_)
    for (Region& region : rank.regions) {
      region.bytes = region.before;
      region.apart = region.apart_before;
    }
}

}  // namespace taut::test
