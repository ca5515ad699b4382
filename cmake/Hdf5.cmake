# libtaut_hdf5: the filter of HDF5, a plugin that HDF5 loads from the folders of HDF5_PLUGIN_PATH. It builds without HDF5,
# whose functions it finds in the process.
file(GLOB hdf5_sources CONFIGURE_DEPENDS src/compressor/hdf5/*.cpp)
add_library(taut_hdf5 MODULE ${hdf5_sources})
target_link_libraries(taut_hdf5 PRIVATE taut_file taut_compressor)
taut_compile_options(taut_hdf5)
taut_precompile_library_headers(taut_hdf5)
# HDF5 tries every library of a folder: this one has a folder of its own, beside the layers.
set_target_properties(taut_hdf5 PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/taut/hdf5)
set(map ${PROJECT_SOURCE_DIR}/cmake/taut_hdf5.map)
target_link_options(taut_hdf5 PRIVATE -Wl,--version-script=${map})
set_property(TARGET taut_hdf5 APPEND PROPERTY LINK_DEPENDS ${map})
if(SKBUILD)
  taut_link_libstdcxx_statically(taut_hdf5)
endif()
set(TAUT_LAYER_FOLDER ${CMAKE_INSTALL_LIBDIR}/taut CACHE STRING "Where layers are installed, below the prefix")
install(TARGETS taut_hdf5 LIBRARY DESTINATION ${TAUT_LAYER_FOLDER}/hdf5)
