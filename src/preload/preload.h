/* preload.h -- between the wrappers that programs call (preload_wrappers.c, made by generate.py) and what
 * serves them. */
#ifndef TAUT_PRELOAD_PRELOAD_H
#define TAUT_PRELOAD_PRELOAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* An argument or result in a register or a stack slot of eight bytes, as 64-bit calling conventions pass
 * integers and pointers: handles are one or the other, by the MPI. */
typedef uint64_t taut_word;

typedef void (*taut_function)(void);
enum { taut_most_wrapped = 1024 };
#define TAUT_HIDDEN __attribute__((visibility("hidden"))) /* found without the table of symbols */

/* What serves each function from its first call on; NULL before. */
extern TAUT_HIDDEN _Atomic(taut_function) taut_targets[taut_most_wrapped];

/* Finds it; ends the process when nothing does. */
TAUT_HIDDEN taut_function taut_find_target(unsigned number);

/* What is called when a program calls MPI function `number`: a load and a jump. */
static inline taut_function taut_target(unsigned number) {
  const taut_function known = atomic_load_explicit(&taut_targets[number], memory_order_acquire);
  return __builtin_expect(known != NULL, 1) ? known : taut_find_target(number);
}

/* Made by generate.py. */
enum {
  taut_nonblocking = 1,
  taut_messages = 2,
  taut_counts = 4
}; /* what programs may ask for besides rules */
struct taut_wrapped {
  const char* name;   /* as programs call it */
  const char* served; /* what serves it in a layer, where the layer has it */
  int asked_by;       /* it is the next function's unless one of these is asked for; 0: anything */
};
extern const struct taut_wrapped taut_wrapped[];

#endif
