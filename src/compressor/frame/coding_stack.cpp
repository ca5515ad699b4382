#include "compressor/frame/coding_stack.hpp"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <type_traits>

// Calls work(argument) with the stack pointer at `top`. The frame pointer holds the caller's stack pointer,
// so that debuggers and exceptions can unwind into the caller.
extern "C" void taut_call_on_stack(void (*work)(void*) noexcept, void* argument, void* top) noexcept;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAUT_SANITIZER_TRACKS_STACKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAUT_SANITIZER_TRACKS_STACKS
#endif
#endif

#if defined(TAUT_SANITIZER_TRACKS_STACKS)
#elif defined(__x86_64__)
#define TAUT_CAN_SWITCH_STACKS
asm(R"(
.text
.p2align 4
.globl taut_call_on_stack
.hidden taut_call_on_stack
.type taut_call_on_stack, @function
taut_call_on_stack:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdx, %rsp
  movq %rdi, %rax
  movq %rsi, %rdi
  callq *%rax
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  retq
  .cfi_endproc
.size taut_call_on_stack, .-taut_call_on_stack
)");
#elif defined(__aarch64__)
#define TAUT_CAN_SWITCH_STACKS
asm(R"(
.text
.p2align 4
.globl taut_call_on_stack
.hidden taut_call_on_stack
.type taut_call_on_stack, %function
taut_call_on_stack:
  .cfi_startproc
  hint 34
  stp x29, x30, [sp, -16]!
  .cfi_def_cfa_offset 16
  .cfi_offset 29, -16
  .cfi_offset 30, -8
  mov x29, sp
  .cfi_def_cfa_register 29
  mov sp, x2
  mov x9, x0
  mov x0, x1
  blr x9
  mov sp, x29
  .cfi_def_cfa_register 31
  ldp x29, x30, [sp], 16
  .cfi_restore 29
  .cfi_restore 30
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
.size taut_call_on_stack, .-taut_call_on_stack
)");
#endif

namespace taut {
namespace {

#ifdef TAUT_CAN_SWITCH_STACKS

constexpr std::size_t stack_bytes = std::size_t{1} << 20;  // of address space; only touched pages take memory
constexpr std::size_t guard_bytes = std::size_t{64} << 10;

// Pool of stacks. The slots hold unused stacks. Stacks beyond the number of slots are mapped and unmapped for
// each use.
class StackPool {
 public:
  std::byte* take() noexcept {
    for (auto& slot : free_)
      if (slot.load(std::memory_order_relaxed) != nullptr)
        if (std::byte* const found = slot.exchange(nullptr, std::memory_order_acquire)) return found;
    void* const mapping = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    mprotect(mapping, guard_bytes, PROT_NONE);
    return static_cast<std::byte*>(mapping);
  }

  void give_back(std::byte* stack) noexcept {
    for (auto& slot : free_) {
      std::byte* empty = nullptr;
      if (slot.load(std::memory_order_relaxed) == nullptr &&
          slot.compare_exchange_strong(empty, stack, std::memory_order_release))
        return;
    }
    munmap(stack, guard_bytes + stack_bytes);
  }

 private:
  std::array<std::atomic<std::byte*>, 64> free_{};
};

constinit StackPool stacks;

#endif

// Returns the result of work(), called on a coding stack.
template <class Work>
auto on_stack(const Work& work) noexcept {
  struct Call {
    const Work* work;
    std::invoke_result_t<const Work&> result;
  } call{&work, {}};
  call_on_coding_stack(
      [](void* argument) noexcept {
        auto& this_call = *static_cast<Call*>(argument);
        this_call.result = (*this_call.work)();
      },
      &call);
  return call.result;
}

// Codec that runs another codec, and its arithmetic on frames, on coding stacks.
class CodecOnStack final : public Codec, private FrameArithmetic {
 public:
  explicit CodecOnStack(std::unique_ptr<Codec> codec) noexcept
      : codec_(std::move(codec)), arithmetic_(codec_->arithmetic()) {}

  const Contract& contract() const noexcept override { return codec_->contract(); }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return codec_->max_bytes(type, count, addends);
  }
  SizeOrStatus encode(ConstSlice values, References references, Bytes out) const noexcept override {
    return on_stack([&] { return codec_->encode(values, references, out); });
  }
  Status decode(ConstBytes in, References references, Slice values) const noexcept override {
    return on_stack([&] { return codec_->decode(in, references, values); });
  }
  Status reduce(ConstBytes in, References references, Slice values, Reduction op) const noexcept override {
    return on_stack([&] { return codec_->reduce(in, references, values, op); });
  }
  Sample sample(ConstSlice values, Bytes scratch) const noexcept override {
    return on_stack([&] { return codec_->sample(values, scratch); });
  }
  const FrameArithmetic* arithmetic() const noexcept override {
    return arithmetic_ != nullptr ? this : nullptr;
  }

 private:
  SizeOrStatus sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override {
    return on_stack([&] { return arithmetic_->sum(frames, out); });
  }
  SizeOrStatus accumulate(ConstBytes frame, ConstSlice values, References references,
                          Bytes out) const noexcept override {
    return on_stack([&] { return arithmetic_->accumulate(frame, values, references, out); });
  }
  bool has_integers(ConstSlice values) const noexcept override {
    return on_stack([&] { return arithmetic_->has_integers(values); });
  }

  std::unique_ptr<Codec> codec_;
  const FrameArithmetic* arithmetic_;
};

}  // namespace

void call_on_coding_stack(void (*work)(void*) noexcept, void* argument) noexcept {
#ifdef TAUT_CAN_SWITCH_STACKS
  if (std::byte* const stack = stacks.take()) {
    taut_call_on_stack(work, argument, stack + guard_bytes + stack_bytes);
    return stacks.give_back(stack);
  }
#endif
  work(argument);
}

std::unique_ptr<Codec> on_coding_stack(std::unique_ptr<Codec> codec) {
  return std::make_unique<CodecOnStack>(std::move(codec));
}

}  // namespace taut
