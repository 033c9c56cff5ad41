#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tables of broadcasts that `hocket lab bench bcast --variants multicast,... --json FILE` has measured, and draws
them as figures 4 to 7 of Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm
for large-scale InfiniBand Clusters with Multicast:

    scripts/multicast_report.py FILE... > tables.md
    scripts/multicast_report.py FILE... --figures bench/results/multicast > tables.md      # needs matplotlib

  multicast-latency[-DELAY]      figure 4: until the last rank has it, against nodes, the shortest message
  multicast-ranks[-DELAY]        figure 5: until each rank has it, on the most nodes
  multicast-rank-1[-DELAY]       figure 6: until rank 1 has it, against nodes
  multicast-rank-last[-DELAY]    figure 7: the same of the last rank
  multicast-bytes-NODES[-DELAY]  until the last rank has it, against the message's length
"""
import argparse
import contextlib
import json
import pathlib
import sys
from collections import defaultdict

from nic_report import number, table


def name_of(row):
    library, _, algorithm = row["algorithm"].partition(":")
    return f"{algorithm} ({library})" if algorithm else library


def size_of(row):
    return f"{row['bytes'] // 1024} KiB" if row["bytes"] % 1024 == 0 and row["bytes"] else f"{row['bytes']} B"


def place_of(row):
    return row["switch"], row["impairment"]


def nodes_of(row):
    """With one rank each a number, else `4 x 4`."""
    each = row.get("ranks_per_node", 1)
    return str(row["nodes"]) if each == 1 else f"{row['nodes']} x {each}"


def spread_of_ranks(row):
    """How much sooner the first of the ranks that get it has it than the last, and the most that one is off the median
    of them, both as shares."""
    times = sorted(row["rank_us"][1:])
    median = times[len(times) // 2]
    return 1 - times[0] / times[-1], max(median - times[0], times[-1] - median) / median


def print_latencies(rows):
    """A table of microseconds, a column a variant: the median of all calls, and their mean."""
    names = list(dict.fromkeys(map(name_of, rows)))
    cells = defaultdict(dict)
    for row in rows:
        cells[nodes_of(row), size_of(row)][name_of(row)] = row
    lines = []
    for (nodes, size), of_name in cells.items():
        best = min(row["median_us"] for row in of_name.values())
        texts = []
        for name in names:
            row = of_name.get(name)
            text = number(row["median_us"], 0) if row else ""
            if row and row["median_us"] == best:
                text = f"**{text}**"
            texts.append(f"{text} ({number(row['mean_us'], 0)})" if row else "")
        lines.append([nodes, size, *texts])
    print(table(["nodes", "message", *names], lines) + "\n")


def print_ranks(rows):
    lines = []
    for row in rows:
        sooner, off = spread_of_ranks(row)
        lines.append([nodes_of(row), size_of(row), name_of(row), number(row["median_us"], 0),
                      f"{row['lowest_us']:.0f} to {row['highest_us']:.0f}", number(row["rank_us"][1]),
                      number(row["rank_us"][-1]), f"{100 * sooner:.0f} %", f"{100 * off:.0f} %",
                      number(row["processor_us"] / 1000), number(row["root_packets"]),
                      number(row["root_sent_bytes"], 0), number(row["packets"]), number(row["sent_bytes"], 0)])
    print(table(["nodes", "message", "by", "last rank", "slices", "rank 1", "rank N-1", "first before last",
                 "off the median", "CPU, ms", "root's packets", "its bytes", "all packets", "all bytes"], lines) + "\n")


def print_tables(rows):
    for switch, impairment in dict.fromkeys(map(place_of, rows)):
        ours = [row for row in rows if place_of(row) == (switch, impairment)]
        print(f"### Switch {switch}{', ' + impairment if impairment else ''}\n\nMicroseconds, until the last rank has "
              "it: median (mean)\n")
        print_latencies(ours)
        print_ranks([row for row in ours if len(row["rank_us"]) > 2])


# --- figures -------------------------------------------------------------------------------------------------------

def lines_of(rows, x_of, y_of=lambda row: row["median_us"]):
    lines = defaultdict(dict)
    for row in sorted(rows, key=lambda row: (row["nodes"], row["bytes"])):
        lines[name_of(row)][x_of(row)] = y_of(row)
    return lines


def draw_figures(rows, folder):
    from cluster_figures import draw  # pylint: disable=import-outside-toplevel
    for impairment in dict.fromkeys(row["impairment"] for row in rows):
        ours = [row for row in rows if row["impairment"] == impairment and row.get("ranks_per_node", 1) == 1]
        if not ours:
            continue
        suffix = "-" + impairment.replace("delay=", "") if impairment else ""
        title = f", {impairment}" if impairment else ""
        shortest = min(row["bytes"] for row in ours)
        short = [row for row in ours if row["bytes"] == shortest]
        of_size = f"{size_of(short[0])}{title}"

        def by_nodes(name, what, y_of):
            draw(folder / f"multicast-{name}{suffix}.svg",  # pylint: disable=cell-var-from-loop
                 f"Broadcast of {of_size}: {what}", "nodes", "us",  # noqa: B023
                 lines_of(short, nodes_of, y_of))  # noqa: B023

        by_nodes("latency", "until the last rank has it", lambda row: row["median_us"])
        by_nodes("rank-1", "until rank 1 has it", lambda row: row["rank_us"][1])
        by_nodes("rank-last", "until rank N-1 has it", lambda row: row["rank_us"][-1])
        most = max(row["nodes"] for row in short)
        draw(folder / f"multicast-ranks{suffix}.svg", f"Broadcast of {of_size} on {most} nodes: until each rank has it",
             "rank", "us", {name_of(row): {float(rank): us for rank, us in enumerate(row["rank_us"])}
                            for row in short if row["nodes"] == most}, "linear")
        for nodes in sorted({row["nodes"] for row in ours if row["bytes"] > shortest}):
            draw(folder / f"multicast-bytes-{nodes}{suffix}.svg", f"Broadcast on {nodes} nodes{title}", "message", "us",
                 lines_of([row for row in ours if row["nodes"] == nodes], lambda row: row["bytes"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--figures", type=pathlib.Path, metavar="FOLDER", help="where to draw")
    options = parser.parse_args()
    rows = []
    for path in options.files:
        try:
            with open(path, encoding="utf-8") as file:
                rows += json.load(file)
            if any("rank_us" not in row for row in rows):
                raise ValueError("it has no latencies of ranks")
        except (OSError, ValueError) as error:
            sys.exit(f"multicast_report.py: {path}: {error}; a file of `hocket lab bench bcast --json` is needed")
    rows.sort(key=lambda row: row["nodes"])
    print_tables(rows)
    if options.figures:
        with contextlib.redirect_stdout(sys.stderr):
            draw_figures(rows, options.figures)


if __name__ == "__main__":
    main()
