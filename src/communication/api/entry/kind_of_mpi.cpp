// The name by which programs for this kind of MPI are linked to this library (taut.h).
#include <taut/taut.h>

#ifdef TAUT_KIND_OF_MPI
extern "C" const char TAUT_KIND_OF_MPI = 0;
#endif
