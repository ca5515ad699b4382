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

namespace {

// Returns the layout that the datatypes of non-empty blocks have in common: the kind of values. It is dense
// if the values of each block are contiguous and begin at a multiple of their size.
std::optional<DatatypeLayout> common_layout(const Side& side) {
  std::optional<DatatypeLayout> all;
  bool dense = side.at != MPI_BOTTOM;
  for (std::size_t i = 0; i < side.types.size(); ++i) {
    if (side.blocks->counts[i] == 0) continue;
    const auto one = datatype_layout_of(side.types[i]);
    if (!one || (all && all->type() != one->type())) return {};
    all = one;
    dense = dense && one->dense && side.blocks->offsets[i] % std::ptrdiff_t(size_of(one->type())) == 0;
  }
  if (all) all = DatatypeLayout{all->is, 1, dense};
  return all;
}

}  // namespace

Side::Side(const void* data, Layout layout, std::vector<MPI_Datatype> of_blocks)
    : Side(data, std::move(layout), MPI_DATATYPE_NULL) {
  typed = true;
  types = std::move(of_blocks);
  elements = common_layout(*this);
}

MPI_Count Side::count_of(std::size_t i, std::size_t n) const noexcept {
  return blocks != nullptr ? static_cast<MPI_Count>(blocks->counts[i]) : count / static_cast<MPI_Count>(n);
}

std::size_t Side::values_in_block(std::size_t i) const noexcept {
  const std::size_t of_block = blocks->counts[i];
  if (of_block == 0) return 0;
  return of_block * (typed ? datatype_layout_of(types[i])->values : elements->values);
}

std::size_t Side::all_values() const noexcept {
  if (!typed) return values(count);
  std::size_t all = 0;
  for (std::size_t i = 0; i < types.size(); ++i) all += values_in_block(i);
  return all;
}

void* Side::address_of(std::size_t i, std::size_t n) const noexcept {
  MPI_Aint least = 0, extent = 1;
  if (!typed) PMPI_Type_get_extent(type, &least, &extent);
  const std::ptrdiff_t first =
      blocks != nullptr ? blocks->offsets[i]
                        : static_cast<std::ptrdiff_t>(count_of(i, n)) * static_cast<std::ptrdiff_t>(i);
  const auto base = reinterpret_cast<std::uintptr_t>(at);  // an integer, because MPI_BOTTOM may be null
  return reinterpret_cast<void*>(base + static_cast<std::uintptr_t>(first * extent));
}

std::optional<std::size_t> bytes_of_all(const Side& side) noexcept {
  if (side.any_type()) return 0;
  MPI_Count all = side.typed ? 0 : bytes_of(side.count, side.type);
  for (std::size_t i = 0; i < side.types.size(); ++i) {
    const MPI_Count block = side.blocks->counts[i] == 0 ? 0 : bytes_of(side.count_of(i, 0), side.types[i]);
    if (block < 0 || __builtin_add_overflow(all, block, &all)) return {};
  }
  if (all < 0) return {};
  return static_cast<std::size_t>(all);
}

namespace {

// ---- Staging of values that are not contiguous

class Packed final : public Staging {
 public:
  Packed(BufferArgs sides, Group group) : sides_(std::move(sides)), group_(group) {}

  bool on_device() const noexcept override {
    const auto side_is = [](const std::optional<Side>& side) {
      if (!side || !side->typed) return side && api::on_device(side->at, side->type);
      for (std::size_t i = 0; i < side->types.size(); ++i)
        if (side->blocks->counts[i] != 0) return api::on_device(side->address_of(i, 0), side->types[i]);
      return false;
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
      pack_block(*sides_.out, group_.index(), group_.count(), own);
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
    const std::size_t n = blocks_of(out);
    for (std::size_t i = 0; i < n; ++i)
      unpack_values(data.out.at(i, n).as_bytes(), out.address_of(i, n), out.count_of(i, n), out.type_of(i));
  }

 private:
  template <class S>
  static void* take(Place& place, const Blocks<S>& values, Buffer& memory) {
    memory = place.scratch(std::max<std::size_t>(1, values.values() * size_of(values.type)));
    return memory.data();
  }
  // Returns the number of blocks to pack. Blocks of equal size are contiguous and count as one.
  static std::size_t blocks_of(const Side& side) noexcept {
    return side.blocks != nullptr ? side.blocks->counts.size() : 1;
  }

  static void pack_block(const Side& side, std::size_t i, std::size_t n, const Slice& to) {
    pack_values(side.address_of(i, n), side.count_of(i, n), side.type_of(i), to.as_bytes());
  }
  static void pack_all(const Side& side, const Blocks<Slice>& to) {
    const std::size_t n = blocks_of(side);
    for (std::size_t i = 0; i < n; ++i) pack_block(side, i, n, to.at(i, n));
  }

  BufferArgs sides_;
  Group group_;
};

// ---- Translation to a CollectiveCall

// Returns the block layout counted in values instead of elements. Staged blocks follow each other.
Layout in_values(const Side& side) {
  const DatatypeLayout& elements = *side.elements;
  if (side.blocks == nullptr || (elements.dense && elements.values == 1 && !side.typed)) return side.blocks;
  auto layout = std::make_shared<BlockLayout>(*side.blocks);
  for (std::size_t i = 0; i < layout->counts.size(); ++i) layout->counts[i] = side.values_in_block(i);
  for (std::ptrdiff_t& offset : layout->offsets)
    offset = side.typed ? offset / static_cast<std::ptrdiff_t>(size_of(elements.type()))
                        : offset * static_cast<std::ptrdiff_t>(elements.values);
  if (side.staged())
    std::exclusive_scan(layout->counts.begin(), layout->counts.end(), layout->offsets.begin(),
                        std::ptrdiff_t{0});
  return layout;
}

Slice values_of(const Side& side) noexcept {
  return {{side.staged() ? nullptr : side.at, side.all_values(), side.elements->type()}};
}

// Returns true if both sides agree on the block that this rank sends to itself.
bool agree_here(Collective collective, const Group& group, const BufferArgs& sides) noexcept {
  if (!sides.in || !sides.out) return true;
  const Side &in = *sides.in, &out = *sides.out;
  if (!in.known() || !out.known() || in.elements->type() != out.elements->type()) return false;
  if (in.count < 0 || out.count < 0) return false;
  const auto own = [&](const Side& side) { return side.values(side.count_of(group.index(), group.count())); };
  if (of_neighbours(collective)) return true;  // the block for itself may come later
  if (collective == Collective::scatter) return own(in) == out.values(out.count);
  if (collective == Collective::alltoall)
    return in.blocks != nullptr || in.values(in.count) == out.values(out.count);
  return in.values(in.count) == own(out);
}

// Gives a buffer without elements the kind of values of the other buffer.
void adopt_type(Side& side, const Side& other) noexcept {
  if (side.any_type() && other.known()) side.elements = DatatypeLayout{other.elements->is};
}

}  // namespace

CollectiveCall describe_move(Collective collective, const Group& group, BufferArgs sides, int root,
                             std::size_t bytes, bool bytes_known) {
  CollectiveCall request{collective, {}, bytes, false};
  request.bytes_known = bytes_known;
  request.data.root = root;
  if (sides.in && sides.out) {
    adopt_type(*sides.in, *sides.out);
    adopt_type(*sides.out, *sides.in);
  }
  const auto any_type = [](const std::optional<Side>& side) { return !side || side->any_type(); };
  request.any_type = any_type(sides.in) && any_type(sides.out) && (sides.in || sides.out);
  if (request.any_type) return request;
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
