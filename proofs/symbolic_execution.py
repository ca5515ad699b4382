"""Symbolic execution of a compiled reader `bool reader(const byte* in, size_t n, out)` by angr."""

import logging

logging.getLogger("angr").setLevel("CRITICAL")
logging.getLogger("angr.state_plugins.unicorn_engine").setLevel("CRITICAL")
logging.getLogger("cle").setLevel("CRITICAL")

import angr  # noqa: E402
import claripy  # noqa: E402

INPUT, OUTPUT, OUTPUT_BYTES = 0x10000000, 0x20000000, 8 * 4
STACK_BYTES = 1 << 20


def vector(value):
    return claripy.BVV(value, 64) if isinstance(value, int) else value


def inside(address, size, region):
    """Returns the claim that [address, address + size) lies in a region (begin, bytes)."""
    begin, room = region
    return claripy.And(claripy.ULE(size, room), claripy.ULE(address - begin, room - size))


class Watch:
    """Checks every access to memory against the regions that may be read or written."""

    def __init__(self, n, stack, image):
        fixed = [(vector(begin), vector(room)) for begin, room in ((OUTPUT, OUTPUT_BYTES), stack, image)]
        self.readable, self.writable = [(vector(INPUT), n), *fixed], fixed
        self.fault = None

    def check(self, state, what, address, size, regions):
        address, size = vector(address), vector(size)
        if address.concrete and size.concrete:
            allowed = [region for region in regions if not region[1].symbolic]
            if any(state.solver.is_true(inside(address, size, region)) for region in allowed):
                return
        claims = [inside(address, size, region) for region in regions]
        if state.solver.satisfiable(extra_constraints=[claripy.Not(claripy.Or(*claims))]):
            self.fault = f"{what} outside: at {state.addr:#x}"

    def read(self, state):
        self.check(state, "read", state.inspect.mem_read_address, state.inspect.mem_read_length, self.readable)

    def write(self, state):
        self.check(state, "write", state.inspect.mem_write_address, state.inspect.mem_write_length, self.writable)


def any_checksum(watch):
    """Returns a stand-in for crc32c() that checks its range and returns any number."""

    class Checksum(angr.SimProcedure):
        def run(self, data, size, seed):
            empty = (data, claripy.If(size == 0, size, vector(0)))
            watch.check(self.state, "checksum", data, size, [*watch.readable, empty])
            return claripy.BVS("checksum", 32)

    return Checksum()


def faults(library, reader, most):
    """Yields (fault or None, number of paths) at each end of a path."""
    project = angr.Project(library, auto_load_libs=False)
    n = claripy.BVS("n", 64)
    prototype = "char f(void*, unsigned long, void*)"
    state = project.factory.call_state(
        project.loader.find_symbol(reader).rebased_addr, INPUT, n, OUTPUT, prototype=prototype,
        add_options={angr.options.ZERO_FILL_UNCONSTRAINED_MEMORY, angr.options.ZERO_FILL_UNCONSTRAINED_REGISTERS},
    )
    state.solver.add(claripy.ULE(n, most))
    state.memory.store(INPUT, claripy.BVS("bytes", 8 * most))
    stack = (state.solver.eval(state.regs.sp) - STACK_BYTES, STACK_BYTES + 64)
    image = (project.loader.min_addr, project.loader.max_addr - project.loader.min_addr)
    watch = Watch(n, stack, image)
    for symbol in project.loader.main_object.symbols:
        if "crc32c" in symbol.name:
            project.hook_symbol(symbol.name, any_checksum(watch))
    state.inspect.b("mem_read", when=angr.BP_BEFORE, action=watch.read)
    state.inspect.b("mem_write", when=angr.BP_BEFORE, action=watch.write)
    manager, paths = project.factory.simulation_manager(state), 0
    while manager.active:
        manager.step()
        if watch.fault:
            yield watch.fault, paths
            return
        if manager.errored:
            yield f"trap or error: {manager.errored[0].error}", paths
            return
        for ended in manager.deadended:
            paths += 1
            trapped = ended.history.jumpkind.startswith("Ijk_Sig")
            yield (f"trap at {ended.history.addr:#x}" if trapped else None), paths
        manager.drop(stash="deadended")
    yield None, paths
