#include "communication/mpi/call_buffers.hpp"

#include <numeric>

namespace taut::api {

Layout layout_of(const MPI_Count* counts, const MPI_Aint* displacements, int blocks) {
  if (counts == nullptr) return nullptr;
  auto layout = std::make_shared<BlockLayout>();
  std::ptrdiff_t next = 0;
  for (int i = 0; i < blocks; ++i) {
    if (counts[i] < 0) return nullptr;
    layout->counts.push_back(static_cast<std::size_t>(counts[i]));
    layout->offsets.push_back(displacements != nullptr ? displacements[i] : next);
    next += static_cast<std::ptrdiff_t>(counts[i]);
  }
  return layout;
}

std::size_t values_of(const BlockLayout& layout) noexcept {
  return std::accumulate(layout.counts.begin(), layout.counts.end(), std::size_t{0});
}

CallBuffer::CallBuffer(const void* data, MPI_Count n, MPI_Datatype datatype) noexcept
    : at(const_cast<void*>(data)), count(n), type(datatype) {}

CallBuffer::CallBuffer(const void* data, Layout layout, MPI_Datatype datatype) noexcept
    : at(const_cast<void*>(data)),
      count(static_cast<MPI_Count>(values_of(*layout))),
      type(datatype),
      blocks(std::move(layout)) {}

namespace {

// Returns the layout that the datatypes of non-empty blocks have in common: the kind of values. It is dense
// if the values of each block are contiguous and begin at a multiple of their size.
std::optional<DatatypeLayout> common_layout(const CallBuffer& buffer) {
  std::optional<DatatypeLayout> common;
  bool dense = buffer.at != MPI_BOTTOM;
  for (std::size_t i = 0; i < buffer.types.size(); ++i) {
    if (buffer.blocks->counts[i] == 0) continue;
    const auto layout = datatype_layout_of(buffer.types[i]);
    if (!layout || (common && common->type() != layout->type())) return {};
    common = layout;
    const std::ptrdiff_t value_bytes(size_of(layout->type()));
    dense = dense && layout->dense && buffer.blocks->offsets[i] % value_bytes == 0;
  }
  if (common) common = DatatypeLayout{common->value_type, 1, dense};
  return common;
}

}  // namespace

CallBuffer::CallBuffer(const void* data, Layout layout, std::vector<MPI_Datatype> of_blocks)
    : CallBuffer(data, std::move(layout), MPI_DATATYPE_NULL) {
  has_types = true;
  types = std::move(of_blocks);
  element_layout = common_layout(*this);
}

MPI_Count CallBuffer::count_of(std::size_t i, std::size_t n) const noexcept {
  return blocks != nullptr ? static_cast<MPI_Count>(blocks->counts[i]) : count / static_cast<MPI_Count>(n);
}

std::size_t CallBuffer::values_in_block(std::size_t i) const noexcept {
  const std::size_t of_block = blocks->counts[i];
  if (of_block == 0) return 0;
  return of_block *
         (has_types ? datatype_layout_of(types[i])->values_per_element : element_layout->values_per_element);
}

std::size_t CallBuffer::all_values() const noexcept {
  if (!has_types) return values(count);
  std::size_t all = 0;
  for (std::size_t i = 0; i < types.size(); ++i) all += values_in_block(i);
  return all;
}

void* CallBuffer::address_of(std::size_t i, std::size_t n) const noexcept {
  MPI_Aint least = 0, extent = 1;
  if (!has_types) PMPI_Type_get_extent(type, &least, &extent);
  const std::ptrdiff_t first =
      blocks != nullptr ? blocks->offsets[i]
                        : static_cast<std::ptrdiff_t>(count_of(i, n)) * static_cast<std::ptrdiff_t>(i);
  const auto base = reinterpret_cast<std::uintptr_t>(at);  // an integer, because MPI_BOTTOM may be null
  return reinterpret_cast<void*>(base + static_cast<std::uintptr_t>(first * extent));
}

std::optional<CallBuffer> call_buffer(const BufferArg& buffer, bool has_counts, int blocks) {
  if (!has_counts) return CallBuffer(buffer.at, buffer.count * blocks, buffer.type);
  Layout layout = layout_of(buffer.counts, buffer.displs, blocks);
  if (layout == nullptr) return {};
  if (buffer.types == nullptr) return CallBuffer(buffer.at, std::move(layout), buffer.type);
  return CallBuffer(buffer.at, std::move(layout), std::vector(buffer.types, buffer.types + blocks));
}

std::optional<std::size_t> bytes_of_all(const CallBuffer& buffer) noexcept {
  if (buffer.any_type()) return 0;
  MPI_Count all = buffer.has_types ? 0 : bytes_of(buffer.count, buffer.type);
  for (std::size_t i = 0; i < buffer.types.size(); ++i) {
    const MPI_Count block =
        buffer.blocks->counts[i] == 0 ? 0 : bytes_of(buffer.count_of(i, 0), buffer.types[i]);
    if (block < 0 || __builtin_add_overflow(all, block, &all)) return {};
  }
  if (all < 0) return {};
  return static_cast<std::size_t>(all);
}

namespace {

// ---- Staging of values that are not contiguous

class PackedStaging final : public Staging {
 public:
  PackedStaging(CallBuffers buffers, RankAndSize group) : buffers_(std::move(buffers)), group_(group) {}

