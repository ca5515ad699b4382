# Kinds of MPI (mpich, openmpi, mpiabi) by their mpi.h. Installed with the CMake package, which compares the MPI that it
# finds with the one that libtaut was built with.

# taut_flavour_of(FOLDER OUT): sets OUT to the kind of MPI whose mpi.h is in FOLDER; empty: none.
function(taut_flavour_of folder out)
  set(${out} "" PARENT_SCOPE)
  if(EXISTS ${folder}/mpi.h)
    file(STRINGS ${folder}/mpi.h lines REGEX "^#[ ]*define[ ]+(OPEN_MPI|MPICH_VERSION|I_MPI_VERSION|MPI_ABI_VERSION)[ ]")
    if(lines MATCHES "OPEN_MPI")
      set(${out} openmpi PARENT_SCOPE)
    elseif(lines MATCHES "MPICH_VERSION|I_MPI_VERSION")
      set(${out} mpich PARENT_SCOPE)
    elseif(lines MATCHES "MPI_ABI_VERSION")
      set(${out} mpiabi PARENT_SCOPE)
    endif()
  endif()
endfunction()

# taut_flavour_of_mpi(OUT): sets OUT to the kind of the MPI that find_package(MPI) has found; empty: unknown. MPICH's mpi.h is that of
# the standard ABI where MPI_ABI is defined, as its mpicc_abi does.
function(taut_flavour_of_mpi out)
  set(${out} "" PARENT_SCOPE)
  foreach(folder ${MPI_C_INCLUDE_DIRS})
    taut_flavour_of(${folder} flavour)
    if(flavour AND "MPI_ABI" IN_LIST MPI_C_COMPILE_DEFINITIONS)
      set(flavour mpiabi)
    endif()
    if(flavour)
      set(${out} ${flavour} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# taut_abi_folder(FOLDER OUT): sets OUT to the folder of the mpi.h of the standard ABI, of an MPI whose headers are in FOLDER; empty:
# it has none. MPICH's mpi.h includes mpi_abi.h, and Open MPI 6 has another mpi.h in a folder of its own.
function(taut_abi_folder folder out)
  set(${out} "" PARENT_SCOPE)
  taut_flavour_of(${folder} flavour)
  if(EXISTS ${folder}/mpi_abi.h OR flavour STREQUAL mpiabi)
    set(${out} ${folder} PARENT_SCOPE)
  elseif(EXISTS ${folder}/standard_abi/mpi.h)
    set(${out} ${folder}/standard_abi PARENT_SCOPE)
  endif()
endfunction()

# taut_tell_absent_layer(FLAVOUR): says that a layer is left out, and warns if an MPI of this machine would need it. The
# machine's MPIs are looked for beside the programs in PATH and in the folders of Debian, Red Hat and modules.
function(taut_tell_absent_layer flavour)
  string(TOUPPER ${flavour} name)
  if(DEFINED TAUT_${name}_INCLUDE OR flavour STREQUAL mpiabi) # mpiabi: of programs that no MPI's own mpicc makes
    message(STATUS "No layer for ${flavour}")
    return()
  endif()
  string(REPLACE ":" ";" folders "$ENV{PATH}")
  list(TRANSFORM folders APPEND /../include)
  file(GLOB others /usr/lib/*/${flavour}/include /usr/include/*/${flavour} /usr/include/${flavour}-* /usr/lib64/*/include
       /opt/*/include /opt/*/*/include)
  foreach(folder ${folders} ${others})
    taut_flavour_of(${folder} found)
    if(found STREQUAL flavour)
      file(REAL_PATH ${folder} folder)
      message(WARNING "No layer for ${flavour}, which is installed: its programs would run without Taut. "
                      "Add -DTAUT_${name}_INCLUDE=${folder}, or OFF")
      return()
    endif()
  endforeach()
  message(STATUS "No layer for ${flavour}: -DTAUT_${name}_INCLUDE=FOLDER names the folder of its mpi.h")
endfunction()
