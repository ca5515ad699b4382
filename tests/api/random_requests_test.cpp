// Many calls in flight on several communicators, completed in any order, mixed with blocking ones and with
// plain MPI.
//   TEST_SEED=4711 TEST_COUNT=1 mpiexec -n 4 api_test --gtest_filter='Requests.RandomMixtures'    one again
#include "api/world.hpp"

namespace taut::test {
namespace {

// One call of a mixture, and what is known of it.
struct Open {
  Collective collective;
  std::unique_ptr<Job> job;
  Reduction op;
  bool in_place;
  const Comm* comm;
  double bound;
  TAUT_Request request = TAUT_REQUEST_NULL;
};

// Everything that ranks do alike comes from `random`, everything else from `mine`.
class MixtureOfCalls {
 public:
  explicit MixtureOfCalls(std::uint64_t seed)
      : random_(seed),
        mine_(seed * 1000 + static_cast<std::uint64_t>(rank_of(MPI_COMM_WORLD))),
        seed_(seed) {}

  void run() {
    const std::size_t n = 2 + pick(12);
    for (std::size_t i = 0; i < n && !testing::Test::HasFailure(); ++i) {
      Open call = make(i);
      switch (pick(6)) {
        case 0: start(call, Mode::blocking); break;
        case 1: traffic_.push_back(std::make_unique<Traffic>(*comms_[pick(3)])); [[fallthrough]];
        default: start(call, Mode::nonblocking); break;
      }
      if (call.request == TAUT_REQUEST_NULL) {
        expect_result(call);
      } else {
        open_.push_back(std::move(call));
      }
      while (!open_.empty() && mine_() % 3 == 0) finish_one();
    }
    if (pick(2) == 0) finish_all();
    while (!open_.empty()) finish_one();
    for (auto& traffic : traffic_) traffic->finish();
  }

 private:
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  Open make(std::uint64_t i) {
    Open call;
    call.comm = comms_[pick(3)];
    call.bound = call.comm == &lossy_ ? 1e-3 : 1e-6;
    call.collective = all_collectives[pick(std::size(all_collectives))];
    call.op = reduces(call.collective) ? static_cast<Reduction>(1 + pick(3)) : Reduction::sum;
    call.in_place = call.collective != Collective::bcast && pick(3) == 0;
    const std::size_t count = pick(4) == 0 ? pick(20000) : pick(500);
    const auto P = static_cast<std::size_t>(call.comm->size());
    call.job =
        std::make_unique<Job>(call.collective, call.comm->size(), count * P, DType::f64,
                              static_cast<Pattern>(pick(5)), seed_ * 100 + i, call.op, 0, call.in_place);
    return call;
  }
  void start(Open& c, Mode::Kind kind) {
    ASSERT_EQ(call(c.collective, *c.job, DType::f64, c.op, 0, c.in_place, *c.comm, {kind, &c.request}),
              MPI_SUCCESS);
  }
  void expect_result(Open& c) {
    ASSERT_EQ(check_here(c.collective, *c.job, c.in_place, c.comm->rank(), c.bound, 2 * c.comm->size()), "")
        << name_of(c.collective);
  }

  // Messages round the ring on the communicators of the calls, with a tag and a source that match anything,
  // pending while calls come and go.
  struct Traffic {
    explicit Traffic(const Comm& comm) : me(comm.rank()), P(comm.size()) {
      MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
      MPI_Isend(&me, 1, MPI_INT, (me + 1) % P, 3, comm, &requests[1]);
    }
    void finish() {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      EXPECT_EQ(got, (me + P - 1) % P);
    }
    int me, P, got = -1;
    MPI_Request requests[2];
  };

  void finish_one() {
    std::swap(open_[mine_() % open_.size()], open_.back());
    Open call = std::move(open_.back());
    open_.pop_back();
    int flag = 0;
    if (mine_() % 2 == 0) {
      ASSERT_EQ(TAUT_Wait(&call.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    } else {
      while (flag == 0) ASSERT_EQ(TAUT_Test(&call.request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    expect_result(call);
  }
  void finish_all() {
    std::vector<TAUT_Request> requests;
    for (Open& call : open_) requests.push_back(call.request);
    std::vector<MPI_Status> statuses(requests.size());
    ASSERT_EQ(TAUT_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data()), MPI_SUCCESS);
    for (const TAUT_Request request : requests) EXPECT_EQ(request, TAUT_REQUEST_NULL);
    for (Open& call : open_) expect_result(call);
    open_.clear();
  }

  std::mt19937_64 random_, mine_;
  std::uint64_t seed_;
  const Comm lossy_{"abs:1e-3,min_bytes=0"}, tight_{"abs:1e-6,min_bytes=1000"}, plain_{"off"};
  const Comm* const comms_[3] = {&lossy_, &tight_, &plain_};
  std::vector<Open> open_;
  std::vector<std::unique_ptr<Traffic>> traffic_;
};

TEST(Requests, RandomMixtures) {
  const std::uint64_t first = number_from_environment("TEST_SEED", 1),
                      count =
                          number_from_environment("TEST_COUNT", size_of_comm(MPI_COMM_WORLD) > 4 ? 8 : 25);
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "TEST_SEED=" << seed << " TEST_COUNT=1");
    MixtureOfCalls(seed).run();
  }
}
}  // namespace
}  // namespace taut::test
