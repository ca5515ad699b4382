#include "support/gpu_faults.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
  pthread_mutex_unlock(&lock);
  return now && (event == NULL || event(event_of));
}

unsigned long stand_in_calls(void) { return __atomic_load_n(&calls, __ATOMIC_RELAXED); }
