// taut.hpp -- taut.h for C++17: arrays instead of pointers and counts, exceptions instead of codes.
//
// An array is any object that std::data and std::size accept: std::vector, std::array, std::span, a view of a
// field. Its values are floating-point numbers, complex numbers or integers. Sizes are checked before
// anything is sent. taut.h documents what the calls do and promise; frame.hpp has the calls that need no MPI.
#ifndef TAUT_TAUT_HPP
#define TAUT_TAUT_HPP

#include <taut/frame.hpp>

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

// Blocks of one buffer of a call: for each block a count, a displacement in bytes and a datatype.
struct TypedBlocks {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
};

namespace detail {
inline void check_blocks(const TypedBlocks& blocks, std::size_t needed) {
  for (const std::size_t n : {blocks.counts.size(), blocks.displacements.size(), blocks.types.size()})
    if (n != needed)
      throw Error(TAUT_ERR_COUNT, std::to_string(n) + " blocks; the call needs " + std::to_string(needed));
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
}  // namespace detail

// Call in flight. Its arrays must stay alive and unmodified until wait() or test() reports completion.
class Request {
 public:
  Request() = default;
  Request(Request&& other) noexcept : request_(std::exchange(other.request_, TAUT_REQUEST_NULL)) {}
  Request& operator=(Request&& other) noexcept {
    std::swap(request_, other.request_);
    return *this;
  }
  ~Request() { TAUT_Request_free(&request_); }  // waits

  MPI_Status wait() {
    MPI_Status status;
    detail::check_mpi(TAUT_Wait(&request_, &status));
    return status;
  }
  bool test() {
    int complete = 0;
    detail::check_mpi(TAUT_Test(&request_, &complete, MPI_STATUS_IGNORE));
    return complete != 0;
  }
  TAUT_Request* get() noexcept { return &request_; }

 private:
  TAUT_Request request_ = TAUT_REQUEST_NULL;
};

// Duplicate of a communicator, with a policy of its own; errors on it become exceptions. All ranks create and
// destroy it together, before MPI_Finalize.
class Communicator {
 public:
  Communicator(MPI_Comm comm, const std::string& policy) {
    detail::check_mpi(MPI_Comm_dup(comm, &comm_));
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    if (const int code = TAUT_Comm_set_policy(comm_, policy.c_str()); code != MPI_SUCCESS) {
      MPI_Comm_free(&comm_);
      detail::check_mpi(code);
    }
  }
  Communicator(Communicator&& other) noexcept
      : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}
  Communicator& operator=(Communicator&&) = delete;
  ~Communicator() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  MPI_Comm get() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  void set_policy(const std::string& policy) const {
    detail::check_mpi(TAUT_Comm_set_policy(comm_, policy.c_str()));
  }

  TAUT_Stats stats() const {
    TAUT_Stats found{};
    found.struct_size = sizeof found;
    detail::check_mpi(TAUT_Comm_get_stats(comm_, &found));
    return found;
  }
  std::string explain() const {
    std::size_t needed = 0;
    detail::check_mpi(TAUT_Comm_explain(comm_, nullptr, 0, &needed));
    std::string text(needed, '\0');
    detail::check_mpi(TAUT_Comm_explain(comm_, text.data(), text.size(), nullptr));
    text.pop_back();
    return text;
  }

  // ---- Collective calls

  // `out` is as long as `in`. Without `in` the call works in place.
  template <class In, class Out, class = Value<Out>>
  void allreduce(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    detail::check_size(out, "out", std::size(in));
    detail::check_mpi(TAUT_Allreduce(std::data(in), std::data(out), detail::count(in),
                                     detail::type_in<In, Out>(), op, comm_));
  }
  template <class Array>
  void allreduce(Array&& values, MPI_Op op = MPI_SUM) const {
    detail::check_mpi(TAUT_Allreduce(MPI_IN_PLACE, std::data(values), detail::count(values),
                                     detail::type_in<Array>(), op, comm_));
  }
  template <class In, class Out, class = Value<Out>>
  [[nodiscard]] Request iallreduce(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    detail::check_size(out, "out", std::size(in));
    return started([&](TAUT_Request* request) {
      return TAUT_Iallreduce(std::data(in), std::data(out), detail::count(in), detail::type_in<In, Out>(), op,
                             comm_, request);
    });
  }
  template <class Array>
  [[nodiscard]] Request iallreduce(Array&& values, MPI_Op op = MPI_SUM) const {
    return started([&](TAUT_Request* request) {
      return TAUT_Iallreduce(MPI_IN_PLACE, std::data(values), detail::count(values), detail::type_in<Array>(),
                             op, comm_, request);
    });
  }

  // Here and in gather, `out` matters at the root alone.
  template <class In, class Out>
  void reduce(const In& in, Out&& out, int root = 0, MPI_Op op = MPI_SUM) const {
    if (rank_ == root) detail::check_size(out, "out", std::size(in));
    detail::check_mpi(TAUT_Reduce(std::data(in), std::data(out), detail::count(in),
                                  detail::type_in<In, Out>(), op, root, comm_));
  }

  // `out` holds one block, `in` one block for each rank.
  template <class In, class Out>
  void reduce_scatter(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    detail::check_size(in, "in", std::size(out) * ranks());
    detail::check_mpi(TAUT_Reduce_scatter_block(std::data(in), std::data(out), detail::count(out),
                                                detail::type_in<In, Out>(), op, comm_));
  }

  template <class Array>
  void bcast(Array&& values, int root = 0) const {
    detail::check_mpi(
        TAUT_Bcast(std::data(values), detail::count(values), detail::type_in<Array>(), root, comm_));
  }
  template <class Array>
  [[nodiscard]] Request ibcast(Array&& values, int root = 0) const {
    return started([&](TAUT_Request* request) {
      return TAUT_Ibcast(std::data(values), detail::count(values), detail::type_in<Array>(), root, comm_,
                         request);
    });
  }

