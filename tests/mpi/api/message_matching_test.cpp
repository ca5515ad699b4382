// Tests of matching: order, wildcards, probes; and of layouts other than consecutive values.
#include "mpi/api/messages.hpp"

namespace taut::test {
namespace {

// Sizes for all kinds of transfer: small, plain and long, compressed.
constexpr int sizes[] = {1, 5, 200, 9000, 40000, 100000};

// Message i of a rank: every value identifies it.
std::vector<float> message(int rank, int i, int count) {
  return std::vector<float>(static_cast<std::size_t>(count), static_cast<float>(1000 * rank + i));
}

int size_of_message(int i) { return sizes[static_cast<std::size_t>(i * 7 % 6)]; }

// All other ranks send `n` messages to the last rank, with tags that depend on the message number.
void send_to_last(const Comm& comm, int n, int tags) {
  std::vector<std::vector<float>> all;
  std::vector<TAUT_Request> requests(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    all.push_back(message(comm.rank(), i, size_of_message(i)));
    EXPECT_EQ(TAUT_Isend(all.back().data(), size_of_message(i), MPI_FLOAT, comm.size() - 1, i % tags, comm,
                         &requests[static_cast<std::size_t>(i)]),
              MPI_SUCCESS);
  }
  EXPECT_EQ(TAUT_Waitall(n, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

// Messages of a source arrive in the order of their numbers.
struct Expected {
  explicit Expected(const Comm& comm) : next(static_cast<std::size_t>(comm.size())) {}
  void check(const MPI_Status& status, const std::vector<float>& got, int tags) {
    const int i = next[static_cast<std::size_t>(status.MPI_SOURCE)]++;
    EXPECT_EQ(status.MPI_TAG, i % tags);
    ASSERT_EQ(count_of(status, MPI_FLOAT), size_of_message(i));
    const auto value = static_cast<float>(1000 * status.MPI_SOURCE + i);
    for (int k = 0; k < size_of_message(i); ++k)
      ASSERT_NEAR(got[static_cast<std::size_t>(k)], value, 1e-3) << "message " << i;
  }
  std::vector<int> next;
};

TEST(MessageOrder, IsThatOfSendingWhateverTravelsHow) {
  const Comm comm("abs:1e-3");
  constexpr int n = 48, tags = 5;
  if (comm.rank() < comm.size() - 1) return send_to_last(comm, n, tags);
  Expected expected(comm);
  std::vector<float> got(100000);
  for (int i = 0; i < n * (comm.size() - 1); ++i) {
    MPI_Status status;
    ASSERT_EQ(TAUT_Recv(got.data(), 100000, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status),
              MPI_SUCCESS);
    expected.check(status, got, tags);
  }
}

TEST(MessageOrder, OfReceivesThatWait) {
  const Comm comm("abs:1e-3");
  constexpr int n = 30, tags = 3;
  const int senders = comm.size() - 1;
  if (comm.rank() < senders) {
    MPI_Barrier(comm);
    return send_to_last(comm, n, tags);
  }
  const auto all = static_cast<std::size_t>(n * senders);
  std::vector<std::vector<float>> got(all, std::vector<float>(100000));
  std::vector<TAUT_Request> requests(all);
  for (std::size_t i = 0; i < all; ++i)
    EXPECT_EQ(TAUT_Irecv(got[i].data(), 100000, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[i]),
              MPI_SUCCESS);
  MPI_Barrier(comm);
  std::vector<MPI_Status> statuses(all);
  EXPECT_EQ(TAUT_Waitall(static_cast<int>(all), requests.data(), statuses.data()), MPI_SUCCESS);
  Expected expected(comm);
  for (std::size_t i = 0; i < all; ++i) expected.check(statuses[i], got[i], tags);
}

// ---- Probes

TEST(Probe, TellsTheCountAndTheReceiveGetsThatMessage) {
  const Comm comm("abs:1e-3");
  constexpr int n = 48, tags = 5;
  if (comm.rank() < comm.size() - 1) return send_to_last(comm, n, tags);
  Expected expected(comm);
  for (int i = 0; i < n * (comm.size() - 1); ++i) {
    MPI_Status probed, status;
    ASSERT_EQ(TAUT_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &probed), MPI_SUCCESS);
    int flag = 0;  // a second time
    ASSERT_EQ(TAUT_Iprobe(probed.MPI_SOURCE, probed.MPI_TAG, comm, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    const int count = count_of(probed, MPI_FLOAT);
    std::vector<float> got(static_cast<std::size_t>(count));  // exactly as much
    ASSERT_EQ(TAUT_Recv(got.data(), count, MPI_FLOAT, probed.MPI_SOURCE, probed.MPI_TAG, comm, &status),
              MPI_SUCCESS);
    expected.check(status, got, tags);
  }
  int flag = 1;
  EXPECT_EQ(TAUT_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(flag, 0);
}

// A probe for one tag takes a later message out of MPI's queue before earlier ones; a receive of any tag
// still gets the earlier ones first.
TEST(Probe, DoesNotLetAMessageOvertake) {
  const Comm comm("abs:1e-3");
  constexpr int n = 20, tags = 4;
  if (comm.rank() < comm.size() - 1) return send_to_last(comm, n, tags);
  Expected expected(comm);
  std::vector<float> got(100000);
  for (int source = 0; source < comm.size() - 1; ++source) {
    for (int i = 0; i < n; ++i) {
      MPI_Status status;
      if (i % tags == 0) {
        ASSERT_EQ(TAUT_Probe(source, 3, comm, &status), MPI_SUCCESS);
        EXPECT_EQ(count_of(status, MPI_FLOAT), size_of_message(i + 3));
      }
      if (i % 3 == 0) {
        TAUT_Request request;
        ASSERT_EQ(TAUT_Irecv(got.data(), 100000, MPI_FLOAT, source, MPI_ANY_TAG, comm, &request),
                  MPI_SUCCESS);
        ASSERT_EQ(TAUT_Wait(&request, &status), MPI_SUCCESS);
      } else {
        ASSERT_EQ(TAUT_Recv(got.data(), 100000, MPI_FLOAT, source, MPI_ANY_TAG, comm, &status), MPI_SUCCESS);
      }
      expected.check(status, got, tags);
    }
  }
}

TEST(Probe, WhatWasProbedMayBeTooLong) {
  const Comm comm("abs:1e-3");
  const int me = comm.rank();
  if (alone(comm)) return;
  for (const int count : {10, 100000}) {
    const std::vector<float> x = message(me, 1, count);
    std::vector<float> got(static_cast<std::size_t>(count), -1.0f);
    TAUT_Request request;
    EXPECT_EQ(TAUT_Isend(x.data(), count, MPI_FLOAT, me, 4, comm, &request), MPI_SUCCESS);
    EXPECT_EQ(TAUT_Probe(me, 4, comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(class_of(TAUT_Recv(got.data(), count - 1, MPI_FLOAT, me, 4, comm, MPI_STATUS_IGNORE)),
              MPI_ERR_TRUNCATE);
    EXPECT_EQ(got.back(), -1.0f);
    EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
}

// For a coded message: a plain one remains in MPI and has to be received before the communicator is freed.
TEST(Probe, WhatWasProbedAndNeverReceivedIsInNobodysWay) {
  const Comm comm("abs:1e-3");
  if (alone(comm)) return;
  const std::vector<float> x = message(0, 1, 50000);
  TAUT_Request request;
  EXPECT_EQ(TAUT_Isend(x.data(), 50000, MPI_FLOAT, comm.rank(), 4, comm, &request), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Status status;
  EXPECT_EQ(TAUT_Probe(comm.rank(), 4, comm, &status), MPI_SUCCESS);
  EXPECT_EQ(count_of(status, MPI_FLOAT), 50000);
}

// ---- Layouts

// A datatype of every second one of `count` pairs of floats.
class Halves {
 public:
  explicit Halves(int count) {
    MPI_Type_vector(count, 1, 2, MPI_FLOAT, &type_);
    MPI_Type_commit(&type_);
  }
  ~Halves() { MPI_Type_free(&type_); }
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

TEST(MessageLayouts, OneSideOrBoth) {
  const Comm comm("abs:1e-3");
  const Ring ring(comm);
  for (const int count : {3, 50000}) {
    const Halves type(count);
    const auto n = static_cast<std::size_t>(count);
    const std::vector<float> x = message(ring.rank, 1, 2 * count);
    for (const bool sends_apart : {false, true}) {
      for (const bool receives_apart : {false, true}) {
        for (const bool probes : {false, true}) {
          std::vector<float> y(2 * n + 10, -1.0f);
          TAUT_Request requests[2] = {TAUT_REQUEST_NULL, TAUT_REQUEST_NULL};
          auto receive = [&] {
            EXPECT_EQ(TAUT_Irecv(y.data(), receives_apart ? 1 : count + 10, receives_apart ? type : MPI_FLOAT,
                                 ring.left, 0, comm, &requests[0]),
                      MPI_SUCCESS);
          };
          if (!probes) receive();
          EXPECT_EQ(TAUT_Isend(x.data(), sends_apart ? 1 : count, sends_apart ? type : MPI_FLOAT, ring.right,
                               0, comm, &requests[1]),
                    MPI_SUCCESS);
          if (probes) {
            EXPECT_EQ(TAUT_Probe(ring.left, 0, comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
            receive();
          }
          MPI_Status statuses[2];
          EXPECT_EQ(TAUT_Waitall(2, requests, statuses), MPI_SUCCESS);
          EXPECT_EQ(count_of(statuses[0], MPI_FLOAT), count);
          const std::size_t step = receives_apart ? 2 : 1;
          for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(y[step * i], 1000 * ring.left + 1, 1e-3) << i;
          EXPECT_EQ(y[step * n], -1);
          if (receives_apart) {
            EXPECT_EQ(y[1], -1);
          }
        }
      }
    }
  }
}

// Values are compressed in any layout, unless they are of several types.
TEST(MessageLayouts, AreCompressed) {
  const Comm comm("abs:1e-3,codec=planes");
  const Ring ring(comm);
  if (alone(comm)) return;
  const Halves apart(50000);
  MPI_Datatype together;
  MPI_Type_contiguous(50000, MPI_FLOAT, &together);
  MPI_Type_commit(&together);
  const std::vector<float> x = message(ring.rank, 1, 100000);
  std::vector<float> y(100000, -1.0f);
  std::uint64_t sent = 0;
  for (const MPI_Datatype type : {MPI_Datatype(apart), together}) {
    ASSERT_EQ(TAUT_Sendrecv(x.data(), 1, type, ring.right, 0, y.data(), 50000, MPI_FLOAT, ring.left, 0, comm,
                            MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    EXPECT_NEAR(y[49999], 1000 * ring.left + 1, 1e-3);
    EXPECT_EQ(comm.stats().value_bytes, ++sent * 200000);
    EXPECT_LT(comm.stats().frame_bytes, comm.stats().value_bytes / 4);
  }
  MPI_Type_free(&together);
}

// A message may end within an element of the receiver's type.
TEST(MessageLayouts, PartOfAnElement) {
  const Comm comm("abs:1e-3");
  const Ring ring(comm);
  const Halves type(1000);
  for (const int count : {1, 999, 1500, 40500}) {
    const std::vector<float> x = message(ring.rank, 2, count);
    std::vector<float> y(2 * 50000, -1.0f);
    MPI_Status status;
    EXPECT_EQ(TAUT_Sendrecv(x.data(), count, MPI_FLOAT, ring.right, 0, y.data(), 50, type, ring.left, 0, comm,
                            &status),
              MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_FLOAT), count);
    if (!alone(comm)) {
      EXPECT_EQ(count_of(status, type), count % 1000 == 0 ? count / 1000 : MPI_UNDEFINED);
    }
    // Element e of the type starts where element e - 1 ends: 1999 floats later.
    for (int i = 0; i < 50000; ++i) {
      const auto at = static_cast<std::size_t>(i / 1000 * 1999 + i % 1000 * 2);
      ASSERT_NEAR(y[at], i < count ? 1000 * ring.left + 2 : -1, 1e-3) << i;
    }
  }
}

TEST(MessageLayouts, TheTypeMayBeFreedAtOnce) {
  const Comm comm("abs:1e-3");
  const Ring ring(comm);
  const std::vector<float> x = message(ring.rank, 3, 100000);
  std::vector<float> y(100000, -1.0f);
  TAUT_Request requests[2];
  {
    const Halves type(50000);
    EXPECT_EQ(TAUT_Irecv(y.data(), 1, type, ring.left, 0, comm, &requests[0]), MPI_SUCCESS);
    EXPECT_EQ(TAUT_Isend(x.data(), 1, type, ring.right, 0, comm, &requests[1]), MPI_SUCCESS);
  }
  EXPECT_EQ(TAUT_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_NEAR(y[99998], 1000 * ring.left + 3, 1e-3);
  EXPECT_EQ(y[99997], -1);
}

// Absolute addresses.
TEST(MessageLayouts, FromTheBottom) {
  const Comm comm("abs:1e-3");
  const Ring ring(comm);
  std::vector<float> x(2, static_cast<float>(ring.rank)), y(2);
  MPI_Aint from = 0, to = 0;
  MPI_Get_address(x.data(), &from);
  MPI_Get_address(y.data(), &to);
  const int two = 2;
  MPI_Datatype sent, received;
  MPI_Type_create_hindexed(1, &two, &from, MPI_FLOAT, &sent);
  MPI_Type_create_hindexed(1, &two, &to, MPI_FLOAT, &received);
  MPI_Type_commit(&sent);
  MPI_Type_commit(&received);
  EXPECT_EQ(TAUT_Sendrecv(MPI_BOTTOM, 1, sent, ring.right, 0, MPI_BOTTOM, 1, received, ring.left, 0, comm,
                          MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  EXPECT_EQ(y[1], static_cast<float>(ring.left));
  MPI_Type_free(&sent);
  MPI_Type_free(&received);
}

// Predefined types that the library does not support.
TEST(MessageLayouts, PairsWithGaps) {
  const Comm comm("abs:1e-3");
  const Ring ring(comm);
  struct Pair {
    double value;
    int place;
  };
  std::vector<Pair> x(10000, {2.5, ring.rank}), y(10000);
  MPI_Status status;
  EXPECT_EQ(TAUT_Sendrecv(x.data(), 10000, MPI_DOUBLE_INT, ring.right, 0, y.data(), 10000, MPI_DOUBLE_INT,
                          ring.left, 0, comm, &status),
            MPI_SUCCESS);
  EXPECT_EQ(count_of(status, MPI_DOUBLE_INT), 10000);
  EXPECT_EQ(y[9999].place, ring.left);
}

}  // namespace
}  // namespace taut::test
