// The handshake of the drop-in, on the ranks of the tests.
#include "communication/dropin/handshake.hpp"

#include "mpi/api/world.hpp"

namespace taut::test {
namespace {

using dropin::Handshake;
using Outcome = Handshake::Outcome;
constexpr std::chrono::seconds patience{20};

Outcome outcome_of(int version) {
  Handshake handshake(MPI_COMM_WORLD, version);
  const Outcome found = handshake.find_out(patience);
  MPI_Barrier(MPI_COMM_WORLD);
  return found;
}

TEST(Handshake, RanksOfOneVersionAreAllHere) { EXPECT_EQ(outcome_of(7), Outcome::all_here); }

TEST(Handshake, ARankOfAnotherVersionLeavesAllWithoutTaut) {
  const int me = rank_of(MPI_COMM_WORLD), P = size_of_comm(MPI_COMM_WORLD);
  if (P < 2) return;
  for (const int other : {0, P - 1}) {
    const Outcome found = outcome_of(me == other ? 8 : 7);
    const bool knows = me == 0 || me == other || other == 0;
    EXPECT_EQ(found, knows ? Outcome::other_version : Outcome::some_missing) << "rank " << other;
  }
}

}  // namespace
}  // namespace taut::test
