// Results of collective calls, computed on the host in the order of the ranks.
#include <algorithm>
#include <cstring>

#include "compressor/values/half.hpp"
#include "gpu/nccl/fake/ranks.hpp"
#include "support/gpu_driver.h"

namespace taut::fake_nccl {
namespace {

using Memory = std::vector<std::byte>;

Memory read(const void* at, std::size_t bytes) {
  Memory memory(bytes);
  if (bytes > 0) stand_in_copy(memory.data(), at, bytes);
  return memory;
}

void write(void* at, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) stand_in_copy(at, from, bytes);
}

// Calls action.operator()<T, Sum>(): the type, and the type in which values are combined.
template <class Action>
void with_type(ncclDataType_t type, Action action) {
  switch (type) {
    case ncclInt8: return action.template operator()<std::int8_t, std::int8_t>();
    case ncclUint8: return action.template operator()<std::uint8_t, std::uint8_t>();
    case ncclInt32: return action.template operator()<std::int32_t, std::int64_t>();
    case ncclUint32: return action.template operator()<std::uint32_t, std::uint64_t>();
    case ncclInt64: return action.template operator()<std::int64_t, std::int64_t>();
    case ncclUint64: return action.template operator()<std::uint64_t, std::uint64_t>();
    case ncclFloat16: return action.template operator()<f16, float>();
    case ncclFloat32: return action.template operator()<float, float>();
    case ncclFloat64: return action.template operator()<double, double>();
    case ncclBfloat16: return action.template operator()<bf16, float>();
  }
}

template <class Sum>
Sum combined(Sum a, Sum b, ncclRedOp_t op) {
  switch (op) {
    case ncclProd: return static_cast<Sum>(a * b);
    case ncclMax: return std::max(a, b);
    case ncclMin: return std::min(a, b);
    default: return static_cast<Sum>(a + b);
  }
}

// Returns the values of all ranks from number `first` on, combined.
Memory combine(const std::vector<PartRef>& parts, std::size_t first, std::size_t count) {
  const Part& any = *parts[0];
  Memory result(count * size_of(any.type));
  with_type(any.type, [&]<class T, class Sum>() {
    std::vector<Sum> sums(count);
    for (std::size_t r = 0; r < parts.size(); ++r) {
      const Memory theirs =
          read(static_cast<const std::byte*>(parts[r]->from) + first * sizeof(T), count * sizeof(T));
      for (std::size_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, theirs.data() + i * sizeof(T), sizeof(T));
        auto own = static_cast<Sum>(value);
        if (any.factor != 1) own = static_cast<Sum>(static_cast<double>(own) * any.factor);
        sums[i] = r == 0 ? own : combined(sums[i], own, any.op);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (any.op == ncclAvg) sums[i] = static_cast<Sum>(sums[i] / static_cast<Sum>(parts.size()));
      const T value = static_cast<T>(sums[i]);
      std::memcpy(result.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return result;
}

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  std::size_t bytes = 0;
  with_type(type, [&]<class T, class>() { bytes = sizeof(T); });
  return bytes;
}

void run_collective(const std::vector<PartRef>& parts) {
  const Part& any = *parts[0];
  const std::size_t P = parts.size(), n = any.count, bytes = n * size_of(any.type);
  const auto root = static_cast<std::size_t>(any.other);
  if (any.kind == Kind::reduce_scatter) {
    const Memory all = combine(parts, 0, P * n);
    for (std::size_t r = 0; r < P; ++r) write(parts[r]->to, all.data() + r * bytes, bytes);
  } else if (any.kind == Kind::all_gather) {
    Memory all;
    for (const PartRef& part : parts) {
      const Memory own = read(part->from, bytes);
      all.insert(all.end(), own.begin(), own.end());
    }
    for (const PartRef& part : parts) write(part->to, all.data(), all.size());
  } else if (any.kind == Kind::broadcast) {
    const Memory all = read(parts[root]->from, bytes);
    for (const PartRef& part : parts) write(part->to, all.data(), bytes);
  } else {
    const Memory all = combine(parts, 0, n);
    for (std::size_t r = 0; r < P; ++r)
      if (any.kind == Kind::all_reduce || r == root) write(parts[r]->to, all.data(), bytes);
  }
}

}  // namespace taut::fake_nccl
