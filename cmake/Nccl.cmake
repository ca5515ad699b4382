# libtaut_nccl: the calls of taut_nccl.h, without MPI. It builds without CUDA and NCCL, which it opens at run time.
file(GLOB nccl_sources CONFIGURE_DEPENDS src/communication/nccl/*.cpp src/communication/nccl/dropin/*.cpp)
add_library(taut_nccl_calls OBJECT ${nccl_sources})
target_link_libraries(taut_nccl_calls PUBLIC taut_communication)
taut_compile_options(taut_nccl_calls)
taut_precompile_library_headers(taut_nccl_calls)
set_target_properties(taut_nccl_calls PROPERTIES POSITION_INDEPENDENT_CODE ON)

add_library(taut_nccl SHARED $<TARGET_OBJECTS:taut_compressor> $<TARGET_OBJECTS:taut_communication> $<TARGET_OBJECTS:taut_nccl_calls>)
add_library(Taut::taut_nccl ALIAS taut_nccl)
target_include_directories(taut_nccl PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(taut_nccl PRIVATE Threads::Threads $<TARGET_NAME_IF_EXISTS:OpenMP::OpenMP_CXX> ${CMAKE_DL_LIBS} ${TAUT_CODEC_LIBRARIES})
# The folder of the library is one above that of libtaut_preload.so, as where both are installed.
set_target_properties(taut_nccl PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX
                                           LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
# The codec calls stay inside: a program may use libtaut beside.
set(map ${PROJECT_SOURCE_DIR}/cmake/taut_nccl.map)
target_link_options(taut_nccl PRIVATE -Wl,--version-script=${map})
set_property(TARGET taut_nccl APPEND PROPERTY LINK_DEPENDS ${map})
if(NOT SKBUILD)
  install(TARGETS taut_nccl EXPORT TautTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
