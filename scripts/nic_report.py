#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tables of what `hocket lab bench barrier --json FILE` has measured, and fits the model of the NIC barrier:

    scripts/nic_report.py FILE... > tables.md

The model of Yu, Buntinas, Graham, Panda, Efficient and Scalable Barrier over Quadrics and Myrinet with a New NIC-Based
Collective Message Passing Protocol (2004), is T(N) = Tinit + (ceil(log2 N) - 1) Ttrig + Tadj. It is fitted on 2 and 4
nodes and asked for the others. Beside it, one for a lab, whose nodes share a few cores: all work of all nodes, a part
for each node and a part for each message, has to be done by them, T(N) = work(N) / cores.
"""
import argparse
import json
import math
import sys

PAPER = {"Myrinet LANai-XP": (3.60, 3.50, 3.84), "Quadrics Elan3": (2.25, 2.32, -1.00)}
FITTED, FARTHEST = (2, 4), 1024


def paper_model(nodes, initial, trigger, adjustment):
    return initial + (math.ceil(math.log2(nodes)) - 1) * trigger + adjustment


def fit_paper_model(times):
    """Tinit is what two nodes take; what an adjustment would add to it can't be told apart there."""
    return times[FITTED[0]], times[FITTED[1]] - times[FITTED[0]], 0.0


def messages(nodes):
    return nodes * math.ceil(math.log2(nodes))


def fit_work_model(times):
    """Microseconds for a node and for a message, of all cores together."""
    (a, b), (x, y) = FITTED, (times[FITTED[0]], times[FITTED[1]])
    determinant = a * messages(b) - b * messages(a)
    return (x * messages(b) - y * messages(a)) / determinant, (a * y - b * x) / determinant


def table(header, rows):
    cells = [header, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + " |" for row in cells]
    return "\n".join([lines[0], "|" + "|".join("---" for _ in header) + "|", *lines[1:]])


def name_of(row):
    return f"{row['variant']} {row['algorithm']}"


def best_mpi(rows, nodes):
    times = [row["median_us"] for row in rows if row["nodes"] == nodes and row["variant"] == "mpi"]
    return min(times) if times else None


def host_of(rows, row):
    """The same schedule by the host over UDP."""
    for other in rows:
        if (other["nodes"], other["algorithm"], other["variant"]) == (row["nodes"], row["algorithm"], "host-udp"):
            return other["mean_us"]
    return None


def ratio(other, own):
    return f"{other / own:.2f}" if other else ""


def number(value, digits=1):
    return f"{value:.{digits}f}" if value is not None and value >= 0 else ""


def table_of_times(rows):
    lines = []
    for row in rows:
        lines.append([str(row["nodes"]), name_of(row), number(row["mean_us"]),
                      f"{row['lowest_us']:.1f} to {row['highest_us']:.1f}" if row["lowest_us"] >= 0 else "",
                      number(row["median_us"]), number(row["p99_us"]), number(row["p999_us"]),
                      ratio(host_of(rows, row), row["mean_us"]) if row["mean_us"] > 0 else "",
                      ratio(best_mpi(rows, row["nodes"]), row["median_us"]),
                      number(row["processor_us"]), number(row["packets"])])
    return table(["nodes", "barrier", "mean", "slices", "p50", "p99", "p99.9", "host-udp / it", "best MPI / it", "CPU",
                  "packets"], lines)


def table_of_model(rows):
    times = {row["nodes"]: row["mean_us"] for row in rows if name_of(row) == "nic dissemination"}
    if not all(nodes in times for nodes in FITTED):
        return ""
    initial, trigger, adjustment = fit_paper_model(times)
    host, message = fit_work_model(times)
    lines = []
    for nodes in sorted({*times, FARTHEST}):
        paper = paper_model(nodes, initial, trigger, adjustment)
        work = host * nodes + message * messages(nodes)
        measured = times.get(nodes)
        lines.append([str(nodes), number(measured), f"{paper:.1f}", f"{work:.1f}",
                      f"{paper / measured - 1:+.0%}" if measured else "",
                      f"{work / measured - 1:+.0%}" if measured else "",
                      *(f"{paper_model(nodes, *constants):.2f}" for constants in PAPER.values())])
    text = (f"Tinit {initial:.2f} us, Ttrig {trigger:.2f} us, Tadj 0 (nic dissemination on {FITTED[0]} and {FITTED[1]} "
            f"nodes);\nshared cores: {host:.2f} us a node and {message:.2f} us a message.\n\n")
    return text + table(["nodes", "measured", "model", "shared cores", "model's error", "shared cores' error",
                         *PAPER], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    rows = []
    for path in parser.parse_args().files:
        try:
            with open(path, encoding="utf-8") as file:
                rows += json.load(file)
            if any("elements" in row for row in rows):
                raise ValueError("it is of collectives with data: scripts/nic_data_report.py")
        except (OSError, ValueError) as error:
            sys.exit(f"nic_report.py: {path}: {error}; a file of `hocket lab bench barrier --json` is needed")
    for switch in dict.fromkeys(row["switch"] for row in rows):
        ours = [row for row in rows if row["switch"] == switch and not row["impairment"]]
        if ours:
            print(f"### Switch: {switch}\n\n{table_of_times(ours)}\n")
            model = table_of_model(ours)
            if model:
                print(f"#### The model, switch {switch}\n\n{model}\n")
    impaired = [row for row in rows if row["impairment"]]
    if impaired:
        print("### Wires that lose, double, change and reorder\n")
        print(table(["nodes", "barrier", "wire", "host", "mean", "p50", "p99", "p99.9", "packets"],
                    [[str(row["nodes"]), name_of(row), row["impairment"],
                      row["wait"] + (f", computes {row['compute_us']:.0f}" if row["compute_us"] else ""),
                      number(row["mean_us"]), number(row["median_us"]), number(row["p99_us"]),
                      number(row["p999_us"]), number(row["packets"])] for row in impaired]))


if __name__ == "__main__":
    main()
