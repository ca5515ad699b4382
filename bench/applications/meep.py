"""MEEP: an electromagnetic resonator, in the time domain. Its halos go by MPI_Isend and MPI_Irecv."""

from application import Application, numbers

INPUT = """
(set! geometry-lattice (make lattice (size {cell} {cell} {cell})))
(set! geometry (list (make sphere (center 0.1 0.2 0.3) (radius {radius}) (material (make dielectric (epsilon 3.4))))))
(set! sources (list (make source (src (make gaussian-src (frequency 0.15) (fwidth 0.1)))
                                 (component Ez) (center 0.4 -0.3 0.2))))
(set! resolution 10)
(set! eps-averaging? false)
(run-until {time}
  (at-every 1 (lambda ()
    (print "probe:, " (meep-time) ", " (real-part (get-field-point Ez (vector3 -1.1 0.7 0.5))) "\\n"))))
(print "energy:, " (field-energy-in-box (volume (center 0 0 0) (size {cell} {cell} {cell}))) "\\n")
"""


def arguments(folder, size):
    cell = size / 10
    time = 2 if size < 95 else 4
    (folder / "cavity.ctl").write_text(INPUT.format(cell=cell, radius=cell / 4, time=time))
    return ["cavity.ctl"]


def observables(text):
    return {
        "field at a point": numbers(r"^probe:, \S+, (\S+)", text),
        "energy": numbers(r"^energy:, (\S+)", text),
    }


APPLICATION = Application(
    program="meep",
    package="meep-openmpi",
    calls="Send f64 >=128KiB",
    messages=True,
    size=120,
    small_size=92,
    arguments=arguments,
    observables=observables,
    seconds=lambda text: numbers(r"^Elapsed run time = (\S+) s", text)[-1],
    skipped_lines=r"^$|progress|averaging|time|working in|creating|Field time|set-up|stepping|s/step|remaining",
)
