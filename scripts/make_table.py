#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a tuning table from rows that `hocket bench --ranks N --json FILE` has measured.

    for n in 2 4 8 16; do
      hocket bench broadcast,reduce,allreduce,barrier --ranks $n --bind cores --sizes 8..4M --json rows-$n.json
    done
    scripts/make_table.py rows-*.json > table

Each cell's winner is the variant with the least geometric mean of its medians in both timings; a variant that already
won the next smaller size keeps the cell while it is within 4 %. Ranks are crowded where they outnumber this
machine's usable cores. What can't be measured here is added by hand, from --prelude FILE.
"""
import argparse
import json
import math
import os
import sys
from collections import defaultdict

KEEPS = 1.04
COLLECTIVES = ["barrier", "broadcast", "reduce", "allreduce"]


def read_cells(paths):
    """{(collective, ranks): {bytes: {variant: us}}}"""
    medians = defaultdict(list)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for row in json.load(file):
                if row["variant"] != "hocket" and row["collective"] in COLLECTIVES:
                    medians[row["collective"], row["ranks"], row["bytes"], row["variant"]].append(row["median_us"])
    cells = defaultdict(lambda: defaultdict(dict))
    for (collective, ranks, size, variant), values in medians.items():
        mean = math.exp(sum(math.log(value) for value in values) / len(values))
        cells[collective, ranks][size][variant] = mean
    return cells


def winners(by_size):
    """[(bytes, variant, us, next variant, next us)], stretches of one winner kept together where it costs little."""
    chosen = []
    for size in sorted(by_size):
        ranked = sorted(by_size[size].items(), key=lambda item: item[1])
        best = ranked[0]
        if chosen and chosen[-1][1] in by_size[size]:
            last = chosen[-1][1]
            if by_size[size][last] <= best[1] * KEEPS:
                best = (last, by_size[size][last])
        runner_up = next((item for item in ranked if item[0] != best[0]), ("", 0.0))
        chosen.append((size, *best, *runner_up))
    return chosen


def size_text(size):
    for shift, letter in ((30, "G"), (20, "M"), (10, "K")):
        if size and size % (1 << shift) == 0:
            return f"{size >> shift}{letter}"
    return str(size)


def rules(collective, span, when, by_size):
    """One line for each stretch of sizes with one winner. Between two measured sizes the smaller one's rule holds."""
    stretches = []
    for cell in winners(by_size):
        if stretches and stretches[-1][0][1] == cell[1]:
            stretches[-1].append(cell)
        else:
            stretches.append([cell])
    for index, stretch in enumerate(stretches):
        first = "" if index == 0 else size_text(stretch[0][0])
        last = "" if index + 1 == len(stretches) else size_text(stretches[index + 1][0][0] - 1)
        sizes = "" if len(stretches) == 1 else f"bytes={first}..{last}"
        size, variant, us, other, other_us = stretch[len(stretch) // 2]
        found = f"us={us:.3g}" + (f" next={other} next_us={other_us:.3g}" if other else "")
        yield f"{collective:<10} ranks={span:<7} {when:<10} {sizes:<20} {variant:<32} {found}  # at {size_text(size)}"


def spans(ranks):
    """{4: "3..5", 8: "6..11", ...}: each measured number of ranks stands for those nearest to it."""
    ordered = sorted(ranks)
    result = {}
    for index, count in enumerate(ordered):
        first = count if index == 0 else (ordered[index - 1] + count) // 2
        last = "" if index + 1 == len(ordered) else (count + ordered[index + 1]) // 2 - 1
        result[count] = f"{first}..{last}"
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", help="JSON files of hocket bench")
    parser.add_argument("--prelude", help="file with the head of the table: comments and rules that go before")
    parser.add_argument("--coda", help="file with rules that go after, for what was not measured")
    arguments = parser.parse_args()
    cells = read_cells(arguments.rows)
    if not cells:
        sys.exit("make_table: no rows of algorithms in these files; run hocket bench with --ranks")
    cores = len(os.sched_getaffinity(0))

    print("hocket-table 1")
    if arguments.prelude:
        print(open(arguments.prelude, encoding="utf-8").read().rstrip())
    for collective in COLLECTIVES:
        measured = sorted(ranks for name, ranks in cells if name == collective)
        print()
        for crowded in (False, True):
            some = [ranks for ranks in measured if (ranks > cores) == crowded]
            for ranks, span in spans(some).items():
                if not crowded:
                    span = f"..{ranks}"
                elif ranks == min(some):
                    span = f"..{span.split('..')[1]}"
                for line in rules(collective, span, "crowded" if crowded else "uncrowded", cells[collective, ranks]):
                    print(line.rstrip())
    if arguments.coda:
        print()
        print(open(arguments.coda, encoding="utf-8").read().rstrip())


if __name__ == "__main__":
    main()
