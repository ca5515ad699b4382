# ruff: noqa: F403, F405
"""Spack recipe of Taut. It builds the branch main of the clone that it lies in; that of a release, its archive."""

from pathlib import Path

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # Spack before 1.0, where spack.package has it
    pass


class Taut(CMakePackage):
    """Compression inside MPI communication, with an error bound on the result."""

    git = Path(__file__).resolve().parents[4].as_uri()

    license("Apache-2.0")

    version("main", branch="main")

    variant("zfp", default=True, description="The codec zfp")
    variant("mpi-abi", default=False, description="The layer for programs of the standard ABI of MPI 5")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("mpi@3:")
    depends_on("zfp@1:", when="+zfp")
    requires("^[virtuals=mpi] mpich@5:", "^[virtuals=mpi] openmpi@6:", policy="one_of", when="+mpi-abi")

    conflicts("%gcc@:11", msg="Taut is written in C++20: it needs GCC 12")

    def abi_headers(self):
        headers = self.spec["mpi"].prefix.include
        return headers.standard_abi if self.spec.satisfies("^[virtuals=mpi] openmpi") else headers

    def cmake_args(self):
        return [
            self.define("TAUT_DEV", False),
            self.define("TAUT_PYTHON", False),
            self.define("TAUT_HARDENED", True),
            self.define("TAUT_PRECOMPILED_HEADERS", True),
            self.define("TAUT_UNITY", True),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define_from_variant("TAUT_ZFP", "zfp"),
            self.define("TAUT_MPIABI_INCLUDE", self.abi_headers() if self.spec.satisfies("+mpi-abi") else "OFF"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable("packaging/smoke.sh")(self.prefix.bin.taut, self.spec["mpi"].mpicc, "mpiexec")
