"""Stand-ins for modules that the Python package imports and that a machine which makes the site may lack: an
MPI, compiled modules."""

import sys
import tempfile
import types
from pathlib import Path


class StandIn(types.ModuleType):
    """A module with any attribute that is asked for: a constant, class or function, by its name."""

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
    """Stands for any function."""
    return 0


def install():
    sys.modules["mpi4py"] = types.ModuleType("mpi4py")
    sys.modules["mpi4py"].MPI = sys.modules["mpi4py.MPI"] = StandIn("mpi4py.MPI")
    sys.modules["taut._core"] = StandIn("taut._core")


def folder_of_generated_modules():
    """Returns the folder with modules of the package that its build generates."""
    import generate_forms

    folder = tempfile.mkdtemp(prefix="taut-site-")
    (Path(folder) / "_forms.py").write_text(generate_forms.module())
    return folder
