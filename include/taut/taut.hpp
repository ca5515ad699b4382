// taut.hpp -- taut.h for C++17: arrays instead of pointers and counts, exceptions instead of codes.
//
// An array is any object that std::data and std::size accept: std::vector, std::array, std::span, a view of a
// field. Its values are floating-point numbers, complex numbers or integers. Sizes are checked before
// anything is sent. taut.h documents what the calls do and promise; frame.hpp has the calls that need no MPI.
//
// Each collective has three forms with the same arguments, as in MPI: blocking (`scan`), nonblocking
// (`iscan`) and persistent (`scan_init`). The last two return a Request.
#ifndef TAUT_TAUT_HPP
#define TAUT_TAUT_HPP

#include <taut/arguments.hpp>

namespace taut {
inline namespace cxx {

// Call in flight, or persistent call. Its arrays must stay alive and unmodified until wait() or test()
// reports completion, those of a persistent call from each start() on. Blocks (ValueBlocks, TypedBlocks) are
// copied.
class Request {
 public:
  Request() = default;
  Request(Request&& other) noexcept
      : request_(std::exchange(other.request_, TAUT_REQUEST_NULL)), arrays_(std::move(other.arrays_)) {}
  Request& operator=(Request&& other) noexcept {
    std::swap(request_, other.request_);
    arrays_.swap(other.arrays_);
    return *this;
  }
  ~Request() { TAUT_Request_free(&request_); }  // waits

  // Starts a persistent call. All ranks start their calls in the same order. Another request, or one in
  // flight, is an error that the handler of MPI_COMM_SELF gets; it becomes an exception if that one returns.
  void start() { detail::check_mpi(TAUT_Start(&request_)); }
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
  friend class Communicator;
  TAUT_Request request_ = TAUT_REQUEST_NULL;
  std::shared_ptr<const void> arrays_;  // of blocks
};

// Duplicate of a communicator, with a policy of its own; errors on it become exceptions. All ranks create and
// destroy it together, before MPI_Finalize.
class Communicator : private detail::Caller {
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
  Communicator(Communicator&& other) noexcept : Caller(other) { other.comm_ = MPI_COMM_NULL; }
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
    complete(TAUT_Allreduce, reduction(in, out, op));
  }
  template <class In, class Out, class = Value<Out>>
  [[nodiscard]] Request iallreduce(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    return start(TAUT_Iallreduce, reduction(in, out, op));
  }
  template <class In, class Out, class = Value<Out>>
  [[nodiscard]] Request allreduce_init(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    return prepare(TAUT_Allreduce_init, reduction(in, out, op));
  }
  template <class Array>
  void allreduce(Array&& values, MPI_Op op = MPI_SUM) const {
    complete(TAUT_Allreduce, in_place(values, op));
  }
  template <class Array>
  [[nodiscard]] Request iallreduce(Array&& values, MPI_Op op = MPI_SUM) const {
    return start(TAUT_Iallreduce, in_place(values, op));
  }
  template <class Array>
  [[nodiscard]] Request allreduce_init(Array&& values, MPI_Op op = MPI_SUM) const {
    return prepare(TAUT_Allreduce_init, in_place(values, op));
  }

  // Computes the reduction over the ranks up to this one. `out` is as long as `in`.
  template <class In, class Out>
  void scan(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    complete(TAUT_Scan, reduction(in, out, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request iscan(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    return start(TAUT_Iscan, reduction(in, out, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request scan_init(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    return prepare(TAUT_Scan_init, reduction(in, out, op));
  }

  // Computes the reduction over the ranks before this one. On rank 0 `out` is not touched.
  template <class In, class Out>
  void exscan(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    complete(TAUT_Exscan, reduction(in, out, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request iexscan(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    return start(TAUT_Iexscan, reduction(in, out, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request exscan_init(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    return prepare(TAUT_Exscan_init, reduction(in, out, op));
  }

  // Here and in gather, `out` matters at the root alone.
  template <class In, class Out>
  void reduce(const In& in, Out&& out, int root = 0, MPI_Op op = MPI_SUM) const {
    complete(TAUT_Reduce, reduction_at(root, in, out, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request ireduce(const In& in, Out&& out, int root = 0, MPI_Op op = MPI_SUM) const {
    return start(TAUT_Ireduce, reduction_at(root, in, out, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request reduce_init(const In& in, Out&& out, int root = 0, MPI_Op op = MPI_SUM) const {
    return prepare(TAUT_Reduce_init, reduction_at(root, in, out, op));
  }

  // `out` holds one block, `in` one block for each rank.
  template <class In, class Out>
  void reduce_scatter(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    complete(TAUT_Reduce_scatter_block, reduction_of_blocks(in, out, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request ireduce_scatter(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    return start(TAUT_Ireduce_scatter_block, reduction_of_blocks(in, out, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request reduce_scatter_init(const In& in, Out&& out, MPI_Op op = MPI_SUM) const {
    return prepare(TAUT_Reduce_scatter_block_init, reduction_of_blocks(in, out, op));
  }

  // `in` holds counts[r] values for each rank r, `out` those of this rank.
  template <class In, class Out>
  void reduce_scatter(const In& in, Out&& out, const std::vector<MPI_Count>& counts,
                      MPI_Op op = MPI_SUM) const {
    complete(TAUT_Reduce_scatter, reduction_of_blocks(in, out, counts, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request ireduce_scatter(const In& in, Out&& out, const std::vector<MPI_Count>& counts,
                                        MPI_Op op = MPI_SUM) const {
    return start(TAUT_Ireduce_scatter, reduction_of_blocks(in, out, counts, op));
  }
  template <class In, class Out>
  [[nodiscard]] Request reduce_scatter_init(const In& in, Out&& out, const std::vector<MPI_Count>& counts,
                                            MPI_Op op = MPI_SUM) const {
    return prepare(TAUT_Reduce_scatter_init, reduction_of_blocks(in, out, counts, op));
  }

  template <class Array>
  void bcast(Array&& values, int root = 0) const {
    complete(TAUT_Bcast, broadcast(values, root));
  }
  template <class Array>
  [[nodiscard]] Request ibcast(Array&& values, int root = 0) const {
    return start(TAUT_Ibcast, broadcast(values, root));
  }
  template <class Array>
  [[nodiscard]] Request bcast_init(Array&& values, int root = 0) const {
    return prepare(TAUT_Bcast_init, broadcast(values, root));
  }

  // `in` holds one block, `out` one block for each rank.
  template <class In, class Out>
  void allgather(const In& in, Out&& out) const {
    complete(TAUT_Allgather, gathered(in, out, ranks()));
  }
  template <class In, class Out>
  [[nodiscard]] Request iallgather(const In& in, Out&& out) const {
    return start(TAUT_Iallgather, gathered(in, out, ranks()));
  }
  template <class In, class Out>
  [[nodiscard]] Request allgather_init(const In& in, Out&& out) const {
    return prepare(TAUT_Allgather_init, gathered(in, out, ranks()));
  }
  template <class In, class Out>
  void gather(const In& in, Out&& out, int root = 0) const {
    complete(TAUT_Gather, gathered_at(root, in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request igather(const In& in, Out&& out, int root = 0) const {
    return start(TAUT_Igather, gathered_at(root, in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request gather_init(const In& in, Out&& out, int root = 0) const {
    return prepare(TAUT_Gather_init, gathered_at(root, in, out));
  }

  // `out` holds one block, `in` one block for each rank; `in` matters at the root alone.
  template <class In, class Out>
  void scatter(const In& in, Out&& out, int root = 0) const {
    complete(TAUT_Scatter, scattered_from(root, in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request iscatter(const In& in, Out&& out, int root = 0) const {
    return start(TAUT_Iscatter, scattered_from(root, in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request scatter_init(const In& in, Out&& out, int root = 0) const {
    return prepare(TAUT_Scatter_init, scattered_from(root, in, out));
  }

  // `in` and `out` hold one block for each rank.
  template <class In, class Out>
  void alltoall(const In& in, Out&& out) const {
    complete(TAUT_Alltoall, exchanged(in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request ialltoall(const In& in, Out&& out) const {
    return start(TAUT_Ialltoall, exchanged(in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request alltoall_init(const In& in, Out&& out) const {
    return prepare(TAUT_Alltoall_init, exchanged(in, out));
  }

  // The calls with blocks of any size. `in` of allgatherv and gatherv, and `out` of scatterv, are the block
  // of this rank. Blocks of gatherv and scatterv matter at the root alone.
  template <class In, class Out>
  void allgatherv(const In& in, Out&& out, const ValueBlocks& received) const {
    complete(TAUT_Allgatherv, gathered(in, out, received));
  }
  template <class In, class Out>
  [[nodiscard]] Request iallgatherv(const In& in, Out&& out, const ValueBlocks& received) const {
    return start(TAUT_Iallgatherv, gathered(in, out, received));
  }
  template <class In, class Out>
  [[nodiscard]] Request allgatherv_init(const In& in, Out&& out, const ValueBlocks& received) const {
    return prepare(TAUT_Allgatherv_init, gathered(in, out, received));
  }
  template <class In, class Out>
  void gatherv(const In& in, Out&& out, const ValueBlocks& received, int root = 0) const {
    complete(TAUT_Gatherv, gathered_at(root, in, out, received));
  }
  template <class In, class Out>
  [[nodiscard]] Request igatherv(const In& in, Out&& out, const ValueBlocks& received, int root = 0) const {
    return start(TAUT_Igatherv, gathered_at(root, in, out, received));
  }
  template <class In, class Out>
  [[nodiscard]] Request gatherv_init(const In& in, Out&& out, const ValueBlocks& received,
                                     int root = 0) const {
    return prepare(TAUT_Gatherv_init, gathered_at(root, in, out, received));
  }
  template <class In, class Out>
  void scatterv(const In& in, const ValueBlocks& sent, Out&& out, int root = 0) const {
    complete(TAUT_Scatterv, scattered_from(root, in, sent, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request iscatterv(const In& in, const ValueBlocks& sent, Out&& out, int root = 0) const {
    return start(TAUT_Iscatterv, scattered_from(root, in, sent, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request scatterv_init(const In& in, const ValueBlocks& sent, Out&& out, int root = 0) const {
    return prepare(TAUT_Scatterv_init, scattered_from(root, in, sent, out));
  }
  template <class In, class Out>
  void alltoallv(const In& in, const ValueBlocks& sent, Out&& out, const ValueBlocks& received) const {
    complete(TAUT_Alltoallv, exchanged(in, sent, out, received, everyone()));
  }
  template <class In, class Out>
  [[nodiscard]] Request ialltoallv(const In& in, const ValueBlocks& sent, Out&& out,
                                   const ValueBlocks& received) const {
    return start(TAUT_Ialltoallv, exchanged(in, sent, out, received, everyone()));
  }
  template <class In, class Out>
  [[nodiscard]] Request alltoallv_init(const In& in, const ValueBlocks& sent, Out&& out,
                                       const ValueBlocks& received) const {
    return prepare(TAUT_Alltoallv_init, exchanged(in, sent, out, received, everyone()));
  }
  void alltoallw(const void* in, const TypedBlocks& sent, void* out, const TypedBlocks& received) const {
    complete(TAUT_Alltoallw, exchanged(in, sent, out, received, everyone()));
  }
  [[nodiscard]] Request ialltoallw(const void* in, const TypedBlocks& sent, void* out,
                                   const TypedBlocks& received) const {
    return start(TAUT_Ialltoallw, exchanged(in, sent, out, received, everyone()));
  }
  [[nodiscard]] Request alltoallw_init(const void* in, const TypedBlocks& sent, void* out,
                                       const TypedBlocks& received) const {
    return prepare(TAUT_Alltoallw_init, exchanged(in, sent, out, received, everyone()));
  }

  // The calls between neighbours in the communicator's topology. `in` of the first two is one block, which
  // all neighbours receive; other arrays have one block for each neighbour.
  template <class In, class Out>
  void neighbor_allgather(const In& in, Out&& out) const {
    complete(TAUT_Neighbor_allgather, shared_with_neighbours(in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request ineighbor_allgather(const In& in, Out&& out) const {
    return start(TAUT_Ineighbor_allgather, shared_with_neighbours(in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request neighbor_allgather_init(const In& in, Out&& out) const {
    return prepare(TAUT_Neighbor_allgather_init, shared_with_neighbours(in, out));
  }
  template <class In, class Out>
  void neighbor_allgatherv(const In& in, Out&& out, const ValueBlocks& received) const {
    complete(TAUT_Neighbor_allgatherv, shared_with_neighbours(in, out, received));
  }
  template <class In, class Out>
  [[nodiscard]] Request ineighbor_allgatherv(const In& in, Out&& out, const ValueBlocks& received) const {
    return start(TAUT_Ineighbor_allgatherv, shared_with_neighbours(in, out, received));
  }
  template <class In, class Out>
  [[nodiscard]] Request neighbor_allgatherv_init(const In& in, Out&& out, const ValueBlocks& received) const {
    return prepare(TAUT_Neighbor_allgatherv_init, shared_with_neighbours(in, out, received));
  }
  template <class In, class Out>
  void neighbor_alltoall(const In& in, Out&& out) const {
    complete(TAUT_Neighbor_alltoall, exchanged_with_neighbours(in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request ineighbor_alltoall(const In& in, Out&& out) const {
    return start(TAUT_Ineighbor_alltoall, exchanged_with_neighbours(in, out));
  }
  template <class In, class Out>
  [[nodiscard]] Request neighbor_alltoall_init(const In& in, Out&& out) const {
    return prepare(TAUT_Neighbor_alltoall_init, exchanged_with_neighbours(in, out));
  }
  template <class In, class Out>
  void neighbor_alltoallv(const In& in, const ValueBlocks& sent, Out&& out,
                          const ValueBlocks& received) const {
    complete(TAUT_Neighbor_alltoallv, exchanged(in, sent, out, received, detail::degrees_of(comm_)));
  }
  template <class In, class Out>
  [[nodiscard]] Request ineighbor_alltoallv(const In& in, const ValueBlocks& sent, Out&& out,
                                            const ValueBlocks& received) const {
    return start(TAUT_Ineighbor_alltoallv, exchanged(in, sent, out, received, detail::degrees_of(comm_)));
  }
  template <class In, class Out>
  [[nodiscard]] Request neighbor_alltoallv_init(const In& in, const ValueBlocks& sent, Out&& out,
                                                const ValueBlocks& received) const {
    return prepare(TAUT_Neighbor_alltoallv_init,
                   exchanged(in, sent, out, received, detail::degrees_of(comm_)));
  }
  void neighbor_alltoallw(const void* in, const TypedBlocks& sent, void* out,
                          const TypedBlocks& received) const {
    complete(TAUT_Neighbor_alltoallw, exchanged(in, sent, out, received, detail::degrees_of(comm_)));
  }
  [[nodiscard]] Request ineighbor_alltoallw(const void* in, const TypedBlocks& sent, void* out,
                                            const TypedBlocks& received) const {
    return start(TAUT_Ineighbor_alltoallw, exchanged(in, sent, out, received, detail::degrees_of(comm_)));
  }
  [[nodiscard]] Request neighbor_alltoallw_init(const void* in, const TypedBlocks& sent, void* out,
                                                const TypedBlocks& received) const {
    return prepare(TAUT_Neighbor_alltoallw_init,
                   exchanged(in, sent, out, received, detail::degrees_of(comm_)));
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
    return start(TAUT_Isend, detail::arguments({}, std::data(values), detail::count(values),
                                               detail::type_in<const Array>(), dest, tag));
  }
  template <class Array>
  [[nodiscard]] Request irecv(Array&& values, int source, int tag = MPI_ANY_TAG) const {
    return start(TAUT_Irecv, detail::arguments({}, std::data(values), detail::count(values),
                                               detail::type_in<Array>(), source, tag));
  }

 private:
  // ---- The three forms of a collective

  template <class Function, class... Values>
  void complete(Function function, const detail::Arguments<Values...>& call) const {
    detail::check_mpi(std::apply(function, std::tuple_cat(call.values, std::tuple(comm_))));
  }
  template <class Function, class... Values>
  Request start(Function function, const detail::Arguments<Values...>& call) const {
    Request request;
    request.arrays_ = call.arrays;
    detail::check_mpi(
        std::apply(function, std::tuple_cat(call.values, std::tuple(comm_, &request.request_))));
    return request;
  }
  template <class Function, class... Values>
  Request prepare(Function function, const detail::Arguments<Values...>& call) const {
    Request request;
    request.arrays_ = call.arrays;
    detail::check_mpi(std::apply(
        function, std::tuple_cat(call.values, std::tuple(comm_, MPI_INFO_NULL, &request.request_))));
    return request;
  }
};

}  // namespace cxx
}  // namespace taut

#endif  // TAUT_TAUT_HPP
