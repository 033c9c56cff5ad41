#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs real programs by their MPI alone and with hocket, and compares times and results.

usage: demo.py [--quick] [--build DIRECTORY] [--only NAME] [--lab NODESxRANKS [--nic]] [-- LAUNCHER ... PROGRAM ...]

Three sides, which take turns, so that other load on the machine meets all: the MPI as it comes; the MPI with the
settings that serve it best where ranks outnumber cores; and the command as it comes with `hocket exec` before it. The
programs are those of examples/, or the one behind `--`, of which whole runs are timed. The last program of examples/
needs no MPI: `hocket run` starts its ranks.

With --lab 4x2 the MPI programs run on four nodes with two ranks each in a lab (docs/lab.md), which takes root, and each
MPI has its best settings on both sides; with --nic, each node has a NIC engine (docs/nic.md), which hocket uses.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from demo_chart import chart
from demo_programs import EXAMPLES, OWN_BEST, ROOT, RUN_TIMEOUT_S, busy_seconds, run
from lab_results import parse_shape

ROUNDS = 5
# A case that has taken longer than this begins no further round: the demo is to end in minutes.
CASE_SECONDS = 20
OWN_SECONDS = 240
LAB = "demo"
SIDES = ("as it comes", "best settings", "with hocket")


class Case:
    """One program, under one MPI, with a number of ranks: what its sides took in each round."""

    def __init__(self, title):
        self.title = title
        self.seconds = {side: [] for side in SIDES}
        self.busy = {side: [] for side in SIDES}
        self.results, self.carried = set(), ""

    def add(self, side, seconds, busy, result):
        self.seconds[side].append(seconds)
        self.busy[side].append(busy)
        self.results.add(result)

    def median(self, side):
        return statistics.median(self.seconds[side]) if self.seconds[side] else None

    def speed_up(self, side):
        """How many times as fast hocket is: the median of the rounds, in each of which both ran."""
        pairs = list(zip(self.seconds[side], self.seconds["with hocket"]))
        return f"{statistics.median(alone / hocket for alone, hocket in pairs):.2f}x" if pairs else "="

    def agrees(self):
        return len(self.results) == 1

    def row(self):
        times = [f"{self.median(side):10.3f}" if self.seconds[side] else f"{'=':>10}" for side in SIDES]
        low, high = min(self.seconds["with hocket"]), max(self.seconds["with hocket"])
        busy = [f"{statistics.median(self.busy[side]):7.2f}" if self.busy[side] else f"{'=':>7}" for side in SIDES]
        return (f"{self.title:<34}{''.join(times)}   {f'{low:.3f} to {high:.3f}':>16}   "
                f"{self.speed_up(SIDES[0]):>8}{self.speed_up(SIDES[1]):>9}   "
                f"{'same bits' if self.agrees() else 'DIFFER':<9}   {''.join(busy)}   "
                f"{self.carried or 'NOT PRELOADED'}")


def measure(case, sides, options, seconds):
    """Runs the sides in turn: {side: function that gives (seconds, result, carried)}."""
    began = time.monotonic()
    rounds = 1 if options.quick else ROUNDS
    for number in range(rounds):
        if number > 0 and time.monotonic() - began > seconds:
            break
        said = []
        for side, once in sides.items():
            before = busy_seconds()
            took, result, carried = once()
            case.add(side, took, busy_seconds() - before, result)
            case.carried = carried or case.carried
            said.append(f"{side} {took:.3f} s")
        print(f"  {case.title}, round {number + 1} of {rounds}: {', '.join(said)}", flush=True)
    if not case.agrees():
        print(f"  THE RESULTS DIFFER: {case.results}")


