// Random calls on real MPI: no violation of the bound, no difference between ranks.
//   TEST_COUNT=2000 mpiexec -n 4 ...            more of them
//   TEST_SEED=4711 TEST_COUNT=1 mpiexec -n 4 ... one again
#include "mpi/api/scattered.hpp"

namespace taut::test {
namespace {

TEST(RandomCalls, ResultBoundAndSameBits) {
  const std::uint64_t first = number_from_environment("TEST_SEED", 1),
                      calls = number_from_environment("TEST_COUNT", 60);
  double worst = 0;
  for (std::uint64_t seed = first; seed < first + calls; ++seed) {
    std::mt19937_64 random(seed);
    auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const auto collective = all_collectives[pick(std::size(all_collectives))];
    constexpr DType types[] = {DType::f32, DType::f64, DType::f32, DType::f64, DType::c64, DType::c128};
    const DType type = types[pick(6)];
    Reduction op = reduces(collective) ? static_cast<Reduction>(1 + pick(3)) : Reduction::sum;
    if (!is_defined(op, type)) op = Reduction::sum;
    const double bound = std::pow(10.0, pick(6) - 6);
    constexpr const char* algorithms[] = {
        "ring",  "recursive_doubling", "halving_doubling", "two_shot", "direct", "bruck",
        "chain", "scatter_allgather",  "cpr_p2p"};
    const char* const algorithm = algorithms[pick(std::size(algorithms))];
    const bool recodes = std::strcmp(algorithm, "cpr_p2p") == 0, by_values = pick(3) == 0 || recodes;
    const bool in_place = collective == Collective::bcast || pick(3) == 0;
    const bool has_mean = reduces(collective) && !computes_prefixes(collective);
    const bool mean = has_mean && op == Reduction::sum && pick(3) == 0;
    const int apart = reduces(collective) ? 0 : pick(3);  // 0: consecutive values
    const int threads = pick(3) == 0 ? 2 + pick(3) : 1;
    const bool same_bits = pick(3) == 0;
    char text[180];
    std::snprintf(
        text, sizeof text,
        "abs:%.17g,min_bytes=0,nodes=on,algorithm=%s,reduction=%s,segments=%s,threads=%d,same_bits=%s", bound,
        algorithm, by_values ? "values" : "auto", pick(2) == 0 ? "auto" : "3", threads,
        same_bits ? "on" : "off");
    const int parts = 1 + pick(2), part = pick(20);
    int count = part < 5 ? pick(50000) : pick(200);
    if (part == 0 && threads > 1) count += 66000;  // frames long enough for several threads
    if (apart != 0) count = count / 6 * 6;         // whole elements of any type
    const auto pattern = static_cast<Pattern>(pick(5));

    MPI_Comm part_of_all;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % parts, 0, &part_of_all);
    MPI_Comm half = with_all_as_neighbours(part_of_all);
    MPI_Comm_free(&part_of_all);
    {
      const Comm comm(text, half);
      const int P = comm.size(), root = pick(64) % P;
      SCOPED_TRACE(testing::Message() << "TEST_SEED=" << seed << " TEST_COUNT=1: " << name_of(collective)
                                      << " " << (mean ? "mean" : name_of(op)) << " P " << P << " count "
                                      << count << " in place " << in_place << " apart " << apart
                                      << " pattern " << static_cast<int>(pattern) << " " << text);
      Job job(collective, P, static_cast<std::size_t>(count) * static_cast<std::size_t>(P), type, pattern,
              seed, op, root, in_place);
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
  }
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (size_of_comm(MPI_COMM_WORLD) > 2 && calls >= 40) {
    EXPECT_GT(worst, 0.1);
  }
}

}  // namespace
}  // namespace taut::test
