# Texts that the program prints and that are installed: its manual page, and completion for shells.
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
  install(FILES ${texts}/${file} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${folder})
endfunction()

taut_program_text(taut.1 man/man1 manual)
taut_program_text(taut bash-completion/completions completion bash)
taut_program_text(_taut zsh/site-functions completion zsh)
taut_program_text(taut.fish fish/vendor_completions.d completion fish)
add_custom_target(program_texts ALL DEPENDS ${program_texts})
