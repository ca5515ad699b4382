# taut_registry(FOLDER): writes the tables of codecs and algorithms from what lies in src, for their registry.cpp:
#   codec_table.inc       TAUT_CODEC(planes)              a line for each src/codecs/<name>/codec.cpp
#   algorithm_table.inc   TAUT_ALGORITHM(ring_allreduce)  a line for each src/algorithms/<stem>.cpp
function(taut_registry folder)
  file(GLOB codecs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/codecs/*/codec.cpp)
  file(GLOB algorithms CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/algorithms/*.cpp)
  list(FILTER algorithms EXCLUDE REGEX "/registry\\.cpp$")
  list(TRANSFORM codecs REPLACE ".*/([^/]+)/codec\\.cpp$" "TAUT_CODEC(\\1)\n")
  list(TRANSFORM algorithms REPLACE ".*/([^/]+)\\.cpp$" "TAUT_ALGORITHM(\\1)\n")
  string(JOIN "" codecs ${codecs})
  string(JOIN "" algorithms ${algorithms})
  file(CONFIGURE OUTPUT ${folder}/codec_table.inc CONTENT "${codecs}" @ONLY) # written only when it changes
  file(CONFIGURE OUTPUT ${folder}/algorithm_table.inc CONTENT "${algorithms}" @ONLY)
endfunction()
