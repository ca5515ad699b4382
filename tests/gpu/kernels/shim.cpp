#include "gpu/kernels/shim.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace taut::shim {
namespace {

constexpr std::size_t stack_bytes = 192 << 10;

// Distance from the end of a fiber's stack to its first frame. It differs between fibers: frames at equal
// offsets of all stacks would contend for the same lines of the processor's caches.
std::size_t skipped_bytes(const Fiber& f) { return f.thread % 128 * std::size_t{512}; }

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "shim: %s\n", what);
  std::abort();
}

Fiber* running = nullptr;
const Gpu::Body* body = nullptr;

void fiber_main();

#if defined(__x86_64__)

// Saves the registers that a call preserves (System V ABI) and continues on another stack. This is some 20
// times as fast as swapcontext, which queries the system for the signal mask.
extern "C" void taut_shim_switch(void** save, void* load);
asm(R"(
.text
.globl taut_shim_switch
.hidden taut_shim_switch
taut_shim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

void* scheduler = nullptr;

void switch_stacks(void*& save, void* load) { taut_shim_switch(&save, load); }

void prepare(Fiber& f) {
  auto top =
      reinterpret_cast<std::uintptr_t>(f.stack.get() + stack_bytes - skipped_bytes(f)) & ~std::uintptr_t{63};
  void** stack = reinterpret_cast<void**>(top);
  *--stack = nullptr;  // return address of fiber_main; keeps the stack aligned
  *--stack = reinterpret_cast<void*>(&fiber_main);
  for (int i = 0; i < 6; ++i) *--stack = nullptr;
  f.stack_pointer = stack;
}

#else

ucontext_t scheduler_context;
void* scheduler = &scheduler_context;

void switch_stacks(void*& save, void* load) {
  swapcontext(static_cast<ucontext_t*>(save), static_cast<ucontext_t*>(load));
}

void prepare(Fiber& f) {
  auto* const context = reinterpret_cast<ucontext_t*>(f.stack.get());  // context below, stack above
  getcontext(context);
  context->uc_stack.ss_sp = f.stack.get() + sizeof(ucontext_t);
  context->uc_stack.ss_size = stack_bytes - sizeof(ucontext_t);
  context->uc_link = nullptr;
  makecontext(context, fiber_main, 0);
  f.stack_pointer = context;
}

#endif

Warp& warp_of(const Fiber& f) { return f.block->warps[f.thread / lanes]; }

// The other warp of a fiber's wavefront; nullptr if the block ends with half a wavefront.
Warp* other_warp(Block& block, std::size_t warp) {
  return (warp ^ 1) < block.warps.size() ? &block.warps[warp ^ 1] : nullptr;
}

bool can_go_on(const Fiber& f) {
  switch (f.state) {
    case Fiber::State::ready: return true;
    case Fiber::State::in_warp: return warp_of(f).round != f.round;
    case Fiber::State::in_block: return f.block->round != f.round;
    default: return false;
  }
}

// Makes a fiber the one that runs next. Returns its stack.
void* stack_to_run(Fiber& f) {
  f.state = Fiber::State::ready;
  running = &f;
  return f.stack_pointer;
}

// Lets the next lane of the warp run that can go on; the scheduler, if there is none. Fibers switch to one
// another because that takes half the switches. All lanes of a warp usually wait at one place, so that the
// processor predicts where a switch returns to.
void yield(Fiber& f) {
  Fiber* next = f.next;
  while (next != &f && !can_go_on(*next)) next = next->next;
  __builtin_prefetch(next->next->stack_pointer);
  switch_stacks(f.stack_pointer, next != &f ? stack_to_run(*next) : scheduler);
}

void resume(Fiber& f) { switch_stacks(scheduler, stack_to_run(f)); }

void fiber_main() {
  Fiber& f = *running;
  (*body)(Thread(f), f.block->shared);
  f.state = Fiber::State::ended;
  ++warp_of(f).ended;
  yield(f);
  fail("a fiber that had ended was run again");
}

// Removes AddressSanitizer's guards from the frames of a fiber that ended without leaving its last functions.
// The frames begin at the stack pointer of the fiber's last switch.
void forget_frames([[maybe_unused]] Fiber& f) {
#if defined(__SANITIZE_ADDRESS__)
  if (f.stack_pointer == nullptr) return;  // never ran
  const auto* const first = static_cast<std::byte*>(f.stack_pointer);
  __asan_unpoison_memory_region(first, static_cast<std::size_t>(f.stack.get() + stack_bytes - first));
#endif
}

// Adds the value of a lane to the combination of all lanes, which is 0 at first.
void combine(Operation operation, std::uint64_t& all, unsigned lane, std::uint64_t v) {
  switch (operation) {
    case Operation::ballot: all |= v << lane; break;
    case Operation::reduce_max: all = std::max(all, v); break;
    case Operation::reduce_or: all |= v; break;
    case Operation::reduce_add: all += v; break;
    default: break;
  }
}

}  // namespace

