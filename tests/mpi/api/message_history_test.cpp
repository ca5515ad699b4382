// Messages that refer to earlier ones: values are those of history=off, whatever receives them, in whatever
// order. A caller of TAUT_Allreduce sets a history for sums likewise.
#include "mpi/api/messages.hpp"

namespace taut::test {
namespace {

constexpr std::size_t n = 40000;

// Values that change little from step to step: noise that stays, and a wave that moves.
Values at_step(int rank, int step, std::size_t count = n) {
  Values values = make_values(DType::f32, count, Pattern::noisy, 77 + static_cast<std::uint64_t>(rank));
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = values.at(i) + 0.01 * std::sin(0.001 * static_cast<double>(i) + step);
  values.set(0, numbers);
  return values;
}

const char* const off = "abs:1e-3,when=always,min_bytes=0";
const char* const on = "abs:1e-3,when=always,min_bytes=0,history=auto";

// Exchanges messages around a ring, of which each rank receives the one of its left neighbour.
class Exchange {
 public:
  explicit Exchange(const char* policy) : comm_(policy), ring_(comm_) {}

  void send(const Values& values, int tag = 0) {
    EXPECT_EQ(TAUT_Isend(values.slice().data, static_cast<MPI_Count>(values.count()), MPI_FLOAT, ring_.right,
                         tag, comm_, &sends_.emplace_back()),
              MPI_SUCCESS);
  }
  TAUT_Request receive(Values& values, int tag = 0, int source = -1) {
    TAUT_Request request;
    EXPECT_EQ(TAUT_Irecv(values.slice().data, static_cast<MPI_Count>(values.count()), MPI_FLOAT,
                         source == -1 ? ring_.left : source, tag, comm_, &request),
              MPI_SUCCESS);
    return request;
  }
  void wait(TAUT_Request& request) { EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS); }
  void end_sends() {
    for (TAUT_Request& send : sends_) wait(send);
    sends_.clear();
  }
  const Ring& ring() const { return ring_; }
  MPI_Comm comm() const { return comm_; }
  std::uint64_t sent_bytes() const { return comm_.stats().sent_bytes; }

