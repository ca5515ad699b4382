// Messages of taut.h from and to memory of GPUs, simulated or real (gpu/real), over MPI: every call that
// sends or receives, either side on the host or on a GPU. What is received equals what arrives from host
// memory in host memory, to the bit.
#include <taut/taut.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/gpu_faults.h"
#include "support/on_gpu.hpp"

namespace {

using taut::test::OnGpu;

constexpr int long_count = 600'001;  // in segments
int rank = 0, ranks = 0, right = 0, left = 0;
bool good = true;

void expect(bool holds, const std::string& what) {
  if (!holds) std::fprintf(stderr, "rank %d: %s\n", rank, what.c_str());
  good &= holds;
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

std::uint64_t compressed(MPI_Comm comm) {
  TAUT_Stats stats{};
  stats.struct_size = sizeof stats;
  TAUT_Comm_get_stats(comm, &stats);
  return stats.compressed_calls;
}

// Values that compress without loss, too.
std::vector<float> values_of(int of_rank, int count, int seed = 0) {
  std::vector<float> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::round(128 * std::sin(1e-3F * static_cast<float>(i) + static_cast<float>(seed))) +
           static_cast<float>(1000 * of_rank);
  return x;
}

bool aware = false;  // this MPI reads and writes memory of GPUs (mpi/gpu/aware_mpi.c)

// Lets the host access memory of GPUs, as an MPI does that supports it. An aware MPI needs none.
class Opened {
 public:
  Opened() {
    if (!aware) stand_in_open_all();
  }
  Opened(const Opened&) = delete;
  ~Opened() {
    if (!aware) stand_in_close_all();
  }
};

// Sends `in` to the right and receives `out` from the left, `count` values each. Returns an MPI error code.
using Exchange =
    std::function<int(const float* in, float* out, int count, MPI_Comm comm, MPI_Status* status)>;

int both(int first, int second) { return first != MPI_SUCCESS ? first : second; }

int by_sendrecv(const float* in, float* out, int count, MPI_Comm comm, MPI_Status* status) {
  return TAUT_Sendrecv(in, count, MPI_FLOAT, right, 3, out, count, MPI_FLOAT, left, 3, comm, status);
}

int by_isend(const float* in, float* out, int count, MPI_Comm comm, MPI_Status* status) {
  TAUT_Request request = TAUT_REQUEST_NULL;
  const int started = TAUT_Isend(in, count, MPI_FLOAT, right, 3, comm, &request);
  const int received = TAUT_Recv(out, count, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status);
  return both(both(started, received), TAUT_Wait(&request, MPI_STATUS_IGNORE));
}

int by_irecv(const float* in, float* out, int count, MPI_Comm comm, MPI_Status* status) {
  TAUT_Request request = TAUT_REQUEST_NULL;
  const int started = TAUT_Irecv(out, count + 5, MPI_FLOAT, MPI_ANY_SOURCE, 3, comm, &request);
  const int sent = TAUT_Send(in, count, MPI_FLOAT, right, 3, comm);
  int done = 0, code = MPI_SUCCESS;
  while (done == 0 && code == MPI_SUCCESS) code = TAUT_Test(&request, &done, status);
  return both(both(started, sent), code);
}

int by_probe(const float* in, float* out, int count, MPI_Comm comm, MPI_Status* status) {
  TAUT_Request request = TAUT_REQUEST_NULL;
  const int started = TAUT_Isend(in, count, MPI_FLOAT, right, 3, comm, &request);
  int code = TAUT_Probe(left, 3, comm, status), there = -1;
  MPI_Get_count(status, MPI_FLOAT, &there);
  expect(there == count, "TAUT_Probe finds " + std::to_string(there));
  code = both(code, TAUT_Recv(out, count, MPI_FLOAT, left, 3, comm, status));
  return both(both(started, code), TAUT_Wait(&request, MPI_STATUS_IGNORE));
}

struct Sides {
  bool from_gpu, to_gpu;
};

void compare(const std::string& name, MPI_Comm comm, int count, const Sides& sides, const Exchange& exchange,
             std::size_t skipped = 0) {
  const std::vector<float> in = values_of(rank, count);
  std::vector<float> here(in.size() + 5, -7), there = here;
  MPI_Status status;
  expect(exchange(in.data(), here.data(), count, comm, &status) == MPI_SUCCESS, name + " on the host");
  const std::uint64_t before = compressed(comm);
  expect(exchange(in.data(), here.data(), count, comm, &status) == MPI_SUCCESS, name + " on the host");
  const std::uint64_t by_host = compressed(comm) - before;
  const OnGpu<float> gpu_in(in, skipped), gpu_out(there, skipped);
  const unsigned long launches = stand_in_launches();
  int got = -1;
  const int code = exchange(sides.from_gpu ? gpu_in.data() : in.data(),
                            sides.to_gpu ? gpu_out.data() : there.data(), count, comm, &status);
  expect(code == MPI_SUCCESS, name + " on the GPU");
  MPI_Get_count(&status, MPI_FLOAT, &got);
  expect(got == count, name + ": count " + std::to_string(got));
  if (sides.to_gpu) there = gpu_out.peek(there.size());
  expect(there == here, name + ": other bits than on the host");
  expect(compressed(comm) - before == 2 * by_host, name + ": not as often compressed");
  const bool kernels = by_host > 0 && skipped % 4 == 0 && sides.from_gpu;
  expect(!kernels || stand_in_launches() > launches || stand_in_counts_launches() == 0,
         name + ": no kernel has run");
}

const struct {
  const char* name;
  Exchange exchange;
} exchanges[] = {{"Sendrecv", by_sendrecv}, {"Isend", by_isend}, {"Irecv", by_irecv}, {"Probe", by_probe}};

void all_exchanges(MPI_Comm comm, const std::string& policy) {
  expect(TAUT_Comm_set_policy(comm, policy.c_str()) == MPI_SUCCESS, policy);
  const Sides mixed{rank % 2 == 0, rank % 2 == 1};
  for (const auto& [name, exchange] : exchanges)
    for (const int count : {997, 20011, long_count}) {
      const std::string text = policy + " " + name + " " + std::to_string(count);
      compare(text, comm, count, {true, true}, exchange);
      if (count == 20011)
        for (const Sides sides : {Sides{true, false}, {false, true}, mixed})
          compare(text, comm, count, sides, exchange);
    }
}

// Values that stay plain travel as they are, by an MPI that can read memory of GPUs.
void short_messages(MPI_Comm comm) {
  const Opened opened;
  TAUT_Comm_set_policy(comm, "abs:1e-3,codec=planes");
  for (const auto& [name, exchange] : exchanges)
    for (const int count : {0, 1, 7, 16383, 16384, 16397})
      compare("around min_bytes " + std::string(name) + " " + std::to_string(count), comm, count,
              {true, true}, exchange);
  for (const char* const policy : {"abs:1e-3,codec=szx,when=always", "abs:1e-3,codec=planes,checksum=on"}) {
    TAUT_Comm_set_policy(comm, policy);
    const std::vector<float> in = values_of(rank, 50000);
    const OnGpu<float> from(in), to(in.size());
    const std::uint64_t before = compressed(comm);
    MPI_Status status;
    expect(by_sendrecv(from.data(), to.data(), 50000, comm, &status) == MPI_SUCCESS, policy);
    expect(to.peek(in.size()) == values_of(left, 50000), std::string(policy) + ": other values");
    expect(compressed(comm) == before, std::string(policy) + " is compressed");
  }
}

// A plain message arrives on a GPU by any MPI.
void plain_messages(MPI_Comm comm) {
  const std::vector<float> in = values_of(rank, 50000);
  const OnGpu<float> to(in.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Isend(in.data(), 50000, MPI_FLOAT, right, 4, comm, &request);
  expect(TAUT_Recv(to.data(), 50000, MPI_FLOAT, left, 4, comm, &status) == MPI_SUCCESS, "a plain message");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(to.peek(in.size()) == values_of(left, 50000), "a plain message has other values");
}

void out_of_order(MPI_Comm comm) {
  constexpr int counts[] = {20000, long_count, 30000};
  std::vector<std::unique_ptr<OnGpu<float>>> from, to;
  TAUT_Request requests[6];
  for (int i = 0; i < 3; ++i) {
    from.push_back(std::make_unique<OnGpu<float>>(values_of(rank, counts[i], i)));
    to.push_back(std::make_unique<OnGpu<float>>(static_cast<std::size_t>(counts[i])));
    TAUT_Isend(from.back()->data(), counts[i], MPI_FLOAT, right, i, comm, &requests[3 + i]);
  }
  for (const int i : {2, 0, 1})
    TAUT_Irecv(to[static_cast<std::size_t>(i)]->data(), counts[i], MPI_FLOAT, left, i, comm, &requests[i]);
  expect(TAUT_Waitall(6, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "Waitall");
  for (int i = 0; i < 3; ++i) {
    const auto got = to[static_cast<std::size_t>(i)]->peek(static_cast<std::size_t>(counts[i]));
    const auto wanted = values_of(left, counts[i], i);
    float worst = 0;
    for (std::size_t k = 0; k < got.size(); ++k) worst = std::fmax(worst, std::fabs(got[k] - wanted[k]));
    expect(worst <= 1e-3F, "message " + std::to_string(i) + " has an error of " + std::to_string(worst));
  }
}

void truncated(MPI_Comm comm) {
  for (const int count : {20000, long_count}) {
    const OnGpu<float> from(values_of(rank, count)),
        to(std::vector<float>(static_cast<std::size_t>(count), -7.0F));
    for (const int room : {count - 1, count / 2, 10}) {
      TAUT_Request request = TAUT_REQUEST_NULL;
      TAUT_Isend(from.data(), count, MPI_FLOAT, right, 3, comm, &request);
      const Opened opened;  // MPI itself truncates the shortest ones
      const int code = TAUT_Recv(to.data(), room, MPI_FLOAT, left, 3, comm, MPI_STATUS_IGNORE);
      expect(class_of(code) == MPI_ERR_TRUNCATE, "a short receive is no error");
      expect(to.peek(to.size()).back() == -7, "written behind the buffer");
      TAUT_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
}

// Values with gaps travel plain. They arrive where they belong by an MPI that can access memory of GPUs.
void gaps(MPI_Comm comm) {
  constexpr int n = 40000;
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_vector(n, 1, 2, MPI_FLOAT, &apart);
  MPI_Type_commit(&apart);
  const std::vector<float> in = values_of(rank, 2 * n), wanted = values_of(left, 2 * n);
  const OnGpu<float> from(in), to(std::vector<float>(2 * n, -7.0F));
  const Opened opened;
  const std::uint64_t before = compressed(comm);
  expect(TAUT_Sendrecv(from.data(), 1, apart, right, 3, to.data(), 1, apart, left, 3, comm,
                       MPI_STATUS_IGNORE) == MPI_SUCCESS,
         "values with gaps");
  const std::vector<float> got = to.peek(2 * n);
  for (std::size_t i = 0; i < 2 * n; ++i)
    if (got[i] != (i % 2 == 0 ? wanted[i] : -7)) return expect(false, "values with gaps: others");
  expect(compressed(comm) == before, "values with gaps are compressed");
  MPI_Type_free(&apart);
}

// The n-th call of CUDA's runtime fails on the sender (rank 0), or on the receiver (rank 1): the message
// arrives right, or there is an error, and the next one arrives. Returns true on all ranks if so many calls
// are made.
bool fails_cleanly(MPI_Comm comm, unsigned long n, int count, bool sender_fails) {
  const std::vector<float> in = values_of(0, count);
  const bool fails = rank == (sender_fails ? 0 : 1);
  int reached = 0, sent = 0;
  const Opened opened;  // MPI may be given the pointers
  const unsigned long before = stand_in_calls();
  if (rank == 0) {
    const OnGpu<float> from(in);
    TAUT_Request request = TAUT_REQUEST_NULL;
    if (fails) stand_in_at_call(n, nullptr, nullptr);
    sent = TAUT_Isend(from.data(), count, MPI_FLOAT, 1, 8, comm, &request) == MPI_SUCCESS;
    stand_in_at_call(0, nullptr, nullptr);
    MPI_Send(&sent, 1, MPI_INT, 1, 9, comm);
    if (sent != 0) TAUT_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    std::vector<float> here(in.size());
    const OnGpu<float> to(in.size());
    MPI_Recv(&sent, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE);
    if (fails) stand_in_at_call(n, nullptr, nullptr);
    const int code = sent != 0 ? TAUT_Recv(to.data(), count, MPI_FLOAT, 0, 8, comm, MPI_STATUS_IGNORE) : -1;
    stand_in_at_call(0, nullptr, nullptr);
    if (code == MPI_SUCCESS) here = to.read();
    float worst = 0;
    for (std::size_t k = 0; k < in.size(); ++k) worst = std::fmax(worst, std::fabs(here[k] - in[k]));
    expect(code != MPI_SUCCESS || worst <= 1e-3F, "after a failed call: error " + std::to_string(worst));
    int waits = 0;
    TAUT_Iprobe(0, 8, comm, &waits, MPI_STATUS_IGNORE);
    if (waits != 0) TAUT_Recv(here.data(), count, MPI_FLOAT, 0, 8, comm, MPI_STATUS_IGNORE);
  }
  if (fails) reached = stand_in_calls() - before >= n;
  MPI_Bcast(&reached, 1, MPI_INT, sender_fails ? 0 : 1, comm);
  MPI_Barrier(comm);  // the probe above must not find the message of the next round
  return reached != 0;
}

void faults(MPI_Comm comm) {
  TAUT_Comm_set_policy(comm, "abs:1e-3,codec=planes,when=always,min_bytes=1");
  for (const int count : {20000, long_count})
    for (const bool sender_fails : {true, false})
      for (unsigned long n = 1; fails_cleanly(comm, n, count, sender_fails); ++n)
        if (n > 1000) return expect(false, "calls without end");
  out_of_order(comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto given = [&](const char* word) { return std::ranges::count(words, word) != 0; };
  aware = given("aware");
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  all_exchanges(comm, "abs:1e-3,codec=planes,when=always,min_bytes=1");
  all_exchanges(comm, "lossless,codec=mpc,when=always,min_bytes=1");
  if (given("rates")) all_exchanges(comm, "rate:8,when=always,min_bytes=1");
  TAUT_Comm_set_policy(comm, "abs:1e-3,codec=planes,when=always,min_bytes=1");
  for (const std::size_t skipped : {1, 4, 8})
    compare("unaligned by " + std::to_string(skipped), comm, 20011, {true, true}, by_sendrecv, skipped);
  plain_messages(comm);
  out_of_order(comm);
  const bool simulated = stand_in_is_real() == 0;
  // Open MPI 4 writes more than the room, here behind a copy of that size.
  if (!aware && simulated) truncated(comm);
  if (aware || simulated) {  // MPI gets pointers into the memory of a GPU
    gaps(comm);
    short_messages(comm);
  }
  if (ranks > 1 && simulated) faults(comm);
  TAUT_Comm_set_policy(comm, "");
  MPI_Comm_free(&comm);
  int failed = !good, any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}
