# taut_codec_registry(FOLDER SOURCES): writes the tables of codecs from what lies in src, for their registry.cpp:
#   codec_table.inc         TAUT_CODEC(planes)              a line for each src/compressor/codecs/<name>/codec.cpp that can be built
#   absent_codec_table.inc  TAUT_ABSENT_CODEC(zfp, remedy)  a line for each other one
#   device_codec_table.inc  TAUT_DEVICE_CODEC(planes)       a line for each src/compressor/gpu/<name>/codec.cu
# A codec that needs a package says so in its folder's needs.cmake, which calls taut_codec_needs(). The files of absent
# codecs are taken out of the list SOURCES. Sets TAUT_ABSENT_CODECS, TAUT_CODEC_PACKAGES and TAUT_CODEC_LIBRARIES.
function(taut_codec_registry folder sources)
  file(GLOB codecs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/compressor/codecs/*/codec.cpp)
  set(files ${${sources}})
  foreach(file ${codecs})
    string(REGEX REPLACE ".*/([^/]+)/codec\\.cpp$" "\\1" codec ${file})
    set(remedy "")
    include(${PROJECT_SOURCE_DIR}/src/compressor/codecs/${codec}/needs.cmake OPTIONAL)
    if(remedy)
      message(STATUS "Codec ${codec} is left out: ${remedy}")
      list(APPEND absent ${codec})
      list(FILTER files EXCLUDE REGEX "/src/compressor/codecs/${codec}/")
      string(APPEND absent_table "TAUT_ABSENT_CODEC(${codec}, \"${remedy}\")\n")
    else()
      string(APPEND table "TAUT_CODEC(${codec})\n")
    endif()
  endforeach()
  file(GLOB device_codecs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/compressor/gpu/*/codec.cu)
  list(TRANSFORM device_codecs REPLACE ".*/([^/]+)/codec\\.cu$" "TAUT_DEVICE_CODEC(\\1)\n")
  string(JOIN "" device_codec_table ${device_codecs})
  file(CONFIGURE OUTPUT ${folder}/device_codec_table.inc CONTENT "${device_codec_table}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/codec_table.inc CONTENT "${table}" @ONLY) # written only when it changes
  file(CONFIGURE OUTPUT ${folder}/absent_codec_table.inc CONTENT "${absent_table}" @ONLY)
  set(${sources} ${files} PARENT_SCOPE)
  set(TAUT_ABSENT_CODECS ${absent} PARENT_SCOPE)
  set(TAUT_CODEC_PACKAGES ${packages} PARENT_SCOPE)
  set(TAUT_CODEC_LIBRARIES ${libraries} PARENT_SCOPE)
endfunction()

# taut_algorithm_registry(FOLDER): writes the table of algorithms, for their registry.cpp:
#   algorithm_table.inc     TAUT_ALGORITHM(ring_allreduce)  a line for each descriptor in src/communication/algorithms/*.cpp
function(taut_algorithm_registry folder)
  file(GLOB algorithms CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/communication/algorithms/*.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${algorithms})
  foreach(file ${algorithms})
    file(STRINGS ${file} descriptors REGEX "^extern constinit const AlgorithmInfo ")
    list(TRANSFORM descriptors REPLACE "^.* ([a-z0-9_]+){$" "TAUT_ALGORITHM(\\1)\n")
    string(APPEND algorithm_table ${descriptors})
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/algorithm_table.inc CONTENT "${algorithm_table}" @ONLY)
endfunction()

# taut_codec_needs(OPTION PACKAGE VERSION TARGET HINT): for needs.cmake. The package is found by cmake/Find<PACKAGE>.cmake.
# OPTION, a cache variable, is AUTO (the codec is there if the package is), ON (the package has to be there) or OFF.
# A macro: it adds to the variables of taut_codec_registry().
macro(taut_codec_needs option package version target hint)
  set(${option} AUTO CACHE STRING "Codec ${codec}, which needs ${package} ${version}: AUTO (if it is found), ON, OFF")
  set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
  if(${option} STREQUAL "AUTO")
    find_package(${package} ${version} MODULE QUIET)
  elseif(${option})
    find_package(${package} ${version} MODULE)
    if(NOT ${package}_FOUND)
      message(FATAL_ERROR "${option}=${${option}}: ${hint}, or leave ${option} at AUTO")
    endif()
  endif()
  if(NOT ${option} STREQUAL "AUTO" AND NOT ${option})
    set(remedy "configure Taut with ${option}=ON and build it again")
  elseif(${package}_FOUND)
    list(APPEND packages ${package})
    list(APPEND libraries ${target})
  else()
    set(remedy "${hint}, then configure and build Taut again")
  endif()
endmacro()
