/* NCCL's own interface, in place of the part that simulated GPUs have. */
#ifndef TAUT_TESTS_NCCL_H
#define TAUT_TESTS_NCCL_H

#include <nccl.h>

static inline ncclConfig_t fake_config(int blocking) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = blocking;
  return config;
}

#endif
