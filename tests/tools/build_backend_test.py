"""Tests of python/build_backend.py: for which MPIs `pip install` builds layers."""

import importlib
import os
import sys
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

    def test_of_mpich_and_open_mpi_unless_others_are_named(self):
        self.assertEqual(self.settings(), {"MPICH": "/found/mpich", "OPENMPI": "/found/openmpi", "MPIABI": "OFF"})

    def test_the_environment_names_them(self):
        found = self.settings(TAUT_MPIABI_INCLUDE="/abi", TAUT_OPENMPI_INCLUDE="OFF")
        self.assertEqual(found, {"MPICH": "/found/mpich", "OPENMPI": "OFF", "MPIABI": "/abi"})

    def test_settings_of_pip_come_first(self):
        found = self.settings({"cmake.define.TAUT_MPIABI_INCLUDE": "/given"}, TAUT_MPIABI_INCLUDE="/abi")
        self.assertEqual(found["MPIABI"], "/given")


if __name__ == "__main__":
    unittest.main()
