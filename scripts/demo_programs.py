# SPDX-License-Identifier: BSD-3-Clause
"""What the demo (demo.py) runs: the MPIs, the examples, and how one run of an example is made and understood."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUN_TIMEOUT_S = 300
# The last line of every example: what must agree from run to run, and the seconds.
RESULT = re.compile(r"^ranks \d+ (.*?)(?: collectives \S+ %)? seconds (\S+)$", re.MULTILINE)
CARRIED = re.compile(r"^hocket: (\S+ %) carried out of (\d+)", re.MULTILINE)


@dataclasses.dataclass
class Mpi:
    """An MPI, without which arguments it refuses to start more ranks than cores, and what makes it fast with them."""

    title: str
    compiler: str
    launcher: str
    oversubscribed_refusal: list
    oversubscribed_arguments: list
    oversubscribed_environment: dict

    def command(self, ranks, oversubscribed, best):
        needed = self.oversubscribed_refusal if oversubscribed else []
        return [self.launcher, "-n", str(ranks), *needed, *(self.oversubscribed_arguments if best else [])]

    def environment(self, oversubscribed):
        # Open MPI refuses root unless told twice; containers and CI are root.
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        if oversubscribed:
            environment.update(self.oversubscribed_environment)
        return environment


_MPICH_OVERSUBSCRIBED = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
                         "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1"}
_OPENMPI_REFUSAL = ["--oversubscribe"]
_OPENMPI_OVERSUBSCRIBED = ["--mca", "mpi_yield_when_idle", "1", "--bind-to", "none"]
# Of a program of which the MPI isn't known.
OWN_BEST = {**_MPICH_OVERSUBSCRIBED, "OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_THREAD_YIELD": "2"}


def _from_python_package(name, launcher, refusal, arguments, environment):
    pinned = (ROOT / f"scripts/requirements/{name}.txt").read_text(encoding="utf-8")
    title = re.search(rf"^{name}==(\S+)", pinned, re.MULTILINE).expand(rf"{name} \1")
    folder = ROOT / ".venv" / name / "bin"
    return Mpi(title, str(folder / "mpicc"), str(folder / launcher), refusal, arguments, environment)


def _debian_openmpi():
    version = None
    if shutil.which("mpirun.openmpi"):
        said = subprocess.run(["mpirun.openmpi", "--version"], capture_output=True, text=True, check=False).stdout
        version = re.search(r"\d+(\.\d+)+", said)
    title = f"openmpi {version.group() if version else 4}"
    return Mpi(title, "mpicc.openmpi", "mpirun.openmpi", _OPENMPI_REFUSAL, _OPENMPI_OVERSUBSCRIBED, {})


MPICH = _from_python_package("mpich", "mpiexec", [], [], _MPICH_OVERSUBSCRIBED)
OPENMPI = _from_python_package("openmpi", "mpirun", _OPENMPI_REFUSAL, _OPENMPI_OVERSUBSCRIBED, {})
DEBIAN_OPENMPI = _debian_openmpi()


@dataclasses.dataclass
class Example:
    """An MPI program of examples/, on some MPIs. `work` has the arguments for the quick demo, for the long one, and for
    the long one where ranks outnumber cores."""

    name: str
    what: str
    mpis: list
    arguments: list
    work: tuple
    libraries: tuple = ("-lm",)
    needs: str = ""

    def compile(self, mpi, folder):
        if not shutil.which(mpi.compiler) or not shutil.which(mpi.launcher):
            sys.exit(f"demo: {mpi.compiler} is missing: run ./dev setup")
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / f"{self.name}-{mpi.title.replace(' ', '-')}"
        sources = sorted((ROOT / "examples" / self.name).glob("*.c"))
        done = subprocess.run([mpi.compiler, "-O2", *sources, "-o", program, *self.libraries], check=False)
        if done.returncode != 0:
            needs = f": it needs {self.needs}, which ./dev setup installs" if self.needs else ""
            sys.exit(f"demo: {mpi.compiler} could not compile examples/{self.name}{needs}")
        return str(program)


EXAMPLES = [
    Example("heat2d", "heat equation on a plate: an MPI_Allreduce of 8 bytes an iteration", [MPICH, OPENMPI],
            ["--cells", "128", "--report", "100", "--iterations"], ("100", "20000", "500")),
    Example("samplesort", "sorts 200000 keys: MPI_Gatherv, MPI_Bcast, MPI_Alltoall, MPI_Alltoallv", [MPICH, OPENMPI],
            ["--keys", "200000", "--sorts"], ("10", "200", "100")),
    # Debian's FFTW is made for Debian's Open MPI, and Open MPI 5 can take its place.
    Example("fft", "spectral solver, 256x256: MPI_Alltoall inside Debian's own FFTW", [DEBIAN_OPENMPI, OPENMPI],
            ["--size", "256x256", "--steps"], ("50", "1000", "300"), ("-lfftw3_mpi", "-lfftw3", "-lm"),
            "libfftw3-dev and libfftw3-mpi-dev"),
]


def busy_seconds():
    """How long the machine's processors have worked, the kernel's interrupts included."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, interrupt, soft_interrupt, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + interrupt + soft_interrupt) / os.sysconf("SC_CLK_TCK")


def run(command, environment=None):
    """Runs an example: (seconds, what must agree, the share of calls that hocket says it carried out)."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=RUN_TIMEOUT_S, check=False)
    match = RESULT.search(done.stdout)
    if done.returncode != 0 or not match:
        sys.exit(f"demo: this run failed with status {done.returncode}:\n  {' '.join(command)}\n"
                 f"{done.stdout}{done.stderr}")
    carried = CARRIED.search(done.stderr)
    return float(match.group(2)), match.group(1), carried.expand(r"\1 of \2") if carried else ""
