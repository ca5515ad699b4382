# Instruction sets. A set is a file src/compressor/simd/<name>.hpp and a line taut_instruction_set() below, the best set first.
if(CMAKE_CXX_BYTE_ORDER STREQUAL BIG_ENDIAN)
  message(FATAL_ERROR "Taut's frames are little-endian, and ${CMAKE_SYSTEM_PROCESSOR} is big-endian: build Taut for a "
                      "little-endian processor (x86_64, aarch64, ppc64le)")
endif()

# taut_instruction_set(NAME PROCESSORS CONDITION FLAGS...): a set of the processors that match PROCESSORS. CONDITION is a C++
# expression: this processor has the set. FLAGS are those of the set's files. Another processor's set is known, but not built.
set(TAUT_INSTRUCTION_SETS "")
set(TAUT_BUILT_SETS "")
function(taut_instruction_set name processors condition)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(${processors})$")
    set(TAUT_BUILT_SETS ${TAUT_BUILT_SETS} ${name} PARENT_SCOPE)
    string(SUBSTRING ${name} 0 1 first)
    string(TOUPPER ${first} first)
    string(SUBSTRING ${name} 1 -1 type)
    string(PREPEND type ${first})
    set(TAUT_TYPE_${name} ${type} PARENT_SCOPE)
    set(TAUT_FLAGS_${name} ${ARGN} PARENT_SCOPE)
    string(APPEND TAUT_SET_TABLE "TAUT_INSTRUCTION_SET(${type}, \"${name}\", ${condition})\n")
    set(TAUT_SET_TABLE "${TAUT_SET_TABLE}" PARENT_SCOPE)
  endif()
  set(TAUT_INSTRUCTION_SETS ${TAUT_INSTRUCTION_SETS} ${name} PARENT_SCOPE)
endfunction()

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU) # warns of its own _mm512_undefined (GCC bug 105593)
  set(no_false_warnings -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
set(x86 "x86_64|AMD64|amd64")
taut_instruction_set(avx512 "${x86}" [[__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
  __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("gfni") && __builtin_cpu_supports("bmi2")]]
  -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vbmi2 -mavx512vnni -mgfni
  -mbmi -mbmi2 -mlzcnt -mpopcnt -mprefer-vector-width=512 ${no_false_warnings})
# No -mfma: results are the same on every processor.
taut_instruction_set(avx2 "${x86}" "has_avx2()" -mavx2 -mf16c -mbmi -mbmi2 -mlzcnt -mpopcnt)
# Below -O3, GCC 12 leaves loops over registers in place: 2.5 times the instructions.
taut_instruction_set(neon "aarch64|arm64" "true" -O3)
taut_instruction_set(scalar ".*" "true")

# taut_instruction_sets(FOLDER LIST): writes FOLDER/instruction_sets.inc, a line for each set of this build. A codec has files
# of its own for a set, src/compressor/codecs/<name>/kernels/<set>/*.cpp, or else its kernel_set.hpp is compiled for the set:
# FOLDER/kernels/<name>_<set>.cpp. Files for sets that are not built are taken out of the list LIST.
function(taut_instruction_sets folder list)
  set(sources ${${list}})
  file(CONFIGURE OUTPUT ${folder}/instruction_sets.inc CONTENT "${TAUT_SET_TABLE}" @ONLY)
  file(GLOB texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/compressor/codecs/*/kernel_set.hpp
       ${PROJECT_SOURCE_DIR}/src/compressor/codecs/*/kernels/kernel_set.hpp)
  foreach(file ${sources})
    if(file MATCHES "/src/compressor/codecs/[^/]+/kernels/([a-z0-9]+)/[^/]+$" AND NOT CMAKE_MATCH_1 IN_LIST TAUT_BUILT_SETS)
      list(REMOVE_ITEM sources ${file})
    endif()
  endforeach()
  foreach(text ${texts})
    string(REGEX REPLACE ".*/src/(compressor/codecs/([^/]+)/.*)" "\\1" include ${text})
    string(REGEX REPLACE "compressor/codecs/([^/]+)/.*" "\\1" codec ${include})
    foreach(set ${TAUT_BUILT_SETS})
      set(own ${sources})
      list(FILTER own INCLUDE REGEX "/src/compressor/codecs/${codec}/kernels/${set}/[^/]+\\.cpp$")
      if(NOT own)
        set(file ${folder}/kernels/${codec}_${set}.cpp)
        file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "#include \"compressor/simd/${set}.hpp\"
#include \"${include}\"
template const taut::${codec}::KernelSet& taut::${codec}::KernelSet::with<taut::simd::${TAUT_TYPE_${set}}>() noexcept;
")
        list(APPEND sources ${file})
      endif()
    endforeach()
  endforeach()
  taut_instruction_set_flags(sources)
  set(${list} ${sources} PARENT_SCOPE)
endfunction()

# taut_instruction_set_flags(LIST): sets the flags of the files of each set in a list of sources and moves them to its end. The
# order matters: of an inline function that several files define, the linker keeps the first, which must be a baseline one.
function(taut_instruction_set_flags list)
  set(sources ${${list}})
  foreach(set ${TAUT_BUILT_SETS})
    set(pattern "/codecs/[^/]+/kernels/${set}/[^/]+\\.cpp$|/kernels/[a-z0-9]+_${set}\\.cpp$")
    set(files ${sources})
    list(FILTER files INCLUDE REGEX "${pattern}")
    list(FILTER sources EXCLUDE REGEX "${pattern}")
    set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS "${TAUT_FLAGS_${set}}" SKIP_PRECOMPILE_HEADERS ON)
    set(last ${files} ${last})
  endforeach()
  set(${list} ${sources} ${last} PARENT_SCOPE)
endfunction()
