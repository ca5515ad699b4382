# Runs image_stacking on 4 ranks and checks its exit status and report.json.
# cmake -D program=.. -D kind=migration|field -D mpiexec=.. -D ranks_flag=-n -D preflags=.. -D out=DIR -P run_test.cmake
file(REMOVE_RECURSE ${out})
file(MAKE_DIRECTORY ${out})
set(ranks 4)

if(kind STREQUAL migration)
  set(arguments --grid 91x61 --offsets 8 --shots 4)
  set(expected_bytes 377468) # 17 x 61 x 91 x 4
else()
  # 8 x 4096 doubles whose bytes are text: all finite, of very different size.
  string(REPEAT "taut and tight; neither slack nor torn. " 6554 text)
  string(SUBSTRING "${text}" 0 262144 text)
  file(WRITE ${out}/field.f64 "${text}")
  set(arguments --input ${out}/field.f64 --shape 8x4096)
  set(expected_bytes 262144)
endif()

execute_process(
  COMMAND ${mpiexec} ${ranks_flag} ${ranks} ${preflags} ${program} ${arguments} --repeats 2 --bounds 1e-2,1e-4
          --policies "rel:1e-3,codec=szx,algorithm=cpr_p2p,on=input;rate:16,codec=zfp" --out ${out}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
message("${output}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit status ${status}")
endif()

file(READ ${out}/report.json report)
function(expect wanted)
  string(JSON value GET "${report}" ${ARGN})
  if(NOT value STREQUAL wanted)
    message(FATAL_ERROR "report.json: ${ARGN} is ${value}, not ${wanted}")
  endif()
endfunction()

expect(${ranks} ranks)
expect(${expected_bytes} bytes)
string(JSON rows LENGTH "${report}" rows)
if(NOT rows EQUAL 7) # plain, two reductions at two bounds, and two policies
  message(FATAL_ERROR "report.json: ${rows} rows")
endif()
foreach(row RANGE 4)
  expect(ON rows ${row} identical)
  expect(ON rows ${row} within_bound)
  foreach(field name seconds speedup wire_bytes ratio bound max_error psnr nrmse)
    string(JSON value GET "${report}" rows ${row} ${field})
  endforeach()
endforeach()
foreach(row 5 6)
  expect(ON rows ${row} identical)
  string(JSON kind TYPE "${report}" rows ${row} relative_bound)
  if(NOT kind STREQUAL NULL)
    message(FATAL_ERROR "report.json: row ${row} has a bound, which none was asked for")
  endif()
endforeach()
expect(policy-2 rows 6 name)
expect(plain rows 0 name)
expect(values rows 1 name)
expect(frames rows 2 name)
