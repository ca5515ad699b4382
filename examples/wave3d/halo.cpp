#include "halo.hpp"

#include <taut/taut.h>

#include <stdexcept>

#include "../comparison/cores.hpp"
#include "loops.hpp"

namespace wave3d {
namespace {

// The two axes along a face: the slow one and the fast one in memory.
constexpr std::array<std::array<std::size_t, 2>, 3> axes_along{{{2, 1}, {2, 0}, {1, 0}}};

std::size_t cells_of_face(const Box& box, std::size_t axis) {
  const auto [slow, fast] = axes_along[axis];
  return static_cast<std::size_t>(box.extent[slow]) * static_cast<std::size_t>(box.extent[fast]);
}

constexpr void copy_cells(float* to, std::ptrdiff_t to_stride, const float* from, std::ptrdiff_t from_stride,
                          int first, int last) {
  for (int i = first; i < last; ++i) to[i * to_stride] = from[i * from_stride];
}

// Body of a loop (loops.hpp) that copies halo_planes planes of a component between an array and a buffer.
// Rows are those along the fast axis of the face.
struct CopyFace {
  float* array;  // at the first cell of the planes
  float* buffer;
  std::ptrdiff_t plane, slow, fast;  // strides in the array
  int rows, cells;                   // of a plane
  bool packs;                        // from the array to the buffer, else back

  constexpr void operator()(int row, int first, int last) const {
    float* const at = array + row / rows * plane + row % rows * slow;
    float* const packed = buffer + static_cast<std::ptrdiff_t>(row) * cells;
    if (packs && fast == 1)  // strides that compilers know: such copies are several times as fast
      copy_cells(packed, 1, at, 1, first, last);
    else if (packs)
      copy_cells(packed, 1, at, fast, first, last);
    else if (fast == 1)
      copy_cells(at, 1, packed, 1, first, last);
    else
      copy_cells(at, fast, packed, 1, first, last);
  }
};

void copy_face(const Box& box, std::size_t axis, int plane, float* array, float* buffer, bool packs) {
  const auto [slow, fast] = axes_along[axis];
  const std::array<std::ptrdiff_t, 3> stride{1, box.row(), box.plane()};
  const int rows = box.extent[slow], cells = box.extent[fast];
  for_each(halo_planes * rows, cells,
           CopyFace{array + box.at(0, 0, 0) + plane * stride[axis], buffer, stride[axis], stride[slow],
                    stride[fast], rows, cells, packs});
}

// Returns the extents of a message: the planes of three components, then the face.
std::string dims_of(const Box& box, std::size_t axis) {
  const auto [slow, fast] = axes_along[axis];
  return std::to_string(3 * halo_planes) + "x" + std::to_string(box.extent[slow]) + "x" +
         std::to_string(box.extent[fast]);
}

}  // namespace

Halo::Halo(MPI_Comm cartesian, const Box& box, const std::string& policy, Way way)
    : box_(box), way_(way), plain_(policy.empty()) {
  for (MPI_Comm& comm : comms_) MPI_Comm_dup(cartesian, &comm);
  std::size_t values = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    int low = MPI_PROC_NULL, high = MPI_PROC_NULL;
    MPI_Cart_shift(cartesian, static_cast<int>(axis), 1, &low, &high);
    const std::size_t count = 3 * halo_planes * cells_of_face(box, axis);
    for (const int neighbour : {low, high}) {
      const bool there = neighbour != MPI_PROC_NULL;
      faces_.push_back({axis, faces_.size() % 2 == 1, neighbour, values, there ? count : 0});
      values += faces_.back().count;
    }
  }
  values_ = values;
  out_ = Array(values);
  in_ = Array(values);
  if (!plain_) set_policies(policy);
}

Halo::~Halo() {
  for (MPI_Comm& comm : comms_) MPI_Comm_free(&comm);
}

// Sets the policy with the extents of each axis' messages. A collective has faces of all axes: it gets
// extents only if they are alike.
void Halo::set_policies(const std::string& policy) {
  bool alike = true;
  std::size_t first = faces_.size();
  for (std::size_t i = 0; i < faces_.size(); ++i) {
    if (faces_[i].count == 0) continue;
    if (first == faces_.size()) first = i;
    alike = alike && dims_of(box_, faces_[i].axis) == dims_of(box_, faces_[first].axis);
  }
  const std::size_t axis_of_all = first == faces_.size() ? 0 : faces_[first].axis;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t shown = way_ == Way::messages ? axis : axis_of_all;
    int with_dims = way_ == Way::messages || alike;
    MPI_Allreduce(MPI_IN_PLACE, &with_dims, 1, MPI_INT, MPI_MIN, comms_[axis]);
    const std::string text = policy + (with_dims != 0 ? ",dims=" + dims_of(box_, shown) : "");
    MPI_Comm_set_errhandler(comms_[axis], MPI_ERRORS_RETURN);
    const int status = TAUT_Comm_set_policy(comms_[axis], text.c_str());
    MPI_Comm_set_errhandler(comms_[axis], MPI_ERRORS_ARE_FATAL);
    if (status != MPI_SUCCESS) throw std::invalid_argument(text + ": Taut does not accept this policy");
  }
}

