# SPDX-License-Identifier: BSD-3-Clause
"""Whole programs under each MPI: alone as it comes, alone at its best settings, and under hocket as it comes.

  ./dev bench programs [--programs cg,espresso,...] [--mpi mpich,...] [--ranks 2,4,8] [--rounds 7]
                       [--json FILE] [--table FILE] [--chart FILE.svg] [--from FILE ...]
                       [--lab 4x1,2x4]   in a lab (needs root): at the MPI's settings for it, and under hocket without
                                         and with NIC engines
  ./dev bench programs --install         Debian's programs that it runs (needs root)

The sides take turns. Times are of the whole program, its launcher's included: a table in Markdown, medians, losses
first, with the processor time of all ranks and, where the machine tells it, the energy of its processors. `ratio` is
the better of the MPI's two columns over hocket's: above 1 hocket is faster. What the programs find is compared between
all runs; a difference is told, and the exit status is 1."""

import argparse
import json
import os
import pathlib
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from catalogue import PACKAGES, PROGRAMS, ROOT

sys.path.insert(0, str(ROOT / "bench/around"))
from runs import MPIS, command_of  # pylint: disable=wrong-import-position

ONE_NODE = ("alone", "best", "hocket")
IN_LAB = ("best", "hocket", "engines")
LAB_MPIS = ("mpich", "openmpi")
HOCKET = ROOT / "build/release/bin/hocket"
LAB = "programs"
ENERGY = pathlib.Path("/sys/class/powercap")


def energy_joules():
    """What the processors have used since some moment, or None where the machine doesn't tell."""
    try:
        counters = [path / "energy_uj" for path in ENERGY.glob("intel-rapl:?")]
        return sum(int(path.read_text(encoding="ascii")) for path in counters) / 1e6 if counters else None
    except OSError:
        return None


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_once(command, environment, folder, limit):
    """(wall seconds, processor seconds, joules, what is printed), or None where it takes longer than `limit`."""
    before, joules, begin = processor_seconds(), energy_joules(), time.monotonic()
    with subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as process:
        try:
            printed, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            time.sleep(1)
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None
    wall = time.monotonic() - begin
    if process.returncode != 0:
        sys.exit(f"programs: {' '.join(map(str, command))}: exit status {process.returncode}\n{printed}")
    after = energy_joules()
    return wall, processor_seconds() - before, None if after is None else after - joules, printed


class Cell:
    """A program under an MPI with so many ranks: on one node, or in a lab of a shape."""

    def __init__(self, program, mpi, ranks, shape=""):
        self.program, self.mpi, self.ranks, self.shape = program, mpi, ranks, shape
        self.sides = IN_LAB if shape else tuple(side for side in ONE_NODE if side != "best" or MPIS[mpi].best)
        self.runs = {side: [] for side in self.sides}
        self.results = set()
        self.given_up = set()

    def command(self, side, built):
        line = self.program.words(built, self.mpi)
        if not self.shape:
            return command_of(self.mpi, side, self.ranks, line)
        hocket = ["--with-hocket"] if side != "best" else []
        command = [HOCKET, "lab", "mpirun", "--name", LAB, "--mpi", self.mpi, *hocket, "-n", str(self.ranks), *line]
        return command, dict(os.environ, HOCKET_NIC="auto" if side == "engines" else "off")

    def run(self, side, built, work, limit):
        if side in self.given_up:
            return
        with tempfile.TemporaryDirectory(dir=work) as name:
            folder = pathlib.Path(name)
            for file, text in (self.program.files(self.ranks) if self.program.files else {}).items():
                (folder / file).write_text(text, encoding="ascii")
            command, environment = self.command(side, built)
            found = run_once(command, environment, folder, limit)
            if found is None:
                self.given_up.add(side)
                return
            wall, processor, joules, printed = found
            result = self.program.read_result(printed, folder)
        if not result:
            sys.exit(f"programs: {self.program.name} under {self.mpi} has no result:\n{printed}")
        self.results.add(result)
        self.runs[side].append({"wall_s": wall, "processor_s": processor, "joules": joules})

    def as_data(self, limit):
        return {"program": self.program.name, "mpi": self.mpi, "ranks": self.ranks, "shape": self.shape,
                "runs": self.runs, "given_up": sorted(self.given_up), "limit_s": limit,
                "results": sorted(self.results)}


