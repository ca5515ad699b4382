// Program at the edges of MPI: it receives in callbacks of MPI_Finalize, leaves calls by exceptions or
// longjmp, forks, and marks regions. lifetime CASE [threads]; lifetime_test.py names the cases. With a second
// argument the program asks for MPI_THREAD_MULTIPLE. A line of output begins with the rank.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int some = 1 << 16, many = 1 << 19;  // values of a message in one piece, and of one in segments
int rank, size;

double value(int i, int of) { return std::sin(i * 1e-3) + of; }

std::vector<double> values(int n, int of = 0) {
  std::vector<double> all(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = value(i, of);
  return all;
}

double worst(const std::vector<double>& got, const std::vector<double>& exact) {
  double most = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) most = std::max(most, std::fabs(got[i] - exact[i]));
  return most;
}

// Returns how values came: "exact", "coded" within the bound of the test, or "wrong".
const char* judged(double off) { return off == 0 ? "exact" : off <= 1e-3 ? "coded" : "wrong"; }

const char* sum_on_all(MPI_Comm comm = MPI_COMM_WORLD) {
  const std::vector<double> mine = values(some, rank);
  std::vector<double> sum(mine.size()), exact(mine.size());
  for (std::size_t i = 0; i < exact.size(); ++i)
    for (int r = 0; r < size; ++r) exact[i] += value(static_cast<int>(i), r);
  MPI_Allreduce(mine.data(), sum.data(), some, MPI_DOUBLE, MPI_SUM, comm);
  return judged(worst(sum, exact) < 1e-12 ? 0 : worst(sum, exact));
}

