"""The commands that need nothing but Python 3.9, for the program `taut` without the Python package: python3 FOLDER COMMAND ARGUMENTS.

cmake/Install.cmake installs this file as FOLDER/__main__.py, and the modules beside it."""

import sys

from taut_without_package.report import main as report
from taut_without_package.report._traces import main as trace

sys.exit({"report": report, "trace": trace}[sys.argv[1]](sys.argv[2:]))
