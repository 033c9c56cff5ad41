#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what scripts/lab_bench.py (or `hocket probe --json` and `hocket bench --json` on a cluster, the files named
alike) has measured, as the figures of Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems.

    scripts/cluster_figures.py build/lab_bench/*.json           # SVG files in bench/results/clusters/

  start-up-MPI             figure 1: irecv-isend all-to-all, the data staying the same as the ranks a node grow
  bandwidth-MPI            figures 2 to 4: 1, 2, ... pairs of ranks of two nodes, both directions
  copies-MPI               figure 5: aggregation against distribution
  alltoall-MPI-SHAPE       figure 7: orig, leader and send aggregation (with orig inside), the MPI's own, hocket
  distribution-MPI-SHAPE   figure 8: send aggregation against receive distribution
  alltoall-MPI-512         figure 9: 512 bytes against the size of the system
  predicted-INTERFACE-SHAPE  the same schemes by the cost model, as parts of the time of orig: of files
                             INTERFACE-SHAPE-predicted.json, by `hocket algorithms alltoall --predict 1..64K --json`
It needs matplotlib: python3 -m venv .venv/figures && .venv/figures/bin/pip install -r scripts/requirements/figures.txt
"""
import argparse
import pathlib
import sys
from collections import defaultdict

from bench_report import size_text
from lab_results import orig, parse_points, read_cells, read_predictions, read_probes, shape_text, with_orig

try:
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: matplotlib is missing:\n"
             "  python3 -m venv .venv/figures && .venv/figures/bin/pip install -r scripts/requirements/figures.txt\n"
             f"  .venv/figures/bin/python {sys.argv[0]} ...")

# The same files give the same figures, byte by byte.
matplotlib.rcParams.update({"svg.hashsalt": "hocket", "svg.fonttype": "none", "figure.figsize": (6, 4),
                            "axes.grid": True, "grid.linewidth": 0.4, "legend.frameon": False, "font.size": 9})
SYSTEM_BYTES = 512
MARKERS = "osD^vPX*"


def size_ticks(axes, sizes):
    axes.set_xscale("log", base=2)
    some = sorted(sizes)[::max(1, len(sizes) // 8)]
    axes.set_xticks(some, [size_text(size) for size in some], rotation=30)
    axes.minorticks_off()


def draw(path, title, x_title, y_title, lines, scale="log"):
    """`lines`: {name: {x: y}}; x are sizes in bytes, or texts."""
    lines = {name: line for name, line in lines.items() if line}
    if not lines:
        return False
    figure, axes = plt.subplots(layout="constrained")
    for marker, (name, line) in zip(MARKERS * 4, lines.items()):
        axes.plot(list(line), list(line.values()), marker=marker, markersize=4, linewidth=1, label=name)
    axes.set(title=title, xlabel=x_title, ylabel=y_title)
    axes.set_yscale(scale)
    xs = {x for line in lines.values() for x in line}
    if all(isinstance(x, int) for x in xs) and max(xs) > 64:
        size_ticks(axes, xs)
    elif all(isinstance(x, int) for x in xs):
        axes.set_xticks(sorted(xs))
    axes.legend()
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    print(path)
    return True


def draw_probe(folder, mpi, shape, probe):
    place = f"{mpi}, {shape_text(shape)}"
    start_up = defaultdict(dict)
    for one in probe["start_up"]:
        start_up[f"{size_text(one['bytes_a_node_pair'])} from node to node"][one["ranks_a_node"]] = one["us"]
    draw(folder / f"start-up-{mpi}.svg", f"Irecv-isend all-to-all, {place}", "ranks a node", "us", start_up)
    bandwidth = defaultdict(dict)
    for one in probe["bandwidth"]:
        bandwidth[f"{one['pairs']} pair{'s' * (one['pairs'] > 1)}"][one["bytes"]] = one["mb_per_s"]
    draw(folder / f"bandwidth-{mpi}.svg", f"Bandwidth in both directions, {place}", "message", "MB/s", bandwidth)
    copies = {side: {one["bytes"]: one[f"{side}_us"] for one in probe["copies"]}
              for side in ("aggregation", "distribution")}
    draw(folder / f"copies-{mpi}.svg", f"Copies of {probe['ranks_a_node']} ranks, {place}", "piece", "us", copies)


def line_of(cells, find):
    """{size: median} of the cells in which `find` names a row."""
    found = {size: find(rows, size) for size, rows in sorted(cells.items())}
    return {size: row["median_us"] for size, row in found.items() if row}


def draw_schemes(folder, mpi, shape, cells, points):
    place = f"{mpi}, {shape_text(shape)}"
    lines = {"the MPI's own": line_of(cells, lambda rows, _: rows.get("mpi")),
             "orig": line_of(cells, lambda rows, size: orig(rows, size, points)),
             "L-orig": line_of(cells, lambda rows, size: with_orig(rows, "leader", shape, size, points)),
             "SA-orig": line_of(cells, lambda rows, size: with_orig(rows, "send_aggregation", shape, size, points)),
             "hocket's choice": line_of(cells, lambda rows, _: rows.get("hocket"))}
    draw(folder / f"alltoall-{mpi}-{shape_text(shape)}.svg", f"Alltoall, {place}", "block", "us", lines)
    lines = {f"{short}-orig": line_of(cells, lambda rows, size, scheme=scheme: with_orig(rows, scheme, shape, size,
                                                                                       points))
             for short, scheme in (("SA", "send_aggregation"), ("RD", "receive_distribution"))}
    draw(folder / f"distribution-{mpi}-{shape_text(shape)}.svg",
         f"Send aggregation against receive distribution, {place}", "block", "us", lines)


def draw_systems(folder, mpi, by_shape, points):
    finds = {"the MPI's own": lambda rows, _: rows.get("mpi"),
             "orig": lambda rows, _: orig(rows, SYSTEM_BYTES, points),
             "L-orig": lambda rows, shape: with_orig(rows, "leader", shape, SYSTEM_BYTES, points),
             "SA-orig": lambda rows, shape: with_orig(rows, "send_aggregation", shape, SYSTEM_BYTES, points),
             "hocket's choice": lambda rows, _: rows.get("hocket")}
    lines = defaultdict(dict)
    for shape in sorted(by_shape, key=lambda shape: (shape[0] * shape[1], shape)):
        for name, find in finds.items():
            row = find(by_shape[shape].get(SYSTEM_BYTES, {}), shape)
            if row:
                lines[name][shape_text(shape)] = row["median_us"]
    draw(folder / f"alltoall-{mpi}-{SYSTEM_BYTES}.svg", f"Alltoall of {size_text(SYSTEM_BYTES)}, {mpi}",
         "nodes x ranks a node", "us", lines)


def draw_predictions(folder, interface, shape, variants):
    base = variants["orig"]
    names = {"L-orig": "leader", "two leaders": "leader:leaders=2", "SA-orig": "send_aggregation",
             "orig-RD": "receive_distribution", "linear": "linear", "pairwise": "pairwise"}
    lines = {name: {size: us / base[size] for size, us in variants.get(variant, {}).items()}
             for name, variant in names.items()}
    lines["orig"] = {size: 1 for size in base}
    draw(folder / f"predicted-{interface}-{shape_text(shape)}.svg",
         f"Alltoall predicted for {interface}, {shape_text(shape)}", "block", "times as long as orig", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("bench/results/clusters"))
    parser.add_argument("--timing", default="back-to-back", choices=("back-to-back", "isolated"),
                        help="(default: %(default)s, as Kumar, Mamidala and Panda measured)")
    parser.add_argument("--switch-points", default="256,32K", help="of `orig` (default: %(default)s)")
    arguments = parser.parse_args()
    points = parse_points(arguments.switch_points)
    arguments.output.mkdir(parents=True, exist_ok=True)
    largest = {}
    for (mpi, shape), probe in read_probes(arguments.files).items():
        if mpi not in largest or shape[1] > largest[mpi][0][1]:
            largest[mpi] = (shape, probe)
    for mpi, (shape, probe) in sorted(largest.items()):
        draw_probe(arguments.output, mpi, shape, probe)
    for (interface, shape), variants in sorted(read_predictions(arguments.files).items()):
        draw_predictions(arguments.output, interface, shape, variants)
    by_mpi = defaultdict(lambda: defaultdict(dict))
    for (mpi, shape, collective, timing, size), rows in read_cells(arguments.files).items():
        if collective == "alltoall" and timing == arguments.timing:
            by_mpi[mpi][shape][size] = rows
    for mpi, by_shape in sorted(by_mpi.items()):
        for shape, cells in sorted(by_shape.items()):
            draw_schemes(arguments.output, mpi, shape, cells, points)
        draw_systems(arguments.output, mpi, by_shape, points)


if __name__ == "__main__":
    main()
