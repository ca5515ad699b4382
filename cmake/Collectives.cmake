# What is made of the list of collectives, src/communication/team/collectives.txt: headers as soon as the build is configured, since
# everything includes them, and the C calls. Sets COLLECTIVE_SOURCES.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(collectives ${PROJECT_SOURCE_DIR}/src/communication/team/collectives.py ${PROJECT_SOURCE_DIR}/src/communication/team/collectives.txt)
set(entry_generator ${PROJECT_SOURCE_DIR}/src/communication/api/entry/generate.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${collectives})

foreach(what collectives functions)
  list(GET collectives 0 program)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${program} ${what} OUTPUT_VARIABLE content COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE functions collective_functions file ${what})
  string(REPLACE collectives collective_list file ${file})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${file}.hpp CONTENT "${content}" @ONLY) # written only when it changes
endforeach()

foreach(made "calls collective_calls.hpp" "entry collective_entry.cpp" "pmpi collective_pmpi.hpp")
  separate_arguments(made)
  list(GET made 0 what)
  list(GET made 1 file)
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/generated/${file}
    COMMAND ${Python3_EXECUTABLE} ${entry_generator} ${what} > ${PROJECT_BINARY_DIR}/generated/${file}
    DEPENDS ${entry_generator} ${collectives}
    VERBATIM)
  list(APPEND COLLECTIVE_SOURCES ${PROJECT_BINARY_DIR}/generated/${file})
endforeach()

# The Fortran module, which users compile (src/communication/api/fortran), and the C functions that it calls: made from taut.h.
set(fortran_folder ${PROJECT_SOURCE_DIR}/src/communication/api/fortran)
set(fortran_sources ${fortran_folder}/generate.py ${fortran_folder}/declarations.py ${fortran_folder}/module.f90.in
                    ${PROJECT_SOURCE_DIR}/include/taut/taut.h)
foreach(made "module taut.f90" "calls fortran_calls.cpp")
  separate_arguments(made)
  list(GET made 0 what)
  list(GET made 1 file)
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/generated/${file}
    COMMAND ${Python3_EXECUTABLE} ${fortran_folder}/generate.py ${what} > ${PROJECT_BINARY_DIR}/generated/${file}
    DEPENDS ${fortran_sources}
    VERBATIM)
  list(APPEND COLLECTIVE_SOURCES ${PROJECT_BINARY_DIR}/generated/${file})
endforeach()
set_source_files_properties(${PROJECT_BINARY_DIR}/generated/taut.f90 PROPERTIES HEADER_FILE_ONLY ON)
