#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support/gpu_driver.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/gpu_faults.h"

enum { most = 8192, page = 4096 };

/* `opened`: scopes in which the memory is accessible. `asked`: bytes that the program has asked for. Behind
   the memory is a page that nobody may access. */
static struct memory {
  char *at, *pages;
  size_t bytes, asked, length;
  int device, mapped, opened, pooled;
} memories[most]; /* in the order of their addresses */
static int count;
static unsigned long launches, copied[3], waits, loads;
static long objects;
static int all_opened; /* scopes in which all memory is accessible */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char* range_at;
static size_t range_bytes;
static int range_managed;

int stand_in_is_real(void) { return 0; }
int stand_in_counts_launches(void) { return 1; }
int stand_in_device_count(void) { return stand_in_devices; }

static void protect(const struct memory* m) {
  const int accessible = m->mapped && (m->device == stand_in_host || m->opened > 0 || all_opened > 0);
  mprotect(m->pages, m->length, accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
}

/* Returns the number of memories that begin at or before an address. */
static int memories_up_to(const char* at) {
  int first = 0, end = count;
  while (first < end) {
    const int middle = (first + end) / 2;
    if (memories[middle].at <= at)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* Returns the memory that contains the address, or NULL. */
static struct memory* memory_of(const char* at) {
  const int i = memories_up_to(at);
  struct memory* const m = memories + i - 1;
  return i > 0 && at < m->at + m->bytes ? m : NULL;
}

void stand_in_range(const void* at, size_t bytes, int managed) {
  range_at = at;
  range_bytes = bytes;
  range_managed = managed;
}

static void insert(struct memory new) {
  const int i = memories_up_to(new.at);
  memmove(memories + i + 1, memories + i, (size_t)(count++ - i) * sizeof *memories);
  memories[i] = new;
  protect(memories + i);
}

static size_t limit = (size_t)-1;

static size_t bytes_of_devices(void) {
  size_t sum = 0;
  for (const struct memory* m = memories; m < memories + count; ++m) sum += m->device >= 0 ? m->bytes : 0;
  return sum;
}

void stand_in_limit_bytes(size_t more) {
  pthread_mutex_lock(&lock);
  limit = more == (size_t)-1 ? more : bytes_of_devices() + more;
  pthread_mutex_unlock(&lock);
}

static int exceeds_limit(size_t bytes, int device) {
  return limit != (size_t)-1 && device >= 0 && bytes_of_devices() + bytes > limit;
}

static void* allocate(size_t bytes, int device, int mapped) {
  const size_t unit = device == stand_in_host ? 64 : 16;
  const size_t used = (bytes + unit - 1) / unit * unit + (bytes == 0) * unit;
  const size_t length = (used + page - 1) / page * page;
  const int fails = stand_in_note_allocation();
  pthread_mutex_lock(&lock);
  char* const pages =
      fails || count == most || length < bytes || exceeds_limit(used, device)
          ? MAP_FAILED
          : mmap(NULL, length + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char* const at = pages == MAP_FAILED ? NULL : pages + length - used;
  if (at != NULL) insert((struct memory){at, pages, used, bytes, length, device, mapped, 0, 0});
  pthread_mutex_unlock(&lock);
  return at;
}

void* stand_in_allocate(size_t bytes, int device) { return allocate(bytes, device, 1); }
void* stand_in_reserve(size_t bytes, int device) { return allocate(bytes, device, 0); }

/* Takes the memory behind addresses away. They stay reserved. */
static void empty(char* pages, size_t length) {
  mmap(pages, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void stand_in_map(void* at) {
  pthread_mutex_lock(&lock);
  struct memory* const m = memory_of(at);
  if (m != NULL) {
    mprotect(m->pages, m->length, PROT_READ | PROT_WRITE);
    memset(m->at, 0xA5, m->bytes);
    m->mapped = 1;
    protect(m);
  }
  pthread_mutex_unlock(&lock);
}

void stand_in_unmap(void* at) {
  pthread_mutex_lock(&lock);
  struct memory* const m = memory_of(at);
  if (m != NULL) {
    empty(m->pages, m->length);
    m->mapped = 0;
  }
  pthread_mutex_unlock(&lock);
}

int stand_in_is_mapped(const void* at) {
  pthread_mutex_lock(&lock);
  const struct memory* const m = memory_of(at);
  const int mapped = m != NULL && m->mapped;
  pthread_mutex_unlock(&lock);
  return mapped;
}

/* Freed memory, the oldest of which is given back to the system: a process may have 65530 mappings. */
static struct freed {
  char* pages;
  size_t length;
} freed[most];
static unsigned long frees;

static void keep_reserved(struct freed new) {
  struct freed* const oldest = freed + frees++ % most;
  empty(new.pages, new.length);
  if (oldest->pages != NULL) munmap(oldest->pages, oldest->length);
  *oldest = new;
}

/* Ends the program if bytes beside the memory have changed, which were 0, or as stand_in_map() fills them. */
static void expect_untouched(const struct memory* m) {
  mprotect(m->pages, m->length, PROT_READ);
  const char* wrong = NULL;
  for (const char* p = m->pages; p < m->at; ++p) wrong = *p != 0 ? p : wrong;
  for (const char* p = m->at + m->asked; p < m->at + m->bytes; ++p)
    wrong = *p != 0 && *p != (char)0xA5 ? p : wrong;
  if (wrong == NULL) return;
  fprintf(stderr, "byte %td of a GPU's memory of %zu bytes was touched\n", wrong - m->at, m->asked);
  abort();
}

void stand_in_free(void* at) {
  pthread_mutex_lock(&lock);
  struct memory* const m = at != NULL ? memory_of(at) : NULL;
  if (m != NULL) {
    if (m->mapped) expect_untouched(m);
    keep_reserved((struct freed){m->pages, m->length + page});
    memmove(m, m + 1, (size_t)(memories + count-- - (m + 1)) * sizeof *m);
  }
  pthread_mutex_unlock(&lock);
}

int stand_in_device_of(const void* at) {
  pthread_mutex_lock(&lock);
  const struct memory* const m = memory_of(at);
  const int device = m != NULL ? m->device : stand_in_unknown; /* freeing other memory moves the entry */
  pthread_mutex_unlock(&lock);
  return device;
}

void stand_in_note_pooled(const void* at) {
  pthread_mutex_lock(&lock);
  struct memory* const m = memory_of(at);
  if (m != NULL) m->pooled = 1;
  pthread_mutex_unlock(&lock);
}

int stand_in_is_pooled(const void* at) {
  pthread_mutex_lock(&lock);
  const struct memory* const m = memory_of(at);
  const int pooled = m != NULL && m->pooled;
  pthread_mutex_unlock(&lock);
  return pooled;
}

static void add_to_opened(const void* at, int device, int more) {
  pthread_mutex_lock(&lock);
  struct memory* const m = memory_of(at);
  if (m != NULL && m->device != stand_in_host && (device == stand_in_any_device || device == m->device)) {
    const int before = m->opened;
    m->opened += more;
    if ((before > 0) != (m->opened > 0)) protect(m);
  }
  pthread_mutex_unlock(&lock);
}

void stand_in_open(const void* at, int device) { add_to_opened(at, device, 1); }
void stand_in_close(const void* at, int device) { add_to_opened(at, device, -1); }

static void add_to_all_opened(int more) {
  pthread_mutex_lock(&lock);
  all_opened += more;
  for (const struct memory* m = memories; m < memories + count; ++m) protect(m);
  pthread_mutex_unlock(&lock);
}

void stand_in_open_all(void) { add_to_all_opened(1); }
void stand_in_close_all(void) { add_to_all_opened(-1); }

unsigned long stand_in_memories(void) {
  pthread_mutex_lock(&lock);
  const int all = count;
  pthread_mutex_unlock(&lock);
  return (unsigned long)all;
}

void stand_in_note_objects(int more) { __atomic_add_fetch(&objects, more, __ATOMIC_RELAXED); }
long stand_in_objects(void) { return __atomic_load_n(&objects, __ATOMIC_RELAXED); }

void stand_in_note_launch(void) { __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED); }
unsigned long stand_in_launches(void) { return __atomic_load_n(&launches, __ATOMIC_RELAXED); }

void stand_in_note_copy(enum stand_in_copies kind) { __atomic_add_fetch(&copied[kind], 1, __ATOMIC_RELAXED); }
unsigned long stand_in_copied(enum stand_in_copies kind) {
  return __atomic_load_n(&copied[kind], __ATOMIC_RELAXED);
}
void stand_in_note_wait(void) { __atomic_add_fetch(&waits, 1, __ATOMIC_RELAXED); }
unsigned long stand_in_waits(void) { return __atomic_load_n(&waits, __ATOMIC_RELAXED); }

void stand_in_note_load(void) { __atomic_add_fetch(&loads, 1, __ATOMIC_RELAXED); }
unsigned long stand_in_loads(void) { return __atomic_load_n(&loads, __ATOMIC_RELAXED); }

static void (*finish_work)(void);

void stand_in_set_finish(void (*finish)(void)) { __atomic_store_n(&finish_work, finish, __ATOMIC_RELEASE); }

void stand_in_finish(void) {
  void (*const finish)(void) = __atomic_load_n(&finish_work, __ATOMIC_ACQUIRE);
  if (finish != NULL) finish();
}

/* Opens this process's memory as a file. Reads and writes of it ignore protection; changing the protection
   twice for a copy takes several times as long. -1: the system has no such file, or ThreadSanitizer has to
   see the copies. */
static int own_memory = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_own_memory(void) {
#if !defined(__SANITIZE_THREAD__)
  own_memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
#endif
}

/* Returns true if all bytes are in one memory of a device, which exists. */
static int in_device_memory(const char* at, size_t bytes) {
  const struct memory* const m = memory_of(at);
  return m != NULL && m->device != stand_in_host && m->mapped && at + bytes <= m->at + m->bytes;
}

static int all_moved(ssize_t moved, size_t bytes) { return moved >= 0 && (size_t)moved == bytes; }

/* Copies by the file. Returns false if the file cannot be used, or the bytes are not in memory as they
 * should. */
static int copy_by_file(void* to, const void* from, size_t bytes) {
  const int to_device = memory_of(to) != NULL && memory_of(to)->device != stand_in_host;
  const int from_device = memory_of(from) != NULL && memory_of(from)->device != stand_in_host;
  if ((to_device && !in_device_memory(to, bytes)) || (from_device && !in_device_memory(from, bytes)))
    return 0;
  if (!to_device && !from_device) return 0;
  if (!to_device) return all_moved(pread(own_memory, to, bytes, (off_t)(size_t)from), bytes);
  if (!from_device) return all_moved(pwrite(own_memory, from, bytes, (off_t)(size_t)to), bytes);
  void* const between = malloc(bytes);
  const int moved = between != NULL &&
                    all_moved(pread(own_memory, between, bytes, (off_t)(size_t)from), bytes) &&
                    all_moved(pwrite(own_memory, between, bytes, (off_t)(size_t)to), bytes);
  free(between);
  return moved;
}

void stand_in_copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  pthread_once(&once, open_own_memory);
  pthread_mutex_lock(&lock);
  const int copied_by_file = own_memory >= 0 && copy_by_file(to, from, bytes);
  pthread_mutex_unlock(&lock);
  if (copied_by_file) return;
  stand_in_open(to, stand_in_any_device);
  stand_in_open(from, stand_in_any_device);
  memmove(to, from, bytes);
  stand_in_close(from, stand_in_any_device);
  stand_in_close(to, stand_in_any_device);
}

/* CUDA driver API, "Unified Addressing"; for the two attributes that Taut asks for. */
int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, unsigned long long address) {
  const char* const at = (const char*)(size_t)address;
  const int in_range = at >= range_at && at < range_at + range_bytes;
  if (count != 2 || attributes[0] != 2 || attributes[1] != 8) return 1; /* CUDA_ERROR_INVALID_VALUE */
  pthread_mutex_lock(&lock);
  const struct memory* const m = memory_of(at);
  const int ours = in_range || (m != NULL && m->device != stand_in_host);
  pthread_mutex_unlock(&lock);
  *(unsigned*)values[0] = ours ? 2 : 0;
  *(int*)values[1] = in_range && range_managed;
  return 0;
}
