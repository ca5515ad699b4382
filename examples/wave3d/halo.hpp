// The halo exchange of one variant: by messages or by a neighbourhood collective, with MPI's or Taut's calls.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "elastic.hpp"

namespace wave3d {

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

  double plain_bytes() const {
    return plain_bytes_;
  }                            // bytes of values that this rank has passed to MPI or Taut
  double sent_bytes() const;   // bytes that it sent
  double coded_share() const;  // part of the values that travelled as frames

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
  std::vector<float> out_, in_;
  double plain_bytes_ = 0;
};

}  // namespace wave3d
