#include "communication/nccl/dropin/program_call.hpp"

#include "communication/nccl/dropin/coded_messages.hpp"

namespace taut::nccl::dropin {
namespace {

// Returns the size of a value; 1 for the 8-bit floating-point types, which Taut has no type for.
std::size_t value_bytes(int datatype) noexcept {
  const DType type = dtype_of_nccl(datatype);
  return type == DType{} ? 1 : size_of(type);
}

std::size_t bytes_of(const NcclCall& call, int ranks) noexcept {
  const bool has_blocks = counts_one_block(call.collective) || call.collective == Collective::gather ||
                          call.collective == Collective::scatter;
  return call.count * value_bytes(call.datatype) * (has_blocks ? static_cast<std::size_t>(ranks) : 1);
}
std::size_t bytes_of(const Message& message, int) noexcept {
  return message.count * value_bytes(message.datatype);
}
std::size_t bytes_of(const DestroyOperator&, int) noexcept { return 0; }

int run(const NcclCall& call, int ranks) { return call_nccl(library(), call, ranks); }
int run(const Message& message, int) {
  const auto& [sends, buffer, count, type, peer, comm, stream, coded] = message;
  if (coded != nullptr) return coded->move(message);
  return sends ? library().Send(buffer, count, type, peer, comm, stream)
               : library().Recv(buffer, count, type, peer, comm, stream);
}
int run(const DestroyOperator& call, int) {
  static const auto destroy = reinterpret_cast<int (*)(int, ncclComm*)>(find_function("ncclRedOpDestroy"));
  return destroy(call.op, call.comm);
}

}  // namespace

ncclComm* ProgramCall::comm() const noexcept {
  return std::visit([](const auto& call) { return call.comm; }, arguments);
}

bool ProgramCall::has_stream(void*& stream) const noexcept {
  if (const auto* const call = collective()) return stream = call->stream, true;
  if (message() != nullptr) stream = message()->stream;
  return message() != nullptr;
}

void ProgramCall::set_stream(void* stream) noexcept {
  if (auto* const call = std::get_if<NcclCall>(&arguments)) call->stream = stream;
  if (message() != nullptr) message()->stream = stream;
}

std::size_t ProgramCall::bytes(int ranks) const noexcept {
  return std::visit([&](const auto& call) { return bytes_of(call, ranks); }, arguments);
}

int run_uncounted(const ProgramCall& call, int ranks) {
  return std::visit([&](const auto& arguments) { return run(arguments, ranks); }, call.arguments);
}

int run_by_nccl(const ProgramCall& call, int ranks) {
  const int result = run_uncounted(call, ranks);
  const bool coded = call.message() != nullptr && call.message()->coded != nullptr;
  if (result == success || result == in_progress)
    count(call.function, coded ? Service::by_taut : Service::by_nccl, call.bytes(ranks));
  return result;
}

}  // namespace taut::nccl::dropin
