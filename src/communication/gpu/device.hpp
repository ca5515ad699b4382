// A Device is a GPU as the calls of one communicator use it: streams, pools of memory, waiting for kernels.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "communication/gpu/device_frames.hpp"
#include "communication/gpu/memory.hpp"
#include "communication/team/task.hpp"
#include "compressor/frame/coding.hpp"
#include "compressor/gpu/device_services.hpp"

namespace taut::gpu {

// A GPU, for one thread at a time. The functions set the thread's current device while they run. Work goes to
// the main stream, that of the user or one of Taut, and kernels that may overlap others also to a second one.
class Device {
 public:
  // `stream`: the main stream. `device_frames`: frames are in memory of the GPU.
  Device(const DeviceServices& services, int number, void* stream, bool device_frames = false);
  Device(const Device&) = delete;
  ~Device();

  int number() const noexcept { return number_; }
  void* stream() const noexcept { return main_queue_.stream; }
  const DeviceServices& services() const noexcept { return services_; }
  // Return the pools, by MemoryKind.
  DevicePool& pinned() noexcept { return pinned_; }
  DevicePool& pooled() noexcept { return pooled_; }
  DevicePool& plain() noexcept { return plain_; }
  DeviceFrames& device_frames() noexcept { return device_frames_; }
  bool frames_on_device() const noexcept { return frames_on_device_; }
  // Returns the place of the frames of calls: memory of the GPU, or pinned memory.
  Place& frame_place() noexcept { return frames_on_device_ ? static_cast<Place&>(device_frames_) : pinned_; }

  // Enqueues a copy on the main stream. The host must not change or reuse host memory before wait().
  Status copy(void* to, const void* from, std::size_t bytes) noexcept;
  // Waits for all enqueued work, unless polling has shown that it is done. The memory of the work may be
  // freed then, whatever the status (see DeviceServices::wait).
  Status wait() noexcept;

  // Runs launch(stream), which enqueues work without a result on the main stream. Returns nothing if no
  // kernel does the work.
  template <class Launch>
  std::optional<Status> enqueue(const Launch& launch) noexcept {
    ++changes_;
    const int code = launch_on(main_queue_, launch);
    return needs_host(code) ? std::nullopt : std::optional(status_after_drain(main_queue_, code));
  }

  // Prepares the second stream: its later work waits for all work that is on the main stream now. Returns
  // false if there is no second stream.
  bool fork() noexcept;

  // Finds the range of values as range_of() does, and waits. Returns nothing if no kernel does the work.
  std::optional<Status> range(ConstSlice values, std::optional<double> fill, PackedBits bits,
                              ValueRange& range) noexcept;

 private:
  friend class Kernels;

  // A stream, with the number of copies and launches on it.
  struct Queue {
    void* stream = nullptr;
    std::uint64_t enqueued = 0, done = 0;  // `done`: those known to be done
    int operations = 0;                    // objects of class Kernels that use the stream
  };

  // Returns true if no kernel does the work, so that the host has to. invalid_count: there are too many
  // values for kernels; the host, whose limits may be others, does the work or reports the error.
  static bool needs_host(int code) noexcept {
    return code == TAUT_ERR_CUDA_NEEDS_HOST || code == static_cast<int>(Status::invalid_count);
  }
  static Status status_of(int code) noexcept { return static_cast<Status>(code); }

  // Returns the queue for an operation. `may_overlap`: the second one if the main one is busier.
  Queue& choose_queue(bool may_overlap) noexcept;
  template <class Launch>
  int launch_on(Queue& queue, const Launch& launch) noexcept {
    const CurrentDevice current(*this);
    if (current.code() != 0) return current.code();
    ++queue.enqueued;
    return launch(queue.stream);
  }
  Status wait(Queue& queue) noexcept;
  // Polls `done`, and at times queries CUDA for errors: after an error no kernel sets `done`. Returns nothing
  // if `done` is not set yet. `polls` counts the calls.
  std::optional<Status> poll(const std::uint32_t& done, Queue& queue, unsigned& polls) noexcept;
  // Returns the status of a call. If the call failed, waits first for the work that was enqueued before: it
  // may still access the memory that the caller is about to free.
  Status status_after_drain(Queue& queue, int code) noexcept;

