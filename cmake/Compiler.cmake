# Language, and the floating-point rules that the error bounds rest on.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)

set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}}" MATCHES "-ffast-math|-Ofast|-funsafe-math")
  message(FATAL_ERROR "Taut's error bounds do not hold under fast-math: remove it from CMAKE_CXX_FLAGS")
endif()

# mpi.h without MPI's old C++ bindings, which would ask for one more library.
add_compile_definitions(OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

option(TAUT_HARDENED "Harden what is built: stack protector, fortified C library calls, read-only relocations" OFF)

# taut_harden(TARGET): the flags of TAUT_HARDENED. Layers bind lazily (cmake/Flavours.cmake), so that -z now is not theirs.
function(taut_harden target)
  if(TAUT_HARDENED AND CMAKE_SYSTEM_NAME STREQUAL Linux)
    target_compile_options(${target} PRIVATE -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE
                                             $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
    target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,noexecstack)
  endif()
endfunction()

# taut_compile_options(TARGET): what every target with sources of ours is compiled with.
function(taut_compile_options target)
  set(not_cuda $<NOT:$<COMPILE_LANGUAGE:CUDA>>) # nvcc knows none of these options
  target_compile_options(${target} PRIVATE $<${not_cuda}:-ffp-contract=off>)
  taut_harden(${target})
  if(TAUT_DEV)
    set(cxx_only -Wnon-virtual-dtor)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU) # takes a replaced operator new for a mismatch
      list(APPEND cxx_only -Wno-mismatched-new-delete)
    endif()
    target_compile_options(
      ${target} PRIVATE "$<${not_cuda}:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>" $<$<COMPILE_LANGUAGE:CXX>:${cxx_only}>)
  endif()
endfunction()

# taut_link_libstdcxx_statically(TARGET): links libstdc++ into a library for machines that may have an older one. The linker hides
# its functions and drops unused ones, of which std::random_device needs glibc 2.36. libgcc stays shared: a static one needs
# glibc 2.35.
function(taut_link_libstdcxx_statically target)
  target_link_options(${target} PRIVATE -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--gc-sections)
endfunction()

option(TAUT_PRECOMPILED_HEADERS "Precompile the C++ library's headers for the sources in src" OFF)

# taut_precompile_headers(TARGET PRIVATE HEADERS... | REUSE_FROM OTHER): precompiles HEADERS for a target of C++ sources,
# or uses those of another. Files with instruction sets of their own do without: GCC takes a precompiled header under the
# same target options only.
function(taut_precompile_headers target)
  target_precompile_headers(${target} ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU) # ccache asks for it
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# taut_precompile_library_headers(TARGET): the headers of the C++ library take half the time of a typical file in src. They
# are precompiled for taut_compressor, and once more for taut_mpi where mpicc has compiler options of its own.
function(taut_precompile_library_headers target)
  if(NOT TAUT_PRECOMPILED_HEADERS)
    return()
  endif()
  if(NOT target STREQUAL taut_compressor AND NOT (target STREQUAL taut_mpi AND MPI_C_COMPILE_OPTIONS))
    taut_precompile_headers(${target} REUSE_FROM taut_compressor)
  else()
    taut_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <bit> <cmath> <coroutine> <cstring> <functional> <map> <memory>
                            <mutex> <optional> <span> <string> <string_view> <utility> <vector>)
  endif()
endfunction()

option(TAUT_UNITY "Compile the sources of a folder as one: faster from nothing, slower after a change" OFF)

# taut_compile_folders(TARGET): compiles the sources of each of these folders as one. Their anonymous namespaces share no
# names. Sources with an instruction set of their own stay apart, and so does datatypes.cpp, which must not see mpi-ext.h:
# the type that this header of Open MPI 5 adds is missing in the libraries of Open MPI 4.
set(TAUT_UNITY_FOLDERS compressor/base compressor/codecs/exponents compressor/codecs/mpc compressor/file compressor/frame
    compressor/gpu compressor/values communication/api/entry communication/api/messages communication/api/state
    communication/comm communication/dropin communication/gpu communication/mpi communication/p2p communication/policy/plan communication/policy/text
    communication/policy/tuning communication/team)
function(taut_compile_folders target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(folder ${TAUT_UNITY_FOLDERS})
    set(files ${sources})
    list(FILTER files INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/${folder}/[^/]+\\.cpp$")
    list(FILTER files EXCLUDE REGEX "/mpi/datatypes\\.cpp$")
    set_source_files_properties(${files} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  if(TAUT_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU) # which warns of neighbours; the preset test warns within a file
    target_compile_options(${target} PRIVATE -Wno-shadow -Wno-subobject-linkage)
  endif()
endfunction()

# taut_export_only_the_api(TARGET): a shared library exports TAUT_* and nothing else, templates of the C++ library neither.
function(taut_export_only_the_api target)
  set(map ${PROJECT_SOURCE_DIR}/cmake/taut.map)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    target_link_options(${target} PRIVATE -Wl,--version-script=${map})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
endfunction()
