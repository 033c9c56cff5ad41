#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables from what scripts/lab_bench.py has left in build/lab_bench/.

    scripts/lab_report.py build/lab_bench/*.json > tables.md

The ratio is the MPI's median over hocket's: above 1 hocket is faster. `orig`: the flat algorithm that the MPI of Kumar,
Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems, chose for a message size (bruck, linear, pairwise),
by its switch points; `L-orig`, `SA-orig`, `RD-orig`: leader, send aggregation and receive distribution with the same
choice for the messages inside.
"""
import argparse
import itertools
import statistics
import sys

from bench_report import TIMINGS, geometric_mean, ratio, size_text, time_text
from lab_results import SCHEMES, orig, parse_points, read_cells, shape_text, with_orig

LOW = 0.95
SCHEME_BYTES = 512
SHORT_BYTES = 4096
SHORT = {"leader": "L", "send_aggregation": "SA", "receive_distribution": "RD"}


def sorted_set(cells, place):
    return sorted({key[place] for key in cells})


def compared(cells, **wanted):
    """Ratios of the cells in which both the MPI and hocket were measured, by their keys."""
    names = ("mpi", "shape", "collective", "timing", "size")
    return {key: ratio(rows) for key, rows in cells.items()
            if "mpi" in rows and "hocket" in rows
            and all(key[names.index(name)] == value for name, value in wanted.items())}


def print_summary(cells):
    """One line for an MPI and a collective, a column for a shape."""
    shapes = sorted_set(cells, 1)
    print("Geometric means of the MPI's time over hocket's, both timings; cells below 0.95 in brackets:\n")
    print("| MPI | collective | " + " | ".join(map(shape_text, shapes)) + " |")
    print("|---|---|" + "---|" * len(shapes))
    for mpi, collective in itertools.product(sorted_set(cells, 0), sorted_set(cells, 2)):
        line = []
        for shape in shapes:
            ratios = list(compared(cells, mpi=mpi, shape=shape, collective=collective).values())
            low = sum(value < LOW for value in ratios)
            line.append(f"{geometric_mean(ratios):.2f} ({low} of {len(ratios)})" if ratios else "")
        if any(line):
            print(f"| {mpi} | {collective} | " + " | ".join(line) + " |")


def print_totals(cells):
    """What the aims are about: all cells of an MPI together, and the alltoalls of short blocks."""
    print(f"\nAll cells of an MPI: how many are at {LOW} or above, the lowest, the geometric mean; and of alltoall up "
          f"to {size_text(SHORT_BYTES)} the geometric mean and how many are at 2 or above:\n")
    print("| MPI | cells | at 0.95 | lowest | mean | short alltoalls | mean | at 2 |")
    print("|---|---|---|---|---|---|---|---|")
    for mpi in sorted_set(cells, 0):
        ratios = compared(cells, mpi=mpi)
        if not ratios:
            continue
        line = f"| {mpi} | {len(ratios)} | {100 * sum(r >= LOW for r in ratios.values()) / len(ratios):.0f} % | "
        line += f"{min(ratios.values()):.2f} | {geometric_mean(list(ratios.values())):.2f} | "
        short = [r for key, r in compared(cells, mpi=mpi, collective="alltoall").items() if key[4] <= SHORT_BYTES]
        if short:
            line += f"{len(short)} | {geometric_mean(short):.2f} | {sum(r >= 2 for r in short)} |"
        print(line if short else line + " | | |")


def spread(row):
    return row["p90_us"] / row["p10_us"] if row["p10_us"] > 0 else 1


def print_spread(cells):
    print("\nHow far samples of one cell lie apart, 90th percentile over 10th; the median cell and the worst:\n")
    print("| MPI | timing | mpi | hocket |")
    print("|---|---|---|---|")
    for mpi, timing in itertools.product(sorted_set(cells, 0), TIMINGS):
        some = [rows for key, rows in cells.items() if key[0] == mpi and key[3] == timing]
        line = []
        for variant in ("mpi", "hocket"):
            spreads = [spread(rows[variant]) for rows in some if variant in rows]
            line.append(f"{statistics.median(spreads):.2f}, {max(spreads):.3g}" if spreads else "")
        if any(line):
            print(f"| {mpi} | {timing} | " + " | ".join(line) + " |")


def print_losses(cells):
    losses = sorted((value, key) for key, value in compared(cells).items() if value < LOW)
    print(f"\n## Cells below {LOW}\n")
    if not losses:
        print("None.")
        return
    print("| ratio | MPI | collective | nodes x ranks | timing | bytes | MPI, us | hocket, us |")
    print("|---|---|---|---|---|---|---|---|")
    for value, key in losses:
        mpi, shape, collective, timing, size = key
        rows = cells[key]
        print(f"| {value:.2f} | {mpi} | {collective} | {shape_text(shape)} | {timing} | {size_text(size)} | "
              f"{time_text(rows['mpi']['median_us'])} | {time_text(rows['hocket']['median_us'])} |")


def others(rows):
    return {name: row for name, row in rows.items() if name not in ("mpi", "hocket")}


def best_of(rows):
    """(name, median) of the fastest algorithm that was measured beside hocket's choice."""
    return min(((name, row["median_us"]) for name, row in others(rows).items()), key=lambda one: one[1])


def print_choice(cells):
    """How far hocket's choice lies above the best of the algorithms that were forced beside it."""
    print("\nHocket's own choice against the best algorithm of the cell: its time over that one's, in the median cell, "
          "the 90th percentile and the worst:\n")
    print("| MPI | collective | cells | median | 90 % | worst | where |")
    print("|---|---|---|---|---|---|---|")
    for mpi, collective in itertools.product(sorted_set(cells, 0), sorted_set(cells, 2)):
        over = sorted((rows["hocket"]["median_us"] / best_of(rows)[1], key[1], key[3], key[4], best_of(rows)[0])
                      for key, rows in cells.items()
                      if key[0] == mpi and key[2] == collective and "hocket" in rows and others(rows))
        if not over:
            continue
        worst, shape, timing, size, best = over[-1]
        print(f"| {mpi} | {collective} | {len(over)} | {statistics.median(one[0] for one in over):.2f} | "
              f"{over[int(0.9 * (len(over) - 1))][0]:.2f} | {worst:.2f} | {shape_text(shape)}, {size_text(size)}, "
              f"{timing}: {best} |")


def print_schemes(cells, points):
    """The figure of merit of Kumar, Mamidala and Panda: how far the best scheme lies below the flat exchange."""
    shapes = sorted_set(cells, 1)
    print(f"\nAlltoall of {SCHEME_BYTES} bytes: how far the best scheme lies below `orig` (and which it is):\n")
    print("| MPI | timing | " + " | ".join(map(shape_text, shapes)) + " |")
    print("|---|---|" + "---|" * len(shapes))
    for mpi, timing in itertools.product(sorted_set(cells, 0), TIMINGS):
        line = []
        for shape in shapes:
            rows = cells.get((mpi, shape, "alltoall", timing, SCHEME_BYTES), {})
            flat = orig(rows, SCHEME_BYTES, points)
            schemes = {name: row for name, row in others(rows).items() if name.split(":")[0] in SCHEMES}
            if flat and schemes:
                name, best = best_of(schemes)
                line.append(f"{100 * (1 - best / flat['median_us']):.0f} % ({name.split(':')[0]})")
            else:
                line.append("")
        if any(line):
            print(f"| {mpi} | {timing} | " + " | ".join(line) + " |")


def with_spread(row):
    return (f"{time_text(row['median_us'])} ({time_text(row['p10_us'])}..{time_text(row['p90_us'])})"
            if row else "")


def median(row):
    return time_text(row["median_us"]) if row else ""


def columns_of(collective, names, points):
    """(title, function of (rows, shape, size) to a row) of the variants behind the MPI and hocket."""
    if collective == "alltoall":
        columns = [("orig", lambda rows, _, size: orig(rows, size, points))]
        columns += [(f"{SHORT[scheme]}-orig",
                     lambda rows, shape, size, scheme=scheme: with_orig(rows, scheme, shape, size, points))
                    for scheme in SCHEMES]
        names = [name for name in names if name in SCHEMES]
    else:
        columns = []
    return columns + [(name, lambda rows, _, size, name=name: rows.get(name)) for name in names]


def print_tables(cells, points):
    for mpi, collective, shape, timing in itertools.product(sorted_set(cells, 0), sorted_set(cells, 2),
                                                            sorted_set(cells, 1), TIMINGS):
        some = {key[4]: rows for key, rows in cells.items() if key[:4] == (mpi, shape, collective, timing)}
        if not some:
            continue
        names = sorted({name for rows in some.values() for name in rows} - {"mpi", "hocket"})
        columns = columns_of(collective, names, points)
        print(f"\n### {collective}, {mpi}, {shape_text(shape)}, {timing}\n")
        print("Medians in microseconds (10th to 90th percentile).\n")
        print("| bytes | mpi | hocket | ratio | " + " | ".join(title for title, _ in columns) + " |")
        print("|---|---|---|---|" + "---|" * len(columns))
        for size, rows in sorted(some.items()):
            both = f"{ratio(rows):.2f}" if "mpi" in rows and "hocket" in rows else ""
            forced = " | ".join(median(find(rows, shape, size)) for _, find in columns)
            sides = " | ".join(with_spread(rows.get(side)) for side in ("mpi", "hocket"))
            print(f"| {size_text(size)} | {sides} | {both} | {forced} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--summary", action="store_true", help="leave out the table of every cell")
    parser.add_argument("--switch-points", default="256,32K",
                        help="of `orig`: bruck up to the first size, linear up to the second (default: %(default)s)")
    arguments = parser.parse_args()
    cells = read_cells(arguments.files)
    if not compared(cells):
        sys.exit("lab_report: no cells with both an MPI and hocket in these files")
    print_summary(cells)
    print_totals(cells)
    points = parse_points(arguments.switch_points)
    print_spread(cells)
    print_schemes(cells, points)
    print_choice(cells)
    print_losses(cells)
    if not arguments.summary:
        print_tables(cells, points)


if __name__ == "__main__":
    main()
