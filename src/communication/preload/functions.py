"""The MPI functions that the drop-in wraps: the collectives of communication/team/collectives.txt in all their forms, the functions of
functions.txt, and the functions of unserved.txt, whose calls are only counted."""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "team"))
from collectives import collectives

BY_HAND = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Pcontrol"}  # src/communication/dropin/init_finalize.cpp
COMPLETION = re.compile(r"MPI_(Wait|Test)(|all|any|some)")  # src/communication/dropin/completion_calls.cpp
SEND = re.compile(r"MPI_(I?[sr]?send|[sr]?send_init)(_c)?", re.I)  # src/communication/dropin/send_calls.cpp
TEMPLATES = re.compile(r"MPI_(I?m?recv|Recv_init|I?sendrecv(_replace)?)(_c)?", re.I)  # src/communication/dropin/recv_calls.hpp
# src/communication/dropin: probe_calls.cpp, completion_calls.cpp, start_calls.cpp
OTHER_MESSAGE = re.compile(r"MPI_I?m?probe|MPI_Request_get_status(_any|_all|_some)?|MPI_Cancel", re.I)
SENDRECV = re.compile(r"MPI_Sendrecv(_c)?")
OF_PERSISTENT = {"MPI_Start", "MPI_Startall", "MPI_Request_free"}  # src/communication/dropin/start_calls.cpp

@dataclass
class Parameter:
    type: str
    name: str
    array: bool

    @property
    def declaration(self):
        return "..." if self.type == "..." else f"{self.type} {self.name}" + ("[]" if self.array else "")

    @property
    def widened(self):
        """True for an array of ints that the large-count function takes as an array of a wider type."""
        return self.array and self.type == "const int"


    @property
    def of_types(self):
        """True for an array of datatypes."""
        return self.array and self.type == "const MPI_Datatype"


REQUEST = Parameter("MPI_Request*", "request", False)
INFO = Parameter("MPI_Info", "info", False)


@dataclass
class Function:
    name: str
    parameters: list
    collective: str = ""  # name of the collective in collectives.txt

    @property
    def declaration(self):
        return ", ".join(p.declaration for p in self.parameters) or "void"

    @property
    def arguments(self):
        return ", ".join(p.name for p in self.parameters)

    @property
    def large(self):
        return self.name.endswith("_c")

    @property
    def nonblocking(self):
        return self.parameters[-1:] == [REQUEST] and not (self.persistent or self.of_persistent or self.message)

    @property
    def persistent(self):
        """True if the function creates a persistent request of a collective call."""
        return self.parameters[-2:] == [INFO, REQUEST]

    @property
    def of_persistent(self):
        """True if the function starts or frees persistent requests."""
        return self.name in OF_PERSISTENT

    @property
    def creates(self):
        """True if the function creates a communicator, its last argument."""
        return bool(self.parameters) and self.parameters[-1].type == "MPI_Comm*"

    @property
    def completes(self):
        return COMPLETION.fullmatch(self.name) is not None

    @property
    def sends(self):
        """True if the function sends one message, or creates a persistent request that does."""
        return SEND.fullmatch(self.name) is not None

    @property
    def message(self):
        """True if the function sends, receives, probes for, inspects or cancels messages."""
        return self.sends or self.by_template or OTHER_MESSAGE.fullmatch(self.name) is not None

    @property
    def by_template(self):
        """True if a function template of the drop-in, of the same name, serves int and large counts."""
        return TEMPLATES.fullmatch(self.name) is not None

    @property
    def by_hand(self):
        message = self.message and not self.sends and not self.by_template
        return self.name in BY_HAND or self.completes or self.of_persistent or message

    @property
    def asked_by(self):
        """Services of which one must be asked for, or else the next function serves the call. 1: TAUT_NONBLOCKING;
        2: TAUT_MESSAGES; 4: TAUT_REPORT or TAUT_SUMMARY, which count sent messages and nonblocking calls; 0: any use
        of Taut."""
        if self.of_persistent:
            return 7
        if self.completes:
            return 3
        if self.message:
            return 6 if self.sends or SENDRECV.fullmatch(self.name) else 2
        return 5 if self.nonblocking or self.persistent else 3 * self.creates


