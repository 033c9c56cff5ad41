# SPDX-License-Identifier: BSD-3-Clause
"""Tables in Markdown of what overlap.py has measured."""

import statistics

HOCKET = ("hocket", "hocket_thread", "hocket_engines")
SIDE_NAMES = {"alone": "as it comes", "best": "best settings", "progress": "own thread", "hocket": "hocket",
              "hocket_thread": "hocket, thread", "hocket_engines": "hocket, engines"}
WAYS = ("by_hand", "by_hand_persistent", "blocking", "begin_wait", "start_wait",
        "unused", "used_7", "used_20", "used_40", "used_100", "used_400")


def median(values):
    return statistics.median(values) if values else None


def number(value):
    if value is None:
        return "-"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def spread(values):
    """The median, and the lowest and highest of the rounds."""
    if not values:
        return "-"
    if len(values) == 1:
        return number(values[0])
    return f"{number(median(values))} ({number(min(values))} to {number(max(values))})"


def length(count):
    return f"{count} B" if count < 1024 else f"{count >> 10} KiB" if count < 1 << 20 else f"{count >> 20} MiB"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * 3 + "---:|" * (len(head) - 3)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def in_order(rows):
    """Of a case, by MPI and place as measured, each only once."""
    return list(dict.fromkeys((row["mpi"], row["place"]) for row in rows))


def ranks_of(row):
    return int(row["place"].split()[0])


def exposed(row, side, cores):
    """What is left of the call beside a computation that nobody but the other ranks' disturbs, a value a round."""
    crowd = max(1, ranks_of(row) / cores)
    return [total - crowd * alone for total, alone in zip(side["total_us"], side["undisturbed_us"])]


def processor(row, side, _):
    """What all ranks and their threads have used beyond the loop, a value a round."""
    return [used - ranks_of(row) * alone for used, alone in zip(side["total_processor_us"], side["undisturbed_us"])]


def overlap_tables(rows, cores):
    parts = []
    for title, value in (
            ("Overlap, percent", lambda row, side, cores: [100 * each for each in side["overlap"]]),
            ("What is left of the call beside the computation, us", exposed),
            ("Begin and wait without a computation, us", lambda row, side, cores: side["pure_us"]),
            ("Processor time of all ranks beyond the computation's, us", processor)):
        sides = [side for side in SIDE_NAMES if any(side in row["sides"] for row in rows)]
        lines = []
        for row in rows:
            tests = f", {row['tests']} tests" if row["tests"] else ""
            cells = [spread(value(row, row["sides"][side], cores)) if side in row["sides"] else "-" for side in sides]
            lines.append([f"{row['mpi']}, {row['place']}", row["call"] + tests, length(row["bytes"]), *cells])
        parts.append(f"### {title}\n\n" + table(["", "", "", *(SIDE_NAMES[side] for side in sides)], lines))
    return "\n\n".join([*parts, ahead(rows)])


def best(row, sides):
    values = [median(row["sides"][side]["overlap"]) for side in sides if side in row["sides"]]
    return max(values) if values else None


def ahead(rows):
    """Of the cells that both have: in how many hocket's overlap is the larger, and how large it is from 64 KiB."""
    lines = []
    for mpi, place in in_order(rows):
        cells = [row for row in rows if (row["mpi"], row["place"]) == (mpi, place)]
        pairs = [(best(row, HOCKET), best(row, ("alone", "best", "progress"))) for row in cells]
        pairs = [pair for pair in pairs if None not in pair]
        long_cells = [best(row, HOCKET) for row in cells if row["bytes"] >= 1 << 16]
        long_cells = [value for value in long_cells if value is not None]
        lines.append([mpi, place, f"{sum(ours >= theirs for ours, theirs in pairs)} of {len(pairs)}",
                      number(100 * min(long_cells)) if long_cells else "-"])
    return ("### hocket's better side against the MPI's best\n\n"
            + table(["MPI", "", "cells ahead or level", "least overlap from 64 KiB, percent"], lines))


def times(rows, row, mode, variant):
    """Of the row's call in another variant or mode, in which only one side is."""
    for other in rows:
        if all(other[name] == row[name] for name in ("mpi", "place", "call", "bytes")) and (
                other["variant"], other["mode"]) == (variant, mode):
            return next(iter(other["sides"].values()))["us"]
    return []


def calls_of(rows):
    """A row for each call, whatever its variants and modes."""
    return list({(row["mpi"], row["place"], row["call"], row["bytes"]): row for row in rows}.values())


def ways_of(rows):
    return [way for way in WAYS if any(row["variant"] == way for row in rows)]


def mode_tables(rows, title):
    """The MPI without the preload, with hocket switched off and on, each way to make the call."""
    ways, lines = ways_of(rows), []
    for row in calls_of(rows):
        is_wrong = any(max(side.get("wrong", [0])) for side in row["sides"].values())
        call = f"{row['call']} {length(row['bytes'])}" + (" (other blocks than the standard's)" if is_wrong else "")
        for name, mode in (("alone", "alone"), ("off", "off"), ("hocket", "on")):
            found = [times(rows, row, mode, way) for way in ways]
            if any(found):
                lines.append([f"{row['mpi']}, {row['place']}", call, name, *map(spread, found)])
    return f"### {title}\n\n" + table(["", "", "", *(way.replace("_", " ") for way in ways)], lines)


def passing_table(rows):
    """Nanoseconds that the preload adds to a call that it passes through, and whether it did pass all through."""
    ways, lines = ["wait", *ways_of(rows)], []
    for row in calls_of(rows):
        cells = []
        for way in ways:
            without, beside = (times(rows, row, mode, way) for mode in ("alone", "on"))
            cells.append(f"{1e3 * (median(beside) - median(without)):.0f} of {1e3 * median(without):.0f}"
                         if without and beside else "-")
        carried = max((most for other in rows if other["call"] == row["call"] and other["mpi"] == row["mpi"]
                       and other["place"] == row["place"]
                       for side in other["sides"].values() for most in side["carried_out"]), default=0)
        lines.append([f"{row['mpi']}, {row['place']}", row["call"], "no" if carried else "yes", *cells])
    return ("### What a call that is passed through costs, ns more than without the preload\n\n"
            + table(["", "", "all passed through", *(way.replace("_", " ") for way in ways)], lines))


def tables(data):
    parts = [f"{data['processor']}, Linux {data['kernel']}, medians of {data['rounds']} rounds, the lowest and the "
             f"highest in brackets.\n\n    {data['command']}"]
    if data["troubles"]:
        lines = [f"- {' '.join(trouble.split())}" for trouble in data["troubles"]]
        parts.append("Not to the end:\n\n" + "\n".join(lines))
    for case, make in (("overlap", lambda rows: overlap_tables(rows, data["cores"])),
                       ("latency", lambda rows: mode_tables(rows, "Latency, us")),
                       ("young", lambda rows: mode_tables(
                           rows, "A communicator's life, with so many non-blocking calls in it, us")),
                       ("halo", lambda rows: mode_tables(rows, "Halo exchanges, us")), ("passing", passing_table)):
        rows = [row for row in data["rows"] if row["case"] == case]
        if rows:
            parts.append(make(rows))
    return "\n\n".join(parts)
