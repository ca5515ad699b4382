# The CMake package in the Python package, for find_package(Taut) and find_package(taut): Taut::taut is the layer for the
# MPI that the project finds. `python -m taut --cmake-dir` prints this folder, for Taut_DIR.
include(CMakeFindDependencyMacro)
find_dependency(MPI COMPONENTS C)
cmake_path(SET taut_package NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../..)

include(${CMAKE_CURRENT_LIST_DIR}/MpiKinds.cmake)
taut_flavour_of_mpi(flavour)
set(taut_layer ${taut_package}lib/taut/libtaut_${flavour}.so)
if(NOT EXISTS "${taut_layer}")
  set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
  set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE "Taut in ${taut_package} has no layer for the MPI in ${MPI_C_INCLUDE_DIRS}")
  return()
endif()

# A layer is linked to no MPI: it finds the functions of the program's, and does without those that an older MPI lacks.
if(NOT TARGET Taut::taut)
  add_library(Taut::taut SHARED IMPORTED)
  set_target_properties(
    Taut::taut
    PROPERTIES IMPORTED_LOCATION ${taut_layer}
               INTERFACE_INCLUDE_DIRECTORIES ${taut_package}include
               INTERFACE_LINK_LIBRARIES MPI::MPI_C
               INTERFACE_LINK_OPTIONS LINKER:--allow-shlib-undefined)
endif()
