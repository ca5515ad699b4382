// Random calls on real MPI: no violation of the bound, no difference between ranks.
//   TEST_COUNT=2000 mpiexec -n 4 ...            more of them
//   TEST_SEED=4711 TEST_COUNT=1 mpiexec -n 4 ... one again
#include "mpi/api/scattered.hpp"
#include "support/draw_job.hpp"

namespace taut::test {
namespace {

TEST(RandomCalls, ResultBoundAndSameBits) {
  double worst = 0;
  const std::uint64_t calls = for_each_seed(60, [&](std::uint64_t seed) {
    Draw draw(seed);
    MPI_Comm part_of_all;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % (1 + draw.pick(2)), 0, &part_of_all);
    MPI_Comm half = with_all_as_neighbours(part_of_all);
    MPI_Comm_free(&part_of_all);
    const int P = size_of_comm(half);
    constexpr DType types[] = {DType::f32, DType::f64, DType::f32, DType::f64, DType::c64, DType::c128};
    DrawnJob drawn(draw, P, all_collectives, types, 50000);
    const auto [collective, type, pattern, few, op, root, mean, in_place] = drawn;
    const double bound = std::pow(10.0, draw.pick(6) - 6);
    const char* const algorithm =
        draw.choose({"ring", "recursive_doubling", "halving_doubling", "two_shot", "direct", "bruck", "chain",
                     "scatter_allgather", "rank_order", "cpr_p2p"});
    const bool recodes = std::strcmp(algorithm, "cpr_p2p") == 0, by_values = draw.one_in(3) || recodes;
    const int apart = reduces(collective) ? 0 : draw.pick(3);  // 0: consecutive values
    const int threads = draw.one_in(3) ? 2 + draw.pick(3) : 1;
    const bool same_bits = draw.one_in(3);
    char text[180];
    std::snprintf(
        text, sizeof text,
        "abs:%.17g,min_bytes=0,nodes=on,algorithm=%s,reduction=%s,segments=%s,threads=%d,same_bits=%s", bound,
        algorithm, by_values ? "values" : "auto", draw.choose({"auto", "3"}), threads,
        same_bits ? "on" : "off");
    if (threads > 1 && draw.one_in(20)) drawn.count += 66000;  // frames long enough for several threads
    if (apart != 0) drawn.count = drawn.count / 6 * 6;         // whole elements of any type
    {
      const Comm comm(text, half);
      SCOPED_TRACE(testing::Message() << drawn << " P " << P << " apart " << apart << " " << text);
      Job job = drawn.job(P, drawn.count * static_cast<std::size_t>(P), seed);
      const MPI_Op operation = mpi_op(op, mean);
      if (apart == 0) {
        EXPECT_EQ(call(collective, job, type, operation, root, in_place, comm), MPI_SUCCESS);
      } else {  // each rank has different datatypes
        const int kind = apart * 7 + comm.rank();
        ScatteredJob scattered(job, comm.rank(), P, kind % Scattered::kinds, (kind + 2) % Scattered::kinds);
        EXPECT_EQ(call(collective, job, type, operation, root, in_place, comm, {}, scattered), MPI_SUCCESS);
        EXPECT_TRUE(scattered.collect()) << "a byte between values was touched";
      }
      const bool plain = comm.stats().compressed_calls == 0;
      if (Job::same_everywhere(collective)) {
        EXPECT_TRUE(same_on_all(job, comm, same_bits) || plain);
      }
      EXPECT_EQ(check_here(collective, job, in_place, comm.rank(), bound, by_values || plain ? 2 * P : 0,
                           plain ? nullptr : &worst, mean),
                "");
    }
    MPI_Comm_free(&half);
  });
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (size_of_comm(MPI_COMM_WORLD) > 2 && calls >= 40) {
    EXPECT_GT(worst, 0.1);
  }
}

}  // namespace
}  // namespace taut::test
