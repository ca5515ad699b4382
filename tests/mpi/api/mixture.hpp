// Calls and messages in flight on several communicators, completed in any order, mixed with blocking calls
// and with plain MPI.
#pragma once

#include <functional>
#include <memory>

#include "mpi/api/messages.hpp"
#include "mpi/api/scattered.hpp"
#include "support/draw_job.hpp"

namespace taut::test {

// A collective call of a mixture, and its expected result.
struct SomeCall {
  DrawnJob drawn;
  const Comm* comm;
  double bound;
  std::unique_ptr<Job> job = {};
  std::unique_ptr<ScatteredJob> scattered = {};  // null: consecutive values
};

// A message, on its sender or its receiver.
struct SomeMessage {
  std::unique_ptr<Values> values, here;  // values that were sent; this rank's buffer
  std::unique_ptr<Scattered> scattered;  // null: consecutive values
  int from, to, tag;

  void* data() { return scattered ? scattered->data() : here->slice().data; }
  MPI_Datatype type() const { return scattered ? scattered->type() : MPI_DOUBLE; }
  MPI_Count elements(std::size_t n) const {
    return scattered ? scattered->elements(n) : static_cast<MPI_Count>(n);
  }
};

// A request that is started and not completed.
struct Open {
  TAUT_Request request = TAUT_REQUEST_NULL;
  std::function<void(const MPI_Status&)> check;
};

// A random mixture. `random` decides what all ranks do alike, `mine` everything else.
class MixtureOfCalls {
 public:
  // Uses duplicates of `parent`.
  MixtureOfCalls(std::uint64_t seed, MPI_Comm parent)
      : random_(seed),
        mine_(seed * 1000 + static_cast<std::uint64_t>(rank_of(parent))),
        seed_(seed),
        parent_(parent) {}

  void run() {
    const std::size_t n = 2 + random_.pick(12u);
    for (std::size_t i = 0; i < n && !testing::Test::HasFailure(); ++i) {
      switch (random_.pick(8)) {
        case 0: make_call(i, Mode::blocking); break;
        case 1: traffic_.push_back(std::make_unique<Traffic>(*comms_[random_.pick(3)])); [[fallthrough]];
        case 2:
        case 3:
        case 4: make_call(i, Mode::nonblocking); break;
        default: make_message(i); break;
      }
      while (!open_.empty() && mine_.one_in(3)) finish_one();
    }
    if (random_.one_in(2)) finish_all();
    while (!open_.empty()) finish_one();
    for (auto& traffic : traffic_) traffic->finish();
  }

 private:
  // ---- Collective calls

  void make_call(std::uint64_t i, Mode::Kind kind) {
    const auto made = std::make_shared<SomeCall>(draw_call(i));
    Open one;
    start(*made, kind, one);
    one.check = [made](const MPI_Status&) { expect_result(*made); };
    take(std::move(one));
  }
  SomeCall draw_call(std::uint64_t i) {
    const int which = random_.pick(4);
    const Comm* const comm = comms_[which];
    const int P = comm->size();
    constexpr DType types[] = {DType::f64};
    SomeCall call{DrawnJob(random_, P, all_collectives, types, 20000), comm, which == 0 ? 1e-3 : 1e-6};
    const std::size_t count = call.drawn.count / 6 * 6 * static_cast<std::size_t>(P);
    call.job = std::make_unique<Job>(call.drawn.job(P, count, seed_ * 100 + i));
    if (!reduces(call.drawn.collective) && random_.one_in(3))
      call.scattered = std::make_unique<ScatteredJob>(*call.job, comm->rank(), P, kind(), kind());
    return call;
  }
  static void start(SomeCall& c, Mode::Kind kind, Open& one) {
    const Mode mode{kind, &one.request};
    const auto& [collective, type, pattern, count, of, root, mean, in_place] = c.drawn;
    const MPI_Op op = mpi_op(of, mean);
    const int code = c.scattered
                         ? call(collective, *c.job, type, op, root, in_place, *c.comm, mode, *c.scattered)
                         : call(collective, *c.job, type, op, root, in_place, *c.comm, mode);
    ASSERT_EQ(code, MPI_SUCCESS);
  }
  static void expect_result(SomeCall& c) {
    ASSERT_TRUE(!c.scattered || c.scattered->collect()) << "a byte between values was touched";
    const auto& [collective, type, pattern, count, of, root, mean, in_place] = c.drawn;
    ASSERT_EQ(
        check_here(collective, *c.job, in_place, c.comm->rank(), c.bound, 2 * c.comm->size(), nullptr, mean),
        "")
        << c.drawn;
    ASSERT_TRUE(c.job->input_stayed(c.comm->rank())) << c.drawn;
  }

  // ---- Messages between any ranks

