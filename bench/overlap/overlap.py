#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Collectives by requests under each MPI: how much of a computation fits inside them, what they take beside the
blocking ones, halo exchanges, and what hocket costs a call that it passes through.

  overlap.py [--cases overlap,latency,halo,young,passing] [--mpi mpich,openmpi,...] [--ranks N,...]
             [--lab 4,8 [--engines]] [--tests 0,8] [--cores-each K] [--rounds 5] [--timeout SECONDS] [--quick]
             [--json FILE] [--table FILE] [--from FILE ...]

  overlap   overlap.c: each MPI as it comes, with its own progress thread, under hocket, and under hocket with
            HOCKET_PROGRESS=thread; 2 ranks with a core each and 8 ranks; in a lab of so many nodes instead (needs root)
  latency   requests.c on 2 and 4 ranks, hocket switched off and on in the same process
  halo      halo.c on 8 ranks, the same way
  young     young.c on 2 ranks, the same way: communicators that are made, used a few times and freed
  passing   requests.c on 1 and 2 ranks with HOCKET_SETUP_CALLS so large that no communicator is set up, beside the
            same without the preload, by turns: nanoseconds that are added to a call

The sides take turns, a round each. Tables in Markdown on stdout or in --table, with medians of the rounds; every value
in --json; progress on stderr. An MPI that shares cores is told so (bench/around/runs.py). A side that takes more than
--timeout seconds is not asked again; what it had said counts. Exit status 1 if a run fails otherwise."""

import argparse
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
import tempfile

from sides import HERE, MPIS, Lab, Place, is_oversubscribed, run
from tables import tables
from runs import build, check_words  # pylint: disable=wrong-import-order

ALL = "mpich,openmpi,debian-mpich,debian-openmpi,mpich-abi,impi"
RANKS = {"overlap": (2, 8), "latency": (2, 4), "halo": (8,), "young": (2,), "passing": (1, 2)}
SOURCES = {"overlap": "overlap.c", "latency": "requests.c", "halo": "halo.c", "young": "young.c",
           "passing": "requests.c"}
# More calls than the program makes on a communicator (blocks.h).
PASSED = {"HOCKET_SETUP_CALLS": "1000000"}
# What names a row, beside its case, MPI and place; all else is measured.
NAMES = ("call", "bytes", "tests", "variant", "mode", "neighbours")


def words_of(case, place, options):
    """The program's words."""
    cores = options.cores_each
    if cores is None:
        cores = 0 if place.nodes or is_oversubscribed(place.ranks) else 1
    usual = {"cores_each": cores, **({"blocks": 3, "block_ms": 1} if options.quick else {"blocks": 15})}
    if case == "overlap":
        sizes = {"bytes": "8,65536"} if options.quick else {"blocks": 9}
        return [{**usual, **sizes, "tests": tests} for tests in options.tests.split(",")]
    if case == "passing":
        return [{**usual, "calls": "nothing,barrier,bcast,allreduce,allgather,alltoall", "bytes": 8, "switches": 0}]
    return [{**usual, "bytes": 8}] if options.quick else [usual]


def sides_of(case, mpi, place, options):
    if case == "overlap":
        return place.sides(mpi, options.engines)
    alone = "best" if "best" in place.sides(mpi) else "alone"
    return [alone, "hocket"]


class Results:
    """{what a row is: {side: {what is measured: [a value a round]}}}, and what has gone wrong."""

    def __init__(self):
        self.rows = {}
        self.troubles = []

    def add(self, names, side, line):
        key = (*names, *((name, line[name]) for name in NAMES if name in line))
        found = self.rows.setdefault(key, {}).setdefault(side, {})
        for name, value in line.items():
            if name not in NAMES:
                found.setdefault(name, []).append(value)

    def as_data(self):
        return [{**dict(key), "sides": sides} for key, sides in self.rows.items()]


