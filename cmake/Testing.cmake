# How tests are registered. Labels: fast (no MPI; repeated under ASan), gpu-fast (no MPI, simulated GPUs; repeated under ASan
# with TEST_DEPTH=full alone), fast-threads (no MPI; repeated under TSan), once-fast (no MPI; repeated under neither), mpi (repeated under Open MPI), once (MPI; not repeated).
if(NOT BUILD_TESTING)
  return()
endif()
if(CMAKE_CROSSCOMPILING) # libgtest-dev is the host's; its sources come with it
  set(BUILD_GMOCK OFF)
  set(INSTALL_GTEST OFF)
  add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  target_compile_options(gtest PRIVATE -O0)
else()
  find_package(GTest REQUIRED)
endif()
include(GoogleTest)

# What Open MPI needs to run as root (containers) and with more ranks than cores; MPICH needs nothing. Its component btl/ofi, for
# the memory of other hosts, sleeps for a second at each start where it finds no such network.
set(TAUT_MPI_ENVIRONMENT
    OMPI_MCA_btl=^ofi
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=true OMPI_MCA_hwloc_base_binding_policy=none
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none)

# What the sources of tests are compiled with beyond the preset's flags: they check results, and need no speed.
set(TAUT_TEST_FLAGS "" CACHE STRING "Compiler options of the tests' own sources, after all others")

option(TAUT_TEST_UNITY "Compile the sources of a test program by eights: faster from nothing, slower after a change" OFF)

# taut_test_options(TARGET): compiler options of a test program made of GoogleTest files. GoogleTest's header alone takes
# a third of the time of a typical file, so it is precompiled, once for all test programs. Under TAUT_TEST_UNITY eight files are
# compiled as one, in a third of the time of the eight: templates are instantiated once. Names that two files of a folder
# declare stand in namespaces of the files' names.
function(taut_test_options target)
  taut_compile_options(${target})
  target_compile_options(${target} PRIVATE ${TAUT_TEST_FLAGS})
  taut_precompile_headers(${target} REUSE_FROM test_headers)
  if(TAUT_TEST_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    target_compile_options(${target} PRIVATE -Wno-shadow) # by what a neighbour declares; the preset dev warns within a file
  endif()
endfunction()

file(WRITE ${PROJECT_BINARY_DIR}/generated/test_headers.cpp "")
add_library(test_headers OBJECT ${PROJECT_BINARY_DIR}/generated/test_headers.cpp)
target_link_libraries(test_headers PRIVATE taut_compressor GTest::gtest)
taut_compile_options(test_headers)
target_compile_options(test_headers PRIVATE ${TAUT_TEST_FLAGS})
taut_precompile_headers(test_headers PRIVATE <gtest/gtest.h> <algorithm> <array> <cmath> <memory> <optional> <random> <span> <string> <vector>)

# taut_discover_tests(TARGET PREFIX FILTER LABEL [PROPERTIES...]): ctest tests of those tests of a GoogleTest program that
# match FILTER, one for all parameters of a test (RegisterTests.cmake).
function(taut_discover_tests target prefix filter label)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}.${label}.txt)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}.${label}.cmake)
  add_custom_command(TARGET ${target} POST_BUILD COMMAND ${target} --gtest_list_tests --gtest_filter=${filter} > ${list} VERBATIM)
  file(GENERATE OUTPUT ${script} CONTENT "set(list ${list})
set(program ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${target}>)
set(prefix ${prefix})
set(properties LABELS ${label} ${ARGN})
include(${PROJECT_SOURCE_DIR}/cmake/RegisterTests.cmake)
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# taut_add_mpi_test(NAME TARGET RANKS...): one ctest NAME.nR a rank count. MPI tests run one at a time.
function(taut_add_mpi_test name target)
  foreach(ranks ${ARGN})
    add_test(NAME ${name}.n${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
                                            $<TARGET_FILE:${target}> ${MPIEXEC_POSTFLAGS})
    set_tests_properties(
      ${name}.n${ranks} PROPERTIES LABELS mpi TIMEOUT 1200 RUN_SERIAL ON ENVIRONMENT "${TAUT_MPI_ENVIRONMENT}")
  endforeach()
endfunction()
