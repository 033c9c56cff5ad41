#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of examples/ with and without hocket, under several MPIs, and compares times and results.

usage: demo.py [--quick] [--build DIRECTORY] [--only NAME]

Runs with and without alternate, so that other load on the machine meets both. Each MPI gets the settings that serve
it best when ranks outnumber cores; without them it would be slower by far. The last program needs no MPI: `hocket run`
starts its ranks.
"""

import argparse
import os
import pathlib
import statistics
import sys

from demo_programs import EXAMPLES, ROOT, run

REPEATS = 7


def compare(example, mpi, ranks, program, options):
    """A row of the table, and whether all is well in it."""
    crowded = ranks > options.cores
    work = example.work[0 if options.quick else 2 if crowded else 1]
    command = [*mpi.command(ranks, crowded), program, *example.arguments, work]
    with_hocket = [str(options.hocket), "exec", "--", *command]
    environment = mpi.environment(crowded)
    repeats = 1 if options.quick else REPEATS
    alone, hocket, results, carried = [], [], set(), ""
    for repeat in range(repeats):
        seconds, result, _ = run(command, environment)
        alone.append(seconds)
        results.add(result)
        seconds, result, carried = run(with_hocket, {**environment, "HOCKET_STATS": "1"})
        hocket.append(seconds)
        results.add(result)
        print(f"  {example.name}, {mpi.title}, {ranks} ranks, run {repeat + 1} of {repeats}: "
              f"alone {alone[-1]:.3f} s, with hocket {hocket[-1]:.3f} s", flush=True)
    before, after = statistics.median(alone), statistics.median(hocket)
    agree = len(results) == 1
    if not agree:
        print(f"  THE RESULTS DIFFER: {results}")
    row = (f"{example.name:<11} {mpi.title:<14} {ranks:5} {before:10.3f} {after:10.3f} {before / after:9.2f}x   "
           f"{'same bits' if agree else 'DIFFER':<9}   {carried or 'NOT PRELOADED'}")
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
              f"{'results':<9}   carried out")
        print("\n".join(rows))
        print()
        for example in shown:
            print(f"{example.name}: {example.what}")
        print("carried out: of the calls that hocket knows, on all ranks together (HOCKET_STATS=1)\n")
    return all_well


def show_kmeans(options, rank_counts):
    """k-means by `hocket run`: whether its result is the same on any number of ranks."""
    command = [str(options.build / "bin/kmeans"), "--points", "20000" if options.quick else "400000"]
    repeats = 1 if options.quick else REPEATS
    seconds, results = {ranks: [] for ranks in rank_counts}, set()
    for _ in range(repeats):
        for ranks in rank_counts:
            time, result, _ = run([str(options.hocket), "run", "-n", str(ranks), *command])
            seconds[ranks].append(time)
            results.add(result)
    agree = len(results) == 1
    print("\nkmeans, by `hocket run`, without an MPI: seconds of all starts, median\n")
    print(f"{'ranks':>5} {'hocket':>10}   results")
    for ranks in rank_counts:
        print(f"{ranks:5} {statistics.median(seconds[ranks]):10.3f}   "
              f"{'same bits on any number of ranks' if agree else 'DIFFER'}")
    return agree


def main():
    names = [example.name for example in EXAMPLES] + ["kmeans"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short run of each")
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path, help="where hocket was built")
    parser.add_argument("--only", choices=names, help="one program")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)  # the arguments, and no more
    options = parser.parse_args()
    if options.check:
        return 0
    options.build = options.build.resolve()
    options.hocket = options.build / "bin/hocket"
    options.cores = len(os.sched_getaffinity(0))
    for program in (options.hocket, options.build / "bin/kmeans"):
        if not program.exists():
            sys.exit(f"demo: {program} is missing: run ./dev build")
    all_well = compare_all(options, (options.cores, 4 * options.cores))
    if options.only in (None, "kmeans"):
        all_well = show_kmeans(options, sorted({1, options.cores, 4 * options.cores})) and all_well
    print("\nThe results agree." if all_well else "\nTHE RESULTS DIFFER, or hocket was not there.")
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