def parameter(text):
    if text == "...":
        return Parameter("...", "", False)
    type_, name, array = re.fullmatch(r"(.*?[ *])(\w+)(\[\])?", text).groups()
    return Parameter(type_.strip(), name, bool(array))


def nonblocking(function):
    name = function.name.removeprefix("MPI_")
    return Function(f"MPI_I{name[0].lower()}{name[1:]}", [*function.parameters, REQUEST], function.collective)


def persistent(function):
    name, large = re.fullmatch(r"(.*?)(_c)?", function.name).groups()
    return Function(f"{name}_init{large or ''}", [*function.parameters, INFO, REQUEST], function.collective)


def collective_functions():
    """Yields the collectives in all their forms: with int and large counts, blocking, nonblocking and persistent."""
    for collective in collectives():
        narrow = collective.declarations("int", collective.int_displacement)
        wide = collective.declarations("MPI_Count", "MPI_Aint")
        for suffix, declarations in (("", narrow), ("_c", wide)):
            function = Function(f"MPI_{collective.name}{suffix}", [parameter(text) for text in declarations], collective.name)
            yield from (function, nonblocking(function), persistent(function))


def with_large_counts(function):
    """Returns the form of a message function that MPI 4 added."""
    return Function(f"{function.name}_c", [replace(p, type="MPI_Count") if p.name.endswith("count") else p for p in function.parameters])


def functions():
    """Yields all wrapped functions. functions.txt lists those of messages with int counts."""
    yield from collective_functions()
    for line in (Path(__file__).parent / "functions.txt").read_text().splitlines():
        name, parameters = re.fullmatch(r"int (\w+)\((.*)\)", line).groups()
        texts = [] if parameters == "void" else parameters.split(", ")
        function = Function(name, [parameter(text) for text in texts])
        yield function
        if any(p.type == "MPI_Datatype" for p in function.parameters):
            yield with_large_counts(function)


@dataclass
class Unserved:
    """A function that Taut does not serve; its calls are counted for reports."""

    name: str
    arguments: list


def unserved():
    """Yields the functions of unserved.txt that are not served. All are older than MPI 4, so that any MPI has them."""
    served = {function.name for function in functions()}
    for line in (Path(__file__).parent / "unserved.txt").read_text().splitlines():
        name, number = line.split()
        if name not in served:
            yield Unserved(name, [f"a{i}" for i in range(int(number))])


def nccl_functions():
    """Yields name and arguments of each function of nccl.txt, those of NCCL that the drop-in wraps."""
    for line in (Path(__file__).parent / "nccl.txt").read_text().splitlines():
        name, *arguments = line.split()
        yield name, arguments


def without_buffer(function):
    """True if the function probes for messages or completes requests, without a buffer argument."""
    return (function.completes or function.message) and not any("void*" in p.type for p in function.parameters)


def fortran_names(function):
    """Returns the compilers' spellings of the function, and the name that Open MPI's module mpi_f08 calls."""
    lower = function.name.lower()
    return [lower, lower + "_", lower + "__", lower.upper(), f"ompi_{lower.removeprefix('mpi_')}_f"]


def widening(function, p):
    """Returns number type and size of the copy, in wider numbers, of the array `p`."""
    number = "MPI_Aint" if "displs" in p.name else "MPI_Count"
    root = "root" if any(q.name == "root" for q in function.parameters) else "every_rank"
    count = f"blocks_read_here(comm, {root})"
    if "eighbor" in function.name:
        return number, f"taut::api::degrees_of(comm).{'out' if p.name.startswith('s') else 'in'}"
    if p.name in ("sendcounts", "sdispls", "sendtypes") and root == "every_rank":
        count = f"sendbuf == MPI_IN_PLACE ? 0 : {count}"
    return number, count
