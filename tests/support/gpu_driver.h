/* A stand-in for CUDA's driver, libcuda.so.1 (gpu_driver.c): some memory it calls a GPU's. */
#ifndef TAUT_TESTS_GPU_DRIVER_H
#define TAUT_TESTS_GPU_DRIVER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One range, of whatever memory, one at a time; `managed`: shared with the host. */
void stand_in_range(const void* at, size_t bytes, int managed);

enum { stand_in_devices = 2, stand_in_all_devices = -1 };

/* Memory of a device that nobody can touch but between open and close, as the runtime does
 * (tests/gpu/kernels/on_host), and that ends where nothing is. Aligned to 16 bytes. NULL: there is none. */
void* stand_in_allocate(size_t bytes, int device);
void stand_in_free(void* at);
int stand_in_device_of(const void* at);
void stand_in_open(int device);
void stand_in_close(int device);

/* Kernels that the runtime has launched so far: it notes each. */
void stand_in_note_launch(void);
unsigned long stand_in_launches(void);

/* For tests: between all kinds of memory. */
void stand_in_copy(void* to, const void* from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
