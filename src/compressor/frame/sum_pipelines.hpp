// Counts of the chunks of sums of frames by the code path (pipeline) that added them. The paths are named
// after the pipelines of hZ-dynamic (Huang et al., "hZCCL", SC24).
#pragma once

#include <atomic>
#include <cstdint>

namespace taut {

struct SumPipelines {
  std::uint64_t constant = 0;  // all operands are constant: their bases are added
  std::uint64_t copied = 0;    // one operand is not constant: its planes are copied, or its values encoded
  std::uint64_t added = 0;     // the planes of several operands are added
  std::uint64_t general = 0;   // exact values, wide integers or different predictions

  SumPipelines operator-(const SumPipelines& other) const noexcept {
    return {constant - other.constant, copied - other.copied, added - other.added, general - other.general};
  }
  std::uint64_t chunks() const noexcept { return constant + copied + added + general; }
};

// Counting of one thread, which its destructor adds to the counts of the process.
class SumPipelineCounting {
 public:
  SumPipelineCounting() = default;
  SumPipelineCounting(const SumPipelineCounting&) = delete;
  ~SumPipelineCounting() {
    const SumPipelines made = own();
    own() = {};
    add(constant_, made.constant);
    add(copied_, made.copied);
    add(added_, made.added);
    add(general_, made.general);
  }

  // Returns the counts of this thread that are not in those of the process yet.
  static SumPipelines& own() noexcept {
    static thread_local SumPipelines counts;
    return counts;
  }
  static SumPipelines of_process() noexcept { return {constant_, copied_, added_, general_}; }

 private:
  static void add(std::atomic<std::uint64_t>& to, std::uint64_t n) noexcept {
    if (n != 0) to.fetch_add(n, std::memory_order_relaxed);
  }

  static inline std::atomic<std::uint64_t> constant_{0}, copied_{0}, added_{0}, general_{0};
};

// Returns the counts of this process since it began.
inline SumPipelines sum_pipelines() noexcept { return SumPipelineCounting::of_process(); }

}  // namespace taut
