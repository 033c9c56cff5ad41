#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the charts of docs/index.md from the tables of bench/results/one-machine.

    scripts/site/home_charts.py            # as SVG in docs/figures/
    scripts/site/home_charts.py --numbers  # what they show; draws nothing

Drawing needs matplotlib.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts/papers"))
# pylint: disable=wrong-import-position
import charts  # noqa: E402

RESULTS = ROOT / "bench/results/one-machine"
MPIS = {"mpich": "MPICH 5", "openmpi": "Open MPI 5"}
RANKS = 8
GIVEN_UP_S = 12  # what a program took at least that was given up


def rows(page, *columns):
    """The cells under these headings, of every table of the page that has them all."""
    at = None
    for line in (RESULTS / page).read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            at = None
        elif at is not None and not set(line) <= set("|-: "):
            yield [cells[i] for i in at]
        elif at is None and all(column in cells for column in columns):
            at = [cells.index(column) for column in columns]


def number(cell):
    """The first one of a cell, as in `0.398 (0.347 to 0.438)`."""
    return float(re.search(r"[\d.]+", cell).group(0))


def collectives():
    """{line: {ranks: how many times as fast}}."""
    counts = [2, 4, 8, 16]
    columns = [f"{count} ranks" for count in counts]
    names = {"mpich5": "MPICH 5", "openmpi5": "Open MPI 5"}
    lengths = {"from 4 KiB": "long", "below 4 KiB": "short"}
    return {f"{names[mpi]}, {lengths[size]}": dict(zip(counts, map(number, cells)))
            for mpi, size, *cells in rows("collectives.md", "MPI", "bytes", *columns) if mpi in names}


def waiting():
    """{line: {ranks: percent of a core}} of a rank that waits a second in MPI_Recv."""
    lines = {}
    for mpi, ranks, what, alone, hocket in rows("around.md", "MPI", "ranks", "", "at its best settings",
                                                "under hocket"):
        if mpi in MPIS and what == "core_percent" and int(ranks) <= RANKS:
            lines.setdefault(f"{MPIS[mpi]} alone", {})[int(ranks)] = number(alone)
            lines.setdefault(f"{MPIS[mpi]}, hocket", {})[int(ranks)] = number(hocket)
    return lines


def programs():
    """{program: [seconds as it comes, at the MPI's best settings, under hocket]} under MPICH 5."""
    columns = ("program", "MPI", "ranks", "as it comes, s", "at its best, s", "under hocket, s")
    found = {name: [number(cell) for cell in times] for name, mpi, ranks, *times in rows("programs.md", *columns)
             if mpi == "mpich" and int(ranks) == RANKS}
    return dict(sorted(found.items(), key=lambda item: item[1][0] / item[1][2]))


def draw_programs(path, title, lines):
    plt = charts.load_pyplot()
    wide, high = charts.PANEL_INCHES
    figure, axes = plt.subplots(figsize=(wide, high + 0.3), layout="constrained")
    figure.suptitle(title, fontsize=10)
    sides = (("as it comes", charts.COLOURS[5], "o"), ("the MPI's best settings", charts.COLOURS[4], "D"),
             ("hocket, as it comes", charts.COLOURS[0], "s"))
    heights = range(len(lines))
    for height, times in zip(heights, lines.values()):
        axes.plot([min(times), max(times)], [height, height], color=charts.GRID, linewidth=3, zorder=1)
        if times[0] >= GIVEN_UP_S:
            axes.annotate(f"given up after {GIVEN_UP_S} s", (times[0], height), xytext=(-6, 5),
                          textcoords="offset points", fontsize=8, ha="right", va="center", color=charts.INK)
    for side, (name, colour, mark) in enumerate(sides):
        axes.plot([times[side] for times in lines.values()], heights, mark, color=colour, markersize=5, label=name,
                  linestyle="none")
    axes.set_xscale("log")
    ticks = (0.25, 0.5, 1, 2, 4, 8, 16)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(ticks[0], ticks[-1])
    axes.set_yticks(heights, list(lines))
    axes.set_xlabel("seconds")
    figure.legend(loc="outside lower center", fontsize=8, ncols=3, frameon=False, handletextpad=0.1, columnspacing=0.8)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    path.write_text(charts.darkened(path.read_text(encoding="utf-8")), encoding="utf-8")


TITLES = {
    "home-collectives": "Collectives: how many times as fast with hocket",
    "home-programs": f"Programs, {RANKS} ranks of MPICH 5 on two cores",
    "home-waiting": "What a rank costs that waits in MPI_Recv",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--numbers", action="store_true", help="print them instead of drawing")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/figures", help="(default: docs/figures)")
    options = parser.parse_args()
    shown = {"home-collectives": collectives(), "home-programs": programs(), "home-waiting": waiting()}
    for name, lines in shown.items():
        if not lines:
            sys.exit(f"home_charts.py: {name}: the tables of {RESULTS} have changed their headings")
        if options.numbers:
            print(TITLES[name], *(f"  {line}: {values}" for line, values in lines.items()), sep="\n")
    if options.numbers:
        return
    options.output.mkdir(parents=True, exist_ok=True)
    for name, y_title, level in (("home-collectives", "the MPI's time over hocket's", 1),
                                 ("home-waiting", "% of a core", None)):
        panel = charts.Panel("two cores", "ranks", y_title, shown[name], log_x=True, level=level)
        charts.draw(options.output / f"{name}.svg", TITLES[name], [[panel]])
    draw_programs(options.output / "home-programs.svg", TITLES["home-programs"], shown["home-programs"])


if __name__ == "__main__":
    main()
