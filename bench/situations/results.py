# SPDX-License-Identifier: BSD-3-Clause
"""What situations.py has measured: kept by cell and side, a value a round, and shown as tables, losses first.

A cell's ratio is the better of the MPI's own medians over hocket's: above 1 hocket is faster. It is 0 where hocket
failed and the MPI did not, and None where the MPI or, in a run that was interrupted, hocket has no value."""

import json
import math
import statistics
import textwrap

SIDES = ("alone", "best", "hocket")
TITLES = {"alone": "default", "best": "best settings", "hocket": "with hocket"}
LOSS = 0.95
WIDTH = 120
BEGIN, END = "<!-- from here on by ./dev bench situations --page -->", "<!-- up to here -->"
PROCESSOR = "processor_"  # how calls begin that are percent of a core, in a table of their own


class Results:
    def __init__(self):
        self.cells, self.others, self.times = {}, [], {}

    def _cell(self, mpi, ranks, cell):
        situation, call = cell
        return self.cells.setdefault((mpi, ranks, situation, call), {
            "mpi": mpi, "ranks": ranks, "situation": situation, "call": call, "values": {}, "troubles": {}})

    def add(self, mpi, ranks, side, values, troubles):
        for cell, value in values.items():
            self._cell(mpi, ranks, cell)["values"].setdefault(side, []).append(value)
        for cell, trouble in troubles.items():
            self._cell(mpi, ranks, cell)["troubles"][side] = trouble

    def is_given_up(self, mpi, ranks, cell, side):
        return side in self.cells.get((mpi, ranks, *cell), {"troubles": {}})["troubles"]

    def note_time(self, name, mpi, ranks, side, seconds):
        self.times.setdefault((name, mpi, ranks, side), []).append(seconds)

    def as_data(self, heading):
        times = [{"start": name, "mpi": mpi, "ranks": ranks, "side": side, "wall_s": [round(each, 2) for each in found]}
                 for (name, mpi, ranks, side), found in self.times.items()]
        return {**heading, "troubles": self.others, "times": times, "cells": list(self.cells.values())}


def median(cell, side):
    values = cell["values"].get(side)
    return statistics.median(values) if values and side not in cell["troubles"] else None


def is_incomplete(cell):
    return "hocket" in cell["troubles"]


def ratio(cell):
    ours = median(cell, "hocket")
    theirs = [value for side in ("alone", "best") if (value := median(cell, side)) is not None]
    if not theirs:
        return None
    if is_incomplete(cell):
        return 0.0
    if ours is None:
        return None
    return min(theirs) / max(ours, 1e-4)


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def number(value):
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def shown(cell, side):
    """The median, and the lowest and highest of the rounds."""
    if side in cell["troubles"]:
        return cell["troubles"][side].split(":")[0]
    values = cell["values"].get(side)
    if not values:
        return "-"
    spread = f" ({number(min(values))} to {number(max(values))})" if len(values) > 1 else ""
    return number(statistics.median(values)) + spread


def timed(cells):
    return [cell for cell in cells if not cell["call"].startswith(PROCESSOR)]


def in_order(cells):
    """Those first that hocket did not end, then by ratio, those without one last."""
    def place(cell):
        found = ratio(cell)
        return not is_incomplete(cell), math.inf if found is None else found, cell["mpi"], cell["ranks"]
    return sorted(cells, key=place)


def table(head, rows, text_columns):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * text_columns + "---:|" * (len(head) - text_columns)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def cell_table(cells):
    rows = []
    for cell in in_order(cells):
        found = ratio(cell)
        rows.append([cell["mpi"], str(cell["ranks"]), cell["situation"], cell["call"],
                     *(shown(cell, side) for side in SIDES), "-" if found is None else f"{found:.2f}"])
    return table(["MPI", "ranks", "situation", "call", *TITLES.values(), "ratio"], rows, 4)


def totals(cells):
    """[cells, those below LOSS, geometric mean, lowest ratio], as text."""
    ratios = [found for cell in cells if (found := ratio(cell)) is not None]
    mean = geometric_mean([found for found in ratios if found > 0])
    return [str(len(ratios)), str(sum(found < LOSS for found in ratios)), "-" if mean is None else f"{mean:.2f}",
            f"{min(ratios):.2f}" if ratios else "-"]