  bool on_device() const noexcept override {
    const auto is_on_device = [](const std::optional<CallBuffer>& buffer) {
      if (!buffer || !buffer->has_types) return buffer && api::on_device(buffer->at, buffer->type);
      for (std::size_t i = 0; i < buffer->types.size(); ++i)
        if (buffer->blocks->counts[i] != 0) return api::on_device(buffer->address_of(i, 0), buffer->types[i]);
      return false;
    };
    return is_on_device(buffers_.in) || is_on_device(buffers_.out);
  }

  std::array<Buffer, 2> pack(Place& place, Operands& data) const override {
    std::array<Buffer, 2> memory;
    Operands staged = data;
    if (buffers_.out && buffers_.out->staged()) staged.out.data = allocate(place, staged.out, memory[1]);
    if (buffers_.source == CallBuffers::Source::in) {
      if (buffers_.in && buffers_.in->staged()) {
        void* const values = allocate(place, staged.in, memory[0]);
        staged.in.data = values;
        pack_all(*buffers_.in,
                 Blocks<Slice>(Slice{{values, staged.in.count, staged.in.type}}, staged.in.layout));
      }
    } else if (buffers_.source == CallBuffers::Source::own_block_of_out) {
      const Slice own = staged.out.at(group_.index(), group_.count());
      staged.in = ConstSlice(own);
      pack_block(*buffers_.out, group_.index(), group_.count(), own);
    } else {
      staged.in.data = staged.out.data;
      pack_all(*buffers_.out, staged.out);
    }
    data = staged;
    return memory;
  }

  void unpack(const Operands& data) const override {
    if (!buffers_.out || !buffers_.out->staged() || data.out.data == nullptr) return;
    const CallBuffer& out = *buffers_.out;
    const std::size_t n = blocks_of(out);
    for (std::size_t i = 0; i < n; ++i)
      unpack_values(data.out.at(i, n).as_bytes(), out.address_of(i, n), out.count_of(i, n), out.type_of(i));
  }

 private:
  template <class S>
  static void* allocate(Place& place, const Blocks<S>& values, Buffer& memory) {
    memory = place.scratch(std::max<std::size_t>(1, values.values() * size_of(values.type)));
    return memory.data();
  }
  // Returns the number of blocks to pack. Blocks of equal size are contiguous and count as one.
  static std::size_t blocks_of(const CallBuffer& buffer) noexcept {
    return buffer.blocks != nullptr ? buffer.blocks->counts.size() : 1;
  }

  static void pack_block(const CallBuffer& buffer, std::size_t i, std::size_t n, const Slice& to) {
    pack_values(buffer.address_of(i, n), buffer.count_of(i, n), buffer.type_of(i), to.as_bytes());
  }
  static void pack_all(const CallBuffer& buffer, const Blocks<Slice>& to) {
    const std::size_t n = blocks_of(buffer);
    for (std::size_t i = 0; i < n; ++i) pack_block(buffer, i, n, to.at(i, n));
  }

