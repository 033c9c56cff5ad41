# SPDX-License-Identifier: BSD-3-Clause
"""What the record of where a rank is costs a call, and what the trace, the statistics and a tool that holds a
performance variable cost: short calls on two ranks, with a library from before there was a record and with the one that
has it, processes by turns.

  record.py --before OLD/build/release/lib --after build/release/lib --mpi .venv/mpich --family mpich

Prints a table in Markdown: medians over the rounds in nanoseconds a call, with the least and the most."""

import argparse
import collections
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="folder of a library without a record")
    parser.add_argument("--after", required=True, help="folder of the library to be measured")
    parser.add_argument("--mpi", required=True, help="where the MPI is installed")
    parser.add_argument("--family", required=True, choices=("mpich", "openmpi"))
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    mpi = pathlib.Path(arguments.mpi)
    times = collections.defaultdict(lambda: collections.defaultdict(list))
    with tempfile.TemporaryDirectory() as folder:
        program, trace = os.path.join(folder, "record"), os.path.join(folder, "trace.json")
        subprocess.run([mpi / "bin/mpicc", "-O2", HERE / "record.c", "-o", program], check=True)
        sides = {"without a record": (arguments.before, [], []), "with it": (arguments.after, [], []),
                 "traced": (arguments.after, [f"HOCKET_TRACE={trace}"], []),
                 "with statistics": (arguments.after, ["HOCKET_STATS=1"], []),
                 "a variable held": (arguments.after, [], ["hocket_late_ns"])}
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        for _ in range(arguments.rounds):
            for side, (libraries, variables, held) in sides.items():
                library = pathlib.Path(libraries).resolve() / f"libhocket-mpi-{arguments.family}.so"
                line = [mpi / "bin/mpiexec", "-n", "2", "env", f"LD_PRELOAD={library}", *variables, program, *held]
                run = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
                                     env=environment)
                for line in run.stdout.splitlines():
                    name, ns = line.split()
                    times[name][side].append(float(ns))
    print("| ns a call | " + " | ".join(sides) + " |\n|---|" + "---:|" * len(sides))
    for name, by_side in times.items():
        cells = [f"{statistics.median(by_side[side]):.0f} ({min(by_side[side]):.0f} to {max(by_side[side]):.0f})"
                 for side in sides]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
