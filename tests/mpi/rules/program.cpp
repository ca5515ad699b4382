// Calls on communicators without a policy, for rules_test.py to run under rules. Rank 0 prints a line for
// each case: NAME COMPRESSED/CALLS, or an error of some rank.
#include <taut/taut.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int n = 1 << 18;  // values of float: 1 MiB
constexpr double bound = 1e-3;

using Values = std::vector<float>;

int rank = 0, ranks = 1;

const Values& smooth() {
  static const Values values = [] {
    Values all(n);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::sin(1e-3F * static_cast<float>(i));
    return all;
  }();
  return values;
}

bool close(const Values& values, float factor) {
  const Values& expected = smooth();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::fabs(values[i] - factor * expected[i]) <= bound + 1e-5F * factor)) return false;
  return true;
}

TAUT_Stats stats_of(MPI_Comm comm) {
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  TAUT_Comm_get_stats(comm, &stats);
  return stats;
}

// Runs `calls(comm)`, which returns true if the result is right, on a communicator of its own.
template <class Calls>
void on_its_own(const char* name, Calls calls) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, name);
  const int right = calls(comm);
  const TAUT_Stats stats = stats_of(comm);
  int mine[] = {right, static_cast<int>(stats.compressed_calls), static_cast<int>(stats.calls)};
  int least[3], most[3];
  MPI_Allreduce(mine, least, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(mine, most, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const char* const fault = least[0] == 0                                ? " WRONG"
                            : least[1] != most[1] || least[2] != most[2] ? " UNEQUAL"
                                                                         : "";
  if (rank == 0) std::printf("%s %d/%d%s\n", name, mine[1], mine[2], fault);
  MPI_Comm_free(&comm);
}

bool sum(MPI_Comm comm, MPI_Op op = MPI_SUM) {
  const Values in = smooth();
  Values out(n);
  const bool good = TAUT_Allreduce(in.data(), out.data(), n, MPI_FLOAT, op, comm) == MPI_SUCCESS;
  return good && close(out, op == MPI_SUM ? static_cast<float>(ranks) : 1.0F);
}

// The same signature, by another type on the last rank.
bool mixed_types(MPI_Comm comm) {
  Values values = smooth();
  MPI_Datatype all;
  MPI_Type_contiguous(n, MPI_FLOAT, &all);
  MPI_Type_commit(&all);
  const int code = rank == ranks - 1 && ranks > 1 ? TAUT_Bcast(values.data(), 1, all, 0, comm)
                                                  : TAUT_Bcast(values.data(), n, MPI_FLOAT, 0, comm);
  MPI_Type_free(&all);
  return code == MPI_SUCCESS && close(values, 1);
}

}  // namespace

// Function names that the program exports.
extern "C" [[gnu::visibility("default"), gnu::noinline]] int here(Values& values, MPI_Comm comm) {
  const int code = TAUT_Bcast(values.data(), n, MPI_FLOAT, 0, comm);
  return code == MPI_SUCCESS ? 1 : 0;
}
extern "C" [[gnu::visibility("default"), gnu::noinline]] int there(Values& values, MPI_Comm comm) {
  const int code = TAUT_Bcast(values.data(), n, MPI_FLOAT, 0, comm);
  return code == MPI_SUCCESS ? 2 : 0;
}