// Sends rank 0's values to rank 1, which judges them.
const char* message(int n, int tag) {
  std::vector<double> all = values(n), got(all.size());
  if (rank == 0) MPI_Send(all.data(), n, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(got.data(), n, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return rank == 1 ? judged(worst(got, all)) : "sent";
}

void say(const std::string& what, const std::string& how) {
  std::printf("%d %s: %s\n", rank, what.c_str(), how.c_str());
  std::fflush(stdout);
}

// ---- Callbacks of MPI_Finalize

enum Tag { in_one_piece = 1, in_segments, probed, matched, posted };
std::vector<double> out, out_long, in, sums;
MPI_Request sent[5], receive = MPI_REQUEST_NULL, call = MPI_REQUEST_NULL;

void receive_all() {
  std::vector<double> got(some), got_long(many);
  MPI_Status status;
  MPI_Message taken;
  int count = 0;
  MPI_Recv(got.data(), some, MPI_DOUBLE, 0, in_one_piece, MPI_COMM_WORLD, &status);
  say("received at last", judged(worst(got, out)));
  MPI_Recv(got_long.data(), many, MPI_DOUBLE, 0, in_segments, MPI_COMM_WORLD, &status);
  say("received in segments", judged(worst(got_long, out_long)));
  MPI_Probe(0, probed, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  MPI_Recv(got.data(), count, MPI_DOUBLE, 0, probed, MPI_COMM_WORLD, &status);
  say("received what was probed", count == some ? judged(worst(got, out)) : "count");
  MPI_Mprobe(0, matched, MPI_COMM_WORLD, &taken, &status);
  MPI_Mrecv(got.data(), some, MPI_DOUBLE, &taken, &status);
  say("received what was matched", judged(worst(got, out)));
  MPI_Wait(&receive, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  say("received what was posted", count == some ? judged(worst(in, out)) : "count");
}

int at_the_end(MPI_Comm, int, void*, void*) {
  if (rank == 1) receive_all();
  if (rank == 0) MPI_Waitall(5, sent, MPI_STATUSES_IGNORE);
  MPI_Wait(&call, MPI_STATUS_IGNORE);
  std::vector<double> exact(out.size());
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = size * out[i];
  say("summed before", judged(worst(sums, exact)));
  say("summed at last", sum_on_all());
  return MPI_SUCCESS;
}

void finalize_with_callback() {
  int key = MPI_KEYVAL_INVALID;
  out = in = sums = values(some);
  out_long = values(many);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  if (rank == 1) MPI_Irecv(in.data(), some, MPI_DOUBLE, 0, posted, MPI_COMM_WORLD, &receive);
  for (int tag = in_one_piece; rank == 0 && tag <= posted; ++tag) {
    const std::vector<double>& from = tag == in_segments ? out_long : out;
    MPI_Isend(from.data(), static_cast<int>(from.size()), MPI_DOUBLE, 1, tag, MPI_COMM_WORLD, &sent[tag - 1]);
  }
  MPI_Iallreduce(out.data(), sums.data(), some, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &call);
}

// ---- Error handlers that do not return

bool jumps;
int handled;
std::jmp_buf back;

void handler(MPI_Comm*, int* code, ...) {
  ++handled;
  if (jumps) std::longjmp(back, 1);
  throw std::string("code ") + std::to_string(*code);
}

std::vector<double> a, b;
MPI_Request two[2];

void wrong_operator() { MPI_Allreduce(a.data(), b.data(), some, MPI_DOUBLE, MPI_OP_NULL, MPI_COMM_WORLD); }
void wrong_root() { MPI_Bcast(a.data(), some, MPI_DOUBLE, 77, MPI_COMM_WORLD); }
void wrong_rank() { MPI_Send(a.data(), some, MPI_DOUBLE, 77, 0, MPI_COMM_WORLD); }
void wrong_source() {
  int there = 0;
  MPI_Iprobe(77, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}
void wrong_receive() { MPI_Recv(b.data(), some, MPI_DOUBLE, 77, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
void wrong_exchange() {
  MPI_Sendrecv(a.data(), some, MPI_DOUBLE, 77, 0, b.data(), some, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
void wrong_wildcards() {
  MPI_Sendrecv(a.data(), some, MPI_DOUBLE, MPI_ANY_SOURCE, 0, b.data(), some, MPI_DOUBLE, 1 - rank, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void wrong_replacement() {
  MPI_Sendrecv_replace(b.data(), some, MPI_DOUBLE, 1 - rank, MPI_ANY_TAG, 1 - rank, 3, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
}
// A call with large counts, if MPI or Taut has it: the program may be built with an MPI before 4.
void wrong_large_count() {
  const auto bcast = reinterpret_cast<int (*)(void*, MPI_Count, MPI_Datatype, int, MPI_Comm)>(
      dlsym(RTLD_DEFAULT, "MPI_Bcast_c"));
  if (bcast != nullptr)
    bcast(a.data(), some, MPI_DOUBLE, 77, MPI_COMM_SELF);
  else
    MPI_Bcast(a.data(), some, MPI_DOUBLE, 77, MPI_COMM_SELF);
}
void wrong_nonblocking() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(a.data(), b.data(), some, MPI_DOUBLE, MPI_OP_NULL, MPI_COMM_WORLD, &request);
}

// A coded message, whose frames fit where its values do not; then values that MPI itself cuts off.
void short_receive() {
  if (rank == 0) MPI_Send(a.data(), some, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(b.data(), some - 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void shorter_receive() {
  if (rank == 0) MPI_Send(a.data(), some, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(b.data(), 100, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void short_wait() {
  if (rank == 0) MPI_Send(a.data(), some, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  if (rank != 1) return;
  MPI_Irecv(b.data(), some - 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, two);
  MPI_Wait(two, MPI_STATUS_IGNORE);
}
void short_wait_for_bytes() {  // which might have been a message in segments
  if (rank == 0) MPI_Send(a.data(), 4 * many, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  if (rank != 1) return;
  MPI_Irecv(b.data(), 4 * many - 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, two);
  MPI_Wait(two, MPI_STATUS_IGNORE);
}
void short_wait_for_all() {
  if (rank == 0) MPI_Send(a.data(), some, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  if (rank != 1) return;
  MPI_Status statuses[2];
  MPI_Irecv(b.data(), some / 2, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &two[0]);
  MPI_Irecv(b.data() + some, some, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &two[1]);
  MPI_Waitall(2, two, statuses);
}

// Runs a call that fails, and then calls that do not.
void fail(const char* name, void (*wrong)()) {
  std::fill(two, two + 2, MPI_REQUEST_NULL);
  handled = 0;
  if (jumps) {
    if (setjmp(back) == 0) wrong();
  } else {
    try {
      wrong();
    } catch (const std::string&) {
    }
  }
  say(name, handled == 0 ? "no error" : "handled");
  if (wrong == short_wait_for_all) {  // the second receive goes on
    if (rank == 0) MPI_Send(a.data(), some, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    if (rank == 1 && two[1] != MPI_REQUEST_NULL) MPI_Wait(&two[1], MPI_STATUS_IGNORE);
    if (rank == 1)
      say("its other receive",
          judged(worst({b.begin() + some, b.begin() + 2 * some}, {a.begin(), a.begin() + some})));
  }
  say("a message after it", message(some, 3));
  say("a long message after it", message(many, 4));
  say("a sum after it", sum_on_all());
}

void fail_in_all_ways() {
  MPI_Errhandler made;
  MPI_Comm_create_errhandler(handler, &made);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, made);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, made);
  a = values(many);
  b.resize(many);
  fail("wrong operator", wrong_operator);
  fail("wrong root", wrong_root);
  fail("wrong rank", wrong_rank);
  fail("wrong source", wrong_source);
  fail("wrong receive", wrong_receive);
  fail("wrong exchange", wrong_exchange);
  fail("wrong wildcards", wrong_wildcards);
  fail("wrong replacement", wrong_replacement);
  fail("wrong large count", wrong_large_count);
  fail("wrong nonblocking call", wrong_nonblocking);
  fail("short receive", short_receive);
  fail("shorter receive", shorter_receive);
  fail("short wait", short_wait);
  fail("short wait for bytes", short_wait_for_bytes);
  fail("short wait for all", short_wait_for_all);
}

// ---- Child processes, regions, pending requests

void fork_children() {
  MPI_Request request = MPI_REQUEST_NULL;
  const std::vector<double> mine = values(some);
  std::vector<double> sum(mine.size());
  for (int i = 0; i < 4; ++i) {
    MPI_Iallreduce(mine.data(), sum.data(), some, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    const pid_t child = fork();
    if (child == 0) std::exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("child", std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)));
    say("a message after it", message(some, 1));
    say("a sum after it", sum_on_all());
  }
}

void mark_regions() {
  if (rank == 0) MPI_Pcontrol(0, "solver");  // a local call, of which Taut knows nothing
  say("sum in a region", sum_on_all());
  if (rank == 0) MPI_Pcontrol(1, "solver", 2, 0.5, 3L, 0.25f, "more", 4, 5, 6, 7, 8.5, 9);
  say("sum after a region", sum_on_all());
  MPI_Pcontrol(9000);
  say("sum while off", sum_on_all());
  MPI_Pcontrol(9001);
  say("sum while on", sum_on_all());
}

// Prints the least time of MPI_Testsome over many receives as a multiple of PMPI_Testsome's. The look-up by
// name hides PMPI_Testsome from Taut, which would not code messages of a program that calls it. Open
// MPI 5.0.7 alone does not deliver 1000 long messages at once between processes of a host.
void poll_pending() {
  constexpr int n = 400, polls = 200;
  const auto plain = reinterpret_cast<int (*)(int, MPI_Request*, int*, int*, MPI_Status*)>(
      dlsym(RTLD_DEFAULT, "PMPI_Testsome"));
  std::vector<double> buffers(static_cast<std::size_t>(n) * (some / 2));
  std::vector<MPI_Request> requests(n);
  std::vector<int> which(n);
  for (int i = 0; rank == 1 && i < n; ++i)
    MPI_Irecv(&buffers[static_cast<std::size_t>(i) * (some / 2)], some / 2, MPI_DOUBLE, 0, i, MPI_COMM_WORLD,
              &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  double least[2] = {1, 1};
  for (int i = 0, found = 0; rank == 1 && i < polls; ++i) {
    const double begin = MPI_Wtime();
    i % 2 == 0 ? MPI_Testsome(n, requests.data(), &found, which.data(), MPI_STATUSES_IGNORE)
               : plain(n, requests.data(), &found, which.data(), MPI_STATUSES_IGNORE);
    least[i % 2] = std::min(least[i % 2], MPI_Wtime() - begin);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<double> all = values(some / 2);
  for (int i = 0; rank == 0 && i < n; ++i) MPI_Send(all.data(), some / 2, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
  double off = 0;
  for (int left = rank == 1 ? n : 0, found = 0; left > 0; left -= found) {
    MPI_Waitsome(n, requests.data(), &found, which.data(), MPI_STATUSES_IGNORE);
    for (int k = 0; k < found; ++k) {
      const double* const at = &buffers[static_cast<std::size_t>(which[k]) * (some / 2)];
      off = std::max(off, worst({at, at + some / 2}, all));
    }
  }
  if (rank == 1) say("received", judged(off));
  if (rank == 1) say("times plain", std::to_string(least[0] / least[1]));
}

// Exchanges long and short values in one thread, whose handles MPI gives to other threads as soon as they are
// free. Returns the worst error of the long ones; the short ones must be exact.
double exchange(MPI_Comm comm, int rounds) {
  constexpr int pairs = 12, n = some / 2;
  const std::vector<double> all = values(n);
  std::vector<double> got(pairs * n);
  double off = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<MPI_Request> requests(2 * pairs);
    std::vector<int> which(requests.size());
    const auto length = [&](int i) { return (i + round) % 2 == 0 ? n : 10; };
    for (int i = 0; i < pairs; ++i) {
      MPI_Irecv(&got[i * n], length(i), MPI_DOUBLE, 1 - rank, i, comm, &requests[i]);
      MPI_Isend(all.data(), length(i), MPI_DOUBLE, 1 - rank, i, comm, &requests[pairs + i]);
    }
    for (int left = 2 * pairs, found = 0; left > 0; left -= found)
      MPI_Waitsome(2 * pairs, requests.data(), &found, which.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < pairs; ++i) {
      const double* const at = &got[i * n];
      const double worst_here = worst({at, at + length(i)}, {all.begin(), all.begin() + length(i)});
      off = std::max(off, length(i) == n || worst_here == 0 ? worst_here : 1.0);
    }
  }
  return off;
}

void exchange_in_threads() {
  constexpr int n = 4;
  std::vector<MPI_Comm> comms(n);
  std::vector<double> off(n);
  std::vector<std::thread> threads;
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < n; ++i) threads.emplace_back([&, i] { off[i] = exchange(comms[i], 20); });
  for (std::thread& thread : threads) thread.join();
  say("exchanged by threads", judged(*std::max_element(off.begin(), off.end())));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  jumps = wanted == "jump";
  if (wanted == "finalize") finalize_with_callback();
  if (wanted == "throw" || wanted == "jump") fail_in_all_ways();
  if (wanted == "fork") fork_children();
  if (wanted == "regions") mark_regions();
  if (wanted == "pending") poll_pending();
  if (wanted == "exchange") exchange_in_threads();
  MPI_Finalize();
}
