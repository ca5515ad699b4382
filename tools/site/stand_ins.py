"""Stand-ins for what the Python package imports and a machine that makes the site need not have: an MPI, what is compiled."""

import sys
import tempfile
import types
from pathlib import Path


class StandIn(types.ModuleType):
    """A module that has whatever it is asked for: constants, classes and functions, as their names say."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.isupper():
            made = 0
        elif name[0].isupper():
            base = Exception if name == "Exception" else object
            made = type(name, (base,), {"__module__": self.__name__.rpartition(".")[2]})
        else:
            made = nothing
        setattr(self, name, made)
        return made


def nothing(*arguments):
    """Any function."""
    return 0


def install():
    sys.modules["mpi4py"] = types.ModuleType("mpi4py")
    sys.modules["mpi4py"].MPI = sys.modules["mpi4py.MPI"] = StandIn("mpi4py.MPI")
    sys.modules["taut._core"] = StandIn("taut._core")


def folder_of_generated_modules():
    """Modules of the package that are made when it is built."""
    import generate_forms

    folder = tempfile.mkdtemp(prefix="taut-site-")
    (Path(folder) / "_forms.py").write_text(generate_forms.module())
    return folder