  CallBuffers buffers_;
  RankAndSize group_;
};

// ---- Translation to a CollectiveCall

// Returns the block layout counted in values instead of elements. Staged blocks follow each other.
Layout in_values(const CallBuffer& buffer) {
  const DatatypeLayout& element = *buffer.element_layout;
  if (buffer.blocks == nullptr || (element.dense && element.values_per_element == 1 && !buffer.has_types))
    return buffer.blocks;
  auto layout = std::make_shared<BlockLayout>(*buffer.blocks);
  for (std::size_t i = 0; i < layout->counts.size(); ++i) layout->counts[i] = buffer.values_in_block(i);
  for (std::ptrdiff_t& offset : layout->offsets)
    offset = buffer.has_types ? offset / static_cast<std::ptrdiff_t>(size_of(element.type()))
                              : offset * static_cast<std::ptrdiff_t>(element.values_per_element);
  if (buffer.staged())
    std::exclusive_scan(layout->counts.begin(), layout->counts.end(), layout->offsets.begin(),
                        std::ptrdiff_t{0});
  return layout;
}

Slice slice_of(const CallBuffer& buffer) noexcept {
  return {{buffer.staged() ? nullptr : buffer.at, buffer.all_values(), buffer.element_layout->type()}};
}

// Returns true if both buffers agree on the block that this rank sends to itself.
bool own_blocks_agree(Collective collective, const RankAndSize& group, const CallBuffers& buffers) noexcept {
  if (!buffers.in || !buffers.out) return true;
  const CallBuffer &in = *buffers.in, &out = *buffers.out;
  if (!in.known() || !out.known() || in.element_layout->type() != out.element_layout->type()) return false;
  if (in.count < 0 || out.count < 0) return false;
  const auto own = [&](const CallBuffer& buffer) {
    return buffer.values(buffer.count_of(group.index(), group.count()));
  };
  if (of_neighbours(collective)) return true;  // the block for itself may come later
  if (collective == Collective::scatter) return own(in) == out.values(out.count);
  if (collective == Collective::alltoall)
    return in.blocks != nullptr || in.values(in.count) == out.values(out.count);
  return in.values(in.count) == own(out);
}

// Gives a buffer without elements the kind of values of the other buffer.
void adopt_type(CallBuffer& buffer, const CallBuffer& other) noexcept {
  if (buffer.any_type() && other.known())
    buffer.element_layout = DatatypeLayout{other.element_layout->value_type};
}

}  // namespace

CollectiveCall describe_data_movement(Collective collective, const RankAndSize& group, CallBuffers buffers,
                                      int root, std::size_t bytes, bool bytes_known) {
  CollectiveCall request{collective, {}, bytes, false};
  request.bytes_known = bytes_known;
  request.data.root = root;
  if (buffers.in && buffers.out) {
    adopt_type(*buffers.in, *buffers.out);
    adopt_type(*buffers.out, *buffers.in);
  }
  const auto any_type = [](const std::optional<CallBuffer>& buffer) { return !buffer || buffer->any_type(); };
  request.any_type = any_type(buffers.in) && any_type(buffers.out) && (buffers.in || buffers.out);
  if (request.any_type) return request;
  const bool coded = (!buffers.in || buffers.in->known()) && (!buffers.out || buffers.out->known()) &&
                     own_blocks_agree(collective, group, buffers);
  if (!coded) return request;

  Operands& data = request.data;
  data.out.type = buffers.out ? buffers.out->element_layout->type() : buffers.in->element_layout->type();
  request.type = data.in.type = data.out.type;
  if (buffers.in) {
    request.layouts[0] = in_values(*buffers.in);
    data.in = Blocks<ConstSlice>(ConstSlice(slice_of(*buffers.in)), request.layouts[0].get());
  }
  if (buffers.out) {
    request.layouts[1] = in_values(*buffers.out);
    data.out = Blocks<Slice>(slice_of(*buffers.out), request.layouts[1].get());
  } else if (collective == Collective::scatter) {
    data.out.count =
        buffers.in->values(buffers.in->count_of(group.index(), group.count()));  // stays in place
  }
  const bool staged = (buffers.in && buffers.in->staged()) || (buffers.out && buffers.out->staged());
  if (buffers.source == CallBuffers::Source::all_of_out)
    data.in = Blocks<ConstSlice>(ConstSlice(data.out), data.out.layout);
  if (buffers.source == CallBuffers::Source::own_block_of_out && !staged)
    data.in = ConstSlice(data.out.at(group.index(), group.count()));
  if (staged) request.staging = std::make_shared<PackedStaging>(std::move(buffers), group);
  return request;
}

}  // namespace taut::api
