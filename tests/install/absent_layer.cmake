# cmake -DFOLDER=F -P absent_layer.cmake: configures as if Open MPI was installed, and no layer was built for it.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/MpiKinds.cmake)
file(WRITE ${FOLDER}/include/mpi.h "#define OPEN_MPI 1\n")
file(MAKE_DIRECTORY ${FOLDER}/bin)
set(ENV{PATH} ${FOLDER}/bin)
taut_tell_absent_layer(openmpi)