def median(row, side, what):
    values = [run[what] for run in row["runs"].get(side, []) if run[what] is not None]
    return statistics.median(values) if values else None


def best_of_mpi(row):
    times = [median(row, side, "wall_s") for side in ("alone", "best")]
    return min((time for time in times if time is not None), default=None)


def ratio(row):
    """The MPI's better time over hocket's, in a lab hocket's without engines; 0: hocket took too long. None: the MPI
    did."""
    best = best_of_mpi(row)
    ours = median(row, "hocket", "wall_s")
    if "hocket" in row["given_up"] and best is not None:
        return 0
    return None if best is None or ours is None else best / ours


def ratio_order(row):
    found = ratio(row)
    return float("inf") if found is None else found


def number(value, row=None, side=None):
    if value is None:
        return f"> {row['limit_s']:.0f}" if row is not None and side in row["given_up"] else ""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def spread(row, side):
    values = sorted(run["wall_s"] for run in row["runs"].get(side, []))
    return f" ({number(values[0])} to {number(values[-1])})" if len(values) > 1 else ""


def timed(row, side):
    return number(median(row, side, "wall_s"), row, side) + spread(row, side)


def place_of(row):
    return row["shape"] or str(row["ranks"])


def table_of(rows, sides, titles):
    has_energy = any(median(row, side, "joules") is not None for row in rows for side in sides)
    head = ["program", "MPI", "nodes x ranks" if rows[0]["shape"] else "ranks", *(f"{title}, s" for title in titles),
            "ratio", "processor s", *(["joules"] if has_energy else []), "results"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in sorted(rows, key=ratio_order):
        found = ratio(row)
        cells = [row["program"], row["mpi"], place_of(row), *(timed(row, side) for side in sides),
                 "" if found is None else f"{found:.2f}",
                 " / ".join(number(median(row, side, "processor_s")) or "-" for side in sides)]
        if has_energy:
            cells.append(" / ".join(number(median(row, side, "joules")) or "-" for side in sides))
        cells.append("the same" if len(row["results"]) == 1 else "differ")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def text_of(rows):
    text = ""
    here, lab = [row for row in rows if not row["shape"]], [row for row in rows if row["shape"]]
    if here:
        text += table_of(here, ONE_NODE, ("as it comes", "at its best", "under hocket"))
    if lab:
        text += ("\n" if here else "") + table_of(lab, IN_LAB, ("the MPI", "under hocket", "with NIC engines"))
    return text


def draw(rows, path):
    """A bar a program, MPI and number of ranks: the ratio, losses first."""
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("svg")
        import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel
    except ImportError:
        sys.exit("programs: --chart needs matplotlib: python3 -m venv .venv/figures && .venv/figures/bin/pip install "
                 "-r scripts/requirements/figures.txt; then run it by .venv/figures/bin/python with --from")
    matplotlib.rcParams.update({"svg.hashsalt": "hocket", "svg.fonttype": "none", "font.size": 9})
    shown = sorted((row for row in rows if ratio(row) is not None), key=ratio_order, reverse=True)
    names = [f"{row['program']}, {row['mpi']}, {place_of(row)}" for row in shown]
    values = [ratio(row) for row in shown]
    figure, axes = plt.subplots(figsize=(7, 1 + 0.2 * len(shown)), layout="constrained")
    axes.barh(names, [value - 1 for value in values], left=1,
              color=["#b33" if value < 0.98 else "#888" if value < 1.02 else "#276" for value in values])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xlabel="the MPI's better time / under hocket (above 1 hocket is faster)")
    axes.margins(y=0.01)
    figure.savefig(path, metadata={"Date": None})


def cells_of(options, parser):
    for word in options.programs:
        if word not in {program.name for program in PROGRAMS}:
            parser.error(f"there is no program '{word}': {' '.join(program.name for program in PROGRAMS)}")
    for word in options.mpi:
        if word not in MPIS:
            parser.error(f"there is no MPI '{word}': {' '.join(MPIS)}")
    cells = []
    for program in PROGRAMS:
        if options.programs and program.name not in options.programs:
            continue
        for mpi in program.mpis:
            if options.mpi and mpi not in options.mpi:
                continue
            missing = program.missing(mpi, MPIS[mpi])
            if missing:
                print(f"programs: {program.name} is left out: {missing} is missing "
                      "(./dev bench programs --install)", file=sys.stderr)
                continue
            if not options.lab:
                cells += [Cell(program, mpi, ranks) for ranks in options.ranks]
            elif mpi in LAB_MPIS and program.sources:
                cells += [Cell(program, mpi, nodes * ranks, f"{nodes}x{ranks}") for nodes, ranks in options.lab]
    return cells


