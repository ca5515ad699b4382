# Texts that are installed in share: the manual pages, and the program's completion for shells, which it prints.
set(texts ${PROJECT_BINARY_DIR}/texts)
file(MAKE_DIRECTORY ${texts})

# taut_program_text(FILE FOLDER ARGUMENTS...): installs in FOLDER below share what `taut ARGUMENTS` prints.
function(taut_program_text file folder)
  add_custom_command(
    OUTPUT ${texts}/${file}
    COMMAND taut_program ${ARGN} > ${texts}/${file}
    DEPENDS taut_program
    VERBATIM)
  set(program_texts ${program_texts} ${texts}/${file} PARENT_SCOPE)
  install(FILES ${texts}/${file} DESTINATION ${TAUT_SHARE}/${folder})
endfunction()

# Left out where the program cannot run.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  taut_program_text(taut.1 man/man1 manual)
  taut_program_text(taut bash-completion/completions completion bash)
  taut_program_text(_taut zsh/site-functions completion zsh)
  taut_program_text(taut.fish fish/vendor_completions.d completion fish)
endif()

# The pages of the C calls.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(page_writer ${PROJECT_SOURCE_DIR}/tools/manual_pages.py ${PROJECT_SOURCE_DIR}/tools/c_header.py)
file(GLOB c_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/taut/*.h)
list(REMOVE_ITEM c_headers ${PROJECT_SOURCE_DIR}/include/taut/taut.h)
list(PREPEND c_headers ${PROJECT_SOURCE_DIR}/include/taut/taut.h) # has the version
list(GET page_writer 0 program)
add_custom_command(
  OUTPUT ${texts}/man3/taut.h.3
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${texts}/man3
  COMMAND ${Python3_EXECUTABLE} ${program} ${texts}/man3 ${c_headers}
  DEPENDS ${page_writer} ${c_headers}
  VERBATIM)
install(DIRECTORY ${texts}/man3 DESTINATION ${TAUT_SHARE}/man)
add_custom_target(program_texts ALL DEPENDS ${program_texts} ${texts}/man3/taut.h.3)
