// arguments.hpp -- part of taut.hpp: from arrays to the arguments of the C calls. Include taut.hpp.
#ifndef TAUT_ARGUMENTS_HPP
#define TAUT_ARGUMENTS_HPP

#include <taut/frame.hpp>

#include <memory>
#include <tuple>

namespace taut {
inline namespace cxx {

namespace detail {
inline void check_mpi(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(TAUT_Error_status(code), text);
}

template <class T>
MPI_Datatype mpi_type() noexcept {
  switch (type_of<T>()) {
    case TAUT_FLOAT32: return MPI_FLOAT;
    case TAUT_FLOAT64: return MPI_DOUBLE;
    case TAUT_COMPLEX64: return MPI_C_FLOAT_COMPLEX;
    case TAUT_COMPLEX128: return MPI_C_DOUBLE_COMPLEX;
    case TAUT_INT8: return MPI_INT8_T;
    case TAUT_UINT8: return MPI_UINT8_T;
    case TAUT_INT16: return MPI_INT16_T;
    case TAUT_UINT16: return MPI_UINT16_T;
    case TAUT_INT32: return MPI_INT32_T;
    case TAUT_UINT32: return MPI_UINT32_T;
    case TAUT_INT64: return MPI_INT64_T;
    case TAUT_UINT64: return MPI_UINT64_T;
    default: return MPI_DATATYPE_NULL;  // no C++ type
  }
}

// Returns the MPI type of arrays whose values are all of one type.
template <class Array, class Other = Array>
MPI_Datatype type_in() noexcept {
  static_assert(std::is_same_v<Value<Array>, Value<Other>>, "both arrays have values of the same type");
  return mpi_type<Value<Array>>();
}

template <class Array>
MPI_Count count(const Array& values) noexcept {
  return static_cast<MPI_Count>(std::size(values));
}

template <class Array>
void check_size(const Array& values, const char* name, std::size_t needed) {
  if (std::size(values) == needed) return;
  throw Error(TAUT_ERR_COUNT, std::string(name) + " holds " + std::to_string(std::size(values)) +
                                  " values; the call needs " + std::to_string(needed));
}
}  // namespace detail

// Blocks of an array, one for each rank or neighbour, counted in values of the array. Without displacements
// the blocks follow one another.
struct ValueBlocks {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements = {};
};

// Blocks of a buffer, one for each rank or neighbour: a count, a displacement in bytes and a datatype.
struct TypedBlocks {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
};

namespace detail {
inline void check_number(std::size_t blocks, std::size_t needed) {
  if (blocks != needed)
    throw Error(TAUT_ERR_COUNT, std::to_string(blocks) + " blocks; the call needs " + std::to_string(needed));
}

// Returns a copy of blocks, which the call reads until it is complete. Throws if they are not `needed`
// blocks.
inline std::shared_ptr<const TypedBlocks> copied(const TypedBlocks& blocks, std::size_t needed) {
  check_number(blocks.counts.size(), needed);
  check_number(blocks.displacements.size(), needed);
  check_number(blocks.types.size(), needed);
  return std::make_shared<const TypedBlocks>(blocks);
}

// The same for blocks of an array, with displacements. Throws also if a block is not inside the array.
template <class Array>
std::shared_ptr<const ValueBlocks> copied(const ValueBlocks& blocks, std::size_t needed, const Array& values,
                                          const char* name) {
  check_number(blocks.counts.size(), needed);
  if (!blocks.displacements.empty()) check_number(blocks.displacements.size(), needed);
  const auto copy = std::make_shared<ValueBlocks>(blocks);
  MPI_Count end = 0;
  for (std::size_t i = 0; i < needed; ++i) {
    if (blocks.displacements.empty()) copy->displacements.push_back(static_cast<MPI_Aint>(end));
    const MPI_Count begin = copy->displacements[i], length = copy->counts[i], size = count(values);
    if (begin < 0 || length < 0 || begin > size || length > size - begin)
      throw Error(TAUT_ERR_COUNT, std::string(name) + " holds " + std::to_string(size) + " values; block " +
                                      std::to_string(i) + " is not inside");
    end = begin + length;
  }
  return copy;
}

// Arguments of a C call up to the communicator, and the arrays that the call reads until it is complete.
template <class... Values>
struct Arguments {
  std::tuple<Values...> values;
  std::shared_ptr<const void> arrays = {};
};
template <class... Values>
Arguments<Values...> arguments(std::shared_ptr<const void> arrays, Values... values) {
  return {{values...}, std::move(arrays)};
}

// Number of neighbours in the topology of a communicator.
struct Degrees {
  int in = 0, out = 0;
};
inline Degrees degrees_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED, rank = 0, in = 0, out = 0, weighted = 0;
  check_mpi(MPI_Topo_test(comm, &kind));
  if (kind == MPI_UNDEFINED) throw Error(TAUT_ERR_ARGUMENT, "the communicator has no topology");
  if (kind == MPI_DIST_GRAPH) {
    check_mpi(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    return {in, out};
  }
  MPI_Comm_rank(comm, &rank);
  check_mpi(kind == MPI_CART ? MPI_Cartdim_get(comm, &out) : MPI_Graph_neighbors_count(comm, rank, &out));
  if (kind == MPI_CART) out *= 2;
  return {out, out};
}

// Returns the size of the blocks of two arrays that hold m and n of them.
template <class In, class Out>
MPI_Count block_of(const In& in, int m, const Out& out, int n) {
  const MPI_Count block = m > 0 ? count(in) / m : n > 0 ? count(out) / n : 0;
  check_size(in, "in", static_cast<std::size_t>(block * m));
  check_size(out, "out", static_cast<std::size_t>(block * n));
  return block;
}

// Communicator with its rank and size. It makes the arguments of calls from arrays, and checks their sizes.
class Caller {
 protected:
  template <class In, class Out>
  static auto reduction(const In& in, Out& out, MPI_Op op) {
    check_size(out, "out", std::size(in));
    return arguments({}, std::data(in), std::data(out), count(in), type_in<In, Out>(), op);
  }
  template <class Array>
  static auto in_place(Array& values, MPI_Op op) {
    return arguments({}, MPI_IN_PLACE, std::data(values), count(values), type_in<Array>(), op);
  }
  template <class In, class Out>
  auto reduction_at(int root, const In& in, Out& out, MPI_Op op) const {
    if (rank_ == root) check_size(out, "out", std::size(in));
    return arguments({}, std::data(in), std::data(out), count(in), type_in<In, Out>(), op, root);
  }
  template <class In, class Out>
  auto reduction_of_blocks(const In& in, Out& out, MPI_Op op) const {
    check_size(in, "in", std::size(out) * ranks());
    return arguments({}, std::data(in), std::data(out), count(out), type_in<In, Out>(), op);
  }
  template <class In, class Out>
  auto reduction_of_blocks(const In& in, Out& out, const std::vector<MPI_Count>& counts, MPI_Op op) const {
    const auto blocks = copied(ValueBlocks{counts}, ranks(), in, "in");
    check_size(out, "out", own(*blocks));
    return arguments(blocks, std::data(in), std::data(out), blocks->counts.data(), type_in<In, Out>(), op);
  }
  template <class Array>
  static auto broadcast(Array& values, int root) {
    return arguments({}, std::data(values), count(values), type_in<Array>(), root);
  }
  // Both arrays have blocks of this size.
  template <class In, class Out, class... Root>
  static auto moved(const In& in, Out& out, MPI_Count block, Root... root) {
    const MPI_Datatype type = type_in<In, Out>();
    return arguments({}, std::data(in), block, type, std::data(out), block, type, root...);
  }
  template <class In, class Out>
  static auto gathered(const In& in, Out& out, std::size_t blocks) {
    check_size(out, "out", std::size(in) * blocks);
    return moved(in, out, count(in));
  }
  template <class In, class Out>
  auto gathered_at(int root, const In& in, Out& out) const {
    if (rank_ == root) check_size(out, "out", std::size(in) * ranks());
    return moved(in, out, count(in), root);
  }
  template <class In, class Out>
  auto scattered_from(int root, const In& in, Out& out) const {
    if (rank_ == root) check_size(in, "in", std::size(out) * ranks());
    return moved(in, out, count(out), root);
  }
  template <class In, class Out>
  auto exchanged(const In& in, Out& out) const {
    check_size(out, "out", std::size(in));
    const MPI_Count block = count(in) / size_;
    if (block * size_ != count(in))
      throw Error(TAUT_ERR_COUNT, "in: its size is no multiple of the number of ranks");
    return moved(in, out, block);
  }
  // One block of this rank, received as these blocks; null where they do not matter.
  template <class In, class Out, class... Root>
  static auto gathered_as(const std::shared_ptr<const ValueBlocks>& blocks, const In& in, Out& out,
                          Root... root) {
    const MPI_Datatype type = type_in<In, Out>();
    return arguments(blocks, std::data(in), count(in), type, std::data(out),
                     blocks ? blocks->counts.data() : nullptr,
                     blocks ? blocks->displacements.data() : nullptr, type, root...);
  }
  template <class In, class Out>
  auto gathered(const In& in, Out& out, const ValueBlocks& received) const {
    const auto blocks = copied(received, ranks(), out, "out");
    check_size(in, "in", own(*blocks));
    return gathered_as(blocks, in, out);
  }
  template <class In, class Out>
  auto gathered_at(int root, const In& in, Out& out, const ValueBlocks& received) const {
    if (rank_ != root) return gathered_as({}, in, out, root);
    const auto blocks = copied(received, ranks(), out, "out");
    check_size(in, "in", own(*blocks));
    return gathered_as(blocks, in, out, root);
  }
  template <class In, class Out>
  auto scattered_from(int root, const In& in, const ValueBlocks& sent, Out& out) const {
    const MPI_Datatype type = type_in<In, Out>();
    std::shared_ptr<const ValueBlocks> blocks;
    if (rank_ == root) {
      blocks = copied(sent, ranks(), in, "in");
      check_size(out, "out", own(*blocks));
    }
    return arguments(blocks, std::data(in), blocks ? blocks->counts.data() : nullptr,
                     blocks ? blocks->displacements.data() : nullptr, type, std::data(out), count(out), type,
                     root);
  }
  template <class In, class Out>
  static auto exchanged(const In& in, const ValueBlocks& sent, Out& out, const ValueBlocks& received,
                        Degrees to) {
    const MPI_Datatype type = type_in<In, Out>();
    const auto from_in = copied(sent, static_cast<std::size_t>(to.out), in, "in");
    const auto to_out = copied(received, static_cast<std::size_t>(to.in), out, "out");
    return arguments(std::make_shared<const std::pair<decltype(from_in), decltype(to_out)>>(from_in, to_out),
                     std::data(in), from_in->counts.data(), from_in->displacements.data(), type,
                     std::data(out), to_out->counts.data(), to_out->displacements.data(), type);
  }
  static auto exchanged(const void* in, const TypedBlocks& sent, void* out, const TypedBlocks& received,
                        Degrees to) {
    const auto from_in = copied(sent, static_cast<std::size_t>(to.out));
    const auto to_out = copied(received, static_cast<std::size_t>(to.in));
    return arguments(std::make_shared<const std::pair<decltype(from_in), decltype(to_out)>>(from_in, to_out),
                     in, from_in->counts.data(), from_in->displacements.data(), from_in->types.data(), out,
                     to_out->counts.data(), to_out->displacements.data(), to_out->types.data());
  }
  template <class In, class Out>
  auto shared_with_neighbours(const In& in, Out& out) const {
    return gathered(in, out, static_cast<std::size_t>(degrees_of(comm_).in));
  }
  template <class In, class Out>
  auto shared_with_neighbours(const In& in, Out& out, const ValueBlocks& received) const {
    const auto neighbours = static_cast<std::size_t>(degrees_of(comm_).in);
    return gathered_as(copied(received, neighbours, out, "out"), in, out);
  }
  template <class In, class Out>
  auto exchanged_with_neighbours(const In& in, Out& out) const {
    const Degrees neighbours = degrees_of(comm_);
    return moved(in, out, block_of(in, neighbours.out, out, neighbours.in));
  }

  Degrees everyone() const noexcept { return {size_, size_}; }
  std::size_t own(const ValueBlocks& blocks) const {
    return static_cast<std::size_t>(blocks.counts[static_cast<std::size_t>(rank_)]);
  }
  std::size_t ranks() const noexcept { return static_cast<std::size_t>(size_); }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};
}  // namespace detail

}  // namespace cxx
}  // namespace taut

#endif  // TAUT_ARGUMENTS_HPP
