// The halo exchange of one variant: by messages or by a neighbourhood collective, with MPI's or Taut's calls.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "elastic.hpp"

namespace wave3d {

// Kind of calls that exchange the halos.
enum class Way { messages, collective };

class Halo {
 public:
  // Collective over `cartesian`. An empty policy means plain MPI. Throws std::invalid_argument if Taut does
  // not accept the policy.
  Halo(MPI_Comm cartesian, const Box& box, const std::string& policy, Way way);
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;
  ~Halo();

  // Fills the halos of three components, which may differ from axis to axis.
  void exchange(WaveField& field, const std::array<std::array<Component, 3>, 3>& components_by_axis);

  // Returns the bytes of values that this rank has passed to MPI or Taut.
  double plain_bytes() const { return plain_bytes_; }
  // Returns the bytes that this rank has sent.
  double sent_bytes() const;
  // Returns the share of the values that travelled as frames.
  double coded_share() const;

 private:
  // A neighbour and its part of the buffers.
  struct Face {
    std::size_t axis;
    bool high;  // towards higher indices
    int neighbour;
    std::size_t offset, count;  // in values
  };

  void set_policies(const std::string& policy);
  void pass_messages();
  void pass_by_collective();

  Box box_;
  Way way_;
  bool plain_;
  std::array<MPI_Comm, 3> comms_;  // one for each axis, since the extents of faces differ
  std::vector<Face> faces_;
  Array out_, in_;
  std::size_t values_ = 0;  // in each of them
  double plain_bytes_ = 0;
};

}  // namespace wave3d
