# SPDX-License-Identifier: BSD-3-Clause
"""Figures 5 to 8 of Yu, Buntinas, Graham, Panda, Efficient and Scalable Barrier over Quadrics and Myrinet with a New
NIC-Based Collective Message Passing Protocol (2004), of what scripts/papers/measure.py has kept of barriers."""
import math

from nic_report import FARTHEST, FITTED, PAPER, fit_paper_model, fit_work_model, messages, paper_model
from charts import Figure, Panel, in_rows, rounds_of

PLACES = {"barrier-redirect": "Redirect switch", "barrier-bridge": "Bridge",
          "barrier-500us": "Bridge, 500 us on each packet's way", "barrier-5ms": "Bridge, 5 ms on each packet's way"}
MYRINET = {"engine, dissemination": "nic dissemination", "engine, pairwise": "nic pairwise_exchange",
           "acknowledged, dissem.": "nic-direct dissemination", "host, dissemination": "host-udp dissemination",
           "host, pairwise": "host-udp pairwise_exchange"}
QUADRICS = {"chain, dissemination": "nic-chain dissemination", "chain, pairwise": "nic-chain pairwise_exchange",
            "broadcast": "nic-broadcast gather_broadcast/8", "tree in the engine": "nic gather_broadcast/4",
            "tree by the host": "host-udp gather_broadcast/4"}
SLOW = {"barrier-together-500us": PLACES["barrier-500us"], "barrier-together-5ms": PLACES["barrier-5ms"]}
TOGETHER = {"dissemination": "nic dissemination", "chain, dissemination": "nic-chain dissemination",
            "broadcast": "nic-broadcast gather_broadcast/8", "tree in the engine": "nic gather_broadcast/4",
            "dissemination by the host": "host-udp dissemination"}


def lines_of(rows, series, what="mean_us", factor=1):
    """{name: {nodes: value}}"""
    lines = {}
    for name, by in series.items():
        line = {row["nodes"]: row[what] * factor for row in rows if f"{row['variant']} {row['algorithm']}" == by}
        if line:
            lines[name] = dict(sorted(line.items()))
    return lines


def places(kept, series, names=None):
    """(title, unit, lines) of each place that has been measured; with 5 ms on the way times are milliseconds."""
    for name, title in (names or PLACES).items():
        rows = kept.rows(name)
        if rows:
            is_slow = name.endswith("-5ms")
            yield (title + rounds_of(rows), "ms" if is_slow else "us",
                   lines_of(rows, series, factor=1e-3 if is_slow else 1))


def factor_at(lines, one, other, nodes):
    if nodes in lines.get(one, {}) and nodes in lines.get(other, {}):
        return f"{lines[one][nodes] / lines[other][nodes]:.2f}"
    return None


def compared(title, lines, one, other, words):
    """In one sentence, on which numbers of nodes `one` takes less time than `other`; nothing where it isn't known."""
    both = sorted(lines.get(one, {}).keys() & lines.get(other, {}).keys())
    less = [nodes for nodes in both if lines[one][nodes] < lines[other][nodes]]
    if not both:
        return []
    where = "nowhere" if not less else "everywhere" if len(less) == len(both) else "on " + ", ".join(map(str, less))
    return [f"{title}: {words} {where}"]


def protocol(kept):
    panels, facts = [], []
    for title, unit, lines in places(kept, MYRINET):
        panels.append(Panel(title, "nodes", unit, lines))
        for nodes in (8, 16):
            host = factor_at(lines, "host, dissemination", "engine, dissemination", nodes)
            direct = factor_at(lines, "host, dissemination", "acknowledged, dissem.", nodes)
            if host:
                facts.append(f"{title}, {nodes} nodes: dissemination by the host takes {host} times as long as by the "
                             f"engine, {direct} times as long as acknowledged")
        facts += compared(title, lines, "engine, pairwise", "engine, dissemination",
                          "pairwise exchange takes less than dissemination")
    facts.append("the paper, Myrinet: 3.38 times on 16 nodes (LANai 9.1), 2.64 on 8 (LANai-XP), acknowledged 1.86; "
                 "pairwise exchange is slower off powers of two")
    return panels and Figure("Barriers by the engine and by the host (figures 5 and 6)", in_rows(panels), facts)


