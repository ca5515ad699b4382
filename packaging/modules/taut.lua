-- Module file of Taut, for Lmod: set `prefix` to CMAKE_INSTALL_PREFIX.
help([[Compression inside MPI communication, with an error bound on the result.
Without rules and without a policy nothing is compressed: taut --help]])
whatis("Name: Taut")

local prefix = "/opt/taut"
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