 private:
  Comm comm_;
  Ring ring_;
  std::vector<TAUT_Request> sends_;
};

// Runs `step(exchange, i, received)` some times with a history and without, and compares what arrives.
// Returns how many times fewer bytes were sent.
template <class Step>
double compare(int steps, std::size_t messages, const Step& step, std::size_t count = n) {
  Exchange with(on), without(off);
  for (int i = 0; i < steps; ++i) {
    std::vector<Values> a(messages, Values(DType::f32, count)), b = a;
    step(with, i, a);
    step(without, i, b);
    for (std::size_t m = 0; m < messages; ++m) EXPECT_TRUE(a[m] == b[m]) << "step " << i << " message " << m;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return static_cast<double>(without.sent_bytes()) / static_cast<double>(with.sent_bytes());
}

TEST(MessageHistory, HalosSendWhatHasChanged) {
  const Comm world("abs:1e-3");
  if (alone(world)) return;
  const double gain = compare(20, 1, [](Exchange& exchange, int i, std::vector<Values>& got) {
    const Values mine = at_step(exchange.ring().rank, i);
    TAUT_Request request = exchange.receive(got[0]);
    exchange.send(mine);
    exchange.wait(request);
    exchange.end_sends();
  });
  EXPECT_GT(gain, 1.5);
  const double both = compare(20, 1, [](Exchange& exchange, int i, std::vector<Values>& got) {
    const Values mine = at_step(exchange.ring().rank, i);
    EXPECT_EQ(TAUT_Sendrecv(mine.slice().data, n, MPI_FLOAT, exchange.ring().right, 3, got[0].slice().data, n,
                            MPI_FLOAT, exchange.ring().left, 3, exchange.comm(), MPI_STATUS_IGNORE),
              MPI_SUCCESS);
  });
  EXPECT_GT(both, 1.5);
}

TEST(MessageHistory, LongMessagesRefer) {
  const Comm world("abs:1e-3");
  if (alone(world)) return;
  constexpr std::size_t many = 700000;
  const double gain = compare(
      8, 1,
      [](Exchange& exchange, int i, std::vector<Values>& got) {
        const Values mine = at_step(exchange.ring().rank, i, many);
        TAUT_Request request = exchange.receive(got[0]);
        exchange.send(mine);
        exchange.wait(request);
        exchange.end_sends();
      },
      many);
  EXPECT_GT(gain, 1.3);
}

// Three messages underway at a time, received in another order, by other tags, and from any source.
TEST(MessageHistory, AnyOrderOfReceivesIsRight) {
  const Comm world("abs:1e-3");
  if (alone(world)) return;
  compare(12, 4, [](Exchange& exchange, int i, std::vector<Values>& got) {
    std::vector<Values> mine;
    for (int m = 0; m < 4; ++m) mine.push_back(at_step(exchange.ring().rank, 4 * i + m));
    for (std::size_t m = 0; m < 4; ++m) exchange.send(mine[m], m == 1 ? 5 : 0);
    std::vector<TAUT_Request> requests(4);
    for (const std::size_t m : {1u, 0u, 2u, 3u})
      requests[m] = exchange.receive(got[m], m == 1 ? 5 : 0, i % 2 == 0 ? -1 : MPI_ANY_SOURCE);
    for (const std::size_t m : {3u, 0u, 1u, 2u}) exchange.wait(requests[m]);
    exchange.end_sends();
  });
}

// A receive that is too short, and one past Taut, leave the receiver without a state.
TEST(MessageHistory, LostMessagesDoNotMatter) {
  const Comm world("abs:1e-3");
  if (alone(world)) return;
  for (const bool truncates : {true, false}) {
    const double gain = compare(24, 1, [&](Exchange& exchange, int i, std::vector<Values>& got) {
      const Values mine = at_step(exchange.ring().rank, i);
      exchange.send(mine);
      if (i % 6 != 4) {
        TAUT_Request request = exchange.receive(got[0]);
        exchange.wait(request);
      } else if (truncates) {
        EXPECT_EQ(class_of(TAUT_Recv(Values(got[0]).slice().data, n - 8, MPI_FLOAT, exchange.ring().left, 0,
                                     exchange.comm(), MPI_STATUS_IGNORE)),
                  MPI_ERR_TRUNCATE);
      } else {
        std::vector<char> frames(n * sizeof(float));
        MPI_Recv(frames.data(), static_cast<int>(frames.size()), MPI_BYTE, exchange.ring().left, 0,
                 exchange.comm(), MPI_STATUS_IGNORE);
      }
      exchange.end_sends();
    });
    EXPECT_GT(gain, 1.2);
  }
}

// Every communicator begins anew; one that is freed with messages underway ends well.
TEST(MessageHistory, EndsWithItsCommunicator) {
  const Comm world("abs:1e-3");
  if (alone(world)) return;
  for (int round = 0; round < 40; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    ASSERT_EQ(TAUT_Comm_set_policy(comm, on), MPI_SUCCESS);
    const int rank = rank_of(comm), size = size_of_comm(comm);
    for (int i = 0; i < 5; ++i) {
      const Values mine = at_step(rank, i), expected = at_step((rank + size - 1) % size, i);
      Values got(DType::f32, n);
      TAUT_Request requests[2];
      ASSERT_EQ(TAUT_Irecv(got.slice().data, n, MPI_FLOAT, (rank + size - 1) % size, 0, comm, &requests[0]),
                MPI_SUCCESS);
      ASSERT_EQ(TAUT_Isend(mine.slice().data, n, MPI_FLOAT, (rank + 1) % size, 0, comm, &requests[1]),
                MPI_SUCCESS);
      if (i == 4) MPI_Comm_free(&comm);
      for (TAUT_Request& request : requests) ASSERT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_LE(distance(got, expected), 1.001e-3) << round << " " << i;
    }
  }
}

// Sums noise that stays and a wave that moves, in ten calls. Returns the bytes that this rank has sent.
std::uint64_t sum_ten_times(const Comm& comm, std::vector<std::vector<float>>& sums) {
  const Values noise = make_values(DType::f32, n, Pattern::noisy, 77 + static_cast<unsigned>(comm.rank()));
  std::vector<float> own(n);
  for (int call = 0; call < 10; ++call) {
    for (std::size_t i = 0; i < n; ++i)
      own[i] = static_cast<float>(noise.at(i) + 0.01 * std::sin(0.001 * static_cast<double>(i) + call));
    std::vector<float>& sum = sums.emplace_back(n);
    EXPECT_EQ(TAUT_Allreduce(own.data(), sum.data(), n, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
  }
  return comm.stats().sent_bytes;
}

TEST(CallHistory, IsSetByAPolicyOrAnInfo) {
  const char* const off = "abs:1e-3,reduction=frames,when=always,min_bytes=0";
  const Comm without(off), by_policy((std::string(off) + ",history=auto").c_str()), by_info;
  if (without.size() < 2) return;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : {std::pair{"taut_bound", "abs:1e-3"},
                                   {"taut_reduction", "frames"},
                                   {"taut_when", "always"},
                                   {"taut_min_bytes", "0"},
                                   {"taut_history", "auto"}})
    MPI_Info_set(info, key, value);
  EXPECT_EQ(TAUT_Comm_set_info(by_info, info), MPI_SUCCESS);
  MPI_Info_free(&info);
  std::vector<std::vector<float>> expected, sums, others;
  const std::uint64_t bytes = sum_ten_times(without, expected);
  EXPECT_LT(sum_ten_times(by_policy, sums), bytes * 7 / 10);
  EXPECT_LT(sum_ten_times(by_info, others), bytes * 7 / 10);
  EXPECT_TRUE(sums == expected);
  EXPECT_TRUE(others == expected);
}

}  // namespace
}  // namespace taut::test
