#include "exchange.hpp"

#include <taut/taut.h>

namespace fft {
namespace {

MPI_Datatype block_of(const Triple& extent, std::size_t axis, Part block) {
  Triple size = extent, start{};
  size[axis] = block.count;
  start[axis] = block.first;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, extent.data(), size.data(), start.data(), MPI_ORDER_C, MPI_CXX_DOUBLE_COMPLEX,
                           &type);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

Exchange::Exchange(MPI_Comm comm, const Triple& from, std::size_t split, const Triple& to,
                   std::size_t gathered)
    : comm_(comm) {
  int ranks = 1, me = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &me);
  counts_.assign(static_cast<std::size_t>(ranks), 1);
  displacements_.assign(static_cast<std::size_t>(ranks), 0);
  for (int r = 0; r < ranks; ++r) {
    const Part sent = part(from[split], ranks, r);
    out_.push_back(block_of(from, split, sent));
    in_.push_back(block_of(to, gathered, part(to[gathered], ranks, r)));
    if (r != me) travelling_ += static_cast<double>(volume(from)) / from[split] * sent.count;
  }
}

Exchange::~Exchange() {
  for (auto* types : {&out_, &in_})
    for (MPI_Datatype& type : *types) MPI_Type_free(&type);
}

void Exchange::forward(const Complex* from, Complex* to, MPI_Comm taut) const {
  if (taut == MPI_COMM_NULL) {
    MPI_Alltoallw(from, counts_.data(), displacements_.data(), out_.data(), to, counts_.data(),
                  displacements_.data(), in_.data(), comm_);
    return;
  }
  const std::vector<MPI_Count> counts(counts_.begin(), counts_.end());
  const std::vector<MPI_Aint> displacements(displacements_.begin(), displacements_.end());
  TAUT_Alltoallw(from, counts.data(), displacements.data(), out_.data(), to, counts.data(),
                 displacements.data(), in_.data(), taut);
}

void Exchange::backward(const Complex* from, Complex* to) const {
  MPI_Alltoallw(from, counts_.data(), displacements_.data(), in_.data(), to, counts_.data(),
                displacements_.data(), out_.data(), comm_);
}

}  // namespace fft
