# SPDX-License-Identifier: BSD-3-Clause
"""What hocket measures and counts, as data: the rows of `hocket bench --json` and what HOCKET_STATS=1 prints."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile
from typing import Any, Optional, Sequence, Union

from ._library import command
from .commands import Words


@dataclasses.dataclass(frozen=True)
class BenchRow:
    """A variant's times in one cell of a benchmark.

    Attributes:
        collective: "allreduce", or "pingpong" or "wait".
        ranks: How many.
        nodes: On how many nodes they are.
        ranks_a_node: The most that a node has.
        bytes: Of the message, or of one block where there is a block for each rank.
        variant: "mpi", "hocket" (its own choice), or an algorithm with its parameters.
        timing: "isolated" or "back-to-back".
        median_us: Of the samples, in microseconds, as the next four.
        p10_us: The 10th percentile.
        p90_us: The 90th percentile.
        p99_us: The 99th percentile.
        max_us: The longest.
        iterations: Calls behind the numbers.
        cpu_percent: Of "wait" only: of one core, the most of any waiting rank; the times are processor time then.
        grid: Of collectives among neighbours only, as the next two: on which grid the ranks are, "4x2".
        periodic: Whether the ends of a dimension are neighbours: "yes", "no", or for each dimension, "yes,no".
        stencil: Who are neighbours: "faces" or "full".
    """

    collective: str
    ranks: int
    nodes: int
    ranks_a_node: int
    bytes: int
    variant: str
    timing: str
    median_us: float
    p10_us: float
    p90_us: float
    p99_us: float
    max_us: float
    iterations: int
    cpu_percent: Optional[float] = None
    grid: Optional[str] = None
    periodic: Optional[str] = None
    stencil: Optional[str] = None


_KINDS: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float),
                                       "Optional[float]": (int, float, type(None)), "Optional[str]": (str, type(None))}


def read_bench(source: Union[str, os.PathLike[str]]) -> list[BenchRow]:
    """The rows of a file that `hocket bench --json` has written.

    Args:
        source: The file's path, or its text, which begins with `[`.

    Returns:
        The rows in the file's order. Fields that this version doesn't know are left out.

    Raises:
        ValueError: It is no such file; the message names the row and the field.
        OSError: It can't be read.
    """
    text = source if isinstance(source, str) and source.lstrip().startswith("[") else pathlib.Path(source).read_text(
        encoding="utf-8")
    try:
        rows = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"read_bench: not JSON: {error}") from error
    if not isinstance(rows, list):
        raise ValueError("read_bench: not an array of rows, as `hocket bench --json` writes")
    return [_row(number, row) for number, row in enumerate(rows)]


def _row(number: int, row: Any) -> BenchRow:
    if not isinstance(row, dict):
        raise ValueError(f"read_bench: row {number} is {row!r}; an object was expected")
    values: dict[str, Any] = {}
    for field in dataclasses.fields(BenchRow):
        if field.name not in row and field.default is not None:
            raise ValueError(f"read_bench: row {number} has no `{field.name}`")
        value = row.get(field.name)
        if not isinstance(value, _KINDS[str(field.type)]) or isinstance(value, bool):
            raise ValueError(f"read_bench: `{field.name}` of row {number} is {value!r}; {field.type} was expected")
        if isinstance(value, int) and "float" in str(field.type):
            value = float(value)
        values[field.name] = value
    return BenchRow(**values)


def bench(collectives: Union[str, Sequence[str]], *, ranks: Optional[int] = None, launcher: Words = (),
          options: Sequence[str] = ()) -> list[BenchRow]:
    """Measures collectives by `hocket bench`: hocket's algorithms without an MPI, or an MPI's own against hocket.

    Args:
        collectives: One name or several, as "allreduce", or "all".
        ranks: That many ranks of this machine, no MPI.
        launcher: Instead of `ranks`: an MPI's launcher, ["mpiexec", "-n", "4"].
        options: More of the command's options: ["--sizes", "8,1K", "--time-budget", "0.1"].

    Returns:
        A row for each variant in each cell.

    Raises:
        ValueError: Neither or both of `ranks` and `launcher` are given.
        RuntimeError: The command has failed; the message is what it has said.
        FileNotFoundError: There is no hocket command.
    """
    if (ranks is None) == (not launcher):
        raise ValueError("bench: pass either `ranks` or `launcher`")
    names = collectives if isinstance(collectives, str) else ",".join(collectives)
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
        path = pathlib.Path(folder, "rows.json")
        words = [command(), "bench", names, "--json", str(path), *options]
        words += ["--ranks", str(ranks)] if ranks is not None else ["--", *(os.fspath(word) for word in launcher)]
        ended = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if ended.returncode != 0:
            raise RuntimeError(ended.stderr.strip() or f"hocket bench has ended with {ended.returncode}")
        return read_bench(path)


@dataclasses.dataclass(frozen=True)
class CallCounts:
    """What became of an MPI function's calls, all ranks together.

    Attributes:
        carried_out: By hocket.
        passed_through: To the MPI.
        reasons: How many calls for each reason that there is something to say about, as {"not yet set up": 4}.
    """

    carried_out: int
    passed_through: int
    reasons: dict[str, int]


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What HOCKET_STATS=1 prints at the end of an MPI job.

    Attributes:
        ranks: How many.
        calls: By the function's name, "MPI_Allreduce".
        within_reach: Calls that hocket could have carried out.
        windows_in_place: How often memory of windows was used as it lies.
        windows_copied: How often it was copied.
        seconds: A rank's time in these functions, in seconds, by name; the mean over ranks.
        seconds_in_calls: The sum of these, in seconds.
        seconds_in_all: A rank's time from MPI_Init to MPI_Finalize, in seconds.
    """

    ranks: int
    calls: dict[str, CallCounts]
    within_reach: int = 0
    windows_in_place: int = 0
    windows_copied: int = 0
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    seconds_in_calls: float = 0.0
    seconds_in_all: float = 0.0

    @property
    def carried_out(self) -> int:
        """Calls of all functions that hocket carried out."""
        return sum(counts.carried_out for counts in self.calls.values())

    @property
    def passed_through(self) -> int:
        """Calls of all functions that were passed through to the MPI."""
        return sum(counts.passed_through for counts in self.calls.values())


