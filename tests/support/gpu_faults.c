#define _DEFAULT_SOURCE /* sigaction */
#include "support/gpu_faults.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned long long seed, state;
static char message[64];

static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT};
enum { signals_count = sizeof signals / sizeof signals[0] };
static struct sigaction before[signals_count];

/* Prints the seed. The signal comes again when this function returns, and finds the earlier handler. */
static void print_seed(int number) {
  const ssize_t written = write(STDERR_FILENO, message, strlen(message));
  (void)written;
  for (int i = 0; i < signals_count; ++i)
    if (signals[i] == number) sigaction(number, &before[i], NULL);
}

static void begin_at(unsigned long long first) {
  seed = state = first;
  snprintf(message, sizeof message, "simulated GPUs: TEST_SEED=%llu\n", first);
}

static void begin(void) {
  const char* const text = getenv("TEST_SEED");
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = print_seed;
  for (int i = 0; i < signals_count; ++i) sigaction(signals[i], &action, &before[i]);
  begin_at(text != NULL ? strtoull(text, NULL, 10) : 1);
}

void stand_in_set_seed(unsigned long long first) {
  pthread_once(&once, begin);
  pthread_mutex_lock(&lock);
  begin_at(first);
  pthread_mutex_unlock(&lock);
}

unsigned long long stand_in_seed(void) {
  pthread_once(&once, begin);
  return seed;
}

/* SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
unsigned stand_in_random(unsigned limit) {
  pthread_once(&once, begin);
  pthread_mutex_lock(&lock);
  unsigned long long x = state += 0x9E3779B97F4A7C15;
  pthread_mutex_unlock(&lock);
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return (unsigned)((x ^ x >> 31) >> 32) % limit;
}

static unsigned long calls, call_of_event;
static int (*event)(void*);
static void* event_of;

void stand_in_at_call(unsigned long n, int (*happens)(void*), void* of) {
  pthread_mutex_lock(&lock);
  call_of_event = n > 0 ? calls + n : 0;
  event = happens;
  event_of = of;
  pthread_mutex_unlock(&lock);
}

int stand_in_note_call(void) {
  pthread_mutex_lock(&lock);
  const int now = ++calls == call_of_event;
  int (*const happens)(void*) = event;
  void* const of = event_of;
  pthread_mutex_unlock(&lock);
  return now && (happens == NULL || happens(of) == 1);
}

unsigned long stand_in_calls(void) {
  pthread_mutex_lock(&lock);
  const unsigned long all = calls;
  pthread_mutex_unlock(&lock);
  return all;
}

static unsigned long allocations, failing_allocation, failed_allocations;

unsigned long stand_in_no_memory_at(unsigned long n) {
  pthread_mutex_lock(&lock);
  const unsigned long failed = failed_allocations;
  failed_allocations = 0;
  failing_allocation = n > 0 ? allocations + n : 0;
  pthread_mutex_unlock(&lock);
  return failed;
}

int stand_in_note_allocation(void) {
  pthread_mutex_lock(&lock);
  const int fails = ++allocations >= failing_allocation && failing_allocation > 0;
  failed_allocations += (unsigned long)fails;
  pthread_mutex_unlock(&lock);
  return fails;
}

static unsigned long kernels, faulting_kernel;

void stand_in_fault_at_kernel(unsigned long n) {
  pthread_mutex_lock(&lock);
  faulting_kernel = n > 0 ? kernels + n : 0;
  pthread_mutex_unlock(&lock);
}

int stand_in_note_kernel(void) {
  pthread_mutex_lock(&lock);
  ++kernels;
  pthread_mutex_unlock(&lock);
  return stand_in_faulted();
}

int stand_in_faulted(void) {
  pthread_mutex_lock(&lock);
  const int faulted = faulting_kernel > 0 && kernels >= faulting_kernel;
  pthread_mutex_unlock(&lock);
  return faulted;
}
