# The MPI to build with, first of: MPI_C_COMPILER (in TAUT_MPI, if both are set), TAUT_MPI=/prefix (cache or environment),
# mpicc in PATH, the wheel in .venv (tools/setup.sh). Defines MPI::MPI_C and MPIEXEC_EXECUTABLE; only C is needed, also by
# the C++ parts.
set(TAUT_MPI "$ENV{TAUT_MPI}" CACHE PATH "Prefix of the MPI to build with; empty: mpicc in PATH, else .venv")

if(TAUT_MPI AND MPI_C_COMPILER)
  cmake_path(IS_PREFIX TAUT_MPI "${MPI_C_COMPILER}" NORMALIZE is_of_prefix)
  if(NOT is_of_prefix)
    message(FATAL_ERROR "MPI_C_COMPILER=${MPI_C_COMPILER}, perhaps of an earlier configuration, does not lie in TAUT_MPI=${TAUT_MPI}: "
                        "leave one of them out, or remove ${CMAKE_BINARY_DIR}")
  endif()
elseif(NOT MPI_C_COMPILER)
  if(TAUT_MPI)
    find_program(MPI_C_COMPILER mpicc PATHS ${TAUT_MPI}/bin NO_DEFAULT_PATH)
    if(NOT MPI_C_COMPILER)
      message(FATAL_ERROR "TAUT_MPI=${TAUT_MPI}: no bin/mpicc there")
    endif()
  else()
    find_program(MPI_C_COMPILER mpicc HINTS ENV PATH PATHS ${PROJECT_SOURCE_DIR}/.venv/bin)
  endif()
endif()
if(MPI_C_COMPILER AND NOT MPI_HOME)
  cmake_path(GET MPI_C_COMPILER PARENT_PATH MPI_HOME)
  cmake_path(GET MPI_HOME PARENT_PATH MPI_HOME) # so that mpiexec is looked for beside mpicc
endif()

set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI COMPONENTS C)
if(NOT MPI_C_FOUND)
  message(FATAL_ERROR "No MPI: put mpicc in PATH, set TAUT_MPI=/prefix, or run tools/setup.sh build")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/MpiKinds.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/Launcher.cmake)
taut_flavour_of_mpi(TAUT_MPI_FLAVOUR)
taut_choose_launcher("${TAUT_MPI_FLAVOUR}" ${MPI_C_COMPILER})
if(TAUT_MPI_FLAVOUR STREQUAL mpiabi AND NOT "MPI_ABI" IN_LIST MPI_C_COMPILE_DEFINITIONS)
  set_property(TARGET MPI::MPI_C APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS MPI_ABI) # by which Taut's sources know it
endif()