class Lab:
    """Nodes inside this machine, each with a NIC engine that a job may use or not."""

    def __init__(self, nodes, ranks):
        self.nodes, self.ranks = nodes, ranks

    def __enter__(self):
        commands = [["lab", "up", str(self.nodes), "--name", LAB, "--ppn", str(self.ranks), "--cores", "own"],
                    ["lab", "exec", "each", "--name", LAB, "--", HOCKET, "nic", "up", "eth0"]]
        for command in commands:
            done = subprocess.run([HOCKET, *command], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                self.__exit__()
                sys.exit(f"programs: hocket {' '.join(map(str, command))}: {done.stdout}{done.stderr}")

    def __exit__(self, *_):
        subprocess.run([HOCKET, "lab", "down", LAB], capture_output=True, check=False)


def measure(cells, options, work):
    built = {}
    for cell in cells:
        key = (cell.program.name, cell.mpi)
        if key not in built:
            built[key] = cell.program.build(cell.mpi, MPIS[cell.mpi], work)
    begin = time.monotonic()
    for done, cell in enumerate(cells):
        for turn in range(options.rounds):
            for side in cell.sides if turn % 2 == 0 else reversed(cell.sides):
                cell.run(side, built[cell.program.name, cell.mpi], work, options.limit)
        row = cell.as_data(options.limit)
        found = ratio(row)
        print(f"[{done + 1}/{len(cells)}, {time.monotonic() - begin:.0f} s] {cell.program.name}, {cell.mpi}, "
              f"{place_of(row)}: " + ", ".join(f"{side} {timed(row, side)}" for side in cell.sides) +
              ("" if found is None else f"; ratio {found:.2f}"), file=sys.stderr, flush=True)
    return [cell.as_data(options.limit) for cell in cells]


def measure_in_labs(cells, options, work):
    rows = []
    for nodes, ranks in options.lab:
        with Lab(nodes, ranks):
            rows += measure([cell for cell in cells if cell.shape == f"{nodes}x{ranks}"], options, work)
    return rows


def words(text):
    return [word for word in text.split(",") if word]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     prog="./dev bench programs")
    parser.add_argument("--programs", type=words, default=[], help=", ".join(one.name for one in PROGRAMS))
    parser.add_argument("--mpi", type=words, default=[], help=", ".join(MPIS))
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in words(text)], default=[2, 4, 8])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--limit", type=float, default=30, help="seconds; a side that takes longer is given up (30)")
    parser.add_argument("--lab", type=lambda text: [tuple(map(int, word.split("x"))) for word in words(text)])
    parser.add_argument("--json", help="what was measured, every run")
    parser.add_argument("--from", dest="files", nargs="+", help="measure nothing: what --json has written")
    parser.add_argument("--table", help="the file for the table (default: stdout)")
    parser.add_argument("--chart", help="an SVG file")
    parser.add_argument("--install", action="store_true")
    return parser, parser.parse_args()


def main():
    parser, options = parse()
    if options.install:
        sys.exit(subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES],
                                check=False).returncode)
    if options.files:
        rows = [row for file in options.files for row in json.loads(pathlib.Path(file).read_text(encoding="utf-8"))]
    else:
        cells = cells_of(options, parser)
        if not cells:
            sys.exit("programs: nothing to run")
        work = pathlib.Path(tempfile.mkdtemp(prefix="hocket-programs-"))
        try:
            rows = (measure_in_labs if options.lab else measure)(cells, options, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if options.chart:
        draw(rows, options.chart)
    if options.table:
        pathlib.Path(options.table).write_text(text_of(rows), encoding="utf-8")
    else:
        print(text_of(rows), end="")
    differing = [row for row in rows if len(row["results"]) != 1]
    for row in differing:
        print(f"programs: results of {row['program']} under {row['mpi']} differ: {row['results']}", file=sys.stderr)
    sys.exit(1 if differing else 0)


main()
