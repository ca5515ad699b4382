/* A stand-in for CUDA's driver, libcuda.so.1 (gpu_driver.c), which reports some memory as GPU memory. On a
   machine with a GPU, gpu/real/driver.cpp has these functions for that GPU. */
#ifndef TAUT_TESTS_GPU_DRIVER_H
#define TAUT_TESTS_GPU_DRIVER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reports a range of any memory as GPU memory, one range at a time; `managed`: shared with the host. */
void stand_in_range(const void* at, size_t bytes, int managed);

enum { stand_in_devices = 2, stand_in_any_device = -1, stand_in_host = -2, stand_in_unknown = -3 };

/* Returns 1 if the functions work on a real GPU. Faults, and memory that the host opens, need simulated ones.
 */
int stand_in_is_real(void);

/* Returns 1 if stand_in_launches counts; on a real GPU that needs CUPTI (gpu/real/launches.cpp). */
int stand_in_counts_launches(void);

int stand_in_device_count(void);

/* Allocates device memory that is accessible only while the runtime (tests/gpu/kernels/on_host) has opened
   it. Device stand_in_host: pinned memory, which the host can access too. The memory is aligned to 16 bytes
   (pinned memory: 64) and is followed by an inaccessible page. NULL: no memory left.
 */
void* stand_in_allocate(size_t bytes, int device);

/* Reserves the addresses of such an allocation. Nothing can access them until they are mapped; mapping fills
   the memory with 0xA5. */
void* stand_in_reserve(size_t bytes, int device);
void stand_in_map(void* at);
void stand_in_unmap(void* at);
int stand_in_is_mapped(const void* at);

/* Frees an allocation. Its addresses stay inaccessible and are never used again. */
void stand_in_free(void* at);

/* Lets the devices together have so many more bytes than now, not counting pinned memory. (size_t)-1: any. */
void stand_in_limit_bytes(size_t more);

/* Returns the device of an address, stand_in_host for pinned memory, or stand_in_unknown. */
int stand_in_device_of(const void* at);

/* Notes that an allocation is from a memory pool, and asks for that. MPI and NCCL cannot share memory of
   pools between processes. */
void stand_in_note_pooled(const void* at);
int stand_in_is_pooled(const void* at);

/* Make the memory that contains an address accessible, and inaccessible once it is closed as often as opened.
   No effect on memory of another device than `device`, and on addresses of other memory. */
void stand_in_open(const void* at, int device);
void stand_in_close(const void* at, int device);

/* Make all memory accessible, for example to an MPI that supports GPUs, and inaccessible again. */
void stand_in_open_all(void);
void stand_in_close_all(void);

/* Number of allocations that are not freed, pinned ones included. */
unsigned long stand_in_memories(void);

/* Counts the streams, events and graphs that exist; the runtime notes each one. */
void stand_in_note_objects(int more);
long stand_in_objects(void);

/* Counts the kernels that the runtime has launched; the runtime notes each one. */
void stand_in_note_launch(void);
unsigned long stand_in_launches(void);

/* Counts the copies that the runtime has enqueued, and the calls in which the host waits for a device; the
   runtime notes each one. */
enum stand_in_copies { stand_in_to_device, stand_in_to_host, stand_in_within };
void stand_in_note_copy(enum stand_in_copies kind);
unsigned long stand_in_copied(enum stand_in_copies kind);
void stand_in_note_wait(void);
unsigned long stand_in_waits(void);

/* Counts the kernels that the runtime has loaded, each once; the runtime notes each one. */
void stand_in_note_load(void);
unsigned long stand_in_loads(void);

/* Lets all work of the devices run, if a runtime has set a function for that. */
void stand_in_finish(void);
void stand_in_set_finish(void (*finish)(void));

/* Copies between all kinds of memory, for tests. Does not wait for work of the devices. */
void stand_in_copy(void* to, const void* from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
