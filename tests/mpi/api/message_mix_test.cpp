// Messages among other calls: many, at random, by several threads, with collectives in flight.
#include <malloc.h>

#include <thread>

#include "mpi/api/messages.hpp"
#include "support/draw.hpp"

namespace taut::test {
namespace {

// ---- With collective calls in flight

// One rank enters a collective call while another sends first: neither rank may wait for the other for ever.
TEST(MessagesAndCollectives, ABlockingMessageDrivesCallsInFlight) {
  const Comm comm("abs:1e-3"), plain;
  const Ring ring(comm);
  for (const MPI_Comm on : {static_cast<MPI_Comm>(comm), static_cast<MPI_Comm>(plain)}) {
    for (const Pattern pattern : {Pattern::smooth, Pattern::wild}) {
      Job job(Collective::allreduce, comm.size(), 50000, DType::f32, pattern, 1);
      const auto rank = static_cast<std::size_t>(ring.rank);
      const Values sent = make_values(DType::f32, 300000, pattern, 2);
      Values received(DType::f32, 300000);
      TAUT_Request request;
      auto start = [&] {
        EXPECT_EQ(TAUT_Iallreduce(std::as_const(job.inputs[rank]).slice().data,
                                  job.outputs[rank].slice().data, 50000, MPI_FLOAT, MPI_SUM, comm, &request),
                  MPI_SUCCESS);
      };
      auto exchange = [&] {
        if (ring.rank % 2 == 0) {
          if (ring.rank + 1 < comm.size()) {
            EXPECT_EQ(TAUT_Send(sent.slice().data, 300000, MPI_FLOAT, ring.rank + 1, 0, on), MPI_SUCCESS);
          }
        } else {
          EXPECT_EQ(
              TAUT_Recv(received.slice().data, 300000, MPI_FLOAT, ring.rank - 1, 0, on, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
          EXPECT_LE(distance(sent, received), 1e-3);
        }
      };
      // Even ranks start, send and wait; odd ranks start, wait and receive.
      start();
      if (ring.rank % 2 == 0) exchange();
      EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      if (ring.rank % 2 != 0) exchange();
      EXPECT_EQ(job.check(ring.rank, 1e-3, 2 * comm.size()), "");
      // Odd ranks receive before they start the call.
      if (ring.rank % 2 == 0) start();
      exchange();
      if (ring.rank % 2 != 0) start();
      EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
  }
}

// ---- Random mixtures

// A schedule that all ranks know: rounds of messages between random ranks, with collectives among them.
struct Planned {
  int from, to, tag, count;
  Pattern pattern;
  bool blocks;
};

constexpr int most_count = 600000;

std::vector<Planned> plan_round(Draw& draw, int P) {
  std::vector<Planned> round(1 + draw.pick(std::size_t{12}));
  constexpr int counts[] = {0, 1, 13, 500, 8193, 20000, 70000, most_count};  // the last one in segments
  for (Planned& m : round)
    m = {draw.pick(P),  draw.pick(P), draw.pick(3), draw.one_of(counts), static_cast<Pattern>(draw.pick(5)),
         draw.one_in(2)};
  return round;
}

class RandomRound {
 public:
  RandomRound(const Comm& comm, std::vector<Planned> planned, std::uint64_t seed)
      : comm_(comm), me_(comm.rank()), planned_(std::move(planned)) {
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      values_.push_back(make_values(DType::f32, static_cast<std::size_t>(planned_[i].count),
                                    planned_[i].pattern, seed + i));
      received_.emplace_back(DType::f32, most_count);
    }
  }

  // Posts the receives before anything is sent; receives with wildcards get any of the messages.
  void post(bool wildcards) {
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      if (planned_[i].to != me_) continue;
      mine_.push_back(i);
      requests_.push_back(TAUT_REQUEST_NULL);
      EXPECT_EQ(TAUT_Irecv(received_[i].slice().data, most_count, MPI_FLOAT,
                           wildcards ? MPI_ANY_SOURCE : planned_[i].from,
                           wildcards ? MPI_ANY_TAG : planned_[i].tag, comm_, &requests_.back()),
                MPI_SUCCESS);
    }
    receives_ = requests_.size();
  }
  void send() {
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      const Planned& m = planned_[i];
      if (m.from != me_) continue;
      if (m.blocks) {  // it is posted
        EXPECT_EQ(TAUT_Send(values_[i].slice().data, m.count, MPI_FLOAT, m.to, m.tag, comm_), MPI_SUCCESS);
      } else {
        requests_.push_back(TAUT_REQUEST_NULL);
        EXPECT_EQ(
            TAUT_Isend(values_[i].slice().data, m.count, MPI_FLOAT, m.to, m.tag, comm_, &requests_.back()),
            MPI_SUCCESS);
      }
    }
  }
  // Completes the requests in any order in which they finish.
  void complete() {
    std::vector<MPI_Status> statuses(requests_.size());
    for (std::size_t left = requests_.size(); left > 0; --left) {
      int index = 0;
      MPI_Status status;
      ASSERT_EQ(TAUT_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, &status),
                MPI_SUCCESS);
      statuses[static_cast<std::size_t>(index)] = status;
    }
    std::vector<bool> taken(planned_.size());
    for (std::size_t k = 0; k < receives_; ++k) check(statuses[k], received_[mine_[k]], taken);
  }