  void make_message(std::uint64_t i) {
    const int P = talk_.size(), me = talk_.rank();
    const int from = random_.pick(P), to = random_.pick(P), tag = random_.pick(3);
    const std::size_t count = random_.pick(random_.one_in(3) ? 30000u : 500u) / 6 * 6;
    const auto pattern = static_cast<Pattern>(random_.pick(5));
    const Values values = make_values(DType::f64, count, pattern, seed_ * 100 + i);
    const bool alone = from == to;  // a message to itself must not block
    if (me == to) receive(make_side(values, from, to, tag, Values(DType::f64, count + 6)), alone);
    if (me == from) send(make_side(values, from, to, tag, values), alone);
  }
  std::shared_ptr<SomeMessage> make_side(const Values& values, int from, int to, int tag, Values here) {
    auto side = std::make_shared<SomeMessage>();
    side->values = std::make_unique<Values>(values);
    side->here = std::make_unique<Values>(std::move(here));
    if (mine_.one_in(3)) side->scattered = std::make_unique<Scattered>(*side->here, kind(), 6);
    side->from = from, side->to = to, side->tag = tag;
    return side;
  }
  void receive(const std::shared_ptr<SomeMessage>& m, bool alone) {
    const MPI_Count room = m->elements(m->here->count());
    const auto check = [m](const MPI_Status& status) { expect_received(*m, status); };
    Open one{TAUT_REQUEST_NULL, check};
    if (alone || !mine_.one_in(3)) {
      ASSERT_EQ(TAUT_Irecv(m->data(), room, m->type(), m->from, m->tag, talk_, &one.request), MPI_SUCCESS);
      open_.push_back(std::move(one));
    } else {
      MPI_Status status;
      ASSERT_EQ(TAUT_Recv(m->data(), room, m->type(), m->from, m->tag, talk_, &status), MPI_SUCCESS);
      check(status);
    }
  }
  void send(const std::shared_ptr<SomeMessage>& m, bool alone) {
    const MPI_Count n = m->elements(m->here->count());
    if (alone || !mine_.one_in(3)) {
      Open one{TAUT_REQUEST_NULL, [m](const MPI_Status&) { expect_sent(*m); }};
      ASSERT_EQ(TAUT_Isend(m->data(), n, m->type(), m->to, m->tag, talk_, &one.request), MPI_SUCCESS);
      open_.push_back(std::move(one));
    } else {
      ASSERT_EQ(TAUT_Send(m->data(), n, m->type(), m->to, m->tag, talk_), MPI_SUCCESS);
      expect_sent(*m);
    }
  }
  static void expect_sent(SomeMessage& m) {
    ASSERT_TRUE(!m.scattered || m.scattered->collect());
    ASSERT_TRUE(*m.here == *m.values);
  }
  static void expect_received(SomeMessage& m, const MPI_Status& status) {
    const std::size_t n = m.values->count();
    ASSERT_EQ(status.MPI_SOURCE, m.from);
    ASSERT_EQ(status.MPI_TAG, m.tag);
    ASSERT_EQ(count_of(status, m.type()), m.elements(n));
    ASSERT_TRUE(!m.scattered || m.scattered->collect()) << "a byte between values was touched";
    for (std::size_t i = 0; i < n; ++i) ASSERT_LE(std::abs(m.here->at(i) - m.values->at(i)), 1e-6) << i;
    for (std::size_t i = n; i < m.here->count(); ++i) ASSERT_EQ(m.here->at(i), 0);
  }

  // ---- Open requests

  int kind() { return mine_.pick(static_cast<int>(Scattered::kinds)); }
  void take(Open one) {
    if (one.request == TAUT_REQUEST_NULL)
      one.check(MPI_Status{});
    else
      open_.push_back(std::move(one));
  }

  // Messages around the ring on the communicators of the calls. Their receives match any tag and source, and
  // stay pending while calls start and complete.
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
    std::swap(open_[mine_.pick(open_.size())], open_.back());
    Open one = std::move(open_.back());
    open_.pop_back();
    int flag = 0;
    MPI_Status status{};
    if (mine_.one_in(2)) {
      ASSERT_EQ(TAUT_Wait(&one.request, &status), MPI_SUCCESS);
    } else {
      while (flag == 0) ASSERT_EQ(TAUT_Test(&one.request, &flag, &status), MPI_SUCCESS);
    }
    one.check(status);
  }
  void finish_all() {
    std::vector<TAUT_Request> requests;
    for (Open& one : open_) requests.push_back(one.request);
    std::vector<MPI_Status> statuses(requests.size());
    ASSERT_EQ(TAUT_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data()), MPI_SUCCESS);
    for (const TAUT_Request request : requests) EXPECT_EQ(request, TAUT_REQUEST_NULL);
    for (std::size_t i = 0; i < open_.size(); ++i) open_[i].check(statuses[i]);
    open_.clear();
  }

  Draw random_, mine_;
  std::uint64_t seed_;
  MPI_Comm parent_;
  const Comm lossy_{"abs:1e-3,min_bytes=0", parent_}, tight_{"abs:1e-6,min_bytes=1000", parent_},
      plain_{"off", parent_}, talk_{"abs:1e-6,min_bytes=500,threads=2", parent_};
  const Comm* const comms_[4] = {&lossy_, &tight_, &plain_, &talk_};  // the last one has messages, too
  std::vector<Open> open_;
  std::vector<std::unique_ptr<Traffic>> traffic_;
};

}  // namespace taut::test
