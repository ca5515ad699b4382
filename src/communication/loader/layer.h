/* layer.h -- finds the MPI that this process has loaded, and opens the layer of Taut for it.
 *
 * A layer is libtaut_<flavour>.so: libtaut built against the headers of one kind of MPI and linked to
 * none. When the layer is opened, its MPI symbols are bound to the library that the process has loaded
 * already. No function here calls MPI, except MPI_Abi_get_version, which may be called at any time. */
#ifndef TAUT_LOADER_LAYER_H
#define TAUT_LOADER_LAYER_H

#include <stddef.h>

/* Returns the MPI library of this process, NULL if none is loaded. Its symbols are global from then on, so
 * that layers find them. A program or a Python extension has loaded the library, possibly privately
 * (RTLD_LOCAL). */
void* taut_find_mpi(void);

/* Returns true if taut_find_mpi() has to choose between two libraries, both loaded privately, and stores
 * their paths: it is then unknown which library a call is meant for. */
int taut_two_mpis(const char* paths[2]);

/* Returns a function of the other libraries of `mpi` (libmpi_usempif08.so, libmpifort.so ...) that are loaded
 * privately, as a Python extension in Fortran loads them. NULL: none has it. */
void* taut_find_private(void* mpi, const char* name);

/* Returns the kind of an MPI: "mpich" (MPICH, Intel MPI and other relatives), "openmpi" or "mpiabi" (the
 * standard ABI of MPI 5). */
const char* taut_mpi_flavour(void* mpi);

/* Opens `folder`/libtaut_<flavour>.so for the MPI `mpi`. Returns NULL on failure; `why` (of `size` bytes)
 * then holds the reason. */
void* taut_open_layer(void* mpi, const char* folder, char* why, size_t size);

#endif
