# Read by ctest: registers the tests of a GoogleTest program from what it printed for --gtest_list_tests. All parameters of
# a test, values or types, are one ctest test PREFIXSuite.Test: a process for each would cost more than most of them do.
# A test is skipped where all its parameters are. Set by taut_discover_tests (Testing.cmake): list, program, prefix, properties.
if(NOT EXISTS ${list})
  add_test(${prefix}NOT_BUILT ${prefix}NOT_BUILT)
  return()
endif()

file(READ ${list} lines)
string(REGEX REPLACE "  # [^\n]*" "" lines "${lines}") # parameters, in any characters
string(REPLACE "\n" ";" lines "${lines}")
set(names "")
foreach(line ${lines})
  if(line MATCHES "^([A-Za-z0-9_]+/)?([A-Za-z_][A-Za-z0-9_]*)(/[0-9]+)?\\.")
    set(suite ${CMAKE_MATCH_2})
  elseif(line MATCHES "^  ([A-Za-z0-9_]+)")
    list(APPEND names ${suite}.${CMAKE_MATCH_1})
  endif()
endforeach()
list(REMOVE_DUPLICATES names)

foreach(name ${names})
  string(REPLACE "." "/*." typed ${name}) # Suite/0.Test
  add_test(${prefix}${name} ${program} --gtest_filter=${name}:*/${name}/*:${typed}:*/${typed})
  set_tests_properties(${prefix}${name} PROPERTIES TIMEOUT 900 ${properties} FAIL_REGULAR_EXPRESSION "Running 0 tests" SKIP_REGULAR_EXPRESSION
                       "PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\] [^\n]*\n)+$")
endforeach()
