// Implements the services on arrays of values (DeviceServices): checks arguments and launches kernels on the stream.
#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/cuda_services.hpp"
#include "compressor/gpu/values/calls.hpp"

namespace taut::gpu {
namespace {

static_assert(sizeof(DeviceRange) == sizeof(values::cuda::RangeResult));

constexpr std::size_t max_values = std::size_t{1} << 48;  // more than any memory holds; no product overflows

constexpr std::size_t max_operands = std::size_t{1} << 31;

// Arguments that all services share.
struct Array {
  const void* values;
  std::size_t count;
  int type;
};

// Returns Status::ok, or the reason why no service accepts the arguments.
Status check(const Array& array) noexcept {
  if (!is_type(array.type)) return Status::invalid_type;
  if (array.count > max_values) return Status::invalid_count;
  const DType type{static_cast<std::uint8_t>(array.type)};
  const bool usable = aligned(array.values, size_of(component_of(type))) && (array.values != nullptr || array.count == 0);
  return usable ? Status::ok : Status::invalid_argument;
}

// Runs action.operator()<T>(count), where T is the type of a component and `count` the number of components.
// Returns the status of the arguments, or of the exception that the action throws.
template <class Action>
int on_array(const Array& array, Action action) noexcept {
  if (const Status status = check(array); status != Status::ok) return static_cast<int>(status);
  const DType type{static_cast<std::uint8_t>(array.type)};
  return guarded([&] {
    with_component(type, [&]<class T>() { action.template operator()<T>(array.count * components_of(type)); });
    return 0;
  });
}

// Runs action.operator()<T>(count, residual) as on_array() does, where the residual of the array is usable too.
template <class Action>
int on_residual(const Array& array, void* residual, Action action) noexcept {
  return on_array(array, [&]<class T>(std::size_t count) {
    if constexpr (!is_real<T>) {
      throw Error(Status::invalid_type, "values with a residual are real");
    } else {
      if (!aligned(residual, sizeof(ComputedIn<T>)) || (residual == nullptr && count != 0))
        throw Error(Status::invalid_argument, "the residual is not aligned, or NULL");
      action.template operator()<T>(count, static_cast<ComputedIn<T>*>(residual));
    }
  });
}

// Returns memory for the range of each thread block's values.
std::byte* range_parts(void* stream) {
  return scratch().reserve(static_cast<cudaStream_t>(stream), CudaScratch::shared, values::cuda::range_scratch_bytes);
}

// Loads the kernels of all services on arrays of T.
template <class T>
void load_kernels(std::byte* memory) {
  auto* const array = reinterpret_cast<T*>(memory);  // no kernel runs
  KernelLoader loader;
  values::cuda::combine(loader, array, static_cast<const T*>(array), 1, Reduction::sum);
  values::cuda::combine_widely(loader, static_cast<const T*>(array), 1, array, 1, Reduction::sum, 1);
  if constexpr (is_real<T>) {
    auto* const residual = reinterpret_cast<ComputedIn<T>*>(memory);
    values::cuda::sum_with_residual(loader, static_cast<const T*>(array), 1, array, residual, 1, 1);
    values::cuda::subtract_from_residual(loader, residual, static_cast<const T*>(array), 1);
    values::cuda::divide(loader, array, 1, 1);
    values::cuda::note_failures(loader, nullptr, 1, nullptr, nullptr);
    values::cuda::range(loader, static_cast<const T*>(array), 1, {}, false, memory, nullptr);
  } else {
    values::cuda::range<float>(loader, nullptr, 0, {}, false, memory, nullptr);
  }
}

bool is_reduction(int op, int type) {
  if (op < static_cast<int>(Reduction::sum) || op > static_cast<int>(Reduction::max)) return false;
  return !is_type(type) || is_defined(Reduction{static_cast<std::uint8_t>(op)}, DType{static_cast<std::uint8_t>(type)});
}

}  // namespace

int reserve_values(int type, void* stream) noexcept {
  return on_array({nullptr, 0, type}, [&]<class T>(std::size_t) { load_kernels<T>(range_parts(stream)); });
}

int reduce_values(void* values, const void* operand, std::size_t count, int type, int op, void* stream) noexcept {
  if (!is_reduction(op, type)) return static_cast<int>(Status::invalid_argument);
  if (const Status status = check({operand, count, type}); status != Status::ok) return static_cast<int>(status);
  return on_array({values, count, type}, [&]<class T>(std::size_t n) {
    StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
    values::cuda::combine(launcher, static_cast<T*>(values), static_cast<const T*>(operand), n,
                          Reduction{static_cast<std::uint8_t>(op)});
  });
}

int reduce_widely(const void* operands, std::size_t n, void* result, std::size_t count, int type, int op, int divisor,
                  void* stream) noexcept {
  if (!is_reduction(op, type) || n < 1 || n > max_operands || divisor < 1) return static_cast<int>(Status::invalid_argument);
  if (const Status status = check({operands, count, type}); status != Status::ok) return static_cast<int>(status);
  return on_array({result, count, type}, [&]<class T>(std::size_t components) {
    StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
    values::cuda::combine_widely(launcher, static_cast<const T*>(operands), static_cast<std::uint32_t>(n),
                                 static_cast<T*>(result), components, Reduction{static_cast<std::uint8_t>(op)},
                                 static_cast<std::uint32_t>(divisor));
  });
}

int sum_with_residual(const void* operands, std::size_t n, void* result, void* residual, std::size_t count, int type,
                      int divisor, void* stream) noexcept {
  if (n < 1 || n > max_operands || divisor < 1) return static_cast<int>(Status::invalid_argument);
  if (const Status status = check({operands, count, type}); status != Status::ok) return static_cast<int>(status);
  return on_residual({result, count, type}, residual, [&]<class T>(std::size_t components, ComputedIn<T>* carried) {
    StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
    values::cuda::sum_with_residual(launcher, static_cast<const T*>(operands), static_cast<std::uint32_t>(n),
                                    static_cast<T*>(result), carried, components, static_cast<std::uint32_t>(divisor));
  });
}

int subtract_from_residual(void* residual, const void* values, std::size_t count, int type, void* stream) noexcept {
  return on_residual({values, count, type}, residual, [&]<class T>(std::size_t components, ComputedIn<T>* carried) {
    StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
    values::cuda::subtract_from_residual(launcher, carried, static_cast<const T*>(values), components);
  });
}

int note_failures(const TAUT_Cuda_result* results, std::size_t n, std::uint32_t* failed, void* frame,
                  void* stream) noexcept {
  if (n > max_operands || failed == nullptr) return static_cast<int>(Status::invalid_argument);
  return guarded([&] {
    StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
    values::cuda::note_failures(launcher, reinterpret_cast<const cuda::CallResult*>(results), static_cast<std::uint32_t>(n),
                                failed, static_cast<std::uint32_t*>(frame));
    return 0;
  });
}

int divide_values(void* values, std::size_t count, int type, int n, void* stream) noexcept {
  if (n < 1) return static_cast<int>(Status::invalid_argument);
  return on_array({values, count, type}, [&]<class T>(std::size_t components) {
    StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
    if constexpr (is_real<T>) values::cuda::divide(launcher, static_cast<T*>(values), components, n);
  });
}

int range_of_values(const void* values, std::size_t count, int type, const double* fill, int exact_bits,
                    DeviceRange* range, void* stream) noexcept {
  if (range == nullptr) return static_cast<int>(Status::invalid_argument);
  return on_array({values, count, type}, [&]<class T>(std::size_t components) {
    StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
    std::byte* const parts = range_parts(stream);
    auto* const result = reinterpret_cast<values::cuda::RangeResult*>(range);
    const std::optional<double> excluded = fill != nullptr ? std::optional(*fill) : std::nullopt;
    if constexpr (is_real<T>) {
      values::cuda::range(launcher, static_cast<const T*>(values), components, excluded, exact_bits != 0, parts, result);
    } else {  // integers have no bounds that depend on their range
      values::cuda::range<float>(launcher, nullptr, 0, excluded, false, parts, result);
    }
  });
}

}  // namespace taut::gpu
