# SPDX-License-Identifier: BSD-3-Clause
"""The sides of a comparison of this folder: each MPI with and without its own progress thread, and under hocket."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench/around"))
from runs import AS_ROOT, MPIS, command_of  # pylint: disable=wrong-import-position

HOCKET = ROOT / "build/release/bin/hocket"
LAB = "overlap"

# What starts an MPI's own progress thread. Open MPI 4 and 5 have none that moves collectives (their own description
# says "OMPI progress: no"); there is one for the bytes of TCP, which has something to do between nodes only.
PROGRESS = {mpi: {"MPIR_CVAR_ASYNC_PROGRESS": "1"} for mpi in ("mpich", "debian-mpich", "mpich-abi")}
PROGRESS["impi"] = {"I_MPI_ASYNC_PROGRESS": "1"}
PROGRESS_BETWEEN_NODES = {mpi: {"OMPI_MCA_btl_tcp_progress_thread": "1"} for mpi in ("openmpi", "debian-openmpi")}

# How `hocket lab mpirun` calls them.
IN_LAB = {"impi": "intel", "mpich-abi": MPIS["mpich-abi"].launcher}


def is_oversubscribed(ranks):
    return ranks > len(os.sched_getaffinity(0))


class Place:
    """Ranks on this machine, or in a lab with a rank a node."""

    def __init__(self, ranks, nodes=0):
        self.ranks, self.nodes = ranks, nodes

    def __str__(self):
        return f"{self.nodes} nodes" if self.nodes else f"{self.ranks} ranks"

    def progress_of(self, mpi):
        return PROGRESS.get(mpi) or (PROGRESS_BETWEEN_NODES.get(mpi) if self.nodes else None)

    def sides(self, mpi, has_engines=False):
        """Of what an MPI does while the program computes. In a lab `hocket lab mpirun` knows the best settings."""
        best = [] if self.nodes or not is_oversubscribed(self.ranks) or not MPIS[mpi].best else ["best"]
        progress = ["progress"] if self.progress_of(mpi) else []
        engines = ["hocket_engines"] if self.nodes and has_engines else []
        return ["alone", *best, *progress, "hocket", "hocket_thread", *engines]

    def command(self, mpi, side, line, variables=None):
        """What runs `line` on a side, and in which environment."""
        variables = dict(variables or {})
        if side == "hocket_thread":
            variables["HOCKET_PROGRESS"] = "thread"
        if side == "progress":
            variables.update(self.progress_of(mpi))
        if self.nodes:
            return self._command_in_lab(mpi, side, line, variables)
        is_hocket = side.startswith("hocket")
        usual = "hocket" if is_hocket else "best" if side != "alone" and is_oversubscribed(self.ranks) else "alone"
        command, environment = command_of(mpi, usual, self.ranks, line, variables)
        if mpi == "impi" and not is_oversubscribed(self.ranks):
            environment["I_MPI_PIN"] = "0"  # the program does it, for all MPIs alike
        environment.pop("HOCKET_PROGRESS", None)
        # The launchers read some variables of their own.
        return command, dict(environment, **variables)

    def _command_in_lab(self, mpi, side, line, variables):
        preload = ["--with-hocket"] if side.startswith("hocket") else []
        environment = dict(os.environ, **AS_ROOT, **variables)
        environment["HOCKET_NIC"] = "auto" if side == "hocket_engines" else "off"
        if side != "hocket_thread":
            environment.pop("HOCKET_PROGRESS", None)
        return [str(HOCKET), "lab", "mpirun", "--name", LAB, "--mpi", IN_LAB.get(mpi, mpi), *preload, "-n",
                str(self.ranks), *line], environment


class Lab:
    """A lab with a share of the cores for each node, as long as the block lasts."""

    def __init__(self, nodes, has_engines):
        self.nodes, self.has_engines = nodes, has_engines

    def __enter__(self):
        if self.nodes:
            self._run("lab", "up", str(self.nodes), "--name", LAB, "--cores", "own", "--switch", "redirect")
            if self.has_engines:
                self._run("lab", "exec", "--name", LAB, "each", "--", str(HOCKET), "nic", "up", "eth0")
        return self

    def __exit__(self, *_):
        if self.nodes:
            self._run("lab", "down", LAB)

    @staticmethod
    def _run(*words):
        subprocess.run([str(HOCKET), *words], check=True, stdout=subprocess.DEVNULL)


def end(process):
    """Launchers take their ranks with them when they are asked to end, and not when they are killed."""
    for number, limit in ((signal.SIGTERM, 3), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
            return process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            break
    return process.communicate()


def run(command, environment, limit):
    """(the lines of JSON that were printed, whether it came to an end within `limit` seconds, what else it said)."""
    begin = time.monotonic()
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as process:
        try:
            printed, said = process.communicate(timeout=limit)
            in_time = True
        except subprocess.TimeoutExpired:
            printed, said = end(process)
            in_time = False
    # A line that a killed job has not finished has no brace at its end.
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{") and line.endswith("}")]
    if in_time and process.returncode != 0:
        said = f"exit status {process.returncode} after {time.monotonic() - begin:.0f} s: {said.strip()[-400:]}"
        in_time = False
    return lines, in_time, said
