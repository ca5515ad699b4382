/* preload.h -- between the wrappers that programs call (preload_wrappers.c, made by generate.py) and what
 * serves them. */
#ifndef TAUT_PRELOAD_PRELOAD_H
#define TAUT_PRELOAD_PRELOAD_H

#include <stdint.h>

/* An argument or result in a register or a stack slot of eight bytes, as 64-bit calling conventions pass
 * integers and pointers: handles are one or the other, by the MPI. */
typedef uint64_t taut_word;

/* What is called when a program calls MPI function `number`; ends the process when nothing is. */
typedef void (*taut_function)(void);
taut_function taut_target(unsigned number);

/* Made by generate.py. */
enum { taut_nonblocking = 1, taut_messages = 2 }; /* what programs may ask for besides rules */
enum { taut_most_wrapped = 1024 };
struct taut_wrapped {
  const char* name;   /* as programs call it */
  const char* served; /* what serves it in a layer, where the layer has it */
  int asked_by;       /* it is the next function's unless one of these is asked for; 0: anything */
};
extern const struct taut_wrapped taut_wrapped[];

#endif
