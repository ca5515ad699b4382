// A long run: a million small calls, ten thousand large ones of every kind, thousands of communicators.
// Memory must not grow, and no resource of MPI may run out. Needs two ranks or more; `taut_lasting 10` makes
// 10 % of these calls.
#include <taut/taut.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " + text);
}

// Returns the resident memory of this process.
double mebibytes() {
  std::size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return static_cast<double>(resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) / (1 << 20);
}

// Returns the largest growth of memory on any rank during the last nine tenths of n calls `call(i)`.
double growth(int n, const std::function<void(int)>& call) {
  double before = 0, grown = 0;
  for (int i = 0; i < n; ++i) {
    if (i == n / 10) before = mebibytes();
    call(i);
  }
  grown = mebibytes() - before;
  MPI_Allreduce(MPI_IN_PLACE, &grown, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return grown;
}

class Comm {
 public:
  explicit Comm(const char* policy) {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    check(TAUT_Comm_set_policy(comm_, policy), "TAUT_Comm_set_policy");
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
  }
  Comm(const Comm&) = delete;
  ~Comm() { MPI_Comm_free(&comm_); }
  operator MPI_Comm() const { return comm_; }
  int rank = 0, size = 1;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Large calls of all kinds, one after another or in flight together.
class LargeCalls {
 public:
  explicit LargeCalls(const Comm& comm) : comm_(comm) {
    for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = static_cast<float>(i % 1000) * 0.01F;
    check(TAUT_Allreduce_init(in_.data(), out_.data(), count, MPI_FLOAT, MPI_SUM, comm_, MPI_INFO_NULL,
                              &persistent_),
          "TAUT_Allreduce_init");
  }
  LargeCalls(const LargeCalls&) = delete;
  ~LargeCalls() { TAUT_Request_free(&persistent_); }

  void make(int i) {
    switch (i % 10) {
      case 0:
        return check(TAUT_Allreduce(in_.data(), out_.data(), count, MPI_FLOAT, MPI_SUM, comm_), "Allreduce");
      case 1: return check(TAUT_Bcast(out_.data(), count, MPI_FLOAT, i / 10 % comm_.size, comm_), "Bcast");
      case 2:
        return check(TAUT_Allgather(in_.data(), block(), MPI_FLOAT, out_.data(), block(), MPI_FLOAT, comm_),
                     "Allgather");
      case 3:
        return check(TAUT_Reduce_scatter_block(in_.data(), out_.data(), block(), MPI_FLOAT, MPI_SUM, comm_),
                     "Reduce_scatter_block");
      case 4:
        return check(TAUT_Alltoall(in_.data(), block(), MPI_FLOAT, out_.data(), block(), MPI_FLOAT, comm_),
                     "Alltoall");
      case 5:
        return check(TAUT_Reduce(in_.data(), out_.data(), count, MPI_FLOAT, MPI_MAX, 0, comm_), "Reduce");
      case 6: return in_flight();
      case 7: return started();
      case 8: return message();
      default:
        return check(TAUT_Scatter(in_.data(), block(), MPI_FLOAT, out_.data(), block(), MPI_FLOAT, 0, comm_),
                     "Scatter");
    }
  }

 private:
  static constexpr int count = 60000;
  int block() const { return count / comm_.size; }

  void in_flight() {
    TAUT_Request two[2];
    check(TAUT_Iallreduce(in_.data(), out_.data(), count, MPI_FLOAT, MPI_SUM, comm_, &two[0]), "Iallreduce");
    check(TAUT_Ibcast(more_.data(), count, MPI_FLOAT, 0, comm_, &two[1]), "Ibcast");
    check(TAUT_Waitall(2, two, MPI_STATUSES_IGNORE), "Waitall");
  }
  void started() {
    check(TAUT_Start(&persistent_), "Start");
    check(TAUT_Wait(&persistent_, MPI_STATUS_IGNORE), "Wait");
  }
  void message() {
    const int right = (comm_.rank + 1) % comm_.size, left = (comm_.rank + comm_.size - 1) % comm_.size;
    check(TAUT_Sendrecv(in_.data(), count, MPI_FLOAT, right, 1, out_.data(), count, MPI_FLOAT, left, 1, comm_,
                        MPI_STATUS_IGNORE),
          "Sendrecv");
  }

  const Comm& comm_;
  std::vector<float> in_ = std::vector<float>(count), out_ = in_, more_ = in_;
  TAUT_Request persistent_ = TAUT_REQUEST_NULL;
};

double small_calls(const char* policy, int n) {
  const Comm comm(policy);
  double x = 1, y = 0;
  return growth(n, [&](int) { check(TAUT_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, comm), "Allreduce"); });
}

double large_calls(const char* policy, int n) {
  const Comm comm(policy);
  LargeCalls calls(comm);
  return growth(n, [&](int i) { calls.make(i); });
}

double communicators(int n) {
  return growth(n, [](int i) {
    const Comm comm("abs:1e-3,when=always");
    LargeCalls calls(comm);
    calls.make(i);
  });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int percent = argc > 1 ? std::atoi(argv[1]) : 100;
  int rank = 0, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto expect_flat = [&](const char* what, double grown) {
    constexpr double allowed = 4;  // MiB that an MPI library may allocate for itself meanwhile
    if (rank == 0) std::printf("%-30s %6.2f MiB %s\n", what, grown, grown <= allowed ? "ok" : "FAILED");
    failed |= grown > allowed;
  };
  try {
    expect_flat("small calls", small_calls("abs:1e-3", 10000 * percent));
    expect_flat("small calls by frames", small_calls("abs:1e-3,when=always,min_bytes=0", 1000 * percent));
    expect_flat("large calls", large_calls("abs:1e-3,when=always", 100 * percent));
    expect_flat("large calls that have to pay", large_calls("abs:1e-3", 100 * percent));
    expect_flat("communicators", communicators(30 * percent));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return failed;
}
