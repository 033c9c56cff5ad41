# SPDX-License-Identifier: BSD-3-Clause
"""Whole programs that use MPI for real, with small inputs: the examples, kernels of this folder, and Debian's own."""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
OURS = ("mpich", "openmpi", "debian-openmpi")

_LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 50
run 300
"""

_ESPRESSO = """&control
 calculation='scf', prefix='si', pseudo_dir='/usr/share/espresso/pseudo', outdir='./out', disk_io='none'
/
&system
 ibrav=1, celldm(1)=10.2, nat=8, ntyp=1, ecutwfc=16.0
/
&electrons
 conv_thr=1.0d-8
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS crystal
 Si 0.00 0.00 0.00
 Si 0.50 0.50 0.00
 Si 0.50 0.00 0.50
 Si 0.00 0.50 0.50
 Si 0.25 0.25 0.25
 Si 0.75 0.75 0.25
 Si 0.75 0.25 0.75
 Si 0.25 0.75 0.75
K_POINTS automatic
 2 2 2 0 0 0
"""

_SCALAPACK = """'ScaLAPACK, LU factorization input file'
'MPI Machine'
'LU.out'
6
1
{size}
{size}
1
32
1
1
1
32
1
{rows}
{columns}
1.0
F
"""


def grid_of(ranks):
    rows = max(divisor for divisor in range(1, ranks + 1) if ranks % divisor == 0 and divisor * divisor <= ranks)
    return rows, ranks // rows


def _scalapack_files(ranks):
    rows, columns = grid_of(ranks)
    return {"LU.dat": _SCALAPACK.format(size=1000, rows=rows, columns=columns)}


def _hpcc_files(ranks):
    """The example's input, with a matrix of 600 on the grid of these ranks."""
    text = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text(encoding="ascii")
    rows, columns = grid_of(ranks)
    lines = text.splitlines()
    for number, value in ((5, 600), (7, 32), (10, rows), (11, columns)):
        lines[number] = re.sub(r"^\S+", str(value), lines[number])
    return {"hpccinf.txt": "\n".join(lines) + "\n"}


@dataclasses.dataclass
class Program:
    """What is run, and which of its words must be the same on all sides: the groups of `result`, all of its matches."""

    name: str
    what: str
    line: list  # {program} and {python} are filled in
    result: str
    mpis: tuple = ("debian-openmpi",)
    sources: tuple = ()
    libraries: tuple = ("-lm",)
    files: object = None  # of the number of ranks: file names and contents
    output: str = ""  # the file with the results; "": what is printed
    package: str = ""

    def missing(self, name, mpi):
        """What isn't there, or ""."""
        if self.sources:
            return "" if shutil.which(mpi.compiler) else mpi.compiler
        program = self.words("", name)[0]
        found = shutil.which(program) or pathlib.Path(program).exists()
        return "" if found else program + (f" (Debian's package {self.package})" if self.package else "")

    def words(self, built, name):
        return [word.format(program=built, python=ROOT / f".venv/{name}/bin/python") for word in self.line]

    def build(self, name, mpi, folder):
        if not self.sources:
            return ""
        program = folder / f"{self.name}-{name}"
        command = [mpi.compiler, "-O2", f"-I{HERE}", *self.sources, "-o", program, *self.libraries]
        if subprocess.run(command, check=False).returncode != 0:
            sys.exit(f"programs: {mpi.compiler} could not compile {self.name}")
        return str(program)

    def read_result(self, printed, folder):
        text = (folder / self.output).read_text(encoding="ascii") if self.output else printed
        return " ".join(" ".join(match) if isinstance(match, tuple) else match
                        for match in re.findall(self.result, text, re.MULTILINE))


_KERNEL = r"^ranks \d+ (.*?)(?: collectives \S+ %)? seconds"


def _example(name, what, arguments, **more):
    sources = tuple(sorted(str(path) for path in (ROOT / "examples" / name).glob("*.c")))
    return Program(name, what, ["{program}", *arguments], _KERNEL, **{"mpis": OURS, "sources": sources, **more})


def _kernel(source, what, arguments):
    return Program(pathlib.Path(source).stem, what, ["{program}", *arguments], _KERNEL, OURS, (str(HERE / source),))


PROGRAMS = [
    _example("heat2d", "heat equation: halo exchange, a short allreduce an iteration",
             ["--cells", "192", "--iterations", "4000", "--report", "100"],
             mpis=(*OURS, "debian-mpich", "mpich-abi", "impi")),
    _example("samplesort", "sorts keys: alltoall, alltoallv, gatherv, broadcast",
             ["--keys", "400000", "--sorts", "40"]),
    _example("fft", "spectral solver by Debian's FFTW: alltoall", ["--size", "256x256", "--steps", "200"],
             mpis=("openmpi", "debian-openmpi"), libraries=("-lfftw3_mpi", "-lfftw3", "-lm"),
             package="libfftw3-mpi-dev"),
    _kernel("cg.c", "conjugate gradients: halo exchange, two short allreduces an iteration",
            ["--size", "48", "--steps", "1500"]),
    _kernel("mg.c", "multigrid: halo exchanges from long to short", ["--size", "64", "--steps", "60"]),
    _kernel("sweep.c", "wavefront: a short message a row, waited for in MPI_Recv", ["--size", "512", "--steps", "400"]),
    Program("power", "power iteration in mpi4py: allgatherv, allreduce, objects",
            ["{python}", str(HERE / "power.py"), "160", "600"], _KERNEL,
            ("mpich", "openmpi", "mpich-abi", "impi")),
    Program("espresso", "Quantum ESPRESSO: 8 silicon atoms", ["pw.x", "-in", "si.in"],
            r"^!\s+total energy\s+=\s+(\S+)", files=lambda ranks: {"si.in": _ESPRESSO},
            package="quantum-espresso quantum-espresso-data"),
    Program("lammps", "LAMMPS: a melt of 6,912 atoms", ["lmp", "-in", "in.melt", "-log", "none"],
            r"^\s+300\s+(\S+)\s+(\S+)", files=lambda ranks: {"in.melt": _LAMMPS}, package="lammps"),
    Program("hpcc", "HPC Challenge: linear algebra, FFT, random access, latencies", ["hpcc"],
            r"(PASSED|FAILED|^Success=\d)", files=_hpcc_files, output="hpccoutf.txt", package="hpcc"),
    Program("scalapack", "ScaLAPACK's test of LU, a matrix of 1,000",
            [str(LIBRARIES / "scalapack/openmpi-tests/xdlu")], r"(PASSED|FAILED)$", files=_scalapack_files,
            package="scalapack-mpi-test"),
]
PACKAGES = sorted({package for one in PROGRAMS for package in one.package.split()})