 private:
  // Checks against the first message of this source and tag that has not been received yet.
  void check(const MPI_Status& status, const Values& got, std::vector<bool>& taken) {
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      const Planned& m = planned_[i];
      if (m.to != me_ || m.from != status.MPI_SOURCE || m.tag != status.MPI_TAG || taken[i]) continue;
      taken[i] = true;
      ASSERT_EQ(count_of(status, MPI_FLOAT), m.count);
      Values values(DType::f32, static_cast<std::size_t>(m.count));
      if (m.count != 0) std::memcpy(values.slice().data, got.slice().data, values.slice().bytes());
      EXPECT_LE(distance(values, values_[i]), 1e-3);
      return;
    }
    ADD_FAILURE() << "nobody sent this";
  }

  const Comm& comm_;
  int me_;
  std::vector<Planned> planned_;
  std::vector<Values> values_, received_;
  std::vector<TAUT_Request> requests_;
  std::vector<std::size_t> mine_;
  std::size_t receives_ = 0;
};

TEST(MessagesAndCollectives, AtRandom) {
  const Comm comm("abs:1e-3,min_bytes=1000");
  Draw draw(17);
  for (int r = 0; r < 25; ++r) {
    RandomRound round(comm, plan_round(draw, comm.size()), draw.bits());
    const bool wildcards = draw.one_in(2), collective = draw.one_in(2);
    Job job(Collective::allreduce, comm.size(), 3000, DType::f32, Pattern::smooth, draw.bits());
    const auto me = static_cast<std::size_t>(comm.rank());
    TAUT_Request request = TAUT_REQUEST_NULL;
    if (collective) {
      EXPECT_EQ(TAUT_Iallreduce(std::as_const(job.inputs[me]).slice().data, job.outputs[me].slice().data,
                                3000, MPI_FLOAT, MPI_SUM, comm, &request),
                MPI_SUCCESS);
    }
    round.post(wildcards);
    MPI_Barrier(comm);  // keeps receives of one round from messages of the next
    round.send();
    round.complete();
    EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (collective) {
      EXPECT_EQ(job.check(comm.rank(), 1e-3, 2 * comm.size()), "");
    }
    MPI_Barrier(comm);
  }
}

// ---- Many messages

