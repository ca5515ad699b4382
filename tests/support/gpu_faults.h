/* Chance and faults of simulated GPUs. They belong to the stand-in for the driver (gpu_driver.h), because
   this is the library that a test and libtaut_cuda share. */
#ifndef TAUT_TESTS_GPU_FAULTS_H
#define TAUT_TESTS_GPU_FAULTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seed of all random decisions of the GPUs: TEST_SEED of the environment, or 1. A program that dies of a
   signal prints the seed. */
void stand_in_set_seed(unsigned long long seed);
unsigned long long stand_in_seed(void);

/* Returns a random number below `limit`. */
unsigned stand_in_random(unsigned limit);

/* Lets happens(of) run at the beginning of the n-th call of the runtime from now on; 1 is the next one. The
   call fails if happens() returns 1 or is NULL. n = 0: no call. Calls that cannot fail, or that free, do not
   count. */
void stand_in_at_call(unsigned long n, int (*happens)(void*), void* of);

/* The runtime reports each call: returns 1 if the call has to fail. */
int stand_in_note_call(void);

/* Number of calls of the runtime so far. */
unsigned long stand_in_calls(void);

/* Lets no memory be allocated from the n-th allocation from now on. n = 0: there is memory again. Returns how
   many allocations have failed since the last call of this function. */
unsigned long stand_in_no_memory_at(unsigned long n);

/* The stand-in for the driver reports each allocation: returns 1 if it has to fail. */
int stand_in_note_allocation(void);

/* Makes the n-th kernel that runs from now on fault, as if it accessed an invalid address: from then on
   nothing runs, and every call reports the fault. n = 0: no kernel; an earlier fault is repaired. */
void stand_in_fault_at_kernel(unsigned long n);

/* The runtime reports each kernel before it runs: returns 1 if this kernel or an earlier one faults. */
int stand_in_note_kernel(void);
int stand_in_faulted(void);

#ifdef __cplusplus
}
#endif
#endif
