#include "random/memory.hpp"

#include <algorithm>
#include <numeric>

namespace taut::test {
namespace {

constexpr std::byte guard{0xA5};
constexpr std::size_t guard_bytes = 64;

std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }

bool in_place_at(const Call& call, int rank) noexcept {
  const bool at_root_alone = call.collective == Collective::reduce || call.collective == Collective::gather ||
                             call.collective == Collective::scatter;
  return call.in_place && (!at_root_alone || rank == call.root);
}

}  // namespace

Memory::Memory(const Call& call) : call_(&call), size_(size_of(call.type)), ranks_(index(call.P)) {
  Draw draw(call.seed, 0);
  for (int r = 0; r < call.P; ++r) make_rank(r, draw);
}

// At an address that is aligned for a value, and often for no more.
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
  if (call_->collective == Collective::bcast) {
    mine.in = mine.out;
  } else if (in_place_at(*call_, rank)) {  // the smaller one is a block of the larger one
    if (in.size() < out.size())
      mine.in = {1, index(rank)};
    else
      mine.out = {0, in.size() > out.size() ? index(rank) : 0};
  }
  const bool gaps = call_->any_blocks();
  if (mine.in.region == 0) mine.regions[0] = make_region(in, gaps && in.size() > 1, draw);
  if (mine.out.region == 1) mine.regions[1] = make_region(out, gaps && out.size() > 1, draw);
  Region& from = mine.regions[mine.in.region];
  const bool sends = call_->collective != Collective::bcast || rank == call_->root;
  const std::size_t blocks = call_->collective == Collective::bcast ? 1 : in.size();
  for (std::size_t i = 0; sends && i < blocks; ++i) {
    const Range block = bytes_of(from, mine.in.first + i);
    fill_values(call_->contents[index(rank)], call_->scale, call_->type, draw.bits(),
                Bytes(from.bytes).subspan(block.first, block.count));
  }
  for (Region& region : mine.regions) region.before = region.bytes;
}

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
  Operands data;
  data.op = call_->op;
  data.root = call_->root;
  data.in.type = data.out.type = call_->type;
  const std::size_t in = call_->blocks_in(rank).size(), out = call_->blocks_out(rank).size();
  Rank& mine = ranks_[index(rank)];
  if (in > 0) data.in = slice<ConstSlice>(mine, mine.in, in);
  if (out > 0) data.out = slice<Slice>(mine, mine.out, out);
  if (call_->collective == Collective::scatter && in_place_at(*call_, rank)) data.out.data = nullptr;
  return data;
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
        const Range got = bytes_of(region, mine.out.first + i);
        std::copy_n(region.bytes.begin() + static_cast<std::ptrdiff_t>(got.first), got.count,
                    expected.begin() + static_cast<std::ptrdiff_t>(got.first));
      }
      const auto [was, is] = std::mismatch(expected.begin(), expected.end(), region.bytes.begin());
      if (was != expected.end())
        return "rank " + std::to_string(r) + ": byte " + std::to_string(is - region.bytes.begin()) +
               " of its " + (which == mine.out.region ? "output" : "input") + " was touched";
    }
  }
  return "";
}

void Memory::restore() {
  for (Rank& rank : ranks_)
    for (Region& region : rank.regions) region.bytes = region.before;
}

}  // namespace taut::test
