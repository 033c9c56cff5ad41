# SPDX-License-Identifier: BSD-3-Clause
"""Figures 2 to 7 of Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial?, of what
scripts/papers/measure.py has kept of reductions, with the slopes that the paper gives."""
import statistics

from charts import Figure, Panel, rounds_of

SWITCHES = {"redirect": "redirect switch", "bridge": "bridge"}
TYPES = ("int64", "double")
HOST, ARRIVAL, ORDER = "host", "engine, on arrival", "engine, in order"
WAYS = {"nic-arrival": ARRIVAL, "nic": ORDER, "host-udp": HOST}


def lines_of(rows, of_type, x_of):
    """{way: {x: mean}}"""
    lines = {}
    for way, name in WAYS.items():
        line = {x_of(row): row["mean_us"] for row in rows if row["variant"] == way and row["type"] == of_type}
        if line:
            lines[name] = dict(sorted(line.items()))
    return lines


def improvements(lines):
    """{way: {x: how many times as long the host takes}}"""
    host = lines.get(HOST, {})
    return {name: {x: host[x] / us for x, us in line.items() if x in host}
            for name, line in lines.items() if name != HOST}


def gap(lines, way):
    """(slope, value at 0) of the host's time less the engine's, by least squares; None with fewer points than two."""
    shared = sorted(lines.get(HOST, {}).keys() & lines.get(way, {}).keys())
    if len(shared) < 2:
        return None
    fit = statistics.linear_regression(shared, [lines[HOST][x] - lines[way][x] for x in shared])
    return fit.slope, fit.intercept


def slope_of(line):
    fit = statistics.linear_regression(list(line), list(line.values()))
    return fit.slope, fit.intercept


def losses(lines, way):
    """At which x the engine takes longer than the host, as text."""
    lost = [f"{x:g}" for x, us in lines.get(way, {}).items() if us > lines.get(HOST, {}).get(x, us)]
    return "nowhere" if not lost else "at " + ", ".join(lost)


def places(kept, name):
    """(the switch, {type: rows}) of each switch on which it was measured."""
    for switch, title in SWITCHES.items():
        rows = kept.rows(f"{name}-{switch}")
        if rows:
            yield title, rows


def facts_of_factor(title, of_type, lines):
    facts = []
    for way in (ARRIVAL, ORDER):
        factors = improvements(lines).get(way)
        if factors:
            best = max(factors, key=factors.get)
            facts.append(f"{title}, {of_type}, {way}: up to {factors[best]:.2f} times less than the host, at {best:g}; "
                         f"slower {losses(lines, way)}")
    return facts


def with_factors(kept, name, title, x_title, x_of, paper):
    """A row a switch: int64, double, and the host's time over the engine's."""
    rows, facts, all_measured = [], [], []
    for place, measured in places(kept, name):
        all_measured += measured
        lines = {of_type: lines_of(measured, of_type, x_of) for of_type in TYPES}
        lines = {of_type: line for of_type, line in lines.items() if line}
        factors = {f"{way.replace('engine, ', '')}, {of_type}": line for of_type in lines
                   for way, line in improvements(lines[of_type]).items()}
        rows.append([Panel(f"{of_type}, {place}", x_title, "us", line) for of_type, line in lines.items()]
                    + [Panel(f"The host's time over the engine's, {place}", x_title, "times", factors, level=1)])
        for of_type, line in lines.items():
            facts += facts_of_factor(place, of_type, line)
    return Figure(title + rounds_of(all_measured), rows, [*facts, paper]) if rows else None


def nodes_of(row):
    return row["nodes"]


def latency(kept):
    return with_factors(kept, "reduce-latency", "Reduction by a binomial tree until the root has it (figure 2)",
                        "nodes", nodes_of,
                        "the paper: up to 1.19 times (int) and 1.06 (float), slower on 2 nodes, floats on 4, too")


def host_time(kept):
    return with_factors(kept, "reduce-host", "Mean time of a host in the call (figure 5)", "nodes", nodes_of,
                        "the paper: up to 2.7 times less (int) and 2.3 (float), more on 2 nodes; it falls as nodes are "
                        "added")


def skew(kept):
    return with_factors(kept, "reduce-skew", "Mean time of a host in the call, 16 nodes (figure 6)",
                        "greatest skew, us", lambda row: row["skew_us"],
                        "the paper: up to 4.5 times less, 3.7 at 200 us (int)")


def skew_nodes(kept):
    return with_factors(kept, "reduce-skew-nodes", "Mean time of a host in the call, skew up to 1000 us (figure 7)",
                        "nodes", nodes_of, "the paper: up to 4.5 times less; the host's grows with nodes, the NIC's "
                                           "falls")


def elements(kept):
    return with_factors(kept, "reduce-elements", "Reduction of several elements on 16 nodes (left for later there)",
                        "elements", lambda row: row["elements"], "the paper has one element, and wants up to 64")


def trees(kept, name, title, x_title, unit, paper):
    """A row a switch, a panel a type, with lines fitted to each way."""
    rows, facts, all_measured = [], [], []
    for place, measured in places(kept, name):
        all_measured += measured
        panels = []
        for of_type in TYPES:
            lines = lines_of(measured, of_type, lambda row: row["nodes"] - 1)
            if not lines:
                continue
            panels.append(Panel(f"{of_type}, {place}", x_title, "us", lines,
                                fits={way: slope_of(line) for way, line in lines.items() if len(line) > 1}))
            for way in (ARRIVAL, ORDER):
                grows = gap(lines, way)
                if grows is None:
                    continue
                facts.append(f"{place}, {of_type}, {way}: host {slope_of(lines[HOST])[0]:.2f} us a {unit}, engine "
                             f"{slope_of(lines[way])[0]:.2f}; the gap grows by {grows[0]:.2f} us a {unit} from "
                             f"{grows[0] + grows[1]:.2f} us at 1; slower {losses(lines, way)}")
        rows.append(panels)
    return Figure(title + rounds_of(all_measured), rows, [*facts, paper]) if rows else None


def chain(kept):
    return trees(kept, "reduce-chain", "Reduction by a chain (figure 3)", "depth", "level",
                 "the paper: the gap grows by 3.70 us a level (int) and 2.64 (float); the NIC loses at depth 1, floats "
                 "at 2, too")


def flat(kept):
    return trees(kept, "reduce-flat", "Reduction by a tree of depth 1 (figure 4)", "degree", "degree",
                 "the paper: the NIC loses at every degree, by 2.19 us (int) and 3.63 (float), growing by 0.22 and "
                 "0.24 us a degree")


def figure(name, make):
    return tuple(f"{name}-{switch}" for switch in SWITCHES), make


FIGURES = {name: figure(name, make) for name, make in (
    ("reduce-latency", latency), ("reduce-chain", chain), ("reduce-flat", flat), ("reduce-host", host_time),
    ("reduce-skew", skew), ("reduce-skew-nodes", skew_nodes), ("reduce-elements", elements))}
