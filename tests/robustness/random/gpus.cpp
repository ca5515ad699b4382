#include "robustness/random/gpus.hpp"

#include <taut/taut_cuda.h>

#include <stdexcept>

#include "support/gpu_driver.h"
#include "support/gpu_faults.h"

namespace taut::test {
namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Scope in which a device is the current one of this thread.
class OnDevice {
 public:
  explicit OnDevice(int device) { check(cudaSetDevice(device)); }
  OnDevice(const OnDevice&) = delete;
  ~OnDevice() { cudaSetDevice(0); }
};

bool has_kernels(const Coding& coding) {
  const std::string_view codec = coding.codec != nullptr ? coding.codec->name : "planes";
  const bool at_a_rate = coding.bound.kind == Bound::Kind::rate;
  return !coding.checksum && (codec == "planes" || codec == "mpc" || codec == "exponents" ||
                              codec == "blocks" || (codec == "zfp" && at_a_rate));
}

// Values with gaps in memory of a GPU, which nothing gathers.
class OutOfReach final : public Staging {
 public:
  bool on_device() const noexcept override { return true; }
  std::array<Buffer, 2> pack(Place&, Operands&) const override {
    throw Error(Status::internal, "values with gaps were gathered from a GPU");
  }
  void unpack(const Operands&) const override {
    throw Error(Status::internal, "values with gaps were written to a GPU");
  }
};

}  // namespace

// The GPUs' memory is copied without a wait for their work, as an MPI does.
Gpus::Gpus() : Machine(stand_in_copy) {}

// ---- What is drawn

int Gpus::draw_ranks(Draw& draw) const {
  const int least = draw.one_in(16) ? 1 : 2;  // one rank has nobody to send to
  return least + draw.pick(draw.one_in(6) ? 8 - least : 3);
}

std::string Gpus::draw_policy(Draw& draw, double scale) const {
  for (;;) {
    const std::string policy = test::draw_policy(draw, scale);
    if (!has_kernels(parse_policy(policy).coding) && !draw.one_in(10)) continue;
    const std::string always = policy + ",when=always";
    return !draw.one_in(6) && can_be_served(always) ? always : policy;
  }
}

Call Gpus::draw_call(Draw& draw, int P, const std::vector<int>& node_of, double scale) const {
  Call call;
  do call = test::draw_call(draw, P, node_of, scale);
  while (info_of(call.type).family == Family::integer && !draw.one_in(4));
  if (!draw.one_in(8)) call.apart = false;
  limit_values(call, draw.one_in(8) ? 12000 : 1500);
  return call;
}

std::string Gpus::enter(Draw& draw, int P) {
  LoopbackHub::outside = stand_in_calls;  // ranks may wait for GPUs
  draw_ = Draw(draw.bits(), 0);
  stand_in_set_seed(draw.bits());
  writes_at_once_ = false;
  const bool mixed = draw.one_in(2), two_devices = draw.one_in(4), some_keep = draw.one_in(3);
  ranks_.clear();
  for (int r = 0; r < P; ++r) {
    Rank rank{};
    for (bool& on_gpu : rank.on_gpu) on_gpu = !mixed || !draw.one_in(3);
    for (int& device : rank.device) device = two_devices ? draw.pick(2) : 0;
    if (!draw.one_in(40)) rank.device[1] = rank.device[0];
    const int device = rank.device[0];
    const int kind = device == rank.device[1] ? draw.pick(3) : 0;  // a stream serves the memory of one GPU
    if (kind > 0) rank.stream = new_stream(device, kind == 1 ? cudaStreamDefault : cudaStreamNonBlocking);
    rank.writer = kind == 0 && draw.one_in(2) ? new_stream(device, cudaStreamDefault) : rank.stream;
    rank.keeps_frames = some_keep && !draw.one_in(4);
    ranks_.push_back(rank);
  }
  std::string text = "memory ";
  for (const Rank& rank : ranks_) text += "hoig"[2 * rank.on_gpu[0] + rank.on_gpu[1]];
  text += ", frames ";
  for (const Rank& rank : ranks_) text += rank.keeps_frames ? 'g' : 'h';
  return text + ", ";
}

cudaStream_t Gpus::new_stream(int device, unsigned flags) {
  const OnDevice there(device);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, flags));
  streams_.push_back(stream);
  return stream;
}

// ---- What the ranks do

void Gpus::join(Communicator& comm, int rank) {
  const Rank& drawn = ranks_[static_cast<std::size_t>(rank)];
  comm.set_stream(drawn.stream);
  if (drawn.keeps_frames) comm.keep_frames_on_devices();
}

