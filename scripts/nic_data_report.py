#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tables of what `hocket lab bench` of reduce, allreduce or broadcast has measured with --json FILE, and draws it
as figures 2 to 7 of Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial?

    scripts/nic_data_report.py FILE... > tables.md
    scripts/nic_data_report.py FILE... --figures bench/results/nic-reductions > tables.md      # needs matplotlib

  nic-COLLECTIVE-latency-SWITCH     figure 2: latency against nodes, a binomial tree, one element
  nic-COLLECTIVE-chain-SWITCH       figure 3: against the depth of a chain
  nic-COLLECTIVE-flat-SWITCH        figure 4: against the degree of a tree of depth one
  nic-COLLECTIVE-host-SWITCH        figure 5: the host's time in the call against nodes
  nic-COLLECTIVE-skew-SWITCH        figure 6: against skew, on the most nodes
  nic-COLLECTIVE-skew-nodes-SWITCH  figure 7: against nodes, under the greatest skew
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import sys
from collections import defaultdict

from nic_report import number, ratio, table

HOST = "host-udp"
LIBRARIES = ("mpi", "hocket")


def name_now(row):
    """Files were once written with the name that had been typed."""
    return "broadcast" if row.get("collective") == "bcast" else row.get("collective")


def name_of(row):
    return f"{row['variant']} {row['algorithm']}" + (" (fetched later)" if row.get("fetches_later") else "")


def cell_of(row):
    """Rows of a cell were measured in turn: of one file, and one way to measure."""
    return tuple(row.get(key, 0) for key in ("file", "collective", "timing", "switch", "nodes", "type", "operation",
                                             "elements", "impairment", "wait", "settle_us", "skew_us", "compute_us",
                                             "computes_by"))


def compared(rows):
    """{id of a row: (its mean over UDP with the same tree, the best MPI's median)}, where they are known."""
    cells = defaultdict(list)
    for row in rows:
        cells[cell_of(row)].append(row)
    found = {}
    for cell in cells.values():
        mpi = [row for row in cell if row["variant"] == "mpi"]
        for row in cell:
            host = [other["mean_us"] for other in cell
                    if other["variant"] == HOST and other["algorithm"] == row["algorithm"]
                    and not other.get("fetches_later")]
            found[id(row)] = (host[0] if host else None, min((one["median_us"] for one in mpi), default=None),
                              min((one["mean_us"] for one in mpi), default=None))
    return found


def spread(row):
    return f"{row['lowest_us']:.1f} to {row['highest_us']:.1f}"


def table_of_latencies(rows, others):
    lines = []
    for row in rows:
        host, median, mean = others[id(row)]
        lines.append([str(row["nodes"]), row["type"], str(row["elements"]), name_of(row), number(row["mean_us"]),
                      spread(row), number(row["median_us"]), number(row["p99_us"]), ratio(host, row["mean_us"]),
                      ratio(mean, row["mean_us"]), ratio(median, row["median_us"]), number(row["processor_us"], 0),
                      number(row["packets"])])
    return table(["nodes", "type", "elements", "by", "mean", "slices", "p50", "p99", "host-udp / it", "best MPI / it",
                  "the same, p50", "CPU", "packets"], lines)


def table_of_overlaps(rows, _):
    lines = [[str(row["nodes"]), row["type"], str(row["elements"]), row["computes_by"], name_of(row),
              number(row["call_us"]), number(row["computation_us"]), number(row["both_us"]),
              f"{100 * row['overlap']:.0f} %", number(row["processor_us"], 0)] for row in rows]
    return table(["nodes", "type", "elements", "computes by", "by", "call", "computation", "both", "overlap", "CPU"],
                 lines)


def table_of_host_times(rows, others):
    lines = []
    for row in rows:
        host, _, mpi = others[id(row)]
        lines.append([str(row["nodes"]), row["type"], f"{row['skew_us']:.0f}", name_of(row), number(row["mean_us"]),
                      spread(row), number(row["root_us"]), number(row["others_us"]), number(row["others_median_us"]),
                      ratio(host, row["mean_us"]), ratio(mpi, row["mean_us"]), number(row["processor_us"], 0)])
    return table(["nodes", "type", "skew", "by", "mean", "slices", "root", "others", "others' p50", "host-udp / it",
                  "best MPI / it", "CPU"], lines)