bool in_wavefronts() {
  static const bool wide = [] {
    const char* const text = std::getenv("TAUT_SHIM_WAVEFRONT");
    return text != nullptr && std::strcmp(text, "64") == 0;
  }();
  return wide;
}

std::uint64_t Thread::vote(bool b) const {
  const std::uint64_t round = warp_of(*fiber_).round, of_warp = exchange(Operation::ballot, b).of_all;
  const auto of_other = static_cast<std::uint32_t>(round * 0x9E3779B9);
  return thread() % wavefront_lanes < lanes ? of_warp | std::uint64_t{of_other} << lanes
                                            : of_warp << lanes | of_other;
}

void Thread::check_source(unsigned lane) const {
  if (lane / lanes != thread() % wavefront_lanes / lanes) fail("a lane reads a value of the other warp");
}

void Thread::note_barrier(unsigned line) const {
  Warp& own = warp_of(*fiber_);
  if (thread() % lanes == 0) own.line = line, ++own.barriers;
  const Warp* const other = other_warp(*fiber_->block, thread() / lanes);
  if (other != nullptr && other->barriers == own.barriers && other->line != own.line)
    fail("the warps of a wavefront come to a barrier at different lines");
}

const Exchange& Thread::exchange(Operation operation, std::uint64_t v) const {
  Warp& w = warp_of(*fiber_);
  const std::uint64_t round = w.round;
  Exchange& values = w.exchanges[round % 2];
  if (w.arrived == 0) {
    w.operation = operation;
    values.of_all = 0;
  }
  if (w.operation != operation) fail("lanes of a warp do different things together");
  const unsigned lane = thread() % lanes;
  values.of_lane[lane] = v;
  combine(operation, values.of_all, lane, v);
  if (++w.arrived == lanes) {
    if (operation == Operation::inclusive_sum)
      std::partial_sum(values.of_lane, values.of_lane + lanes, values.of_lane);
    w.arrived = 0;
    ++w.round;
  } else {
    fiber_->round = round;
    fiber_->state = Fiber::State::in_warp;
    yield(*fiber_);
  }
  return values;
}

bool Thread::barrier_any(bool b, std::source_location where) const {
  if (in_wavefronts()) note_barrier(where.line());
  Block& block = *fiber_->block;
  const std::uint64_t round = block.round;
  block.any[round % 2] = (block.arrived > 0 && block.any[round % 2]) || b;
  if (++block.arrived == block.threads) {
    block.arrived = 0;
    ++block.round;
  } else {
    fiber_->round = round;
    fiber_->state = Fiber::State::in_block;
    yield(*fiber_);
  }
  return block.any[round % 2];
}

void Thread::pause() const {
  fiber_->state = Fiber::State::pausing;
  ++warp_of(*fiber_).pausing;
  yield(*fiber_);
}

bool Gpu::Resident::ended() const {
  return std::ranges::all_of(block.warps, [](const Warp& w) { return w.ended == lanes; });
}