TEST(ManyMessages, TakeNoMoreMemory) {
  const Comm comm("abs:1e-3");
  const Ring ring(comm);
  std::vector<float> x(20), y(20 * 100);
  auto exchange = [&](int rounds) {
    for (int r = 0; r < rounds; ++r) {
      std::vector<TAUT_Request> requests(200);
      for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_EQ(TAUT_Irecv(&y[20 * i], 20, MPI_FLOAT, ring.left, 0, comm, &requests[i]), MPI_SUCCESS);
        EXPECT_EQ(TAUT_Isend(x.data(), 20, MPI_FLOAT, ring.right, 0, comm, &requests[100 + i]), MPI_SUCCESS);
      }
      EXPECT_EQ(TAUT_Waitall(200, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    }
  };
  exchange(10);
  const std::size_t before = mallinfo2().uordblks;
  exchange(100);  // 20000 requests of some 400 bytes each; MPI has pools of its own that grow
  const std::size_t after = mallinfo2().uordblks;
  EXPECT_LT(after, before + 2000000);
}

TEST(ManyMessages, LongOnesReuseTheirMemory) {
  const Comm comm("abs:1e-3");
  const Ring ring(comm);
  const Values smooth = make_values(DType::f32, 100000, Pattern::smooth, 1),
               wild = make_values(DType::f32, 100000, Pattern::wild, 1);
  Values got(DType::f32, 100000);
  std::size_t before = 0;
  for (int i = 0; i < 300; ++i) {
    const Values& sent = i % 3 == 0 ? wild : smooth;
    TAUT_Request requests[2];
    EXPECT_EQ(TAUT_Irecv(got.slice().data, 100000, MPI_FLOAT, ring.left, 0, comm, &requests[0]), MPI_SUCCESS);
    EXPECT_EQ(TAUT_Isend(sent.slice().data, 100000, MPI_FLOAT, ring.right, 0, comm, &requests[1]),
              MPI_SUCCESS);
    EXPECT_EQ(TAUT_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EXPECT_LE(distance(got, sent), 1e-3);
    if (i == 100) before = mallinfo2().uordblks + mallinfo2().hblkhd;
  }
  const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  EXPECT_LT(after, before + 2000000);
}

// ---- Threads

TEST(MessageThreads, EachOnACommunicatorOfItsOwn) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  const Comm first("abs:1e-3"), second("lossless");
  auto work = [](const Comm& comm, double bound) {
    const Ring ring(comm);
    for (int i = 0; i < 30; ++i) {
      const std::size_t count = i % 2 == 0 ? 40000 : 30;
      const Values sent = make_values(DType::f32, count, Pattern::steps, 5);
      Values got(DType::f32, count);
      MPI_Status status;
      ASSERT_EQ(TAUT_Sendrecv(sent.slice().data, static_cast<MPI_Count>(count), MPI_FLOAT, ring.right, i,
                              got.slice().data, static_cast<MPI_Count>(count), MPI_FLOAT, MPI_ANY_SOURCE,
                              MPI_ANY_TAG, comm, &status),
                MPI_SUCCESS);
      ASSERT_EQ(status.MPI_TAG, i);
      ASSERT_LE(distance(sent, got), bound);
    }
  };
  std::thread other([&] { work(second, 0); });
  work(first, 1e-3);
  other.join();
}

// ---- Requests and communicators that are freed early

TEST(MessageLives, TheCommunicatorMayBeFreedBeforeTheEnd) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  ASSERT_EQ(TAUT_Comm_set_policy(comm, "abs:1e-3"), MPI_SUCCESS);
  const int rank = rank_of(comm), P = size_of_comm(comm);
  const Values sent = make_values(DType::f32, 100000, Pattern::smooth, 1);
  Values got(DType::f32, 100000);
  TAUT_Request requests[2];
  EXPECT_EQ(TAUT_Irecv(got.slice().data, 100000, MPI_FLOAT, (rank + P - 1) % P, 0, comm, &requests[0]),
            MPI_SUCCESS);
  EXPECT_EQ(TAUT_Isend(sent.slice().data, 100000, MPI_FLOAT, (rank + 1) % P, 0, comm, &requests[1]),
            MPI_SUCCESS);
  MPI_Comm_free(&comm);
  EXPECT_EQ(TAUT_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_LE(distance(sent, got), 1e-3);
}

TEST(MessageLives, ARequestThatIsFreedIsCompletedFirst) {
  const Comm comm("abs:1e-3");
  const Ring ring(comm);
  const Values sent = make_values(DType::f32, 100000, Pattern::smooth, 1);
  Values got(DType::f32, 100000);
  TAUT_Request receiving, sending;
  EXPECT_EQ(TAUT_Irecv(got.slice().data, 100000, MPI_FLOAT, ring.left, 0, comm, &receiving), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Isend(sent.slice().data, 100000, MPI_FLOAT, ring.right, 0, comm, &sending), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Error_status(TAUT_Start(&sending)), TAUT_ERR_ARGUMENT);
  int flag = 0;
  while (flag == 0) EXPECT_EQ(TAUT_Test(&receiving, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(receiving, TAUT_REQUEST_NULL);
  EXPECT_EQ(TAUT_Request_free(&sending), MPI_SUCCESS);
  EXPECT_LE(distance(sent, got), 1e-3);
}

}  // namespace
}  // namespace taut::test
