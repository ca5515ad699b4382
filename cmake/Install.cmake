# cmake --install: headers, library, program, the CMake package Taut and taut.pc.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Taut)

set_target_properties(taut PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON) # finds an MPI that lies outside the system
install(TARGETS taut EXPORT TautTargets)
install(PROGRAMS $<TARGET_FILE:taut_program> DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME taut)
install(DIRECTORY include/taut DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/generated/taut.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/taut)
install(EXPORT TautTargets NAMESPACE Taut:: DESTINATION ${package})

set(TAUT_SHARE ${CMAKE_INSTALL_DATAROOTDIR})
include(ProgramTexts)
include(ModuleFiles)

# Commands that the program starts with python3. A name of their own: the package `taut` may be installed too.
set(package_source ${PROJECT_SOURCE_DIR}/python/taut)
set(without_package ${TAUT_SHARE}/taut/python)
install(FILES python/without_package.py DESTINATION ${without_package} RENAME __main__.py)
install(FILES ${package_source}/_charts.py ${package_source}/_page.py DESTINATION ${without_package}/taut_without_package)
install(DIRECTORY ${package_source}/report DESTINATION ${without_package}/taut_without_package FILES_MATCHING PATTERN "*.py"
        PATTERN __pycache__ EXCLUDE)

# A static libtaut hands on what its codecs need.
set(TAUT_FIND_CODEC_PACKAGES "")
if(OpenMP_CXX_FOUND AND NOT BUILD_SHARED_LIBS)
  set(TAUT_FIND_CODEC_PACKAGES "find_dependency(OpenMP COMPONENTS CXX)\n")
endif()
set(TAUT_CODEC_LIBRARY_FILES "")
if(NOT BUILD_SHARED_LIBS)
  foreach(codec_package ${TAUT_CODEC_PACKAGES})
    install(FILES cmake/Find${codec_package}.cmake DESTINATION ${package})
    string(APPEND TAUT_FIND_CODEC_PACKAGES "find_dependency(${codec_package} MODULE)\n")
  endforeach()
  foreach(library ${TAUT_CODEC_LIBRARIES})
    get_target_property(file ${library} IMPORTED_LOCATION)
    string(APPEND TAUT_CODEC_LIBRARY_FILES "${file} ")
  endforeach()
endif()

# The names that both find_package(Taut) and find_package(taut) look for. The kind of MPI is kept for them.
configure_package_config_file(cmake/taut-config.cmake.in taut-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(taut-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/taut-config.cmake ${PROJECT_BINARY_DIR}/taut-config-version.cmake cmake/MpiKinds.cmake
        DESTINATION ${package})

# A static libtaut brings no C++ run time along; a shared one does.
set(TAUT_PC_LIBS_PRIVATE "${TAUT_CODEC_LIBRARY_FILES}-lstdc++ -lm -ldl -pthread ${OpenMP_CXX_FLAGS}")
file(RELATIVE_PATH TAUT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/taut.pc.in taut.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/taut.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
