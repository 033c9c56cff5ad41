# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of this folder, line by line, so that a job that hangs loses one of its cells only."""

import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "around"))
from runs import MPIS, ROOT, SIDES, build, command_of  # pylint: disable=wrong-import-position

BOARD_BYTES = 4096
LINE_LIMIT_S = 15
MOST_RESTARTS = 4


def preload_of(mpi):
    return pathlib.Path(ROOT) / f"build/release/lib/libhocket-mpi-{MPIS[mpi].family}.so"


def end(process):
    """Launchers end their ranks when they are terminated, and not when they are killed."""
    if process.poll() is not None:
        return
    for number, limit in ((signal.SIGTERM, 3), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=limit)
            return


def lines_of(process, limit_s):
    """The lines that a process prints, and None if it prints nothing for so long."""
    rest = b""
    while True:
        if not select.select([process.stdout], [], [], limit_s)[0]:
            yield None
            return
        block = os.read(process.stdout.fileno(), 1 << 16)
        if not block:
            return
        *lines, rest = (rest + block).split(b"\n")
        yield from lines


def run_job(command, environment, limit_s):
    """(the objects of all lines, what went wrong: "", "timed out" or the exit status with its message)."""
    found, trouble = [], ""
    with tempfile.TemporaryFile() as said, subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
            start_new_session=True) as process:
        try:
            for line in lines_of(process, limit_s):
                if line is None:
                    trouble = "timed out"
                    break
                if line.startswith(b"{") and line.endswith(b"}"):
                    found.append(json.loads(line))
            if not trouble:
                process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            trouble = "timed out"
        finally:
            end(process)
        if not trouble and process.returncode != 0:
            said.seek(0)
            trouble = f"exit status {process.returncode}: {said.read().decode(errors='replace').strip()[-400:]}"
    return found, trouble


def culprit_of(found, units):
    """The place in `units` of the one that was under way when the job ended; -1 before the first."""
    entered = [line["begin"] for line in found if "begin" in line]
    names = [unit for unit, _ in units]
    return names.index(entered[-1]) if entered else -1


def split_result(start, line):
    """The cell of a line's result, as the plan names it."""
    situation, call = line["cell"].split(":")
    return next(cell for unit, cells in start.units for cell in cells
                if unit.split(":")[0] == situation and cell[1] == call)


@contextlib.contextmanager
def foreign_process(is_wanted):
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if is_wanted else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def command_for(start, units, mpi, side, ranks, work, options):
    board = pathlib.Path(work) / "board"
    board.write_bytes(b"\0" * BOARD_BYTES)
    listed = "places" if start.program == "peer.c" else "cells"
    words = {"board": board, "limit_s": 120, **({"block_ms": options.block_ms} if start.program != "peer.c" else {}),
             **start.words, listed: ",".join(unit for unit, _ in units)}
    line = [build(mpi, start.program, work, HERE), *(f"{name}={value}" for name, value in words.items())]
    command, environment = command_of(mpi, side, ranks, line)
    if start.one_core:
        command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *command]
    return command, environment


def run_start(start, mpi, side, ranks, work, options):
    """({cell: value}, {cell: what went wrong}, [what went wrong after all cells]) of all units of a start. After a
    unit that hangs or ends the job the rest is measured by another process."""
    values, troubles, others, units = {}, {}, [], list(start.units)
    for _ in range(MOST_RESTARTS):
        if not units:
            break
        with foreign_process(start.foreign):
            found, trouble = run_job(*command_for(start, units, mpi, side, ranks, work, options), LINE_LIMIT_S)
        values.update({split_result(start, line): line["value"] for line in found if "cell" in line})
        if not trouble:
            break
        at = max(culprit_of(found, units), 0)
        lost = [cell for cell in units[at][1] if cell not in values]
        if not lost:
            others.append(trouble)
        troubles.update({cell: trouble for cell in lost})
        units = units[at + 1:]
    else:
        troubles.update({cell: "not reached" for _, cells in units for cell in cells})
    return values, troubles, others


def sides_of(start, mpi, ranks, cores):
    """An MPI's best settings are those for ranks that share cores; with a core each the default is its best."""
    shares = start.shares_cores(ranks, cores) and MPIS[mpi].best
    return SIDES if shares else tuple(side for side in SIDES if side != "best")


def measure_start(start, mpi, ranks, turn, results, work, options):
    """One round of a start, all sides."""
    sides = sides_of(start, mpi, ranks, options.cores)
    for side in sides if turn % 2 == 0 else reversed(sides):
        kept = start.only(lambda *cell, side=side: not results.is_given_up(mpi, ranks, cell, side))
        begin = time.monotonic()
        values, troubles, others = run_start(kept, mpi, side, ranks, work, options)
        results.add(mpi, ranks, side, values, troubles)
        results.note_time(start.name, mpi, ranks, side, time.monotonic() - begin)
        for cell, trouble in troubles.items():
            print(f"situations: {mpi}, {ranks} ranks, {side}, {':'.join(cell)}: {trouble}", file=sys.stderr)
        for trouble in others:
            results.others.append(f"{mpi}, {ranks} ranks, {side}, {start.name}: {trouble}")
            print(f"situations: {results.others[-1]}", file=sys.stderr)
