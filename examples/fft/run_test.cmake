# Runs fft on 4 ranks and checks its exit status, which covers the proven bounds, and report.json.
# cmake -D program=.. -D kind=turbulence|noise|tight -D mpiexec=.. -D ranks_flag=-n -D preflags=.. -D out=DIR -P run_test.cmake
file(REMOVE_RECURSE ${out})
if(kind STREQUAL tight)
  # One transposition, in which every value that travels has nearly the greatest error, of the same sign.
  set(ranks 1x4)
  set(variants abs:1e-3,codec=planes,min_bytes=1KiB)
else()
  set(ranks 2x2)
  set(variants lossless,min_bytes=1KiB abs:1e-4,codec=planes,min_bytes=1KiB abs:1e-2,when=always,min_bytes=1KiB)
endif()
execute_process(
  COMMAND ${mpiexec} ${ranks_flag} 4 ${preflags} ${program} --data ${kind} --shape 24x30x32 --ranks ${ranks} --repeats 1
          --variants "${variants}" --out ${out}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
message("${output}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit status ${status}")
endif()

file(READ ${out}/report.json report)
# expect_share LEAST ROW: the error is at least this share of the proven bound.
function(expect_share least row)
  string(JSON error GET "${report}" rows ${row} error)
  string(JSON proven GET "${report}" rows ${row} proven)
  execute_process(COMMAND awk "BEGIN { exit !(${error} >= ${least} * ${proven} && ${error} <= ${proven}) }" RESULT_VARIABLE wrong)
  if(wrong)
    message(FATAL_ERROR "report.json: row ${row} has an error of ${error}, proven is ${proven}")
  endif()
endfunction()
if(kind STREQUAL tight)
  expect_share(0.98 1)
else()
  expect_share(1 1) # lossless: no error
  expect_share(0.2 2)
  expect_share(0.2 3)
endif()