Gpus::Copy Gpus::copy_to(int device, Bytes host, cudaStream_t writer) {
  const std::size_t skipped = draw_.one_in(16) ? static_cast<std::size_t>(draw_.pick(16)) : 0;
  auto* const memory = static_cast<std::byte*>(stand_in_allocate(skipped + host.size(), device));
  if (memory == nullptr) throw std::bad_alloc();
  Copy copy{host, memory, memory + skipped, nullptr};
  if (writes_at_once_ || draw_.one_in(2)) {
    stand_in_copy(copy.at, host.data(), host.size());
    return copy;
  }
  const OnDevice there(device);
  check(cudaMemcpyAsync(copy.at, host.data(), host.size(), cudaMemcpyHostToDevice, writer));
  check(cudaEventCreate(&copy.written));
  check(cudaEventRecord(copy.written, writer));
  return copy;
}

void Gpus::move(Memory& memory, int rank, CollectiveCall& request) {
  const Rank& mine = ranks_[static_cast<std::size_t>(rank)];
  if (!mine.on_gpu[0] && !mine.on_gpu[1]) return;
  if (request.staging != nullptr) {
    request.staging = std::make_shared<OutOfReach>();
    return;
  }
  const auto parts = memory.parts(rank);
  for (const std::size_t which : {0, 1}) {
    const Bytes host = parts[which];
    if (!mine.on_gpu[which] || host.empty()) continue;
    const bool same_device = mine.device[0] == mine.device[1];
    const Copy copy = copy_to(mine.device[which], host, same_device ? mine.writer : nullptr);
    copies_[&memory].push_back(copy);
    const auto moved = [&](const void* at) {
      const std::ptrdiff_t offset = static_cast<const std::byte*>(at) - host.data();
      const bool inside = at != nullptr && offset >= 0 && offset <= static_cast<std::ptrdiff_t>(host.size());
      return inside ? copy.at + offset : static_cast<std::byte*>(const_cast<void*>(at));
    };
    request.data.in.data = moved(request.data.in.data);
    request.data.out.data = moved(request.data.out.data);
  }
}

// The memory is freed at once: nothing may use it once a call has returned.
void Gpus::fetch(Memory& memory) {
  for (const Copy& copy : copies_[&memory]) {
    if (copy.written != nullptr) {
      check(cudaEventSynchronize(copy.written));
      check(cudaEventDestroy(copy.written));
    }
    stand_in_copy(copy.host.data(), copy.at, copy.host.size());
    stand_in_free(copy.memory);
  }
  copies_.erase(&memory);
}

// The host may choose a codec that has no kernels, unless one is named.
bool Gpus::repeats_on_host(Draw& draw, const std::string& policy) const {
  const Coding coding = parse_policy(policy).coding;
  return draw.one_in(2) && coding.codec != nullptr && has_kernels(coding);
}

// ---- Faults

void Gpus::expect(const Scenario& scenario) {
  writes_at_once_ = scenario.is(Fault::kernel);  // which stops all work
  if (!scenario.is(Fault::no_memory)) return;
  Rank& victim =
      ranks_[static_cast<std::size_t>(scenario.victim)];  // allocations of the runtime may not fail
  victim.on_gpu[0] = victim.on_gpu[1] = false;
}

void Gpus::arm(const Scenario& scenario) {
  const auto at = static_cast<unsigned long>(scenario.at) + 1, further = scenario.variant % 4;
  if (scenario.is(Fault::cuda_call)) {
    failing_call_ = stand_in_calls() + at + 60 * further;
    stand_in_at_call(at + 60 * further, nullptr, nullptr);
  }
  if (scenario.is(Fault::kernel)) stand_in_fault_at_kernel(at);
  if (scenario.is(Fault::gpu_memory)) stand_in_no_memory_at(at % 16 + 1);
}

bool Gpus::disarm() {
  const bool failed = failing_call_ != 0 && stand_in_calls() >= failing_call_;
  failing_call_ = 0;
  stand_in_at_call(0, nullptr, nullptr);
  if (stand_in_faulted() == 0) stand_in_fault_at_kernel(0);
  return stand_in_no_memory_at(0) != 0 || failed || stand_in_faulted() != 0;
}

// ---- The end of a configuration

std::string Gpus::leave() {
  stand_in_finish();
  stand_in_fault_at_kernel(0);
  cudaGetLastError();
  for (cudaStream_t const stream : streams_) check(cudaStreamDestroy(stream));
  streams_.clear();
  if (TAUT_Cuda_release() != 0) return "TAUT_Cuda_release fails";
  stand_in_finish();
  const long streams_of_taut = stand_in_devices;  // one for each device, never destroyed
  if (stand_in_memories() == 0 && stand_in_objects() <= streams_of_taut) return "";
  return std::to_string(stand_in_memories()) + " memories of GPUs, and " +
         std::to_string(stand_in_objects()) + " streams and events, are left";
}

}  // namespace taut::test
