# Module files, written at installation, when the prefix is known: share/modulefiles for Environment Modules (Tcl), which Lmod reads
# too, and share/lmod for Lmod (Lua).
set(module_lua "")
set(module_tcl "")
foreach(
  entry
  "PATH /${CMAKE_INSTALL_BINDIR}"
  "MANPATH /${CMAKE_INSTALL_DATAROOTDIR}/man"
  "PKG_CONFIG_PATH /${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  "CMAKE_PREFIX_PATH "
  "LD_LIBRARY_PATH /${CMAKE_INSTALL_LIBDIR}")
  string(REGEX MATCH "^([A-Z_]+) (.*)$" found "${entry}")
  string(APPEND module_lua "prepend_path(\"${CMAKE_MATCH_1}\", prefix .. \"${CMAKE_MATCH_2}\")\n")
  string(APPEND module_tcl "prepend-path ${CMAKE_MATCH_1} $prefix${CMAKE_MATCH_2}\n")
endforeach()
string(REPLACE " .. \"\"" "" module_lua "${module_lua}")

foreach(made "lua lmod .lua" "tcl modulefiles")
  separate_arguments(made)
  list(POP_FRONT made kind folder)
  string(JOIN "" name ${PROJECT_VERSION} ${made})
  set(written ${PROJECT_BINARY_DIR}/modules/${name})
  install(
    CODE "set(paths [=[
${module_${kind}}]=])
set(PROJECT_VERSION ${PROJECT_VERSION})
configure_file([=[${PROJECT_SOURCE_DIR}/packaging/modules/taut.${kind}.in]=] [=[${written}]=] @ONLY)
file(INSTALL [=[${written}]=] DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}/${folder}/taut\")")
endforeach()