void Gpu::start(Resident& r, unsigned index, unsigned threads, std::size_t shared_bytes) {
  r.block.index = index;
  r.block.threads = threads;
  r.block.warps.assign(threads / lanes, {});
  r.block.arrived = 0;
  r.block.round = 0;
  r.memory.assign(shared_bytes + 64, std::byte{0xA5});
  r.block.shared = r.memory.data() + (64 - reinterpret_cast<std::uintptr_t>(r.memory.data()) % 64);
  r.fibers.resize(threads);
  std::vector<unsigned> warps(threads / lanes), of_warp(lanes);
  std::iota(warps.begin(), warps.end(), 0u);
  std::iota(of_warp.begin(), of_warp.end(), 0u);
  std::shuffle(warps.begin(), warps.end(), random_);
  r.order.clear();
  for (const unsigned w : warps) {
    std::shuffle(of_warp.begin(), of_warp.end(), random_);
    for (const unsigned lane : of_warp) r.order.push_back(w * lanes + lane);
  }
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& f = r.fibers[t];
    if (!f.stack) f.stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
    f.block = &r.block;
    f.thread = t;
    f.state = Fiber::State::ready;
    forget_frames(f);
    prepare(f);
  }
  for (std::size_t i = 0; i < threads; ++i)
    r.fibers[r.order[i]].next = &r.fibers[r.order[i % lanes == lanes - 1 ? i + 1 - lanes : i + 1]];
}

// Runs one warp until all its lanes pause, or wait for other warps. Returns true if any lane ran.
bool Gpu::advance_warp(Resident& r, std::size_t first) {
  Warp& warp = r.block.warps[r.order[first] / lanes];
  if (warp.ended == lanes) return false;
  const Warp* const other = other_warp(r.block, r.order[first] / lanes);
  if (in_wavefronts() && warp.pausing == 0 && other != nullptr && other->pausing > 0) return false;
  const auto all = std::span(r.order).subspan(first, lanes);
  for (const unsigned t : all)
    if (warp.pausing > 0 && r.fibers[t].state == Fiber::State::pausing)
      r.fibers[t].state = Fiber::State::ready;
  warp.pausing = 0;
  const auto found = std::ranges::find_if(all, [&](unsigned t) { return can_go_on(r.fibers[t]); });
  if (found == all.end()) return false;
  resume(r.fibers[*found]);
  pauses_ += warp.pausing > 0;
  return true;
}

bool Gpu::advance(Resident& r) {
  bool any = false;
  for (std::size_t first = 0; first < r.order.size(); first += lanes) any |= advance_warp(r, first);
  return any;
}

void Gpu::launch(unsigned blocks, unsigned threads, std::size_t shared_bytes, const Body& kernel) {
  body = &kernel;
  std::vector<unsigned> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  // Blocks start roughly in order, as on a GPU, which guarantees no order.
  for (std::size_t first = 0; first < order.size(); first += 8)
    std::shuffle(order.begin() + static_cast<std::ptrdiff_t>(first),
                 order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), first + 8)), random_);
  std::vector<std::unique_ptr<Resident>> residents;
  std::size_t next = 0;
  while (residents.size() < at_once_ && next < order.size()) {
    if (idle_.empty()) idle_.push_back(std::make_unique<Resident>());
    residents.push_back(std::move(idle_.back()));
    idle_.pop_back();
    start(*residents.back(), order[next++], threads, shared_bytes);
  }
  while (!residents.empty()) {
    std::shuffle(residents.begin(), residents.end(), random_);
    bool any = false;
    // Runs later blocks more often, so that tests cover blocks that wait.
    const std::size_t some = 1 + random_() % residents.size();
    for (std::size_t i = 0; i < residents.size(); ++i)
      if (i < some || !any) any |= advance(*residents[i]);
    if (!any) fail("threads wait for ever: not all of a warp or block came");
    for (auto& r : residents) {
      if (!r->ended()) continue;
      if (next < order.size()) {
        start(*r, order[next++], threads, shared_bytes);
      } else {
        idle_.push_back(std::move(r));
      }
    }
    std::erase(residents, nullptr);
  }
}

}  // namespace taut::shim