KINDS = {"latency": ("latency", table_of_latencies), "host-time": ("the host's time in the call", table_of_host_times),
         "overlap": ("overlap of a call and a computation", table_of_overlaps)}


def tree_of(row):
    return row["algorithm"] if row["variant"] not in LIBRARIES else ""


def print_tables(rows):
    others = compared(rows)
    kinds = dict.fromkeys((row["collective"], row["timing"], row["switch"], bool(row["impairment"])) for row in rows)
    for collective, timing, switch, is_impaired in kinds:
        ours = [row for row in rows if (row["collective"], row["timing"], row["switch"], bool(row["impairment"])) ==
                (collective, timing, switch, is_impaired)]
        what, make = KINDS[timing]
        print(f"### {collective}, {what}, switch {switch}{', impaired wires' if is_impaired else ''}\n")
        print(make(ours, others) + "\n")


# --- figures -------------------------------------------------------------------------------------------------------

def line_name(row):
    kind = "" if len(row["types"]) == 1 else f", {row['type']}"
    return f"{row['variant']}{' ' + row['algorithm'] if row['variant'] in LIBRARIES else ''}{kind}"


def lines_of(rows, x_of):
    """{name: {x: mean}}."""
    types = {row["type"] for row in rows}
    lines = defaultdict(lambda: defaultdict(list))
    for row in rows:
        lines[line_name(row | {"types": types})][x_of(row)].append(row["mean_us"])
    return {name: {x: statistics.median(line[x]) for x in sorted(line)} for name, line in lines.items()}


def draw_figures(rows, folder):
    from cluster_figures import draw  # pylint: disable=import-outside-toplevel
    for collective, switch in dict.fromkeys((row["collective"], row["switch"]) for row in rows):
        ours = [row for row in rows if (row["collective"], row["switch"]) == (collective, switch)
                and row["elements"] == 1 and not row["impairment"] and not row.get("fetches_later")]
        latencies = [row for row in ours if row["timing"] == "latency"]
        hosts = [row for row in ours if row["timing"] == "host-time" and tree_of(row) in ("", "binomial")]

        def chart(name, title, x_title, chosen, x_of, scale="log"):
            draw(folder / f"nic-{collective}-{name}-{switch}.svg",  # pylint: disable=cell-var-from-loop
                 f"{title}, switch {switch}", x_title, "us", lines_of(chosen, x_of), scale)  # noqa: B023

        chart("latency", f"Latency of {collective}, binomial tree", "nodes",
              [row for row in latencies if tree_of(row) in ("", "binomial")], lambda row: row["nodes"])
        chart("chain", f"Latency of {collective}, chain", "depth",
              [row for row in latencies if tree_of(row) == "chain"], lambda row: row["nodes"] - 1, "linear")
        chart("flat", f"Latency of {collective}, tree of depth 1", "degree",
              [row for row in latencies if tree_of(row) == "flat"], lambda row: row["nodes"] - 1, "linear")
        chart("host", f"Mean time in {collective}", "nodes", [row for row in hosts if row["skew_us"] == 0],
              lambda row: row["nodes"])
        most = max((row["nodes"] for row in hosts if row["skew_us"] > 0), default=0)
        chart("skew", f"Mean time in {collective}, {most} nodes", "greatest skew, us",
              [row for row in hosts if row["nodes"] == most], lambda row: float(row["skew_us"]))
        worst = max((row["skew_us"] for row in hosts), default=0)
        chart("skew-nodes", f"Mean time in {collective}, skew up to {worst:.0f} us", "nodes",
              [row for row in hosts if row["skew_us"] == worst > 0], lambda row: row["nodes"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--figures", type=pathlib.Path, metavar="FOLDER", help="where to draw")
    options = parser.parse_args()
    rows = []
    for path in options.files:
        try:
            with open(path, encoding="utf-8") as file:
                rows += [row | {"file": path, "collective": name_now(row)} for row in json.load(file)]
            if any("elements" not in row for row in rows):
                raise ValueError("it is of barriers or of bytes: scripts/nic_report.py, scripts/multicast_report.py")
        except (OSError, ValueError) as error:
            sys.exit(f"nic_data_report.py: {path}: {error}; a file of `hocket lab bench reduce --json` is needed")
    print_tables(rows)
    if options.figures:
        with contextlib.redirect_stdout(sys.stderr):
            draw_figures(rows, options.figures)


if __name__ == "__main__":
    main()