def sides_of(example, mpi, ranks, program, options):
    """How each side of an example is run. With a core a rank the MPI needs no settings."""
    oversubscribed = ranks > options.cores
    hocket = str(options.hocket)
    arguments = [program, *example.arguments, example.work[0 if options.quick else 2 if oversubscribed else 1]]
    statistics_on = {"HOCKET_STATS": "1", **({"HOCKET_NIC": "on"} if options.nic else {})}

    def side(command, environment):
        return lambda: run(command, environment)

    if options.lab:
        start = [hocket, "lab", "mpirun", "--name", LAB, "--mpi", shutil.which(mpi.launcher), "-n", str(ranks),
                 "--ppn", str(options.lab[1])]
        best = mpi.environment(oversubscribed)
        return {"best settings": side([*start, *arguments], best),
                "with hocket": side([*start, "--with-hocket", *arguments], {**best, **statistics_on})}
    plain = [*mpi.command(ranks, oversubscribed, best=False), *arguments]
    sides = {"as it comes": side(plain, mpi.environment(False))}
    if oversubscribed:
        sides["best settings"] = side([*mpi.command(ranks, True, best=True), *arguments], mpi.environment(True))
    sides["with hocket"] = side([hocket, "exec", "--", *plain], {**mpi.environment(False), **statistics_on})
    return sides


def print_cases(cases, options):
    print(f"\n{options.cores} cores; seconds, medians of rounds in which all sides run; `=`: as it comes is best\n")
    print(f"{'':<34}{'as it':>10}{'best':>10}{'with':>10}   {'with hocket,':>16}   {'times as fast':>17}   {'':<9}   "
          f"{'CPU seconds':>21}")
    print(f"{'program, MPI, ranks':<34}{'comes':>10}{'settings':>10}{'hocket':>10}   {'spread':>16}   "
          f"{'as comes':>8}{'as best':>9}   {'results':<9}   {'comes':>7}{'best':>7}{'hocket':>7}   carried out")
    for case in cases:
        print(case.row())
    print()
    print(chart([(case.title, [(side, case.median(side)) for side in SIDES if case.seconds[side]]) for case in cases]))


def compare_all(options, rank_counts):
    cases = []
    shown = [example for example in EXAMPLES if options.only in (None, example.name)]
    for example in shown:
        for mpi in example.mpis:
            program = example.compile(mpi, options.build / "demo")
            for ranks in rank_counts:
                case = Case(f"{example.name}, {mpi.title}, {ranks}")
                measure(case, sides_of(example, mpi, ranks, program, options), options, CASE_SECONDS)
                cases.append(case)
    if cases:
        print_cases(cases, options)
        for example in shown:
            print(f"{example.name}: {example.what}")
        print("seconds: of the slowest rank, between MPI_Init and MPI_Finalize; CPU seconds: of the whole machine, "
              "start\nand end included; carried out: of the calls that hocket knows, on all ranks (HOCKET_STATS=1)")
    return all(case.agrees() and case.carried for case in cases)


def compare_own(options):
    """The program that the user names, as a whole: what it prints is its own affair."""
    environment = dict(os.environ)

    def side(command, environment):
        def once():
            began = time.monotonic()
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=RUN_TIMEOUT_S)
            took = time.monotonic() - began
            if done.returncode != 0:
                sys.exit(f"demo: this run failed with status {done.returncode}:\n  {' '.join(map(str, command))}\n"
                         f"{done.stdout}{done.stderr}")
            carried = [line for line in done.stderr.splitlines() if " carried out of " in line]
            return took, "ended well", carried[-1].split(": ", 1)[1].split(" calls")[0] if carried else ""
        return once

    case = Case(" ".join(options.command)[-33:])
    measure(case, {"as it comes": side(options.command, environment),
                   "best settings": side(options.command, {**environment, **OWN_BEST}),
                   "with hocket": side([str(options.hocket), "exec", "--", *options.command],
                                       {**environment, "HOCKET_STATS": "1"})}, options, OWN_SECONDS)
    print_cases([case], options)
    print("best settings: the variables " + ", ".join(f"{name}={value}" for name, value in OWN_BEST.items())
          + "\nseconds: of the whole run, the launcher included. The program's results were not compared.")
    return case.carried != ""


