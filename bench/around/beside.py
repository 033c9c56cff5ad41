# SPDX-License-Identifier: BSD-3-Clause
"""Times of waiting_peer.c beside each MPI at its best settings: pairs of runs, with and without hocket in turn, medians
and spread.

  beside.py [--mpi mpich,openmpi] [--cases ssend,...] [--pairs 15] [--ranks 4]

A table in Markdown on stdout, progress on stderr. Exit status 1 if a run fails."""

import argparse
import statistics
import sys
import tempfile

from runs import MPIS, build, check_words, run

COUNTS = {"fetch_and_op": 5000, "accumulate": 1000, "put": 2000, "ssend": 5000, "rendezvous": 20, "nbx": 1000,
          "probe": 5000, "file": 200, "ping_pong": 20000}


def measure(mpi, side, ranks, case, work):
    output = run(mpi, side, ranks, [build(mpi, "waiting_peer.c", work), case, str(COUNTS[case])], timeout=300)
    if output is None:
        sys.exit(f"beside.py: {case} with {mpi}, {side}: no end after 300 s")
    return float(output.split()[-1])


def compare(mpi, ranks, case, pairs, work):
    alone, hocket = [], []
    for pair in range(pairs):
        sides = [(alone, "best"), (hocket, "hocket")]
        for times, side in sides if pair % 2 == 0 else reversed(sides):
            times.append(measure(mpi, side, ranks, case, work))
    return alone, hocket


def cell(times):
    """Median, and quartiles."""
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle:.1f} ({low:.1f} to {high:.1f})" if middle < 100 else f"{middle:.0f} ({low:.0f} to {high:.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--cases", default=",".join(COUNTS))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--ranks", type=int, default=4)
    options = parser.parse_args()
    check_words(parser, options.mpi, MPIS, "MPI")
    check_words(parser, options.cases, COUNTS, "case")
    if options.pairs < 2 or options.ranks < 3:
        parser.error("--pairs is 2 at least, --ranks 3")
    print("| us | " + " | ".join(f"{mpi} alone | under hocket | ratio" for mpi in options.mpi.split(",")) + " |")
    print("|---|" + "---:|---:|---:|" * len(options.mpi.split(",")))
    with tempfile.TemporaryDirectory() as work:
        for case in options.cases.split(","):
            cells = []
            for mpi in options.mpi.split(","):
                print(f"{case}, {mpi}", file=sys.stderr)
                alone, hocket = compare(mpi, options.ranks, case, options.pairs, work)
                ratio = statistics.median(hocket) / statistics.median(alone)
                cells += [cell(alone), cell(hocket), f"{ratio:.2f}"]
            print(f"| {case} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
