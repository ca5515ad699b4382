// Tests of errors of calls in the order of streams: misuse, and calls of CUDA that fail.
#include <taut/taut_cuda.h>

#include "gpu/streams/streams.hpp"

namespace taut::test {
namespace {

void expect_refused(int code, const char* what) {
  expect(code != MPI_SUCCESS && TAUT_Error_status(code) == TAUT_ERR_ARGUMENT, what);
}

// Puts the call on a stream with failures of CUDA on rank 0, and waits for it. Returns the status of the
// call.
template <class Fail>
int status_with(Sum& sum, cudaStream_t stream, const Fail& fail) {
  if (rank == 0) fail();
  const int started = TAUT_Cuda_start_enqueue(&sum.request, stream);
  const int held = TAUT_Cuda_wait_enqueue(&sum.request, stream);
  const int code = TAUT_Wait(&sum.request, MPI_STATUS_IGNORE);
  expect(started == MPI_SUCCESS || TAUT_Error_status(started) == TAUT_ERR_CUDA, "another error of the start");
  expect(held == MPI_SUCCESS || TAUT_Error_status(held) == TAUT_ERR_CUDA, "another error of the wait");
  return started != MPI_SUCCESS ? TAUT_Error_status(started) : TAUT_Error_status(code);
}

// The n-th call of CUDA fails once. Whoever succeeds has the right result.
void calls_that_fail() {
  const PolicyComm comm(lossy);
  const Stream stream;
  const Pinned in, out;
  const std::vector<float> wanted = comm.sum_of(values_of(1));
  Sum sum(in.data(), out.data(), comm);
  sum.start_on(stream);
  sum.wait();
  const OnGpu<float> source(values_of(1));
  for (unsigned long n = 2; n < 12; ++n) {  // the first call asks whether the stream is captured
    std::fill_n(out.data(), count, 0.0F);
    copy(in.data(), source.data(), stream);
    const int status = status_with(sum, stream, [&] { stand_in_at_call(n, nullptr, nullptr); });
    stand_in_at_call(0, nullptr, nullptr);
    expect(status == TAUT_SUCCESS || status == TAUT_ERR_CUDA || status == TAUT_ERR_PEER, "another status");
    expect(status != TAUT_SUCCESS || out.read() == wanted, "another result beside a failure");
    while (cudaStreamSynchronize(stream) != cudaSuccess) continue;
    MPI_Barrier(comm);
  }
}

// A fault ends all work of the GPU of rank 0 for good. The call ends on every rank, and so do its streams.
void gpu_that_faults() {
  const PolicyComm comm(lossy);
  const Stream stream;
  const Pinned in, out;
  const OnGpu<float> there(values_of(1));
  Sum sum(in.data(), out.data(), comm);
  sum.start_on(stream);
  sum.wait();
  const std::size_t n = 64;
  const OnGpu<std::byte> frame(TAUT_Max_bytes(TAUT_FLOAT32, n, 1));
  const OnGpu<TAUT_Cuda_result> result(1);
  const int status = status_with(sum, stream, [&] {
    TAUT_Encode_enqueue(there.data(), n, TAUT_FLOAT32, "abs:1e-3", frame.data(), frame.size(), result.data(),
                        stream);
    stand_in_fault_at_kernel(1);
  });
  expect(status == (rank == 0 ? static_cast<int>(TAUT_ERR_CUDA) : static_cast<int>(TAUT_ERR_PEER)),
         "the fault of a GPU is not told: " + std::to_string(status));
  stand_in_fault_at_kernel(0);
  MPI_Barrier(comm);
  sum.run_on(stream);
  sum.wait();
}

// Ranks that differ in the count find that out when the call runs. The error is kept for TAUT_Wait.
void errors_of_the_call() {
  const PolicyComm comm(lossy);
  const Stream stream;
  const OnGpu<float> in(values_of(1)), out(count);
  TAUT_Request request = TAUT_REQUEST_NULL;
  TAUT_Allreduce_init(in.data(), out.data(), rank == 0 ? count : count - 1, MPI_FLOAT, MPI_SUM, comm,
                      MPI_INFO_NULL, &request);
  for (int i = 0; i < 3; ++i) {
    expect(TAUT_Cuda_start_enqueue(&request, stream) == MPI_SUCCESS, "start");
    expect(TAUT_Cuda_wait_enqueue(&request, stream) == MPI_SUCCESS, "wait");
    expect(cudaStreamSynchronize(stream) == cudaSuccess, "the stream stops after an error");
  }
  expect(TAUT_Error_status(TAUT_Wait(&request, MPI_STATUS_IGNORE)) == TAUT_ERR_RANK_MISMATCH,
         "the error is lost");
  expect(TAUT_Cuda_start_enqueue(&request, stream) == MPI_SUCCESS, "start");
  expect(TAUT_Error_status(TAUT_Request_free(&request)) == TAUT_ERR_RANK_MISMATCH, "freeing loses the error");
}

}  // namespace

void misuse() {
  const PolicyComm comm(lossy);
  const Stream stream;
  const OnGpu<float> in(values_of(1)), out(count);
  const std::vector<float> wanted = comm.sum_of(values_of(1));
  TAUT_Request request = TAUT_REQUEST_NULL;
  expect_refused(TAUT_Cuda_start_enqueue(&request, stream), "a null request is started");
  expect_refused(TAUT_Cuda_wait_enqueue(nullptr, stream), "no request is waited for");
  TAUT_Iallreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm, &request);
  expect_refused(TAUT_Cuda_start_enqueue(&request, stream), "a nonblocking request is started");
  expect_refused(TAUT_Cuda_wait_enqueue(&request, stream), "a stream waits for a nonblocking request");
  TAUT_Wait(&request, MPI_STATUS_IGNORE);

  Sum sum(in.data(), out.data(), comm);
  TAUT_Start(&sum.request);
  expect_refused(TAUT_Cuda_start_enqueue(&sum.request, stream), "an active request is started");
  expect_refused(TAUT_Cuda_wait_enqueue(&sum.request, stream), "a stream waits for a start of the host");
  sum.wait();
  sum.start_on(stream);
  expect_refused(TAUT_Start(&sum.request), "a request is started that a stream has started");
  expect_refused(TAUT_Cuda_start_enqueue(&sum.request, stream),
                 "a request is started that no stream waits for");
  sum.wait();
  sum.hold(stream);  // inactive: nothing to wait for
  expect(out.peek(count) == wanted, "another result by TAUT_Wait");
  TAUT_Start(&sum.request);
  sum.wait();

  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  expect_refused(TAUT_Cuda_start_enqueue(&sum.request, stream), "a call is captured");
  cudaStreamEndCapture(stream, &graph);
  cudaGraphDestroy(graph);

  const OnGpu<float> last(count);
  {
    Sum freed(in.data(), last.data(), comm);
    freed.run_on(stream);
  }
  expect(last.peek(count) == wanted, "a request that is freed has no result");
  errors_of_the_call();
}

void faults() {
  calls_that_fail();
  gpu_that_faults();
}

}  // namespace taut::test
