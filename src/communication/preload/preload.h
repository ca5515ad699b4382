/* preload.h -- the interface between the wrappers that programs call (preload_wrappers.c, made by
 * generate.py) and the choice of the functions that serve them. */
#ifndef TAUT_PRELOAD_PRELOAD_H
#define TAUT_PRELOAD_PRELOAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* An argument or result in a register or a stack slot of eight bytes, as 64-bit calling conventions pass
 * integers and pointers. An MPI's handles are integers or pointers. */
typedef uint64_t taut_word;

/* Argument of the size of an ncclUniqueId, which NCCL passes by value. */
struct taut_nccl_id {
  char internal[128];
};

typedef void (*taut_function)(void);
enum { taut_most_wrapped = 1024 };
#define TAUT_HIDDEN __attribute__((visibility("hidden"))) /* reached without a symbol lookup */

/* The function that serves each wrapped function, from its first call on; NULL before. */
extern TAUT_HIDDEN _Atomic(taut_function) taut_targets[taut_most_wrapped];

/* Finds and stores the target of function `number`; aborts the process if there is none. */
TAUT_HIDDEN taut_function taut_find_target(unsigned number);

/* Returns the target of MPI function `number`: a load, and a jump to the result. */
static inline taut_function taut_target(unsigned number) {
  const taut_function known = atomic_load_explicit(&taut_targets[number], memory_order_acquire);
  return __builtin_expect(known != NULL, 1) ? known : taut_find_target(number);
}

/* Table made by generate.py. */
enum {
  taut_nonblocking = 1,
  taut_messages = 2,
  taut_counts = 4,
  taut_of_nccl = 8
}; /* services that programs may ask for besides rules; taut_of_nccl: a function of NCCL */
struct taut_wrapped {
  const char* name;   /* name that programs call */
  const char* served; /* name of the layer's function that serves it, if the layer has one */
  int asked_by;       /* services of which one must be asked for, else the next function serves it; 0: any */
};
extern const struct taut_wrapped taut_wrapped[];

/* Returns nonzero if the variable is set and not empty. */
TAUT_HIDDEN int taut_is_set(const char* name);

/* Returns nonzero if a variable asks Taut for anything. */
TAUT_HIDDEN int taut_is_asked(void);

/* Stores the folder of this library in `folder`, of `size` bytes. */
TAUT_HIDDEN void taut_own_folder(char* folder, size_t size);

/* Returns a function of NCCL, which may be in a library that the program has loaded privately, as Python
 * does; NULL if NCCL is not loaded. */
TAUT_HIDDEN void* taut_find_in_nccl(const char* name);

/* Returns the function that serves a function of NCCL: libtaut_nccl's if Taut is asked for anything,
 * otherwise NCCL's; NULL if there is none. */
TAUT_HIDDEN void* taut_choose_for_nccl(const struct taut_wrapped* wrapped);

#endif
