#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs examples/heat2d with and without hocket, under each MPI, and compares times and results.

usage: demo.py [--quick] [--build DIRECTORY]

Runs with and without alternate, so that other load on the machine meets both. Each MPI gets the settings that serve
it best when ranks outnumber cores; without them it would be slower by far.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUN_TIMEOUT_S = 120
RESULT = re.compile(r"ranks (\d+) cells \d+ iterations (\d+) residual (\S+) checksum (\w+) seconds (\S+)")


class Mpi:
    """An MPI in an environment of its own, and what makes it fast when ranks outnumber cores."""

    def __init__(self, name, launcher, crowded_arguments, crowded_environment):
        self.name = name
        self.folder = ROOT / ".venv" / name
        self.launcher = launcher
        self.program = None
        self.crowded_arguments = crowded_arguments
        self.crowded_environment = crowded_environment
        pinned = (ROOT / f"scripts/requirements/{name}.txt").read_text(encoding="utf-8")
        self.title = re.search(rf"^{name}==(\S+)", pinned, re.MULTILINE).expand(rf"{name} \1")

    def compile(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.program = folder / f"heat2d-{self.name}"
        subprocess.run([self.folder / "bin/mpicc", "-O2", ROOT / "examples/heat2d/heat2d.c", "-o", self.program, "-lm"],
                       check=True)

    def command(self, ranks, crowded, arguments):
        tuning = self.crowded_arguments if crowded else []
        return [self.folder / "bin" / self.launcher, "-n", str(ranks), *tuning, self.program, *arguments]

    def environment(self, crowded):
        environment = dict(os.environ)
        # Open MPI refuses root unless told twice; containers and CI are root.
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        if crowded:
            environment.update(self.crowded_environment)
        return environment


MPIS = [
    Mpi("mpich", "mpiexec", [], {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
                                 "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1"}),
    Mpi("openmpi", "mpirun", ["--mca", "mpi_yield_when_idle", "1", "--bind-to", "none", "--oversubscribe"], {}),
]


def run(mpi, ranks, crowded, arguments, hocket):
    """One run: (seconds, the parts of the result that must agree, what hocket says that it carried out)."""
    command = [str(part) for part in mpi.command(ranks, crowded, arguments)]
    environment = mpi.environment(crowded)
    if hocket:
        command = [str(hocket), "exec", "--", *command]
        environment["HOCKET_STATS"] = "1"
    done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=RUN_TIMEOUT_S, check=False)
    match = RESULT.search(done.stdout)
    if done.returncode != 0 or not match:
        sys.exit(f"demo: this run failed with status {done.returncode}:\n  {' '.join(command)}\n"
                 f"{done.stdout}{done.stderr}")
    carried = re.search(r"hocket: (.* carried out of .*)", done.stderr)
    return float(match.group(5)), match.group(2, 3, 4), carried.group(1) if carried else ""


def compare(mpi, ranks, cores, repeats, iterations, command):
    """A row of the table, whether the results agree, and hocket's own account of its last run."""
    arguments = ["--cells", "128", "--iterations", str(iterations), "--report", "100"]
    seconds, results, said = {False: [], True: []}, set(), ""
    for repeat in range(repeats):
        for with_hocket in (False, True):
            time, result, account = run(mpi, ranks, ranks > cores, arguments, command if with_hocket else None)
            seconds[with_hocket].append(time)
            results.add(result)
            said = account or said
            print(f"  {mpi.title}, {ranks} ranks, run {repeat + 1} of {repeats}, "
                  f"{'with hocket' if with_hocket else 'alone':<11} {time:8.3f} s", flush=True)
    alone, hocket = statistics.median(seconds[False]), statistics.median(seconds[True])
    agree = len(results) == 1
    row = (f"{mpi.title:<16} {ranks:5}   {alone:9.3f} {hocket:9.3f}   {alone / hocket:7.2f}x   "
           f"{'same bits' if agree else 'DIFFER: ' + str(results)}")
    return row, agree, said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short run of each")
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path, help="where hocket was built")
    options = parser.parse_args()
    quick, command = options.quick, options.build / "bin/hocket"
    if not command.exists():
        sys.exit(f"demo: {command} is missing: run ./dev build")
    cores = len(os.sched_getaffinity(0))
    rows, all_agree, accounts = [], True, []
    for mpi in MPIS:
        mpi.compile(options.build / "demo")
        for ranks in (cores, 4 * cores):
            iterations = 500 if quick else (20000 if ranks == cores else 5000)
            row, agree, said = compare(mpi, ranks, cores, 1 if quick else 7, iterations, command)
            rows.append(row)
            all_agree = all_agree and agree
            accounts.append((f"{mpi.title}, {ranks} ranks", said))
    print(f"\n{cores} cores; seconds of the solver, median; each MPI at its best settings for its number of ranks\n")
    print("MPI              ranks       alone    hocket   speed-up   results")
    print("\n".join(rows))
    print("\nHow many of the four collectives' calls hocket carried out (HOCKET_STATS=1):")
    for title, said in accounts:
        print(f"  {title}: {said or 'hocket said nothing: was it preloaded?'}")
    print("\nThe results agree." if all_agree else "\nTHE RESULTS DIFFER.")
    silent = [title for title, said in accounts if not said]
    return 0 if all_agree and not silent else 1


if __name__ == "__main__":
    sys.exit(main())
