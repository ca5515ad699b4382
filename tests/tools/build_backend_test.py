"""Tests of python/build_backend.py: for which MPIs `pip install` builds layers."""

import importlib
import os
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

PYTHON = Path(__file__).resolve().parents[2] / "python"


def backend():
    """Returns the build backend, with a stand-in for scikit-build-core."""
    scikit = types.ModuleType("scikit_build_core")
    scikit.build = types.ModuleType("scikit_build_core.build")
    stand_ins = {"scikit_build_core": scikit, "scikit_build_core.build": scikit.build}
    with mock.patch.dict(sys.modules, stand_ins), mock.patch.object(sys, "path", [str(PYTHON), *sys.path]):
        return importlib.import_module("build_backend")


class Layers(unittest.TestCase):
    def settings(self, given=None, **environment):
        module = backend()
        with mock.patch.dict(os.environ, environment, clear=True), mock.patch.object(module, "_headers", lambda flavour: f"/found/{flavour}"):
            found = module.settings_with_layers(given)
        return {name[len("cmake.define.TAUT_") : -len("_INCLUDE")]: folder for name, folder in found.items()}

    def test_of_every_kind_of_mpi_unless_others_are_named(self):
        self.assertEqual(self.settings(), {"MPICH": "/found/mpich", "OPENMPI": "/found/openmpi", "MPIABI": "/found/mpiabi"})

    def test_the_header_of_the_standard_abi_is_in_mpichs_wheel(self):
        module = backend()

        def unpack(requirement, folder):
            self.assertEqual(requirement, "mpich==5.*")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "mpi.h").write_text("")
            (folder / "mpi_abi.h").write_text("")

        with tempfile.TemporaryDirectory() as root, mock.patch.object(module, "ROOT", Path(root)):
            with mock.patch.object(module, "_unpack_headers", unpack):
                self.assertEqual(module._headers("mpich"), module._headers("mpiabi"))

    def test_the_environment_names_them(self):
        found = self.settings(TAUT_MPIABI_INCLUDE="/abi", TAUT_OPENMPI_INCLUDE="OFF")
        self.assertEqual(found, {"MPICH": "/found/mpich", "OPENMPI": "OFF", "MPIABI": "/abi"})

    def test_settings_of_pip_come_first(self):
        found = self.settings({"cmake.define.TAUT_MPIABI_INCLUDE": "/given"}, TAUT_MPIABI_INCLUDE="/abi")
        self.assertEqual(found["MPIABI"], "/given")


if __name__ == "__main__":
    unittest.main()