void Halo::exchange(WaveField& field, const std::array<std::array<Component, 3>, 3>& components_by_axis) {
  const auto copy = [&](bool packs) {
    for (const Face& face : faces_) {
      if (face.count == 0) continue;
      float* buffer = (packs ? out_ : in_).data() + face.offset;
      const int own = face.high ? box_.extent[face.axis] - halo_planes : 0;
      const int halo = face.high ? box_.extent[face.axis] : -halo_planes;
      for (const Component c : components_by_axis[face.axis]) {
        copy_face(box_, face.axis, packs ? own : halo, field.data(c), buffer, packs);
        buffer += halo_planes * cells_of_face(box_, face.axis);
      }
    }
    finish_loops();
  };
  copy(true);
  if (way_ == Way::messages)
    pass_messages();
  else
    pass_by_collective();
  plain_bytes_ += static_cast<double>(values_ * sizeof(float));
  copy(false);
}

void Halo::pass_messages() {
  std::array<MPI_Request, 12> plain;
  std::array<TAUT_Request, 12> taut;
  float *const out = plain_ ? out_.to_host() : out_.data(), *const in = plain_ ? in_.to_host() : in_.data();
  int n = 0;
  for (const bool send : {false, true})
    for (const Face& face : faces_) {
      if (face.count == 0) continue;
      const auto count = static_cast<int>(face.count);
      const int tag = send == face.high;  // by the direction in which the message goes
      const MPI_Comm comm = comms_[face.axis];
      float *to = in + face.offset, *from = out + face.offset;
      const auto i = static_cast<std::size_t>(n++);
      if (plain_ && send) MPI_Isend(from, count, MPI_FLOAT, face.neighbour, tag, comm, &plain[i]);
      if (plain_ && !send) MPI_Irecv(to, count, MPI_FLOAT, face.neighbour, tag, comm, &plain[i]);
      if (!plain_ && send) TAUT_Isend(from, count, MPI_FLOAT, face.neighbour, tag, comm, &taut[i]);
      if (!plain_ && !send) TAUT_Irecv(to, count, MPI_FLOAT, face.neighbour, tag, comm, &taut[i]);
    }
  if (plain_) {
    comparison::wait_all(n, plain.data());
    in_.from_host();
  } else {
    TAUT_Waitall(n, taut.data(), MPI_STATUSES_IGNORE);
  }
}

// The neighbours of a Cartesian communicator have the order of the faces.
void Halo::pass_by_collective() {
  std::array<int, 6> counts{}, displacements{};
  std::array<MPI_Count, 6> long_counts{};
  std::array<MPI_Aint, 6> long_displacements{};
  for (std::size_t i = 0; i < 6; ++i) {
    long_counts[i] = counts[i] = static_cast<int>(faces_[i].count);
    long_displacements[i] = displacements[i] = static_cast<int>(faces_[i].offset);
  }
  if (plain_) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ineighbor_alltoallv(out_.to_host(), counts.data(), displacements.data(), MPI_FLOAT, in_.to_host(),
                            counts.data(), displacements.data(), MPI_FLOAT, comms_[0], &request);
    comparison::wait_all(1, &request);
    in_.from_host();
  } else {
    TAUT_Neighbor_alltoallv(out_.data(), long_counts.data(), long_displacements.data(), MPI_FLOAT, in_.data(),
                            long_counts.data(), long_displacements.data(), MPI_FLOAT, comms_[0]);
  }
}

namespace {

// Returns the statistics of the communicators together.
TAUT_Stats stats_of(const std::array<MPI_Comm, 3>& comms) {
  TAUT_Stats sum{};
  for (const MPI_Comm comm : comms) {
    TAUT_Stats stats{};
    stats.struct_size = sizeof stats;
    TAUT_Comm_get_stats(comm, &stats);
    sum.sent_bytes += stats.sent_bytes;
    sum.carried_bytes += stats.carried_bytes;
  }
  return sum;
}

}  // namespace

double Halo::sent_bytes() const {
  const TAUT_Stats stats = stats_of(comms_);
  return plain_bytes_ - static_cast<double>(stats.carried_bytes) + static_cast<double>(stats.sent_bytes);
}

double Halo::coded_share() const {
  return plain_bytes_ > 0 ? static_cast<double>(stats_of(comms_).carried_bytes) / plain_bytes_ : 0;
}

}  // namespace wave3d
