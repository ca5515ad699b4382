/* layer.h -- the MPI that this process has loaded, and the layer of Taut that speaks to it.
 *
 * A layer is libtaut_<flavour>.so: libtaut built against the headers of one kind of MPI and linked to none.
 * Its MPI symbols are bound, when it is opened, to the library that the process has loaded already. No
 * function here calls MPI, but for MPI_Abi_get_version, which may be called at any time.
 */
#ifndef TAUT_LOADER_LAYER_H
#define TAUT_LOADER_LAYER_H

#include <stddef.h>

/* The library of MPI in this process, its symbols global from then on, so that layers find them; NULL: none
 * is loaded. Loaded by a program or a Python extension, also privately (RTLD_LOCAL). */
void* taut_find_mpi(void);

/* Whether taut_find_mpi() had to choose between two libraries, both loaded privately: then nobody knows which
 * of them a call is meant for. Their paths, if so. */
int taut_two_mpis(const char* paths[2]);

/* Its kind: "mpich" (MPICH, Intel MPI and other relatives), "openmpi" or "mpiabi" (the standard ABI of MPI
 * 5). */
const char* taut_mpi_flavour(void* mpi);

/* Opens `folder`/libtaut_<flavour>.so for the MPI `mpi`. NULL: `why` (of `size` bytes) says why not. */
void* taut_open_layer(void* mpi, const char* folder, char* why, size_t size);

#endif
