// Tests of the order of calls among the work of streams.
#include <algorithm>
#include <cmath>
#include <list>
#include <string>

#include "compressor/gpu/device_services.hpp"
#include "gpu/streams/streams.hpp"

namespace taut::test {
namespace {

// Memory of one kind, which holds what no call wants.
struct OnDevice {
  OnGpu<float> memory{count};
  float* data() const { return memory.data(); }
};

bool within(float bound, const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [=](float x, float y) { return std::abs(x - y) <= bound; });
}

// Each turn makes values, adds them up and takes the result; the host waits after the last turn only. Values
// and result are overwritten at once by the next turn. All memory is there before the stream waits, and no
// copy is from the host to the host: such a copy waits for the stream. `bound`: greatest difference from the
// blocking call.
template <class Memory>
void turns(const PolicyComm& comm, cudaStream_t stream, const std::string& name, MPI_Op op = MPI_SUM,
           float bound = 0) {
  constexpr int most = 5;
  const Memory in, out;
  Sum sum(in.data(), out.data(), comm, op);
  std::list<OnGpu<float>> sources;
  std::list<OnGpu<float>> results;
  for (int i = 0; i < most; ++i) {
    sources.emplace_back(values_of(i));
    results.emplace_back(count);
  }
  auto source = sources.begin();
  for (OnGpu<float>& result : results) {
    copy(in.data(), (source++)->data(), stream);
    sum.run_on(stream);
    copy(result.data(), out.data(), stream);
    expect(cudaMemsetAsync(out.data(), 0x77, bytes, stream) == cudaSuccess, "cudaMemsetAsync");
  }
  expect(cudaStreamSynchronize(stream) == cudaSuccess, name + ": the stream stops");
  sum.wait();
  int i = 0;
  for (const OnGpu<float>& result : results)
    expect(within(bound, result.peek(count), comm.sum_of(values_of(i++), op)), name + ": another result");
}

void kinds_of_streams() {
  const PolicyComm comm(lossy), relative("rel:1e-4,codec=planes,when=always,min_bytes=1");
  const Stream blocking(cudaStreamDefault), other;
  turns<OnDevice>(comm, nullptr, "legacy stream");
  turns<OnDevice>(comm, blocking, "blocking stream");
  turns<OnDevice>(comm, other, "stream");
  turns<OnDevice>(relative, other, "range of the values");
  turns<OnDevice>(comm, other, "mean", TAUT_Avg());
  turns<Pinned>(comm, other, "host memory");
  if (rank % 2 == 0) {
    turns<OnDevice>(comm, other, "one rank's memory on a GPU");
  } else {
    turns<Pinned>(comm, other, "one rank's memory on the host");
  }
}

// MPI's own calls begin in the order of the stream too. MPI may round sums of blocking calls otherwise.
void plain_calls() {
  constexpr float rounding = 1e-5F;
  const Stream stream;
  const PolicyComm small("abs:1e-3"), off("off"), none("");
  turns<Pinned>(small, stream, "below min_bytes", MPI_SUM, rounding);
  turns<Pinned>(small, stream, "mean below min_bytes", TAUT_Avg(), rounding);
  turns<Pinned>(off, stream, "policy off", MPI_SUM, rounding);
  turns<Pinned>(none, stream, "no policy", MPI_SUM, rounding);
  turns<Pinned>(none, stream, "mean without policy", TAUT_Avg(), rounding);
}

// A stream that waits until open() is called.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) {
    expect(TAUT_Cuda_services()->wait_for_word(word_, 1, stream) == 0, "wait_for_word");
  }
  void open() { __atomic_store_n(word_, 1, __ATOMIC_RELEASE); }

 private:
  // Returns a word that is 0 and never freed.
  static std::uint32_t* new_word() {
    static auto* const page = new Pinned(4096);
    static auto* next = reinterpret_cast<std::uint32_t*>(page->data());
    *next = 0;
    return next++;
  }
  std::uint32_t* word_ = new_word();
};

// Started first, ready last on some ranks: the second call does not wait for the first one.
void another_order_of_readiness() {
  const PolicyComm comm(lossy);
  const Stream one, two;
  const OnGpu<float> a(values_of(1)), b(values_of(2)), sum_a(count), sum_b(count);
  for (const bool even : {true, false}) {
    Sum first(a.data(), sum_a.data(), comm), second(b.data(), sum_b.data(), comm);
    Gate gate(one);
    if ((rank % 2 == 0) != even) gate.open();
    first.run_on(one);
    second.run_on(two);
    expect(cudaStreamSynchronize(two) == cudaSuccess, "the second stream stops");
    expect(sum_b.peek(count) == comm.sum_of(values_of(2)), "another second sum");
    expect((rank % 2 == 0) != even || cudaStreamQuery(one) == cudaErrorNotReady,
           "the first call began early");
    MPI_Barrier(comm);
    gate.open();
    expect(cudaStreamSynchronize(one) == cudaSuccess, "the first stream stops");
    expect(sum_a.peek(count) == comm.sum_of(values_of(1)), "another first sum");
  }
}

// One stream starts the calls, another one waits for them, in another order on some ranks.
void waits_in_another_order() {
  const PolicyComm comm(lossy), other(lossy);
  const Stream stream, waits[2];
  const OnGpu<float> a(values_of(1)), b(values_of(2)), sum_a(count), sum_b(count);
  Sum first(a.data(), sum_a.data(), comm), second(b.data(), sum_b.data(), other);
  for (int turn = 0; turn < 3; ++turn) {
    Sum* const order[] = {turn % ranks == rank ? &second : &first, turn % ranks == rank ? &first : &second};
    for (Sum* const sum : order) sum->start_on(stream);
    for (int i = 0; i < 2; ++i) order[1 - i]->hold(waits[(i + rank) % 2]);
    for (const Stream& wait : waits) expect(cudaStreamSynchronize(wait) == cudaSuccess, "the stream stops");
    expect(sum_a.peek(count) == comm.sum_of(values_of(1)), "another sum");
    expect(sum_b.peek(count) == other.sum_of(values_of(2)), "another sum of the other communicator");
  }
}

// More starts than a communicator has lanes for at a time.
void many_in_flight() {
  const PolicyComm comm(lossy);
  const Stream stream;
  const OnGpu<float> in(values_of(3));
  const OnGpu<float> out(count);
  std::list<Sum> sums;
  for (int i = 0; i < 150; ++i) sums.emplace_back(in.data(), out.data(), comm);
  Gate gate(stream);
  for (Sum& sum : sums) sum.run_on(stream);
  gate.open();
  for (Sum& sum : sums) sum.wait();
  expect(out.read() == comm.sum_of(values_of(3)), "another sum of many");
}

}  // namespace

void order() {
  for (int seed = 1; seed <= 3; ++seed) {
    stand_in_set_seed(static_cast<unsigned long long>(seed * 100 + rank));
    plain_calls();
    if (ranks == 1) continue;  // plain MPI serves all calls, and cannot access memory of GPUs
    kinds_of_streams();
    another_order_of_readiness();
    waits_in_another_order();
  }
  if (ranks > 1) many_in_flight();
}

}  // namespace taut::test
