#include "api/args/call_buffers.hpp"

#include <numeric>

namespace taut::api {

Side::Side(const void* data, MPI_Count n, MPI_Datatype of) noexcept
    : at(const_cast<void*>(data)), count(n), type(of) {}

Side::Side(const void* data, Layout layout, MPI_Datatype of) noexcept
    : at(const_cast<void*>(data)),
      count(static_cast<MPI_Count>(values_of(*layout))),
      type(of),
      blocks(std::move(layout)) {}

MPI_Count Side::count_of(std::size_t i, std::size_t n) const noexcept {
  return blocks != nullptr ? static_cast<MPI_Count>(blocks->counts[i]) : count / static_cast<MPI_Count>(n);
}

void* Side::address_of(std::size_t i, std::size_t n) const noexcept {
  MPI_Aint least = 0, extent = 0;
  PMPI_Type_get_extent(type, &least, &extent);
  const std::ptrdiff_t first =
      blocks != nullptr ? blocks->offsets[i]
                        : static_cast<std::ptrdiff_t>(count_of(i, n)) * static_cast<std::ptrdiff_t>(i);
  const auto base = reinterpret_cast<std::uintptr_t>(at);  // an integer, because MPI_BOTTOM may be null
  return reinterpret_cast<void*>(base + static_cast<std::uintptr_t>(first * extent));
}

namespace {

// ---- Staging of values that are not contiguous

class Packed final : public Staging {
 public:
  Packed(BufferArgs sides, Group group) : sides_(std::move(sides)), group_(group) {}

  bool on_device() const noexcept override {
    const auto side_is = [](const std::optional<Side>& side) {
      return side && api::on_device(side->at, side->type);
    };
    return side_is(sides_.in) || side_is(sides_.out);
  }

  std::array<Buffer, 2> gather(Place& place, Operands& data) const override {
    std::array<Buffer, 2> memory;
    Operands staged = data;
    if (sides_.out && sides_.out->staged()) staged.out.data = take(place, staged.out, memory[1]);
    if (sides_.sends == BufferArgs::Sends::in) {
      if (sides_.in && sides_.in->staged()) {
        void* const values = take(place, staged.in, memory[0]);
        staged.in.data = values;
        pack_all(*sides_.in,
                 Blocks<Slice>(Slice{{values, staged.in.count, staged.in.type}}, staged.in.layout));
      }
    } else if (sides_.sends == BufferArgs::Sends::own_block) {
      const Slice own = staged.out.at(group_.index(), group_.count());
      staged.in = ConstSlice(own);
      pack_block(*sides_.out, group_.index(), own);
    } else {
      staged.in.data = staged.out.data;
      pack_all(*sides_.out, staged.out);
    }
    data = staged;
    return memory;
  }

  void spread(const Operands& data) const override {
    if (!sides_.out || !sides_.out->staged()) return;
    const Side& out = *sides_.out;
    for (std::size_t i = 0; i < blocks_of(out); ++i)
      unpack_values(data.out.at(i, blocks_of(out)).as_bytes(), out.address_of(i, blocks_of(out)),
                    out.count_of(i, blocks_of(out)), out.type);
  }

 private:
  template <class S>
  static void* take(Place& place, const Blocks<S>& values, Buffer& memory) {
    memory = place.scratch(std::max<std::size_t>(1, values.values() * size_of(values.type)));
    return memory.data();
  }
  // Returns the number of blocks to pack. Blocks of equal size are contiguous and count as one.
  std::size_t blocks_of(const Side& side) const noexcept {
    return side.blocks != nullptr ? group_.count() : 1;
  }

  void pack_block(const Side& side, std::size_t i, const Slice& to) const {
    pack_values(side.address_of(i, group_.count()), side.count_of(i, group_.count()), side.type,
                to.as_bytes());
  }
  void pack_all(const Side& side, const Blocks<Slice>& to) const {
    const std::size_t n = blocks_of(side);
    for (std::size_t i = 0; i < n; ++i)
      pack_values(side.address_of(i, n), side.count_of(i, n), side.type, to.at(i, n).as_bytes());
  }

  BufferArgs sides_;
  Group group_;
};

// ---- Translation to a CollectiveCall

// Returns the block layout counted in values instead of elements. Staged blocks follow each other.
Layout in_values(const Side& side) {
  if (side.blocks == nullptr || (side.elements->dense && side.elements->values == 1)) return side.blocks;
  auto layout = std::make_shared<BlockLayout>(*side.blocks);
  for (std::size_t& count : layout->counts) count *= side.elements->values;
  for (std::ptrdiff_t& offset : layout->offsets) offset *= static_cast<std::ptrdiff_t>(side.elements->values);
  if (side.staged())
    std::exclusive_scan(layout->counts.begin(), layout->counts.end(), layout->offsets.begin(),
                        std::ptrdiff_t{0});
  return layout;
}

Slice values_of(const Side& side) noexcept {
  return {{side.staged() ? nullptr : side.at, side.values(side.count), side.elements->type()}};
}

// Returns true if both sides agree on the block that this rank sends to itself.
bool agree_here(Collective collective, const Group& group, const BufferArgs& sides) noexcept {
  if (!sides.in || !sides.out) return true;
  const Side &in = *sides.in, &out = *sides.out;
  if (!in.known() || !out.known() || in.elements->type() != out.elements->type()) return false;
  if (in.count < 0 || out.count < 0) return false;
  const auto own = [&](const Side& side) { return side.values(side.count_of(group.index(), group.count())); };
  if (collective == Collective::scatter) return own(in) == out.values(out.count);
  if (collective == Collective::alltoall)
    return in.blocks != nullptr || in.values(in.count) == out.values(out.count);
  return in.values(in.count) == own(out);
}

}  // namespace

CollectiveCall describe_move(Collective collective, const Group& group, BufferArgs sides, int root,
                             std::size_t bytes, bool bytes_known) {
  CollectiveCall request{collective, {}, bytes, false};
  request.bytes_known = bytes_known;
  request.data.root = root;
  const bool coded = (!sides.in || sides.in->known()) && (!sides.out || sides.out->known()) &&
                     agree_here(collective, group, sides);
  if (!coded) return request;

  Operands& data = request.data;
  data.out.type = sides.out ? sides.out->elements->type() : sides.in->elements->type();
  request.type = data.in.type = data.out.type;
  if (sides.in) {
    request.layouts[0] = in_values(*sides.in);
    data.in = Blocks<ConstSlice>(ConstSlice(values_of(*sides.in)), request.layouts[0].get());
  }
  if (sides.out) {
    request.layouts[1] = in_values(*sides.out);
    data.out = Blocks<Slice>(values_of(*sides.out), request.layouts[1].get());
  } else if (collective == Collective::scatter) {
    data.out.count = sides.in->values(sides.in->count_of(group.index(), group.count()));  // stays in place
  }
  const bool staged = (sides.in && sides.in->staged()) || (sides.out && sides.out->staged());
  if (sides.sends == BufferArgs::Sends::all && collective != Collective::bcast)
    data.in = Blocks<ConstSlice>(ConstSlice(data.out), data.out.layout);
  if (sides.sends == BufferArgs::Sends::own_block && !staged)
    data.in = ConstSlice(data.out.at(group.index(), group.count()));
  if (staged) request.staging = std::make_shared<Packed>(std::move(sides), group);
  return request;
}

}  // namespace taut::api