_BEGIN = re.compile(r"calls of (\d+) ranks? ?(?:together)?")
_HEADING = re.compile(r" +carried out +passed through +why")
_CALLS = re.compile(r"(MPI_\w+|all) +(\d+) +(\d+)(?: {3}(.*))?")
_REASON = re.compile(r"(.+) (\d+)")
_SHARE = re.compile(r"[\d.]+ % carried out of (\d+) calls within its reach")
_WINDOWS = re.compile(r"memory of windows: used in place (\d+) times, copied (\d+) times")
_TIMES = re.compile(r"[\d.]+ % of the time in these calls, ([\d.]+) s of ([\d.]+) s a rank: (.*)")
_TIME = re.compile(r"(MPI_\w+) ([\d.]+) s")


def read_statistics(text: str) -> list[Statistics]:
    """The statistics in what a job has printed on stderr.

    Args:
        text: With whatever else was printed; lines that don't begin with `hocket: ` are left out.

    Returns:
        One for each job, in the order in which they were printed.

    Raises:
        ValueError: A line among the statistics is not one of theirs.
    """
    found: list[dict[str, Any]] = []
    for line in text.splitlines():
        if not line.startswith("hocket: "):
            continue
        line = line[len("hocket: "):].rstrip()
        begin = _BEGIN.fullmatch(line)
        if begin:
            found.append({"ranks": int(begin.group(1)), "calls": {}})
        elif found and not _HEADING.fullmatch(line):
            _read_line(line, found[-1])
    jobs = []
    for values in found:
        total: Optional[CallCounts] = values["calls"].pop("all", None)
        job = Statistics(**values)
        if total is None or (total.carried_out, total.passed_through) != (job.carried_out, job.passed_through):
            raise ValueError(f"read_statistics: the line `all` is {total}; it should be the sum of those before it")
        jobs.append(job)
    return jobs


def _read_line(line: str, values: dict[str, Any]) -> None:
    if calls := _CALLS.fullmatch(line):
        values["calls"][calls.group(1)] = CallCounts(int(calls.group(2)), int(calls.group(3)),
                                                     _reasons(calls.group(4) or ""))
    elif share := _SHARE.fullmatch(line):
        values["within_reach"] = int(share.group(1))
    elif windows := _WINDOWS.fullmatch(line):
        values["windows_in_place"], values["windows_copied"] = map(int, windows.groups())
    elif times := _TIMES.fullmatch(line):
        values["seconds_in_calls"], values["seconds_in_all"] = float(times.group(1)), float(times.group(2))
        values["seconds"] = {name: float(number) for name, number in
                             (_parts(_TIME, part) for part in times.group(3).split(", "))}
    else:
        raise ValueError(f"read_statistics: {line!r} is none of the lines that HOCKET_STATS=1 prints")


def _reasons(why: str) -> dict[str, int]:
    why = why.strip()
    return {name: int(calls) for name, calls in (_parts(_REASON, part) for part in why.split(", "))} if why else {}


def _parts(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    match = pattern.fullmatch(text)
    if not match:
        raise ValueError(f"read_statistics: {text!r} is neither a reason with its calls nor a function with its time")
    return match.group(1), match.group(2)
