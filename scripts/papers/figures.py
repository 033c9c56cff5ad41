#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of the papers on NIC engines and on multicast from what scripts/papers/measure.py has kept.

    scripts/papers/figures.py                           # all whose files are kept, as SVG in docs/figures/
    scripts/papers/figures.py reduce-chain              # one
    scripts/papers/figures.py reduce-chain --numbers    # its numbers, and what the paper says beside; draws nothing

Drawing needs matplotlib.
"""
import argparse
import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
# pylint: disable=wrong-import-position
import barriers  # noqa: E402
import broadcasts  # noqa: E402
import charts  # noqa: E402
import reductions  # noqa: E402
from measure import KEPT, ROOT  # noqa: E402
from nic_report import table  # noqa: E402

DRAWN = ROOT / "docs/figures"
FIGURES = barriers.FIGURES | reductions.FIGURES | broadcasts.FIGURES


class Kept:
    """The rows of sets, each read when it is first asked for."""

    def __init__(self, folder):
        self.folder = folder

    def rows(self, name):
        """[]: not measured."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            return []
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            sys.exit(f"papers/figures.py: {path}: {error}; scripts/papers/measure.py --again {name} measures it anew")


def print_numbers(figure):
    print(f"{figure.title}\n")
    for row in figure.rows:
        for panel in row:
            xs = sorted({x for line in panel.lines.values() for x in line})
            print(f"{panel.title}, {panel.y_title}\n")
            print(table([panel.x_title, *panel.lines],
                        [[f"{x:g}", *(f"{line[x]:.4g}" if x in line else "" for line in panel.lines.values())]
                         for x in xs]) + "\n")
    for fact in figure.facts:
        print(f"- {fact}")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="(default: all) " + ", ".join(FIGURES))
    parser.add_argument("--numbers", action="store_true", help="print them instead of drawing")
    parser.add_argument("--kept", type=pathlib.Path, default=KEPT, help="(default: bench/results/papers)")
    parser.add_argument("--output", type=pathlib.Path, default=DRAWN, help="(default: docs/figures)")
    options = parser.parse_args()
    for name in options.figures:
        if name not in FIGURES:
            parser.error(f"there is no figure '{name}'; there are {', '.join(FIGURES)}")
    kept = Kept(options.kept)
    for name in options.figures or FIGURES:
        needed, make = FIGURES[name]
        figure = make(kept)
        if not figure:
            message = (f"papers/figures.py: {name}: nothing is kept in {options.kept} of {', '.join(needed)}; "
                       f"sudo scripts/papers/measure.py {' '.join(needed)}")
            if options.figures:
                sys.exit(message)
            print(message, file=sys.stderr)
        elif options.numbers:
            print_numbers(figure)
        else:
            options.output.mkdir(parents=True, exist_ok=True)
            charts.draw(options.output / f"{name}.svg", figure.title, figure.rows)
            print(options.output / f"{name}.svg")


if __name__ == "__main__":
    main()