  const DeviceServices& services_;
  int number_;
  Queue main_queue_, second_queue_;  // the second stream is opened when it is needed
  // Numbers of calls of copy() and enqueue(), now and at the last fork(). The second stream has to wait for
  // their work, because the host does not.
  std::uint64_t changes_ = 0, changes_at_fork_ = 0;
  bool frames_on_device_;
  DevicePool pinned_{*this, MemoryKind::pinned}, pooled_{*this, MemoryKind::pooled},
      plain_{*this, MemoryKind::plain};
  DeviceFrames device_frames_;
  Buffer range_buffer_;
  DeviceRange* range_result_;  // in pinned memory
};

// Kernels of one operation, on one stream of a device. Each kernel, or sequence of kernels, writes one result
// to pinned memory, with the header of the frame that it has made, if any. Awaiting polls the results.
class Kernels final : public Waitable {
 public:
  // Throws Error if there is no memory. `results`: their number. `overlap`: the kernels may run beside other
  // operations.
  Kernels(Device& device, std::size_t results, bool overlap);
  Kernels(const Kernels&) = delete;
  ~Kernels();

  // Enqueues a copy before the kernels.
  Status copy(void* to, const void* from, std::size_t bytes) noexcept;

  // Runs launch(result, stream), which enqueues the kernels of result i.
  template <class Launch>
  void run(std::size_t i, const Launch& launch) noexcept {
    run(std::span(&i, 1), [&](void* stream) { return launch(result_at(i), stream); });
  }
  // Runs launch(stream), which enqueues the kernels of several results.
  template <class Launch>
  void run(std::span<const std::size_t> results, const Launch& launch) noexcept {
    for (const std::size_t i : results) results_[i].result = {};
    const int code = device_.launch_on(queue_, launch);
    note_kernels(code);
    for (const std::size_t i : results)
      if (code != 0) results_[i].result = result_without_kernel(code);
  }
  TAUT_Cuda_result* result_at(std::size_t i) noexcept { return &results_[i].result; }

  bool ready() override;
  void result() const noexcept {}  // of `co_await`; outcome() has the results

  // Returns result i, or nothing if no kernel does the work.
  std::optional<SizeOrStatus> outcome(std::size_t i) const noexcept;
  // Returns the header of the frame that the kernels of result i have written.
  ConstBytes header(std::size_t i) const noexcept { return std::as_bytes(std::span(results_[i].header)); }

 private:
  static TAUT_Cuda_result result_without_kernel(int code) noexcept {
    return {0, static_cast<std::uint32_t>(code), 1};
  }
  void note_work(int code) noexcept;     // after each copy or launch
  void note_kernels(int code) noexcept;  // after kernels that write results

  Device& device_;
  Device::Queue& queue_;
  Buffer memory_;
  std::span<PolledResult> results_;
  std::uint64_t last_work_ = 0;    // number of the last copy or launch in the queue
  std::uint64_t polled_work_ = 0;  // number of the last one that is done once all results are there
  std::size_t next_result_ = 0;    // first result that may not be there yet
  unsigned polls_ = 0;
  bool running_ = false;  // work may be unfinished
  Status failure_ = Status::ok;
};

// The GPUs that hold values of a communicator's calls.
class Devices {
 public:
  // Sets the stream of later calls.
  void set_stream(void* stream) noexcept;
  void* stream() const noexcept { return stream_; }
  // Keeps the frames of all calls on the GPU. To be called before the first call.
  void keep_frames() noexcept { frames_on_device_ = true; }
  // Returns the frames that include memory of a GPU at this address; null: none.
  DeviceFrames* frames_at(const std::byte* device) const noexcept;

  // Returns the GPU that holds the operands of a call, at least one of which is on a GPU. Returns null if the
  // operands are on several GPUs, or if kernels cannot be used in this process. `own_stream`: the call works
  // on Taut's own stream, not on that of set_stream().
  std::shared_ptr<Device> holding(const void* in, const void* out, bool own_stream = false) noexcept;

 private:
  std::shared_ptr<Device> find(const DeviceServices& services, int number, bool own_stream);

  void* stream_ = nullptr;
  bool frames_on_device_ = false;
  bool unusable_ = false;  // libtaut_cuda or a device is missing
  std::vector<std::shared_ptr<Device>> devices_;
};

}  // namespace taut::gpu
