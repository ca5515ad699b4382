/* Stands in for CUDA's driver, libcuda.so.1: of one range of memory it says what a test wants to hear. */
#include <stddef.h>

static const char* begin;
static size_t length;
static int shared; /* with the host: managed memory */

void stand_in_range(const void* at, size_t bytes, int managed) {
  begin = at;
  length = bytes;
  shared = managed;
}

/* CUDA driver API, "Unified Addressing"; of two attributes, as Taut asks for them. */
int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, unsigned long long address) {
  const char* const at = (const char*)(size_t)address;
  const int ours = at >= begin && at < begin + length;
  if (count != 2 || attributes[0] != 2 || attributes[1] != 8) return 1; /* CUDA_ERROR_INVALID_VALUE */
  *(unsigned*)values[0] = ours ? 2 : 0;
  *(int*)values[1] = ours && shared;
  return 0;
}
