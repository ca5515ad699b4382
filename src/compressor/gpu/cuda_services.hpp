// Functions that cuda_services.cu and its neighbours implement for the table DeviceServices
// (device_services.hpp), and for each other. Each group has the name of the file that implements it.
#pragma once

#include "compressor/gpu/device_services.hpp"

namespace taut::gpu {

// enqueue.cu
const DeviceCodec* device_codec(std::uint8_t frame_id) noexcept;

// cuda_order.cu
int own_stream(void** stream) noexcept;
int open_stream(void** stream) noexcept;
void close_stream(void* stream) noexcept;
int follow(void* stream, void* before) noexcept;
void release_streams() noexcept;  // destroys closed streams, which open_stream would reuse, and free events
int is_captured(void* stream, int* captured) noexcept;
int stream_number(void* stream, unsigned long long* number) noexcept;
int capture_number(void* stream, unsigned long long* number) noexcept;
int record(void** event, void* stream) noexcept;
int has_happened(void* event, int* happened) noexcept;
void free_event(void* event) noexcept;
int wait_for_word(const std::uint32_t* word, std::uint32_t value, void* stream) noexcept;

// cuda_services.cu
void run_release_hooks();  // calls the functions that DeviceServices::at_release has registered

// cuda_values.cu
int reserve_values(int type, void* stream) noexcept;  // loads the kernels of this group
int reduce_values(void* values, const void* operand, std::size_t count, int type, int op,
                  void* stream) noexcept;
int reduce_widely(const void* operands, std::size_t n, void* result, std::size_t count, int type, int op,
                  int divisor, void* stream) noexcept;
int sum_with_residual(const void* operands, std::size_t n, void* result, void* residual, std::size_t count,
                      int type, int divisor, void* stream) noexcept;
int subtract_from_residual(void* residual, const void* values, std::size_t count, int type,
                           void* stream) noexcept;
int note_failures(const TAUT_Cuda_result* results, std::size_t n, std::uint32_t* failed, void* frame,
                  void* stream) noexcept;
int divide_values(void* values, std::size_t count, int type, int n, void* stream) noexcept;
int range_of_values(const void* values, std::size_t count, int type, const double* fill, int exact_bits,
                    DeviceRange* range, void* stream) noexcept;

}  // namespace taut::gpu
