# SPDX-License-Identifier: BSD-3-Clause
"""Figures 4 to 7 of Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm for large-scale
InfiniBand Clusters with Multicast (2007), of what scripts/papers/measure.py has kept of broadcasts with a delay."""
from multicast_report import spread_of_ranks
from charts import Figure, Panel, in_rows, rounds_of

SET = "multicast-5ms"
WAYS = {"mpich:multicast": "multicast, MPICH", "openmpi:multicast": "multicast, Open MPI",
        "openmpi": "Open MPI's own", "mpich": "MPICH's own", "mpich:tree_mm:degree=2": "binomial tree",
        "mpich:tree_mm:degree=8": "tree of degree 8"}
MULTICAST, TUNED = "multicast, MPICH", "Open MPI's own"
FEW = 4  # from there on, a multicast is one message deep and a tree several


def lines_of(rows, y_of):
    """{way: {nodes: ms}}"""
    lines = {}
    for algorithm, name in WAYS.items():
        line = {row["nodes"]: y_of(row) / 1000 for row in rows if row["algorithm"] == algorithm}
        if line:
            lines[name] = dict(sorted(line.items()))
    return lines


def ranks_of(rows, most):
    """{way: {rank: ms}} on the most nodes."""
    return {WAYS[row["algorithm"]]: {rank: us / 1000 for rank, us in enumerate(row["rank_us"]) if rank > 0}
            for row in rows if row["nodes"] == most and row["algorithm"] in WAYS and len(row["rank_us"]) > 1}


def facts_of(rows, last, most):
    facts = []
    for way, line in last.items():
        if FEW in line and most in line:
            facts.append(f"{way}: {line[FEW]:.2f} ms on {FEW} nodes, {line[most]:.2f} on {most} "
                         f"({line[most] / line[FEW] - 1:+.0%})")
    if all(most in last.get(way, {}) for way in (MULTICAST, TUNED)):
        facts.append(f"{most} nodes: multicast takes {1 - last[MULTICAST][most] / last[TUNED][most]:.0%} less time "
                     f"than {TUNED}")
    for row in rows:
        if row["nodes"] == most and row["algorithm"] in WAYS and len(row["rank_us"]) > 2:
            sooner, off = spread_of_ranks(row)
            facts.append(f"{WAYS[row['algorithm']]}, {most} nodes: the first rank has it {sooner:.0%} sooner than the "
                         f"last, none is more than {off:.0%} off the median")
    return [*facts, "the paper: flat to 116 nodes, up to 41 % less time there, and faster from 20 on; all within 14 % "
                    "of the median, the tree's first 79 % sooner than its last"]


def broadcasts(kept):
    rows = kept.rows(SET)
    if not rows:
        return None
    most = max(row["nodes"] for row in rows)
    last = lines_of(rows, lambda row: row["median_us"])
    by_rank = [row for row in rows if len(row["rank_us"]) > 1]
    panels = [Panel("Until the last rank has it (figure 4), median", "nodes", "ms", last),
              Panel(f"Until each rank has it, {most} nodes (figure 5), mean", "rank", "ms", ranks_of(rows, most),
                    has_marks=False),
              Panel("Until rank 1 has it (figure 6), mean", "nodes", "ms",
                    lines_of(by_rank, lambda row: row["rank_us"][1])),
              Panel("Until rank N-1 has it (figure 7), mean", "nodes", "ms",
                    lines_of(by_rank, lambda row: row["rank_us"][-1]))]
    return Figure("Broadcast of 2 bytes, 5 ms on each packet's way" + rounds_of(rows),
                  in_rows([panel for panel in panels if panel.lines]), facts_of(rows, last, most))


FIGURES = {SET: ((SET,), broadcasts)}
