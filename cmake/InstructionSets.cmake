# Instruction-set files of codecs: src/compressor/codecs/<name>/avx2*.cpp, avx512*.cpp and neon*.cpp, or the same below
# src/compressor/codecs/<name>/kernels/. All else is baseline.
if(CMAKE_CXX_BYTE_ORDER STREQUAL BIG_ENDIAN)
  message(FATAL_ERROR "Taut's frames are little-endian, and ${CMAKE_SYSTEM_PROCESSOR} is big-endian: build Taut for a "
                      "little-endian processor (x86_64, aarch64, ppc64le)")
endif()
set(TAUT_X86 0)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(TAUT_X86 1)
  set(built_sets avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(built_sets neon) # part of every such processor
endif()

set(TAUT_FLAGS_avx2 -mavx2 -mf16c -mbmi -mbmi2 -mlzcnt -mpopcnt) # no -mfma: results are the same on every processor
set(TAUT_FLAGS_avx512
    -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vbmi2 -mavx512vnni -mgfni
    -mbmi -mbmi2 -mlzcnt -mpopcnt -mprefer-vector-width=512)
set(TAUT_FLAGS_neon -O3) # below that, GCC 12 leaves loops over registers in place: 2.5 times the instructions
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU) # warns of its own _mm512_undefined (GCC bug 105593)
  list(APPEND TAUT_FLAGS_avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

# taut_instruction_sets(LIST): sets the flags of these files in a list of sources and moves them to its end. The order
# matters: of an inline function that several files define, the linker keeps the first, which must be a baseline one.
function(taut_instruction_sets list)
  set(sources ${${list}})
  foreach(set avx2 avx512 neon)
    set(files ${sources})
    list(FILTER files INCLUDE REGEX "/src/compressor/codecs/[^/]+/(kernels/)?${set}((_|/)[a-z0-9_]+)?\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "/src/compressor/codecs/[^/]+/(kernels/)?${set}((_|/)[a-z0-9_]+)?\\.cpp$")
    if(set IN_LIST built_sets)
      set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS "${TAUT_FLAGS_${set}}" SKIP_PRECOMPILE_HEADERS ON)
      list(APPEND last ${files})
    endif()
  endforeach()
  set(${list} ${sources} ${last} PARENT_SCOPE)
endfunction()