def chains(kept):
    panels, facts = [], []
    for title, unit, lines in places(kept, QUADRICS):
        panels.append(Panel(title, "nodes", unit, lines))
        for nodes in (8, 16):
            factors = [factor_at(lines, other, "chain, dissemination", nodes)
                       for other in ("tree by the host", "tree in the engine", "broadcast")]
            if factors[0]:
                facts.append(f"{title}, {nodes} nodes: of the time of a chain (dissemination), a tree by the host "
                             f"takes {factors[0]}, a tree in the engine {factors[1]}, the broadcast {factors[2]}")
        facts += compared(title, lines, "broadcast", "chain, dissemination",
                          "the broadcast takes less than the chain")
        facts += compared(title, lines, "chain, pairwise", "chain, dissemination",
                          "pairwise exchange takes less than dissemination")
    facts.append("the paper, Quadrics, on 8 nodes: chain 5.60 us, tree 2.48 times that, broadcast 4.20 us, which "
                 "loses on few; pairwise exchange is faster off powers of two")
    return panels and Figure("Chains of descriptors, trees and the broadcast (figure 7)", in_rows(panels), facts)


def together(kept):
    panels, facts = [], []
    for title, unit, lines in places(kept, TOGETHER, SLOW):
        panels.append(Panel(title, "nodes", unit, lines))
        facts += compared(title, lines, "broadcast", "chain, dissemination",
                          "the broadcast takes less than the chain")
        facts += compared(title, lines, "broadcast", "tree in the engine", "the broadcast takes less than the tree")
        for nodes in (16, 32):
            factor = factor_at(lines, "chain, dissemination", "broadcast", nodes)
            if factor:
                facts.append(f"{title}, {nodes} nodes: the chain takes {factor} times as long as the broadcast")
    facts.append("the paper, on 8 nodes without a delay: chain 5.60 us, broadcast 4.20 us")
    return panels and Figure("Barriers whose ranks come together: mean time in the call", in_rows(panels), facts)


def model(kept):
    panels, facts = [], []
    for name in ("barrier-redirect", "barrier-500us", "barrier-5ms"):
        times = lines_of(kept.rows(name), {"nic": "nic dissemination"}).get("nic", {})
        if not all(nodes in times for nodes in FITTED):
            continue
        fitted, (host, message) = fit_paper_model(times), fit_work_model(times)
        far = [2 ** power for power in range(1, int(math.log2(FARTHEST)) + 1)]
        lines = {"measured": times, "the paper's model, fitted": {n: paper_model(n, *fitted) for n in far}}
        if name == "barrier-redirect":
            lines["work on two cores"] = {n: host * n + message * messages(n) for n in far}
        for card, constants in PAPER.items():
            lines[card] = {n: paper_model(n, *constants) for n in far}
        panels.append(Panel(PLACES[name], "nodes", "us", lines, log_x=True, log_y=True))
        most = max(times)
        error = paper_model(most, *fitted) / times[most] - 1
        facts.append(f"{PLACES[name]}: Tinit {fitted[0]:.4g}, Ttrig {fitted[1]:.4g} us, fitted on {FITTED[0]} and "
                     f"{FITTED[1]} nodes; {error:+.0%} on {most}; {paper_model(FARTHEST, *fitted):.4g} us on "
                     f"{FARTHEST}")
    facts.append("the paper: 3.60, 3.50 and 3.84 us (Myrinet), 2.25, 2.32 and -1.00 (Quadrics); 38.94 and 22.13 us on "
                 "1024 nodes")
    return panels and Figure("The model of the barrier to 1024 nodes (figure 8)", [panels], facts)


FIGURES = {"barrier-protocol": (tuple(PLACES), protocol), "barrier-chains": (tuple(PLACES), chains),
           "barrier-together": (tuple(SLOW), together),
           "barrier-model": (("barrier-redirect", "barrier-500us", "barrier-5ms"), model)}
