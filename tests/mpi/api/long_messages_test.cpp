// Long messages, which are sent in segments: what is received, by which calls, in which order, and what no
// rank may wait for.
#include <algorithm>
#include <thread>

#include "communication/api/state/comm_registry.hpp"
#include "communication/comm/envelope.hpp"
#include "mpi/api/messages.hpp"

namespace taut::test {
namespace {

constexpr int long_count = 1100000;  // 4 segments of floats

class LongMessages : public testing::Test {
 protected:
  LongMessages() : comm_("abs:1e-3"), ring_(comm_), got_(static_cast<std::size_t>(long_count) + 4, -7.0f) {}

  // Returns the values of a message of `rank`.
  static Values values_of(int rank, int tag = 0) {
    return make_values(DType::f32, long_count, Pattern::smooth, static_cast<std::uint64_t>(10 * rank + tag));
  }
  static int send(const Values& values, int dest, int tag, MPI_Comm comm) {
    return TAUT_Send(values.slice().data, long_count, MPI_FLOAT, dest, tag, comm);
  }
  static int start(const Values& values, int dest, int tag, MPI_Comm comm, TAUT_Request* request) {
    return TAUT_Isend(values.slice().data, long_count, MPI_FLOAT, dest, tag, comm, request);
  }

  // Returns the greatest error of the values in `got`; infinite if something is written behind them.
  static double error(const Values& expected, const std::vector<float>& got) {
    double worst = 0;
    for (std::size_t i = 0; i < long_count; ++i)
      worst = std::max(worst, std::abs(expected.at(i) - static_cast<double>(got[i])));
    return std::all_of(got.begin() + long_count, got.end(), [](float x) { return x == -7; }) ? worst
                                                                                             : INFINITY;
  }
  void expect_values_of(int rank, int tag = 0) {
    EXPECT_LE(error(values_of(rank, tag), got_), 1e-3);
    std::fill(got_.begin(), got_.end(), -7.0f);
  }