def show_kmeans(options, rank_counts):
    """k-means by `hocket run`: whether its result is the same on any number of ranks."""
    command = [str(options.build / "bin/kmeans"), "--points", "20000" if options.quick else "400000"]
    rounds = 1 if options.quick else 3
    seconds, results = {ranks: [] for ranks in rank_counts}, set()
    for number in range(rounds):
        for ranks in rank_counts:
            took, result, _ = run([str(options.hocket), "run", "-n", str(ranks), *command])
            seconds[ranks].append(took)
            results.add(result)
        print(f"  kmeans, round {number + 1} of {rounds}: "
              + ", ".join(f"{ranks} ranks {seconds[ranks][-1]:.3f} s" for ranks in rank_counts), flush=True)
    agree = len(results) == 1
    print("\nkmeans, by `hocket run`, without an MPI: seconds of all starts, median\n")
    print(f"{'ranks':>5} {'hocket':>10}   results")
    for ranks in rank_counts:
        print(f"{ranks:5} {statistics.median(seconds[ranks]):10.3f}   "
              f"{'same bits on any number of ranks' if agree else 'DIFFER'}")
    return agree


def shape(text):
    try:
        return parse_shape(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(error) from None


def must_go(command):
    """Where it doesn't, it has said why."""
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f"demo: this failed: {' '.join(map(str, command))}")


def compare_in_lab(options):
    nodes, ranks_a_node = options.lab
    must_go([options.hocket, "lab", "up", str(nodes), "--ppn", str(ranks_a_node), "--cores", "own", "--switch",
             "redirect" if options.nic else "bridge", "--name", LAB])
    try:
        if options.nic:
            must_go([options.hocket, "lab", "exec", "--name", LAB, "each", "--", options.hocket, "nic", "up", "eth0"])
        return compare_all(options, (nodes * ranks_a_node,))
    finally:
        subprocess.run([options.hocket, "lab", "down", LAB], check=False)


def parse(arguments):
    own = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    names = [example.name for example in EXAMPLES] + ["kmeans"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="-- LAUNCHER ... PROGRAM ...: this program instead of those of examples/")
    parser.add_argument("--quick", action="store_true", help="one short run of each side")
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path, help="where hocket was built")
    parser.add_argument("--lab", type=shape, metavar="NODESxRANKS",
                        help="on the nodes of a lab, so many ranks on each; as root, without kmeans")
    parser.add_argument("--nic", action="store_true", help="with --lab: NIC engines in the nodes")
    parser.add_argument("--only", choices=names, help="one program")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)  # the arguments, and no more
    options = parser.parse_args(arguments[:arguments.index("--")] if "--" in arguments else arguments)
    options.command = own
    if "--" in arguments and not own:
        parser.error("what should be run behind `--`? For example: ./dev demo -- mpirun -n 8 ./mine")
    if own and (options.lab or options.only):
        parser.error("a program of your own goes with neither --lab nor --only")
    if own and not shutil.which(own[0]):
        parser.error(f"there is no launcher `{own[0]}`")
    if options.lab and options.only == "kmeans":
        parser.error("--lab is of MPI programs, and kmeans is none")
    if options.nic and not options.lab:
        parser.error("--nic goes with --lab: NIC engines join nodes")
    return options


def main():
    options = parse(sys.argv[1:])
    if options.check:
        return 0
    options.build = options.build.resolve()
    options.hocket = options.build / "bin/hocket"
    options.cores = len(os.sched_getaffinity(0))
    runs_kmeans = options.only in (None, "kmeans") and not options.lab and not options.command
    for program in (options.hocket, *([options.build / "bin/kmeans"] if runs_kmeans else [])):
        if not program.exists():
            sys.exit(f"demo: {program} is missing: run ./dev build")
    if options.command:
        well = compare_own(options)
        print("" if well else "\nhocket WAS NOT THERE: is the program linked with an MPI that it knows?")
        return 0 if well else 1
    all_well = compare_in_lab(options) if options.lab else compare_all(options, (options.cores, 4 * options.cores))
    if runs_kmeans:
        all_well = show_kmeans(options, sorted({1, options.cores, 4 * options.cores})) and all_well
    print("\nThe results agree. Your own program: ./dev demo -- mpirun -n 4 ./app" if all_well
          else "\nTHE RESULTS DIFFER, or hocket was not there.")
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
