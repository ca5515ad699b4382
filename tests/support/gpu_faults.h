/* Faults of simulated GPUs. They belong to the stand-in for the driver (gpu_driver.h), because this is the
   library that a test and libtaut_cuda share. */
#ifndef TAUT_TESTS_GPU_FAULTS_H
#define TAUT_TESTS_GPU_FAULTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Lets happens(of) run at the beginning of the n-th call of the runtime from now on; 1 is the next one. The
   call fails if happens() returns 1 or is NULL. n = 0: no call. Calls that cannot fail, or that free, do not
   count. */
void stand_in_at_call(unsigned long n, int (*happens)(void*), void* of);

/* The runtime reports each call: returns 1 if the call has to fail. */
int stand_in_note_call(void);

/* Number of calls of the runtime so far. */
unsigned long stand_in_calls(void);

#ifdef __cplusplus
}
#endif
#endif
