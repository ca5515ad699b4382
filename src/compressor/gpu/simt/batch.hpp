// A batch launches each kernel once for several calls, its items, which have the same sequence of kernels.
// Each item has scratch memory of its own.
#pragma once

#include <memory>
#include <typeinfo>
#include <vector>

#include "compressor/gpu/simt/simt.hpp"

namespace taut::cuda {

inline constexpr unsigned max_items = 8;  // items of a launch

// A thread that works for an item. The blocks of the item begin at block `first` of the launch.
template <class Simt>
class ItemThread : public Simt {
 public:
  TAUT_DEVICE ItemThread(const Simt& simt, std::uint32_t first) : Simt(simt), first_(first) {}
  TAUT_DEVICE unsigned block() const { return Simt::block() - first_; }

 private:
  std::uint32_t first_;
};

// Runs a kernel for all items. The blocks of an item follow those of the item before it.
template <class Kernel>
struct BatchKernel {
  struct Job {
    typename Kernel::Job items[max_items];
    std::uint32_t ends[max_items];  // number of blocks of the items up to this one, which is included
  };
  static_assert(sizeof(Job) <= 4096, "more than the parameters of a kernel may take");
  using Shared = typename Kernel::Shared;
  static constexpr BlockShape shape = Kernel::shape;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    unsigned item = 0;
    std::uint32_t first = 0;
    while (simt.block() >= job.ends[item]) first = job.ends[item++];
    Kernel::run(ItemThread<Simt>(simt, first), shared, job.items[item]);
  }
};

// A Launcher (compressor/gpu/planes/calls.hpp) that collects the launches of up to max_items calls and
// launches them together. begin_item() precedes the launches of each item, launch_all() follows those of the
// last one. An item may lack kernels that the others have.
template <class Launcher>
class BatchLauncher {
 public:
  explicit BatchLauncher(Launcher& launcher) : launcher_(launcher) {}

  void begin_item() { next_ = 0; }

  template <class Kernel>
  void launch(unsigned blocks, const typename Kernel::Job& job) {
    std::size_t i = next_;
    while (i < steps_.size() && typeid(*steps_[i]) != typeid(KernelStep<Kernel>)) ++i;
    if (i == steps_.size()) {  // no earlier item had this kernel here
      i = next_;
      steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(i), std::make_unique<KernelStep<Kernel>>());
    }
    static_cast<KernelStep<Kernel>&>(*steps_[i]).add(blocks, job);
    next_ = i + 1;
  }

  void launch_all() {
    for (const auto& step : steps_) step->launch(launcher_);
    steps_.clear();
  }

 private:
  // A launch of one kernel for several items. Items meet at the steps that have the same kernel.
  struct Step {
    Step() = default;
    Step(const Step&) = delete;
    virtual ~Step() = default;
    virtual void launch(Launcher& launcher) const = 0;
  };

  template <class Kernel>
  class KernelStep final : public Step {
   public:
    void add(unsigned blocks, const typename Kernel::Job& job) {
      blocks_ += blocks;
      job_.items[items_] = job;
      job_.ends[items_++] = blocks_;
    }
    void launch(Launcher& launcher) const override {
      launcher.template launch<BatchKernel<Kernel>>(blocks_, job_);
    }

   private:
    typename BatchKernel<Kernel>::Job job_{};
    unsigned items_ = 0;
    std::uint32_t blocks_ = 0;
  };

  Launcher& launcher_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::size_t next_ = 0;  // index of the first step that can have the item's next kernel
};

}  // namespace taut::cuda
