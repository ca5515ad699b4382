"""Tests that tools/mpi_family.sh finds a launcher of another MPI than the program's."""

import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools/mpi_family.sh"
VERSIONS = {"mpich": "HYDRA build details:", "openmpi": "mpiexec (OpenRTE) 4.1.4"}
LIBRARIES = {"libmpich.so.12": "mpich", "libmpi.so.12": "mpich", "libmpi.so.40": "openmpi", "libm.so.6": ""}


class MpiFamily(unittest.TestCase):
    def test_the_launcher_has_to_be_of_the_programs_mpi(self):
        for version, text in VERSIONS.items():
            for library, mpi in LIBRARIES.items():
                with self.subTest(launcher=version, library=library), tempfile.TemporaryDirectory() as folder:
                    for name, line in (("mpiexec", text), ("ldd", f"{library} => /usr/lib/{library} (0x1)")):
                        file = Path(folder, name)
                        file.write_text(f"#!/bin/sh\necho '{line}'\n")
                        file.chmod(0o755)
                    command = f"source {SCRIPT}; PATH={folder}:$PATH; mpi_fits {folder}/mpiexec ./app"
                    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
                    self.assertEqual(result.returncode != 0, mpi not in ("", version), result.stderr)
                    self.assertEqual("4 programs of 1 rank" in result.stderr, result.returncode != 0)


if __name__ == "__main__":
    unittest.main()
