// Calls that persistent requests make in the order of streams (TAUT_Cuda_start_enqueue), over MPI.
//   streams calls       order, streams that get there in other orders on other ranks, errors, faults
//   streams left        nobody waits: MPI_Finalize completes what is in flight, and the streams go on
//   streams funneled    there can be no progress thread: an error says what to do
#include <cmath>
#include <cstdio>
#include <cstring>

#include "gpu/streams/streams.hpp"

namespace taut::test {
namespace {

bool good = true;

void funneled() {
  const PolicyComm comm(lossy);
  const OnGpu<float> in(count), out(count);
  Sum sum(in.data(), out.data(), comm);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(TAUT_Cuda_start_enqueue(&sum.request, nullptr), text, &length);
  expect(std::strstr(text, "MPI_THREAD_MULTIPLE") != nullptr, std::string("no remedy: ") + text);
}

// A call for which nobody waits, and its memory, which lives until the end of the program.
struct Left {
  PolicyComm comm{lossy};
  OnGpu<float> in{values_of(1)}, out{count};
  Pinned result;
  Stream stream;
  std::vector<float> wanted = comm.sum_of(values_of(1));
  TAUT_Request request = TAUT_REQUEST_NULL;

  void start() {
    TAUT_Allreduce_init(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    expect(TAUT_Cuda_start_enqueue(&request, stream) == MPI_SUCCESS, "start");
    expect(TAUT_Cuda_wait_enqueue(&request, stream) == MPI_SUCCESS, "wait");
    copy(result.data(), out.data(), stream);
  }
  void check() {
    expect(cudaStreamSynchronize(stream) == cudaSuccess, "the stream stops");
    expect(result.read() == wanted, "another result after MPI_Finalize");
  }
};

}  // namespace

int rank = 0, ranks = 0;

void expect(bool holds, const std::string& what) {
  if (!holds) std::fprintf(stderr, "streams: rank %d: failed: %s\n", rank, what.c_str());
  good &= holds;
}

std::vector<float> values_of(int number) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        std::sin(1e-3F * static_cast<float>(i) + static_cast<float>(number)) + static_cast<float>(rank);
  return values;
}

PolicyComm::PolicyComm(const char* policy) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  if (*policy != '\0') expect(TAUT_Comm_set_policy(comm_, policy) == MPI_SUCCESS, policy);
}

PolicyComm::~PolicyComm() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0) MPI_Comm_free(&comm_);
}

std::vector<float> PolicyComm::sum_of(std::vector<float> values, MPI_Op op) const {
  expect(TAUT_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_FLOAT, op, comm_) == MPI_SUCCESS,
         "on the host");
  return values;
}

void Sum::succeed(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  expect(code == MPI_SUCCESS, std::string(what) + ": " + text);
}

}  // namespace taut::test

int main(int argc, char** argv) {
  using namespace taut::test;
  const std::string what = argc > 1 ? argv[1] : "calls";
  const int wanted = what == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted, &level);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Left* const left = what == "left" ? new Left : nullptr;
  if (level < wanted) {
    std::fprintf(stderr, "streams: skipped: this MPI has no MPI_THREAD_MULTIPLE\n");
  } else if (left != nullptr) {
    left->start();
  } else if (what == "funneled") {
    funneled();
  } else {
    order();
    if (ranks > 1) {
      misuse();
      if (stand_in_is_real() == 0) faults();
    }
  }
  MPI_Finalize();
  if (left != nullptr) left->check();
  return good ? 0 : 1;
}
