#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support/gpu_driver.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { most = 512, page = 4096 };

static struct memory {
  char *at, *pages;
  size_t bytes, length;
  int device;
} memories[most];
static int opened[stand_in_devices];
static unsigned long launches;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char* range_at;
static size_t range_bytes;
static int range_managed;

static int now(int device) { return opened[device] > 0 ? PROT_READ | PROT_WRITE : PROT_NONE; }

/* Returns the memory that contains the address, or NULL. */
static struct memory* memory_of(const char* at) {
  for (struct memory* m = memories; m < memories + most; ++m)
    if (m->at != NULL && at >= m->at && at < m->at + m->bytes) return m;
  return NULL;
}

static void protect_all(void) {
  for (const struct memory* m = memories; m < memories + most; ++m)
    if (m->at != NULL) mprotect(m->pages, m->length, now(m->device));
}

void stand_in_range(const void* at, size_t bytes, int managed) {
  range_at = at;
  range_bytes = bytes;
  range_managed = managed;
}

void* stand_in_allocate(size_t bytes, int device) {
  const size_t used = (bytes + 15) / 16 * 16 + (bytes == 0) * 16;
  const size_t length = (used + page - 1) / page * page;
  struct memory* m = memories;
  pthread_mutex_lock(&lock);
  while (m < memories + most && m->at != NULL) ++m;
  char* const pages = m == memories + most ? MAP_FAILED
                                           : mmap(NULL, length + page, PROT_NONE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char* const at = pages == MAP_FAILED ? NULL : pages + length - used;
  if (at != NULL) {
    *m = (struct memory){at, pages, used, length, device};
    mprotect(pages, length, now(device));
  }
  pthread_mutex_unlock(&lock);
  return at;
}

void stand_in_free(void* at) {
  pthread_mutex_lock(&lock);
  struct memory* const m = at != NULL ? memory_of(at) : NULL;
  if (m != NULL) {
    munmap(m->pages, m->length + page);
    memset(m, 0, sizeof *m);
  }
  pthread_mutex_unlock(&lock);
}

int stand_in_device_of(const void* at) {
  pthread_mutex_lock(&lock);
  const struct memory* const m = memory_of(at);
  pthread_mutex_unlock(&lock);
  return m != NULL ? m->device : 0;
}

static void add_to_opened(int device, int more) {
  pthread_mutex_lock(&lock);
  for (int d = 0; d < stand_in_devices; ++d)
    if (device == stand_in_all_devices || device == d) opened[d] += more;
  protect_all();
  pthread_mutex_unlock(&lock);
}

void stand_in_open(int device) { add_to_opened(device, 1); }
void stand_in_close(int device) { add_to_opened(device, -1); }

void stand_in_note_launch(void) { __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED); }
unsigned long stand_in_launches(void) { return __atomic_load_n(&launches, __ATOMIC_RELAXED); }

void stand_in_copy(void* to, const void* from, size_t bytes) {
  stand_in_open(stand_in_all_devices);
  if (bytes > 0) memmove(to, from, bytes);
  stand_in_close(stand_in_all_devices);
}

/* CUDA driver API, "Unified Addressing"; for the two attributes that Taut asks for. */
int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, unsigned long long address) {
  const char* const at = (const char*)(size_t)address;
  const int in_range = at >= range_at && at < range_at + range_bytes;
  if (count != 2 || attributes[0] != 2 || attributes[1] != 8) return 1; /* CUDA_ERROR_INVALID_VALUE */
  pthread_mutex_lock(&lock);
  const int ours = in_range || memory_of(at) != NULL;
  pthread_mutex_unlock(&lock);
  *(unsigned*)values[0] = ours ? 2 : 0;
  *(int*)values[1] = in_range && range_managed;
  return 0;
}