def measure(case, mpi, place, options, work, results):
    program = build(mpi, SOURCES[case], work, HERE)
    given_up = set()
    names = (("case", case), ("mpi", mpi), ("place", str(place)))
    for number in range(options.rounds):
        sides = sides_of(case, mpi, place, options)
        for side in sides if number % 2 == 0 else reversed(sides):
            for words in words_of(case, place, options):
                if side in given_up:
                    continue
                print(f"{case}, {mpi}, {place}, {side}, {number + 1} of {options.rounds}", file=sys.stderr)
                line = [program, *(f"{name}={value}" for name, value in words.items())]
                variables = PASSED if case == "passing" and side == "hocket" else {}
                lines, is_done, said = run(*place.command(mpi, side, line, variables), options.timeout)
                for found in lines:
                    results.add(names, side, found)
                if not is_done:
                    given_up.add(side)
                    trouble = f"{case}, {mpi}, {place}, {side}: " + (
                        said if said.startswith("exit status") else f"no end after {options.timeout:.0f} s")
                    results.troubles.append(trouble)
                    print(f"overlap.py: {trouble}", file=sys.stderr)


def version_of(mpi):
    """The first line of what the launcher says of itself that has a number in it."""
    found = subprocess.run([MPIS[mpi].launcher, "--version"], capture_output=True, text=True, check=False)
    lines = [line.strip() for line in found.stdout.splitlines() if any(letter.isdigit() for letter in line)]
    return lines[0] if lines else "?"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def heading(options):
    return {"command": "python3 bench/overlap/overlap.py " + shlex.join(sys.argv[1:]), "processor": processor(),
            "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "rounds": options.rounds,
            "mpis": {mpi: version_of(mpi) for mpi in options.mpi.split(",")}}


def measure_all(options):
    results = Results()
    with tempfile.TemporaryDirectory() as work:
        for nodes in map(int, options.lab.split(",")) if options.lab else (0,):
            with Lab(nodes, options.engines):
                for case in options.cases.split(","):
                    ranks = map(int, options.ranks.split(",")) if options.ranks else RANKS[case]
                    for place in (Place(nodes, nodes),) if nodes else map(Place, ranks):
                        for mpi in options.mpi.split(","):
                            measure(case, mpi, place, options, work, results)
    return {**heading(options), "troubles": results.troubles, "rows": results.as_data()}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", help="all of them, in a lab overlap")
    parser.add_argument("--mpi", default=ALL)
    parser.add_argument("--ranks", help="on this machine; else what is usual for each case")
    parser.add_argument("--lab", help="nodes, with a rank each")
    parser.add_argument("--engines", action="store_true", help="in the lab, hocket with NIC engines as a side, too")
    parser.add_argument("--tests", default="0", help="calls of MPI_Test inside the computation")
    parser.add_argument("--cores-each", type=int, help="cores that each rank keeps to; 0: all (1, where they suffice)")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--timeout", type=float)
    parser.add_argument("--quick", action="store_true", help="few and short blocks, few sizes, one round: it all runs")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--from", dest="kept", nargs="+", type=pathlib.Path, help="tables of these results")
    options = parser.parse_args()
    options.cases = options.cases or ("overlap" if options.lab else ",".join(RANKS))
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.timeout = options.timeout or (20 if options.quick else 180)
    check_words(parser, options.mpi, MPIS, "MPI")
    check_words(parser, options.cases, RANKS, "case")
    if options.lab and options.cases != "overlap":
        parser.error("--lab has the case overlap only")
    if options.engines and not options.lab:
        parser.error("--engines are those of a lab: --lab 4")
    return options


def main():
    options = parse()
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in options.kept or ()]
    data = kept or [measure_all(options)]
    if options.json and not kept:
        # A row a line, so that a change of one shows as such.
        rows = ",\n".join(json.dumps(row) for row in data[0]["rows"])
        rest = json.dumps({**data[0], "rows": []}, indent=1)
        options.json.write_text(rest.replace('"rows": []', f'"rows": [\n{rows}\n]') + "\n", encoding="utf-8")
    text = "\n\n".join(tables(each) for each in data)
    if options.table:
        options.table.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    return 1 if any("exit status" in trouble for each in data for trouble in each["troubles"]) else 0


if __name__ == "__main__":
    sys.exit(main())