  Comm comm_;
  Ring ring_;
  std::vector<float> got_;
};

TEST_F(LongMessages, ArriveByEveryCall) {
  const Values mine = values_of(ring_.rank, 7);
  for (int how = 0; how < 6; ++how) {
    TAUT_Request requests[2];
    MPI_Status status;
    const bool wild = how % 2 == 1;
    EXPECT_EQ(TAUT_Irecv(got_.data(), long_count + 2, MPI_FLOAT, wild ? MPI_ANY_SOURCE : ring_.left,
                         wild ? MPI_ANY_TAG : 7, comm_, &requests[0]),
              MPI_SUCCESS);
    requests[1] = TAUT_REQUEST_NULL;
    if (how < 2) {
      EXPECT_EQ(send(mine, ring_.right, 7, comm_), MPI_SUCCESS);
      EXPECT_EQ(TAUT_Wait(&requests[0], &status), MPI_SUCCESS);
    } else {
      EXPECT_EQ(start(mine, ring_.right, 7, comm_, &requests[1]), MPI_SUCCESS);
      int flag = 0, index = 0;
      if (how < 4) {
        while (flag == 0) EXPECT_EQ(TAUT_Test(&requests[0], &flag, &status), MPI_SUCCESS);
      } else {
        do EXPECT_EQ(TAUT_Waitany(2, requests, &index, &status), MPI_SUCCESS);
        while (index != 0);
      }
      EXPECT_EQ(TAUT_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    EXPECT_EQ(status.MPI_SOURCE, ring_.left);
    EXPECT_EQ(status.MPI_TAG, 7);
    EXPECT_EQ(count_of(status, MPI_FLOAT), long_count);
    expect_values_of(ring_.left, 7);
  }
  if (alone(comm_)) return;
  EXPECT_EQ(comm_.stats().compressed_calls, 12u);
  EXPECT_EQ(comm_.stats().sent_messages, 6 * segments_of(4 * long_count));
  EXPECT_EQ(comm_.stats().value_bytes, 6u * 4 * long_count);
}

TEST_F(LongMessages, BlockingReceiveAndSendrecv) {
  const Values mine = values_of(ring_.rank);
  MPI_Status status;
  EXPECT_EQ(TAUT_Sendrecv(mine.slice().data, long_count, MPI_FLOAT, ring_.right, 0, got_.data(), long_count,
                          MPI_FLOAT, ring_.left, 0, comm_, &status),
            MPI_SUCCESS);
  EXPECT_EQ(count_of(status, MPI_FLOAT), long_count);
  expect_values_of(ring_.left);
  TAUT_Request request;
  EXPECT_EQ(start(mine, ring_.right, 0, comm_, &request), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Recv(got_.data(), long_count, MPI_FLOAT, ring_.left, 0, comm_, &status), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  expect_values_of(ring_.left);
}

// Two messages between the same ranks, received in another order than they were sent.
TEST_F(LongMessages, TagsDoNotMix) {
  const Values first = values_of(ring_.rank, 1), second = values_of(ring_.rank, 2),
               third = values_of(ring_.rank, 3);
  TAUT_Request requests[3];
  EXPECT_EQ(start(first, ring_.right, 1, comm_, &requests[0]), MPI_SUCCESS);
  EXPECT_EQ(start(second, ring_.right, 2, comm_, &requests[1]), MPI_SUCCESS);
  EXPECT_EQ(start(third, ring_.right, 1, comm_, &requests[2]), MPI_SUCCESS);
  for (const auto& [tag, values] : {std::pair{2, 2}, {1, 1}, {1, 3}}) {
    EXPECT_EQ(TAUT_Recv(got_.data(), long_count, MPI_FLOAT, ring_.left, tag, comm_, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    expect_values_of(ring_.left, values);
  }
  EXPECT_EQ(TAUT_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

// A receiver that waits elsewhere does not keep a sender from returning, and loses nothing.
TEST_F(LongMessages, AReceiverInABarrierHoldsNobodyUp) {
  const Values mine = values_of(ring_.rank);
  for (int round = 0; round < 4; ++round) {
    TAUT_Request request;
    EXPECT_EQ(TAUT_Irecv(got_.data(), long_count, MPI_FLOAT, ring_.left, 0, comm_, &request), MPI_SUCCESS);
    MPI_Barrier(comm_);  // each other rank sends, while its neighbours wait
    if (ring_.rank % 2 == 0) {
      EXPECT_EQ(send(mine, ring_.right, 0, comm_), MPI_SUCCESS);
    }
    MPI_Barrier(comm_);
    if (ring_.rank % 2 == 1) {
      EXPECT_EQ(send(mine, ring_.right, 0, comm_), MPI_SUCCESS);
    }
    MPI_Barrier(comm_);
    EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    expect_values_of(ring_.left);
  }
}

// Rank 0 waits in its first send, rank 1 for the second message. If rank 1 left the segments of the first one
// waiting, rank 0 would give up after a while, and then send messages in one piece.
TEST_F(LongMessages, AWaitTakesTheSegmentsOfAllReceives) {
  if (alone(comm_) || ring_.rank > 1) return;
  constexpr int rounds = 8;
  const Values first = values_of(0, 1), second = values_of(0, 2);
  std::vector<float> other(got_);
  for (int round = 0; round < rounds; ++round) {
    TAUT_Request requests[2];
    if (ring_.rank == 1) {
      EXPECT_EQ(TAUT_Irecv(got_.data(), long_count, MPI_FLOAT, 0, 1, comm_, &requests[0]), MPI_SUCCESS);
      EXPECT_EQ(TAUT_Irecv(other.data(), long_count, MPI_FLOAT, 0, 2, comm_, &requests[1]), MPI_SUCCESS);
      EXPECT_EQ(TAUT_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(TAUT_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_LE(error(second, other), 1e-3);
      expect_values_of(0, 1);
    } else {
      EXPECT_EQ(send(first, 1, 1, comm_), MPI_SUCCESS);
      EXPECT_EQ(send(second, 1, 2, comm_), MPI_SUCCESS);
    }
  }
  constexpr std::size_t all = 2 * rounds * segments_of(4 * long_count);
  if (ring_.rank == 0) {
    EXPECT_GT(comm_.stats().sent_messages, all * 7 / 8);  // about 5 of 8 if it gives up in each round
  }
}

TEST_F(LongMessages, AProbeTellsTheCountOfAllSegments) {
  const Values mine = values_of(ring_.rank);
  TAUT_Request request;
  EXPECT_EQ(start(mine, ring_.right, 5, comm_, &request), MPI_SUCCESS);
  MPI_Status status;
  EXPECT_EQ(TAUT_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &status), MPI_SUCCESS);
  EXPECT_EQ(count_of(status, MPI_FLOAT), long_count);
  EXPECT_EQ(TAUT_Recv(got_.data(), long_count, MPI_FLOAT, status.MPI_SOURCE, status.MPI_TAG, comm_,
                      MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  expect_values_of(ring_.left);
}

// A buffer that is too short is filled with nothing, and the next message arrives.
TEST_F(LongMessages, ALongerOneIsTruncated) {
  if (alone(comm_)) return;
  const Values mine = values_of(ring_.rank);
  for (const int room : {long_count - 1, long_count / 2}) {
    for (const bool blocking : {true, false}) {
      TAUT_Request sending, receiving;
      EXPECT_EQ(start(mine, ring_.right, 1, comm_, &sending), MPI_SUCCESS);
      int code = MPI_SUCCESS;
      const Guarded there(4 * static_cast<std::size_t>(room));
      if (blocking) {
        code = TAUT_Recv(there.bytes().data(), room, MPI_FLOAT, ring_.left, 1, comm_, MPI_STATUS_IGNORE);
      } else {
        EXPECT_EQ(TAUT_Irecv(there.bytes().data(), room, MPI_FLOAT, ring_.left, 1, comm_, &receiving),
                  MPI_SUCCESS);
        code = TAUT_Wait(&receiving, MPI_STATUS_IGNORE);
      }
      EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
      EXPECT_TRUE(there.intact());
      EXPECT_EQ(TAUT_Wait(&sending, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
  }
  EXPECT_EQ(TAUT_Sendrecv(mine.slice().data, long_count, MPI_FLOAT, ring_.right, 0, got_.data(), long_count,
                          MPI_FLOAT, ring_.left, 0, comm_, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  expect_values_of(ring_.left);
}

// Values with gaps at both sides, and a buffer that is not aligned.
TEST_F(LongMessages, AnyLayout) {
  const Values mine = values_of(ring_.rank);
  MPI_Datatype apart;
  MPI_Type_vector(long_count / 2, 1, 2, MPI_FLOAT, &apart);
  MPI_Type_commit(&apart);
  const int half = long_count / 2;
  EXPECT_EQ(TAUT_Sendrecv(mine.slice().data, 1, apart, ring_.right, 0, got_.data(), 1, apart, ring_.left, 0,
                          comm_, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  const Values expected = values_of(ring_.left);
  for (std::size_t i = 0; i + 1 < 2 * static_cast<std::size_t>(half); i += 2) {
    ASSERT_NEAR(got_[i], expected.at(i), 1e-3);
    ASSERT_EQ(got_[i + 1], -7);
  }
  MPI_Type_free(&apart);
  std::vector<std::byte> bytes(4 * static_cast<std::size_t>(long_count) + 1);
  EXPECT_EQ(TAUT_Sendrecv(mine.slice().data, long_count, MPI_FLOAT, ring_.right, 0, bytes.data() + 1,
                          4 * long_count, MPI_BYTE, ring_.left, 0, comm_, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  std::memcpy(got_.data(), bytes.data() + 1, bytes.size() - 1);
  std::fill(got_.begin() + long_count, got_.end(), -7.0f);
  expect_values_of(ring_.left);
}

TEST_F(LongMessages, ToOneself) {
  const Values mine = values_of(ring_.rank);
  TAUT_Request request;
  EXPECT_EQ(TAUT_Irecv(got_.data(), long_count, MPI_FLOAT, ring_.rank, 0, comm_, &request), MPI_SUCCESS);
  EXPECT_EQ(send(mine, ring_.rank, 0, comm_), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  expect_values_of(ring_.rank);
  EXPECT_EQ(send(mine, MPI_PROC_NULL, 0, comm_), MPI_SUCCESS);
}

// Segments that a codec cannot shorten travel as values: the samples do not see each of them.
TEST_F(LongMessages, ASegmentThatDoesNotPayTravelsAsItIs) {
  const Comm comm("lossless,when=always");
  Values mine = values_of(ring_.rank);
  const Values wild = make_values(DType::f32, long_count / 2, Pattern::wild, 9);
  std::memset(mine.slice().data, 0, mine.slice().bytes() / 4);
  const std::size_t from = mine.slice().bytes() - wild.slice().bytes();
  std::memcpy(static_cast<std::byte*>(mine.slice().data) + from, wild.slice().data, wild.slice().bytes());
  Values got(DType::f32, long_count);
  EXPECT_EQ(TAUT_Sendrecv(mine.slice().data, long_count, MPI_FLOAT, ring_.right, 0, got.slice().data,
                          long_count, MPI_FLOAT, ring_.left, 0, comm, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  const std::size_t zeros = mine.slice().bytes() / 4;
  EXPECT_EQ(std::memcmp(got.slice().data, mine.slice().data, zeros), 0);
  EXPECT_EQ(
      std::memcmp(static_cast<std::byte*>(got.slice().data) + from, wild.slice().data, wild.slice().bytes()),
      0);
}

TEST_F(LongMessages, TheCommunicatorMayBeFreedBeforeTheEnd) {
  MPI_Comm own;
  MPI_Comm_dup(comm_, &own);  // a duplicate shares the communicator of segments
  const Values mine = values_of(ring_.rank);
  TAUT_Request requests[2];
  EXPECT_EQ(TAUT_Irecv(got_.data(), long_count, MPI_FLOAT, ring_.left, 0, own, &requests[0]), MPI_SUCCESS);
  EXPECT_EQ(start(mine, ring_.right, 0, own, &requests[1]), MPI_SUCCESS);
  MPI_Comm_free(&own);
  EXPECT_EQ(TAUT_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  expect_values_of(ring_.left);
}

// Segments that wait for their receiver outlive the communicator.
TEST_F(LongMessages, SegmentsWaitLongerThanTheirCommunicatorLives) {
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  ASSERT_EQ(TAUT_Comm_set_policy(own, "abs:1e-3"), MPI_SUCCESS);
  const Values mine = values_of(ring_.rank);
  TAUT_Request request = TAUT_REQUEST_NULL;
  if (ring_.left == 0) {
    EXPECT_EQ(TAUT_Irecv(got_.data(), long_count, MPI_FLOAT, 0, 0, own, &request), MPI_SUCCESS);
  }
  if (ring_.rank == 0) {
    EXPECT_EQ(send(mine, ring_.right, 0, own), MPI_SUCCESS);
  }
  MPI_Barrier(own);
  MPI_Comm_free(&own);
  EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  if (ring_.left == 0) expect_values_of(0);
  EXPECT_EQ(TAUT_Sendrecv(mine.slice().data, long_count, MPI_FLOAT, ring_.right, 0, got_.data(), long_count,
                          MPI_FLOAT, ring_.left, 0, comm_, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  expect_values_of(ring_.left);
}

// Rank 1 gets the pieces of a message and returns them to rank 0, which sends them again, one damaged.
TEST_F(LongMessages, ADamagedSegmentIsAnError) {
  if (alone(comm_) || ring_.rank > 1) return;
  const MPI_Comm segments = api::find_comm_state(comm_)->messages()->segments()->handle();
  constexpr int later = static_cast<int>(segments_of(4 * long_count)) - 1;
  std::vector<std::vector<char>> pieces(1 + later, std::vector<char>(4 * long_count));
  const auto pass = [&](int to_or_from, bool sends) {
    for (int i = 0; i <= later; ++i) {
      auto& piece = pieces[static_cast<std::size_t>(i)];
      MPI_Status status;
      if (sends)
        MPI_Send(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to_or_from, 3 + i, comm_);
      else
        MPI_Recv(piece.data(), 4 * long_count, MPI_BYTE, to_or_from, 3 + i, comm_, &status);
      if (!sends) piece.resize(static_cast<std::size_t>(count_of(status, MPI_BYTE)));
    }
  };
  if (ring_.rank == 0) {
    EXPECT_EQ(send(values_of(0), 1, 2, comm_), MPI_SUCCESS);
    pass(1, false);
    std::uint32_t tag = 0;
    std::memcpy(&tag, pieces[0].data() + envelope_bytes + 4, 4);
    for (int damaged = -1; damaged <= later; ++damaged) {
      auto sent = pieces;
      if (damaged >= 0) sent[static_cast<std::size_t>(damaged)][100] ^= 4;
      MPI_Send(sent[0].data(), static_cast<int>(sent[0].size()), MPI_BYTE, 1, 1, comm_);
      for (std::size_t i = 1; i <= later && damaged != 0; ++i)
        MPI_Send(sent[i].data(), static_cast<int>(sent[i].size()), MPI_BYTE, 1, static_cast<int>(tag),
                 segments);
    }
  } else {
    MPI_Status status;
    MPI_Recv(pieces[0].data(), 4 * long_count, MPI_BYTE, 0, 2, comm_, &status);
    pieces[0].resize(static_cast<std::size_t>(count_of(status, MPI_BYTE)));
    std::uint32_t tag = 0;
    std::memcpy(&tag, pieces[0].data() + envelope_bytes + 4, 4);
    for (std::size_t i = 1; i <= later; ++i) {
      MPI_Recv(pieces[i].data(), 4 * long_count, MPI_BYTE, 0, static_cast<int>(tag), segments, &status);
      pieces[i].resize(static_cast<std::size_t>(count_of(status, MPI_BYTE)));
    }
    pass(0, true);
    for (int damaged = -1; damaged <= later; ++damaged) {
      const int code = TAUT_Recv(got_.data(), long_count, MPI_FLOAT, 0, 1, comm_, MPI_STATUS_IGNORE);
      EXPECT_EQ(code == MPI_SUCCESS, damaged < 0) << damaged;
      if (damaged >= 0) {
        EXPECT_EQ(TAUT_Error_status(code), TAUT_ERR_FRAME);
      }
      if (damaged < 0) expect_values_of(0);
    }
  }
}

// Two threads send on one communicator.
TEST_F(LongMessages, OfTwoThreads) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  const Comm other("abs:1e-3");
  const auto work = [this](MPI_Comm comm, int tag) {
    const Values mine = values_of(ring_.rank, tag), expected = values_of(ring_.left, tag);
    std::vector<float> got(static_cast<std::size_t>(long_count), -7.0f);
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(TAUT_Sendrecv(mine.slice().data, long_count, MPI_FLOAT, ring_.right, tag, got.data(),
                              long_count, MPI_FLOAT, ring_.left, tag, comm, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
      ASSERT_LE(error(expected, got), 1e-3);
    }
  };
  std::thread second([&] { work(other, 2); });
  work(comm_, 1);
  second.join();
}

}  // namespace
}  // namespace taut::test