  // `in` holds one block, `out` one block for each rank.
  template <class In, class Out>
  void allgather(const In& in, Out&& out) const {
    detail::check_size(out, "out", std::size(in) * ranks());
    const MPI_Datatype type = detail::type_in<In, Out>();
    detail::check_mpi(TAUT_Allgather(std::data(in), detail::count(in), type, std::data(out),
                                     detail::count(in), type, comm_));
  }
  template <class In, class Out>
  void gather(const In& in, Out&& out, int root = 0) const {
    if (rank_ == root) detail::check_size(out, "out", std::size(in) * ranks());
    const MPI_Datatype type = detail::type_in<In, Out>();
    detail::check_mpi(TAUT_Gather(std::data(in), detail::count(in), type, std::data(out), detail::count(in),
                                  type, root, comm_));
  }

  // `out` holds one block, `in` one block for each rank; `in` matters at the root alone.
  template <class In, class Out>
  void scatter(const In& in, Out&& out, int root = 0) const {
    if (rank_ == root) detail::check_size(in, "in", std::size(out) * ranks());
    const MPI_Datatype type = detail::type_in<In, Out>();
    detail::check_mpi(TAUT_Scatter(std::data(in), detail::count(out), type, std::data(out),
                                   detail::count(out), type, root, comm_));
  }

  // `in` and `out` hold one block for each rank.
  template <class In, class Out>
  void alltoall(const In& in, Out&& out) const {
    detail::check_size(out, "out", std::size(in));
    const MPI_Count block = detail::count(in) / size_;
    if (block * size_ != detail::count(in))
      throw Error(TAUT_ERR_COUNT, "in: its size is no multiple of the number of ranks");
    const MPI_Datatype type = detail::type_in<In, Out>();
    detail::check_mpi(TAUT_Alltoall(std::data(in), block, type, std::data(out), block, type, comm_));
  }

  // `sent` and `received` have one block for each rank.
  void alltoallw(const void* in, const TypedBlocks& sent, void* out, const TypedBlocks& received) const {
    detail::check_blocks(sent, ranks());
    detail::check_blocks(received, ranks());
    detail::check_mpi(TAUT_Alltoallw(in, sent.counts.data(), sent.displacements.data(), sent.types.data(),
                                     out, received.counts.data(), received.displacements.data(),
                                     received.types.data(), comm_));
  }

  // `in` holds one block, `out` one block for each neighbour in the communicator's topology.
  template <class In, class Out>
  void neighbor_allgather(const In& in, Out&& out) const {
    detail::block_of(in, 1, out, detail::degrees_of(comm_).in);
    const MPI_Datatype type = detail::type_in<In, Out>();
    detail::check_mpi(TAUT_Neighbor_allgather(std::data(in), detail::count(in), type, std::data(out),
                                              detail::count(in), type, comm_));
  }

  // `in` and `out` hold one block for each neighbour in the communicator's topology.
  template <class In, class Out>
  void neighbor_alltoall(const In& in, Out&& out) const {
    const detail::Degrees neighbours = detail::degrees_of(comm_);
    const MPI_Count block = detail::block_of(in, neighbours.out, out, neighbours.in);
    const MPI_Datatype type = detail::type_in<In, Out>();
    detail::check_mpi(TAUT_Neighbor_alltoall(std::data(in), block, type, std::data(out), block, type, comm_));
  }

  // `sent` and `received` have one block for each neighbour.
  void neighbor_alltoallw(const void* in, const TypedBlocks& sent, void* out,
                          const TypedBlocks& received) const {
    const detail::Degrees neighbours = detail::degrees_of(comm_);
    detail::check_blocks(sent, static_cast<std::size_t>(neighbours.out));
    detail::check_blocks(received, static_cast<std::size_t>(neighbours.in));
    detail::check_mpi(TAUT_Neighbor_alltoallw(in, sent.counts.data(), sent.displacements.data(),
                                              sent.types.data(), out, received.counts.data(),
                                              received.displacements.data(), received.types.data(), comm_));
  }

  // ---- Messages

  template <class Array>
  void send(const Array& values, int dest, int tag = 0) const {
    detail::check_mpi(TAUT_Send(std::data(values), detail::count(values), detail::type_in<const Array>(),
                                dest, tag, comm_));
  }
  // Receives a message of at most as many values as `values` has room for; MPI_Get_count returns their
  // number.
  template <class Array>
  MPI_Status recv(Array&& values, int source, int tag = MPI_ANY_TAG) const {
    MPI_Status status;
    detail::check_mpi(TAUT_Recv(std::data(values), detail::count(values), detail::type_in<Array>(), source,
                                tag, comm_, &status));
    return status;
  }
  template <class Array>
  [[nodiscard]] Request isend(const Array& values, int dest, int tag = 0) const {
    return started([&](TAUT_Request* request) {
      return TAUT_Isend(std::data(values), detail::count(values), detail::type_in<const Array>(), dest, tag,
                        comm_, request);
    });
  }
  template <class Array>
  [[nodiscard]] Request irecv(Array&& values, int source, int tag = MPI_ANY_TAG) const {
    return started([&](TAUT_Request* request) {
      return TAUT_Irecv(std::data(values), detail::count(values), detail::type_in<Array>(), source, tag,
                        comm_, request);
    });
  }

 private:
  template <class Start>
  static Request started(Start start) {
    Request request;
    detail::check_mpi(start(request.get()));
    return request;
  }
  std::size_t ranks() const noexcept { return static_cast<std::size_t>(size_); }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace cxx
}  // namespace taut

#endif  // TAUT_TAUT_HPP
