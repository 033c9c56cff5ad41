#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of examples/ with and without hocket, under several MPIs, and compares times and results.

usage: demo.py [--quick] [--build DIRECTORY] [--only NAME] [--lab NODESxRANKS [--nic]]

Runs with and without alternate, so that other load on the machine meets both. Each MPI gets the settings that serve
it best when ranks outnumber cores; without them it would be slower by far. The last program needs no MPI: `hocket run`
starts its ranks.

With --lab 4x2 the MPI programs run on four nodes with two ranks each in a lab (docs/lab.md), which takes root; with
--nic, each node has a NIC engine (docs/nic.md), which hocket uses.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

from demo_programs import EXAMPLES, ROOT, busy_seconds, run
from lab_results import parse_shape

REPEATS = 7
LAB = "demo"


def commands(mpi, ranks, oversubscribed, options, program):
    """The command without hocket, and with it."""
    hocket = str(options.hocket)
    if options.lab:
        start = [hocket, "lab", "mpirun", "--name", LAB, "--mpi", shutil.which(mpi.launcher), "-n", str(ranks),
                 "--ppn", str(options.lab[1])]
        return [*start, *program], [*start, "--with-hocket", *program]
    command = [*mpi.command(ranks, oversubscribed), *program]
    return command, [hocket, "exec", "--", *command]


def compare(example, mpi, ranks, program, options):
    """A row of the table, and whether all is well in it."""
    oversubscribed = ranks > options.cores
    work = example.work[0 if options.quick else 2 if oversubscribed else 1]
    command, with_hocket = commands(mpi, ranks, oversubscribed, options, [program, *example.arguments, work])
    environment = mpi.environment(oversubscribed)
    if options.nic:
        environment["HOCKET_NIC"] = "on"
    repeats = 1 if options.quick else REPEATS
    alone, hocket, results, carried, share_after = [], [], set(), "", ""
    busy = [busy_seconds()]
    for repeat in range(repeats):
        seconds, result, _, _ = run(command, environment)
        alone.append(seconds)
        busy.append(busy_seconds())
        results.add(result)
        seconds, result, carried, share_after = run(with_hocket, {**environment, "HOCKET_STATS": "1"})
        hocket.append(seconds)
        busy.append(busy_seconds())
        results.add(result)
        print(f"  {example.name}, {mpi.title}, {ranks} ranks, run {repeat + 1} of {repeats}: "
              f"alone {alone[-1]:.3f} s, with hocket {hocket[-1]:.3f} s", flush=True)
    # Preloaded, but only to look at the clock.
    _, result, _, share_before = run(with_hocket, {**environment, "HOCKET_STATS": "1", "HOCKET_DISABLE": "1"})
    results.add(result)
    before, after = statistics.median(alone), statistics.median(hocket)
    used = [later - earlier for earlier, later in zip(busy, busy[1:])]
    cpu_before, cpu_after = statistics.median(used[0::2]), statistics.median(used[1::2])
    agree = len(results) == 1
    if not agree:
        print(f"  THE RESULTS DIFFER: {results}")
    row = (f"{example.name:<11} {mpi.title:<14} {ranks:5} {before:10.3f} {after:10.3f} {before / after:9.2f}x   "
           f"{'same bits' if agree else 'DIFFER':<9}   {share_before:>7} {share_after:>7}   "
           f"{cpu_before:>7.2f} {cpu_after:>7.2f}   {carried or 'NOT PRELOADED'}")
    return row, agree and carried != ""


def compare_all(options, rank_counts):
    rows, all_well = [], True
    shown = [example for example in EXAMPLES if options.only in (None, example.name)]
    for example in shown:
        for mpi in example.mpis:
            program = example.compile(mpi, options.build / "demo")
            for ranks in rank_counts:
                row, well = compare(example, mpi, ranks, program, options)
                rows.append(row)
                all_well = all_well and well
    if rows:
        print(f"\n{options.cores} cores; seconds of the slowest rank, median; each MPI at its best settings for its "
              "number of ranks\n")
        print(f"{'program':<11} {'MPI':<14} {'ranks':>5} {'alone':>10} {'hocket':>10} {'speed-up':>10}   "
              f"{'results':<9}   {'in calls':>15}   {'CPU seconds':>15}   carried out")
        print("\n".join(rows))
        print()
        for example in shown:
            print(f"{example.name}: {example.what}")
        print("in calls: of the time, alone and with hocket, in collective calls (HOCKET_STATS=1; HOCKET_DISABLE=1)")
        print("CPU seconds: of the whole machine, alone and with hocket, starting and ending included")
        print("carried out: of the calls that hocket knows, on all ranks together (HOCKET_STATS=1)\n")
    return all_well


def show_kmeans(options, rank_counts):
    """k-means by `hocket run`: whether its result is the same on any number of ranks."""
    command = [str(options.build / "bin/kmeans"), "--points", "20000" if options.quick else "400000"]
    repeats = 1 if options.quick else REPEATS
    seconds, results = {ranks: [] for ranks in rank_counts}, set()
    for _ in range(repeats):
        for ranks in rank_counts:
            time, result, _, _ = run([str(options.hocket), "run", "-n", str(ranks), *command])
            seconds[ranks].append(time)
            results.add(result)
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


def compare_in_lab(options):
    nodes, ranks_a_node = options.lab
    subprocess.run([options.hocket, "lab", "up", str(nodes), "--ppn", str(ranks_a_node), "--cores", "own",
                    "--switch", "redirect" if options.nic else "bridge", "--name", LAB], check=True)
    try:
        if options.nic:
            subprocess.run([options.hocket, "lab", "exec", "--name", LAB, "each", "--", options.hocket, "nic", "up",
                            "eth0"], check=True)
        return compare_all(options, (nodes * ranks_a_node,))
    finally:
        subprocess.run([options.hocket, "lab", "down", LAB], check=False)


def main():
    names = [example.name for example in EXAMPLES] + ["kmeans"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short run of each")
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path, help="where hocket was built")
    parser.add_argument("--lab", type=shape, metavar="NODESxRANKS",
                        help="on the nodes of a lab, so many ranks on each; as root, without kmeans")
    parser.add_argument("--nic", action="store_true", help="with --lab: NIC engines in the nodes")
    parser.add_argument("--only", choices=names, help="one program")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)  # the arguments, and no more
    options = parser.parse_args()
    if options.lab and options.only == "kmeans":
        parser.error("--lab is of MPI programs, and kmeans is none")
    if options.nic and not options.lab:
        parser.error("--nic goes with --lab: NIC engines join nodes")
    if options.check:
        return 0
    options.build = options.build.resolve()
    options.hocket = options.build / "bin/hocket"
    options.cores = len(os.sched_getaffinity(0))
    runs_kmeans = options.only in (None, "kmeans") and not options.lab
    for program in (options.hocket, *([options.build / "bin/kmeans"] if runs_kmeans else [])):
        if not program.exists():
            sys.exit(f"demo: {program} is missing: run ./dev build")
    all_well = compare_in_lab(options) if options.lab else compare_all(options, (options.cores, 4 * options.cores))
    if runs_kmeans:
        all_well = show_kmeans(options, sorted({1, options.cores, 4 * options.cores})) and all_well
    print("\nThe results agree." if all_well else "\nTHE RESULTS DIFFER, or hocket was not there.")
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
