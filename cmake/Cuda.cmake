# libtaut_cuda: the calls of taut_cuda.h, with the CUDA runtime inside, so that it loads where there is no driver.
# CMAKE_CUDA_ARCHITECTURES says for which devices (default 80, 90, 100).
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90 100)
endif()
find_program(TAUT_NVCC nvcc HINTS /usr/local/cuda/bin)
if(TAUT_NVCC AND NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${TAUT_NVCC})
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # older CMake does not know that newer nvcc has it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
file(GLOB cuda_sources CONFIGURE_DEPENDS src/compressor/gpu/*.cu src/compressor/gpu/*/*.cu)
add_library(taut_cuda SHARED ${cuda_sources})
target_link_libraries(taut_cuda PRIVATE taut_coding)
add_library(Taut::taut_cuda ALIAS taut_cuda)
target_include_directories(taut_cuda PRIVATE src PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(
  taut_cuda
  PROPERTIES CUDA_STANDARD 20 CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden
             VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_compile_options(
  taut_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -fmad=false -diag-suppress 445>
                    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
taut_export_only_the_api(taut_cuda)
if(NOT SKBUILD) # else python/CMakeLists.txt does
  install(TARGETS taut_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