namespace {

bool from_one_place(MPI_Comm comm) {
  Values values = smooth();
  return here(values, comm) != 0 && close(values, 1);
}

bool from_two_places(MPI_Comm comm) {
  Values values = smooth();
  return (rank == 0 ? here(values, comm) : there(values, comm)) != 0 && close(values, 1);
}

// Vector calls in which a rank knows only the size of its own block.
bool unequal_blocks(MPI_Comm comm) {
  const Values values = smooth();
  const int mine = n / 4 + rank;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements;
  MPI_Aint all = 0;
  for (int r = 0; r < ranks; ++r) {
    counts.push_back(n / 4 + r);
    displacements.push_back(all);
    all += n / 4 + r;
  }
  Values out(static_cast<std::size_t>(all));
  const int code = TAUT_Gatherv(values.data(), mine, MPI_FLOAT, out.data(), counts.data(),
                                displacements.data(), MPI_FLOAT, 0, comm);
  for (int r = 0; r < ranks && rank == 0; ++r)
    for (int i = 0; i < n / 4 + r; ++i)
      if (!(std::fabs(out[static_cast<std::size_t>(displacements[static_cast<std::size_t>(r)] + i)] -
                      values[static_cast<std::size_t>(i)]) <= bound))
        return false;
  return code == MPI_SUCCESS;
}

// A nonblocking call waits for no other rank, also as the first call on a communicator.
bool nonblocking_first(MPI_Comm comm) {
  const Values in = smooth();
  Values out(n);
  TAUT_Request request;
  int token = 0;
  if (rank == 1) MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  TAUT_Iallreduce(in.data(), out.data(), n, MPI_FLOAT, MPI_SUM, comm, &request);
  if (rank == 0 && ranks > 1) MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  return TAUT_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && close(out, static_cast<float>(ranks));
}

bool nonblocking_afterwards(MPI_Comm comm) { return sum(comm) && nonblocking_first(comm); }

// Several calls in flight, of kinds that ranks have to agree on first.
bool several_under_way(MPI_Comm comm) {
  if (!sum(comm)) return false;
  Values values[3] = {smooth(), smooth(), smooth()};
  TAUT_Request requests[3];
  for (int i = 0; i < 3; ++i) TAUT_Ibcast(values[i].data(), n, MPI_FLOAT, 0, comm, &requests[i]);
  const bool good = sum(comm);
  TAUT_Waitall(3, requests, MPI_STATUSES_IGNORE);
  return good && close(values[0], 1) && close(values[1], 1) && close(values[2], 1);
}

bool own_policy_first(MPI_Comm comm) {
  bool good = TAUT_Comm_set_policy(comm, "off") == MPI_SUCCESS && sum(comm);
  good = good && stats_of(comm).compressed_calls == 0;
  return good && TAUT_Comm_set_policy(comm, "") == MPI_SUCCESS && sum(comm);
}

bool small_ones(MPI_Comm comm) {
  float in = 1, out = 0;
  for (int i = 0; i < 5; ++i) TAUT_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, comm);
  return out == static_cast<float>(ranks);
}

// Rules do not apply to messages.
bool messages(MPI_Comm comm) {
  const Values in = smooth();
  Values out(n);
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  const bool good = sum(comm) && TAUT_Sendrecv(in.data(), n, MPI_FLOAT, to, 7, out.data(), n, MPI_FLOAT, from,
                                               7, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  return good && out == in;
}

// Integers lose nothing, whatever the bound of the rule.
bool masks(MPI_Comm comm) {
  std::vector<int> expected(n);
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = i % 1000 < 300 ? static_cast<int>(i / 1000) : -7;
  std::vector<int> values = rank == 0 ? expected : std::vector<int>(n);
  return TAUT_Bcast(values.data(), n, MPI_INT, 0, comm) == MPI_SUCCESS && values == expected;
}

bool with_children(MPI_Comm comm) {
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  const bool good =
      sum(comm) && sum(copy) && stats_of(comm).compressed_calls == stats_of(copy).compressed_calls;
  MPI_Comm_free(&copy);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  on_its_own("sum", [](MPI_Comm comm) { return sum(comm) && sum(comm) && sum(comm); });
  on_its_own("halo", [](MPI_Comm comm) { return sum(comm); });
  on_its_own("max", [](MPI_Comm comm) { return sum(comm, MPI_MAX); });
  on_its_own("small", small_ones);
  on_its_own("types", mixed_types);
  on_its_own("place", from_one_place);
  on_its_own("places", from_two_places);
  on_its_own("blocks", unequal_blocks);
  on_its_own("first", nonblocking_first);
  on_its_own("afterwards", nonblocking_afterwards);
  on_its_own("several", several_under_way);
  on_its_own("policy", own_policy_first);
  on_its_own("messages", messages);
  on_its_own("children", with_children);
  on_its_own("masks", masks);
  MPI_Finalize();
}
