# Runs wave3d on 4 ranks and checks its exit status and report.json.
# cmake [-D preload=LIBRARY] [-D on_host=PROGRAM] -D program=.. -D mpiexec=.. -D ranks_flag=-n -D preflags=.. -D out=DIR
#       -P run_test.cmake
# on_host: a build whose waves by plain MPI must be the same, to the bit.
file(REMOVE_RECURSE ${out})
set(launch ${mpiexec} ${ranks_flag} 4 ${preflags})
set(grid --cells 20x16x12 --ranks 2x1x2 --steps 60 --sponge 4)
if(preload)
  set(environment env LD_PRELOAD=${preload})
endif()
set(variants plain/collective lossless abs:1e-4 abs:1e-4/collective rate:16) # rates: with libzfp
execute_process(
  COMMAND ${launch} ${environment} ${program} ${grid} --variants "${variants}" --out ${out}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
message("${output}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit status ${status}")
endif()

file(READ ${out}/report.json report)
function(expect wanted row field)
  string(JSON value GET "${report}" rows ${row} ${field})
  if(NOT value STREQUAL wanted)
    message(FATAL_ERROR "report.json: ${field} of row ${row} is ${value}, not ${wanted}")
  endif()
endfunction()
function(expect_above limit row field)
  string(JSON value GET "${report}" rows ${row} ${field})
  if(NOT value GREATER limit)
    message(FATAL_ERROR "report.json: ${field} of row ${row} is ${value}, not above ${limit}")
  endif()
endfunction()
# expect_below LIMIT ROW FIELD: the field is above 0 and below the limit.
function(expect_below limit row field)
  string(JSON value GET "${report}" rows ${row} ${field})
  if(NOT (value GREATER 0 AND value LESS limit))
    message(FATAL_ERROR "report.json: ${field} of row ${row} is ${value}, not between 0 and ${limit}")
  endif()
endfunction()

foreach(row RANGE 2) # plain by messages and by the collective, and lossless
  expect(ON ${row} same_bits)
  expect(0 ${row} misfit)
  expect(0 ${row} energy_drift)
endforeach()
foreach(row 2 3 4)
  expect_above(0.5 ${row} coded_share)
endforeach()
foreach(row 3 4)
  expect(OFF ${row} same_bits)
  expect_below(1e-2 ${row} misfit)
  expect_below(1e-2 ${row} energy_drift)
endforeach()

if(on_host)
  execute_process(COMMAND ${launch} ${on_host} ${grid} --variants plain/collective --out ${out}/on-host COMMAND_ERROR_IS_FATAL ANY)
  foreach(file plain.seismograms.f32 plain.slice.f32)
    execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${out}/${file} ${out}/on-host/${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()

# Plain MPI alone, by the collective: the waves of plain messages.
execute_process(COMMAND ${launch} ${environment} ${program} ${grid} --plain collective --variants "" --out ${out}/plain
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${out}/plain.seismograms.f32 ${out}/plain/plain.seismograms.f32
                COMMAND_ERROR_IS_FATAL ANY)
