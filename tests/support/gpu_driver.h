/* A stand-in for CUDA's driver, libcuda.so.1 (gpu_driver.c), which reports some memory as GPU memory. */
#ifndef TAUT_TESTS_GPU_DRIVER_H
#define TAUT_TESTS_GPU_DRIVER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reports a range of any memory as GPU memory, one range at a time; `managed`: shared with the host. */
void stand_in_range(const void* at, size_t bytes, int managed);

enum { stand_in_devices = 2, stand_in_all_devices = -1 };

/* Allocates device memory that only code between open and close can access, as the runtime does
   (tests/gpu/kernels/on_host). The memory is aligned to 16 bytes and is followed by an inaccessible page.
   NULL: no memory left. */
void* stand_in_allocate(size_t bytes, int device);
void stand_in_free(void* at);
int stand_in_device_of(const void* at);
void stand_in_open(int device);
void stand_in_close(int device);

/* Counts the kernels that the runtime has launched; the runtime notes each one. */
void stand_in_note_launch(void);
unsigned long stand_in_launches(void);

/* Copies between all kinds of memory, for tests. */
void stand_in_copy(void* to, const void* from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
