#include "gpu/nccl/fake/ranks.hpp"

#include <algorithm>
#include <utility>

#include "gpu/nccl/fake/control.h"
#include "support/gpu_driver.h"
#include "support/gpu_faults.h"

namespace taut::fake_nccl {

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::send: return "Send";
    case Kind::recv: return "Recv";
    case Kind::all_reduce: return "AllReduce";
    case Kind::reduce_scatter: return "ReduceScatter";
    case Kind::all_gather: return "AllGather";
    case Kind::broadcast: return "Broadcast";
    case Kind::reduce: return "Reduce";
  }
  return "";
}

Shared& shared() {
  static auto* const one = new Shared;
  return *one;
}

namespace {

std::string text_of(const Part& part) {
  const bool message = is_message(part);
  std::string text = "rank " + std::to_string(part.kernel->rank) + " " + name_of(part.kind) + " of " +
                     std::to_string(part.count) + " values of type " + std::to_string(part.type);
  if (message) text += part.kind == Kind::send ? " to " : " from ";
  if (!message) text += ", number " + std::to_string(part.number) + ", root ";
  return text + std::to_string(part.other) + (part.by_graph ? ", in a graph" : "");
}

void complete(Part& part) {
  shared().progress = std::chrono::steady_clock::now();
  if (part.kernel->open > 0) --part.kernel->open;
}

void damage(void* message) {
  std::byte first{};
  stand_in_copy(&first, message, 1);
  first = ~first;
  stand_in_copy(message, &first, 1);
}

void move_message(Part& send, Part& recv) {
  Clique& clique = *send.kernel->clique;
  const std::size_t bytes = send.count * size_of(send.type);
  if (bytes != recv.count * size_of(recv.type) || send.type != recv.type || send.by_graph != recv.by_graph)
    return broken(clique, text_of(send) + " meets " + text_of(recv));
  if (bytes > 0) stand_in_copy(recv.to, send.from, bytes);
  if (send.kernel->rank != recv.kernel->rank) {
    shared().sent_bytes += bytes;
    if (++shared().sent_messages == shared().damage_at) damage(recv.to);
  }
  complete(send);
  complete(recv);
}

void offer_message(const PartRef& part) {
  Clique& clique = *part->kernel->clique;
  const int me = part->kernel->rank;
  const bool sends = part->kind == Kind::send;
  const Clique::Lane lane = sends ? Clique::Lane{me, part->other} : Clique::Lane{part->other, me};
  auto& others = sends ? clique.recvs[lane] : clique.sends[lane];
  if (others.empty()) return (sends ? clique.sends : clique.recvs)[lane].push_back(part);
  const PartRef other = others.front();
  others.pop_front();
  sends ? move_message(*part, *other) : move_message(*other, *part);
}

bool same_call(const Part& a, const Part& b) {
  return a.kind == b.kind && a.count == b.count && a.type == b.type && a.op == b.op && a.other == b.other &&
         a.by_graph == b.by_graph;
}

void offer_collective(const PartRef& part) {
  Clique& clique = *part->kernel->clique;
  auto& parts = clique.collectives[part->number];
  if (!parts.empty() && !same_call(*parts[0], *part))
    return broken(clique, text_of(*parts[0]) + " meets " + text_of(*part));
  parts.push_back(part);
  if (static_cast<int>(parts.size()) < clique.size) return;
  std::ranges::sort(parts, {}, [](const PartRef& one) { return one->kernel->rank; });
  run_collective(parts);
  for (const PartRef& one : parts) complete(*one);
  clique.collectives.erase(part->number);
}

void report_deadlock() {
  std::string all;
  std::vector<std::shared_ptr<Clique>> cliques;
  for (const auto& weak : shared().kernels) {
    const KernelRef kernel = weak.lock();
    if (kernel == nullptr || kernel->done() || !kernel->started) continue;
    cliques.push_back(kernel->clique);
    for (const PartRef& part : kernel->parts) all += "\n  " + text_of(*part);
  }
  for (const auto& clique : cliques) broken(*clique, "deadlock; kernels that do not end have" + all);
}

}  // namespace

void broken(Clique& clique, const std::string& rule) {
  if (clique.error == ncclSuccess) shared().report += rule + "\n";
  clique.error = ncclRemoteError;
  for (const auto& weak : shared().kernels)
    if (const KernelRef kernel = weak.lock(); kernel != nullptr && kernel->clique.get() == &clique)
      kernel->open = 0;
  clique.sends.clear();
  clique.recvs.clear();
  clique.collectives.clear();
}

void start(const KernelRef& kernel) {
  shared().progress = std::chrono::steady_clock::now();
  kernel->started = true;
  if (kernel->clique->error != ncclSuccess) kernel->open = 0;
  for (const PartRef& part : kernel->parts) {
    if (kernel->open == 0) return;  // a rule was broken
    if (is_message(*part))
      offer_message(part);
    else
      offer_collective(part);
  }
}

bool is_done(const KernelRef& kernel) {
  if (kernel->done() || stand_in_faulted() != 0) return true;
  if (kernel->started && std::chrono::steady_clock::now() - shared().progress > shared().patience)
    report_deadlock();
  return kernel->done();
}

bool counted_call() { return ++shared().calls == shared().fail_at; }

std::string take_report() {
  const std::lock_guard lock(shared().mutex);
  return std::exchange(shared().report, {});
}

void set_patience(double seconds) {
  const std::lock_guard lock(shared().mutex);
  shared().patience = std::chrono::duration<double>(seconds);
}

void fail_at(unsigned long n) {
  const std::lock_guard lock(shared().mutex);
  shared().fail_at = n == 0 ? 0 : shared().calls + n;
}

void damage_message(unsigned long n) {
  const std::lock_guard lock(shared().mutex);
  shared().damage_at = n == 0 ? 0 : shared().sent_messages + n;
}

unsigned long calls() {
  const std::lock_guard lock(shared().mutex);
  return shared().calls;
}

unsigned long calls_of(const std::string& name) {
  const std::lock_guard lock(shared().mutex);
  return shared().collectives[name];
}

unsigned long sent_bytes() {
  const std::lock_guard lock(shared().mutex);
  return shared().sent_bytes;
}

unsigned long sent_messages() {
  const std::lock_guard lock(shared().mutex);
  return shared().sent_messages;
}

}  // namespace taut::fake_nccl
