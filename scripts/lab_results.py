# SPDX-License-Identifier: BSD-3-Clause
"""Reads what scripts/lab_bench.py has left: files MPI-NODESxRANKS-COLLECTIVE.json and MPI-NODESxRANKS-probe.json; and
INTERFACE-NODESxRANKS-predicted.json of `hocket algorithms --predict --json`."""
import json
import os
import re
import sys
from collections import defaultdict

FILE_NAME = re.compile(r"(?P<mpi>.+)-(?P<nodes>\d+)x(?P<ranks>\d+)-(?P<what>\w+)\.json")
# On the host-driven interface of Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems: bruck up to
# the first, linear up to the second, pairwise above. On their offload interface: bruck up to 8 KiB, then pairwise.
SWITCH_POINTS = (256, 32768)
SCHEMES = ("leader", "send_aggregation", "receive_distribution")


def parse_name(path):
    """(mpi, (nodes, ranks a node), what)"""
    match = FILE_NAME.fullmatch(os.path.basename(path))
    if not match:
        sys.exit(f"{path}: not a file of lab_bench.py: they are called MPI-NODESxRANKS-COLLECTIVE.json")
    return match["mpi"], (int(match["nodes"]), int(match["ranks"])), match["what"]


def parse_shape(text):
    """"4x2" -> (4, 2): nodes, ranks a node. ValueError where it is none."""
    words = text.split("x")
    if len(words) != 2 or not all(word.isdigit() and int(word) > 0 for word in words):
        raise ValueError(f"{text}: nodes and ranks a node, like 4x2")
    return int(words[0]), int(words[1])


def shape_text(shape):
    return f"{shape[0]}x{shape[1]}"


def read_cells(paths):
    """{(mpi, shape, collective, timing, bytes): {variant: row}}"""
    cells = defaultdict(dict)
    for path in paths:
        mpi, shape, what = parse_name(path)
        if what in ("probe", "predicted"):
            continue
        with open(path, encoding="utf-8") as file:
            for row in json.load(file):
                if (row["nodes"], row["ranks_a_node"]) != shape:
                    sys.exit(f"{path}: was measured on {row['nodes']} nodes with {row['ranks_a_node']} ranks each")
                cells[(mpi, shape, row["collective"], row["timing"], row["bytes"])][row["variant"]] = row
    return dict(cells)


def read_probes(paths):
    """{(mpi, shape): what `hocket probe --json` wrote}"""
    probes = {}
    for path in paths:
        mpi, shape, what = parse_name(path)
        if what == "probe":
            with open(path, encoding="utf-8") as file:
                probes[mpi, shape] = json.load(file)
    return probes

def read_predictions(paths):
    """{(interface, shape): {variant: {bytes: us}}}; `orig` is what the table chose."""
    found = {}
    for path in paths:
        interface, shape, what = parse_name(path)
        if what != "predicted":
            continue
        with open(path, encoding="utf-8") as file:
            answer = json.load(file)
        if (answer["nodes"], answer["ranks_a_node"]) != shape:
            sys.exit(f"{path}: was predicted for {answer['nodes']} nodes with {answer['ranks_a_node']} ranks each")
        variants = found[interface, shape] = defaultdict(dict)
        for row in answer["predictions"]:
            variants[row["variant"]][row["bytes"]] = row["us"]
            if row["chosen"]:
                variants["orig"][row["bytes"]] = row["us"]
    return found


def flat_algorithm(message_bytes, points=SWITCH_POINTS):
    """What `orig` of Kumar, Mamidala and Panda uses for messages of that length."""
    if message_bytes <= points[0]:
        return "bruck"
    return "linear" if message_bytes <= points[1] else "pairwise"


def message_factor(scheme, ranks_a_node):
    """How many times as long as a block the messages are that a scheme's ranks exchange between nodes."""
    return ranks_a_node * (ranks_a_node if scheme == "leader" else 1)


def orig(rows, size, points=SWITCH_POINTS):
    """The row of the flat algorithm at its switch points; None if it was not measured."""
    return rows.get(flat_algorithm(size, points))


def with_orig(rows, scheme, shape, size, points=SWITCH_POINTS):
    """The row of a scheme whose inner exchange is `orig` for its own message size."""
    return rows.get(f"{scheme}:across={flat_algorithm(size * message_factor(scheme, shape[1]), points)}")


def parse_points(text):
    """"256,32K" -> (256, 32768)"""
    factors = {"K": 1 << 10, "M": 1 << 20}
    points = [int(word.rstrip("KM")) * factors.get(word[-1], 1) for word in text.split(",")]
    if len(points) != 2 or points[0] > points[1]:
        sys.exit(f"--switch-points {text}: two sizes, like 256,32K, or 8K,8K for none between")
    return tuple(points)