def summary(cells):
    cells = timed(cells)
    places = sorted({(cell["mpi"], cell["ranks"]) for cell in cells})
    rows = [[mpi, str(ranks), *totals([cell for cell in cells if (cell["mpi"], cell["ranks"]) == (mpi, ranks)])]
            for mpi, ranks in places]
    rows.append(["all", "", *totals(cells)])
    return table(["MPI", "ranks", "cells", f"below {LOSS}", "geometric mean", "lowest"], rows, 1)


def situation_table(cells):
    cells = timed(cells)
    names = list(dict.fromkeys(cell["situation"] for cell in cells))
    mpis = list(dict.fromkeys(cell["mpi"] for cell in cells))
    rows = []
    for name in names:
        row = [name]
        for mpi in mpis:
            count, below, mean, lowest = totals([cell for cell in cells
                                                 if (cell["situation"], cell["mpi"]) == (name, mpi)])
            row += [mean, f"{below} of {count}", lowest]
        rows.append(row)
    head = ["situation"] + [title for mpi in mpis for title in (f"{mpi}: mean", f"below {LOSS}", "lowest")]
    return table(head, rows, 1)


def processor_table(cells):
    rows = [[cell["mpi"], str(cell["ranks"]), cell["situation"], cell["call"].removeprefix(PROCESSOR),
             *(shown(cell, side) for side in SIDES)] for cell in cells if cell["call"].startswith(PROCESSOR)]
    return table(["MPI", "ranks", "situation", "open meanwhile", *TITLES.values()], rows, 4) if rows else ""


def losses(cells):
    return [cell for cell in timed(cells) if (found := ratio(cell)) is not None and found < LOSS]


def description(data):
    mpis = ", ".join(f"{name}: {version}" for name, version in data["mpis"].items())
    text = (f"{data['processor']}, {data['cores']} cores, Linux {data['kernel']}, {data['date']}; {mpis}. Medians of "
            f"{data['rounds']} rounds.")
    return textwrap.fill(text, WIDTH) + f"\n\n    {data['command']}"


def trouble_list(data):
    return "\n".join(textwrap.fill(f"- {' '.join(trouble.split())}", WIDTH, subsequent_indent="  ")
                     for trouble in data["troubles"])


def page(data, most_losses=80):
    """The part of the page that is generated: totals, the worst losses, what waiting costs."""
    cells, lost = data["cells"], losses(data["cells"])
    parts = [description(data), "### Totals\n\n" + summary(cells), "### By situation\n\n" + situation_table(cells)]
    if lost:
        count = f"The lowest {most_losses} of {len(lost)} cells" if len(lost) > most_losses else f"{len(lost)} cells"
        parts.append(f"### Losses\n\n{count} below {LOSS}, in microseconds:\n\n" +
                     cell_table(in_order(lost)[:most_losses]))
    if processor_table(cells):
        parts.append("### Processor time of a waiting rank\n\nPercent of a core:\n\n" + processor_table(cells))
    if data["troubles"]:
        parts.append("### Jobs that failed\n\n" + trouble_list(data))
    return "\n\n".join(parts) + "\n"


def full_text(data):
    """Every cell, losses first."""
    parts = [description(data), summary(data["cells"]), cell_table(timed(data["cells"]))]
    if processor_table(data["cells"]):
        parts.append("Percent of a core of a waiting rank:\n\n" + processor_table(data["cells"]))
    if data["troubles"]:
        parts.append("Jobs that failed:\n\n" + trouble_list(data))
    return "\n\n".join(parts) + "\n"


def fit_into(text, generated):
    """`text` with what is between its two marks replaced; without marks they are added at its end."""
    part = f"{BEGIN}\n\n{generated}\n{END}"
    if BEGIN not in text or END not in text:
        return text.rstrip("\n") + "\n\n" + part + "\n"
    head, rest = text.split(BEGIN, 1)
    return head + part + rest.split(END, 1)[1]


def as_json(data):
    """A cell a line, so that a change of one shows as such."""
    text = json.dumps({**data, "cells": [], "times": []}, indent=1)
    for name in ("times", "cells"):
        rows = ",\n".join(json.dumps(row) for row in data[name])
        text = text.replace(f'"{name}": []', f'"{name}": [\n{rows}\n]')
    return text + "\n"
