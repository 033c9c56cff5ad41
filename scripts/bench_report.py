#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables from what `./dev bench` has left in build/bench/: one file a run, named MPI-RANKS.json or
MPI-blocks-RANKS.json. Where there is a block for each rank, bytes are of one block.

    scripts/bench_report.py build/bench/*.json > tables.md

First the table of message classes, then "Summary" with its tables, then a table of every cell, as
bench/results/one-machine/collectives.md has them. The ratio is the MPI's median over hocket's: above 1 hocket is
faster.
"""
import argparse
import json
import itertools
import math
import os
import statistics
import sys
from collections import defaultdict

import collectives

COLLECTIVES = collectives.names()
TIMINGS = ("isolated", "back-to-back")
SMALL = 4096  # bytes: what counts as a small message in the summary


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def size_text(size):
    for shift, letter in ((20, "Mi"), (10, "Ki")):
        if size and size % (1 << shift) == 0:
            return f"{size >> shift} {letter}B"
    return f"{size} B"


def time_text(us):
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:.0f}"


def read_cells(paths):
    """{(mpi, collective, ranks, timing, bytes): {variant: row}}"""
    cells = defaultdict(dict)
    for path in paths:
        mpi = os.path.basename(path).rsplit("-", 1)[0].removesuffix("-blocks")
        with open(path, encoding="utf-8") as file:
            for row in json.load(file):
                if row["collective"] in COLLECTIVES:
                    key = (mpi, row["collective"], row["ranks"], row["timing"], row["bytes"])
                    cells[key][row["variant"]] = row
    return {key: rows for key, rows in cells.items() if "mpi" in rows and "hocket" in rows}


def ratio(rows):
    return rows["mpi"]["median_us"] / rows["hocket"]["median_us"]


def print_classes(cells):
    """Below SMALL and from there up, apart: geometric means and how many cells are below 0.95."""
    all_ranks = sorted({key[2] for key in cells})
    print("| MPI | bytes | " + " | ".join(f"{ranks} ranks" for ranks in all_ranks) + " |")
    print("|---|---|" + "---|" * len(all_ranks))
    for mpi in sorted({key[0] for key in cells}):
        for is_small in (True, False):
            line = []
            for ranks in all_ranks:
                ratios = [ratio(rows) for key, rows in cells.items()
                          if key[0] == mpi and key[2] == ranks and (key[4] < SMALL) == is_small]
                low = sum(value < 0.95 for value in ratios)
                line.append(f"{geometric_mean(ratios):.2f} ({low} of {len(ratios)})" if ratios else "")
            what = f"{'below' if is_small else 'from'} {size_text(SMALL)}"
            print(f"| {mpi} | {what} | " + " | ".join(line) + " |")


def print_summary(cells):
    print("\n## Summary\n")
    print("| MPI | timing | cells | not below 0.95 | lowest | median | geometric mean | highest |")
    print("|---|---|---|---|---|---|---|---|")
    for mpi in sorted({key[0] for key in cells}):
        for timing in TIMINGS:
            ratios = [ratio(rows) for key, rows in cells.items() if key[0] == mpi and key[3] == timing]
            if not ratios:
                continue
            share = sum(value >= 0.95 for value in ratios) / len(ratios)
            print(f"| {mpi} | {timing} | {len(ratios)} | {share:.0%} | {min(ratios):.2f} | "
                  f"{statistics.median(ratios):.2f} | {geometric_mean(ratios):.2f} | {max(ratios):.4g} |")
    print()
    print(f"Small messages (up to {size_text(SMALL)}), geometric mean of the ratios; the lowest in brackets:")
    print()
    all_ranks = sorted({key[2] for key in cells})
    print("| MPI | timing | collective | " + " | ".join(f"{ranks} ranks" for ranks in all_ranks) + " |")
    print("|---|---|---|" + "---|" * len(all_ranks))
    for mpi, timing, collective in itertools.product(sorted({key[0] for key in cells}), TIMINGS, COLLECTIVES):
        line = []
        for ranks in all_ranks:
            ratios = [ratio(rows) for key, rows in cells.items()
                      if key[:4] == (mpi, collective, ranks, timing) and key[4] <= SMALL]
            line.append(f"{geometric_mean(ratios):.2f} ({min(ratios):.2f})" if ratios else "")
        if any(line):
            print(f"| {mpi} | {timing} | {collective} | " + " | ".join(line) + " |")


def print_tables(cells):
    for collective in COLLECTIVES:
        for timing in TIMINGS:
            some = {key: rows for key, rows in cells.items() if key[1] == collective and key[3] == timing}
            if not some:
                continue
            mpis = sorted({key[0] for key in some})
            print(f"\n### {collective}, {timing}\n")
            print("Microseconds: MPI / hocket (ratio).\n")
            print("| ranks | bytes | " + " | ".join(mpis) + " |")
            print("|---|---|" + "---|" * len(mpis))
            for ranks, size in sorted({(key[2], key[4]) for key in some}):
                line = []
                for mpi in mpis:
                    rows = some.get((mpi, collective, ranks, timing, size))
                    line.append("" if rows is None else
                                f"{time_text(rows['mpi']['median_us'])} / {time_text(rows['hocket']['median_us'])} "
                                f"({ratio(rows):.2f})")
                print(f"| {ranks} | {size_text(size)} | " + " | ".join(line) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--summary", action="store_true", help="leave out the table of every cell")
    arguments = parser.parse_args()
    cells = read_cells(arguments.files)
    if not cells:
        sys.exit("bench_report: no cells with both an MPI and hocket in these files")
    print_classes(cells)
    print_summary(cells)
    if not arguments.summary:
        print_tables(cells)


if __name__ == "__main__":
    main()
