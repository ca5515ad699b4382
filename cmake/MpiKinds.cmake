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
